import { afterEach, beforeEach, expect, test } from "bun:test";
import { type Lab, letUse, openLab } from "./harness.ts";
import { counts, makeImports, table } from "./import-files.ts";
import { IDS } from "./sample.ts";

/** Rows of a file add records; they change existing ones only where that was chosen. */

let lab: Lab;
beforeEach(async () => {
  lab = await openLab();
  await letUse(lab, "alice", IDS.shelf, IDS.bench);
});
afterEach(() => lab.database.close());

const { send, imported, records } = makeImports(() => lab);

test("an import never merges rows, and changes only chosen records", async () => {
  const antibodies = table("name,lot,amount", "anti-p53 DO-1,A1,1", "anti-p53 DO-1,B2,2");
  expect(await imported("consumables/import/", antibodies)).toEqual([2, 0, 0, 0]);
  await send(
    "consumables/import/",
    table("name,lot,location,expiry", "Q5 polymerase,1015,Shelf 1,2027-03-01"),
  );
  const delivery = table("name,lot,location", "Q5 polymerase,2046,Bench ÄÖ");
  const { report } = await send("consumables/import/?dry_run=1", delivery);
  expect(report).toMatchObject({ match: "none", created: 1, updated: 0, existing: { name: 1 }, changes: [] });
  expect(await imported("consumables/import/", delivery)).toEqual([1, 0, 0, 0]);
  const tubes = await records(
    "consumables/?name=Q5 polymerase&fields=lot,location__label,expiry&response_format=flat&ordering=lot",
  );
  expect(tubes).toEqual([
    { lot: "1015", location__label: "Shelf 1", expiry: "2027-03-01" },
    { lot: "2046", location__label: "Bench ÄÖ", expiry: null },
  ]);
  // Both have the name now.
  expect((await send("consumables/import/?match=name", delivery)).report.errors).toEqual([
    { row: 2, column: "name", message: "Several records have this name; give the id of one." },
  ]);
});

test("shows old, new and unchanged values of the matched records, by name, barcode or id", async () => {
  const head = "name,barcode,lot,location,expiry";
  await send("consumables/import/", table(head, "Q5,B1,1015,Shelf 1,2027-03-01", "Taq,B2,1,,", "Pfu,,2,,"));
  const [{ id }] = await records("consumables/?name=Q5&response_format=flat&fields=id");
  const changed = {
    row: 2,
    id,
    name: "Q5",
    changes: [
      { field: "location", before: "Shelf 1", after: "Bench ÄÖ" },
      { field: "lot", before: "1015", after: "2046" },
    ],
  };
  for (const [match, columns, cells] of [
    ["name", "name", "Q5"],
    ["barcode", "barcode", "B1"],
    ["none", "id", id],
  ]) {
    const file = table(`${columns},lot,location`, `${cells},2046,Bench ÄÖ`);
    const { report } = await send(`consumables/import/?dry_run=1&match=${match}`, file);
    expect([match, counts(report)]).toEqual([match, [0, 1, 0, 0]]);
    expect(report.changes[0]).toMatchObject(changed);
    expect(report.changes[0].kept).toContain("expiry");
    const { bytes, headers } = await lab.bytes(
      "POST",
      `consumables/import/?dry_run=1&format=csv&match=${match}`,
      { as: "alice", body: file },
    );
    expect(headers.get("content-type")).toStartWith("text/csv");
    expect(new TextDecoder().decode(bytes).split("\r\n")).toEqual([
      "row,id,name,field,before,after",
      `2,${id},Q5,location,Shelf 1,Bench ÄÖ`,
      `2,${id},Q5,lot,1015,2046`,
      "",
    ]);
  }
  // A row without a barcode, or with one that no record has, adds a record.
  const others = table("name,barcode", "New,", "Newer,B9");
  expect(await imported("consumables/import/?match=barcode", others)).toEqual([2, 0, 0, 0]);
  // Undo restores what the import changed.
  const { report } = await send("consumables/import/?match=barcode", table("barcode,lot", "B1,3"));
  expect(report).toMatchObject({ updated: 1, existing: {} });
  await lab.send("alice", "POST", `batches/${report.batch}/undo/`);
  expect(await records(`consumables/?id=${id}&response_format=flat&fields=lot`)).toEqual([{ lot: "1015" }]);
});

test("refuses two rows for one record, and names both", async () => {
  await send("consumables/import/", table("name,barcode", "Taq,B1"));
  const [{ id }] = await records("consumables/?name=Taq&response_format=flat&fields=id");
  const separate = "Combine the two rows, or choose to add every row as a new record.";
  for (const [match, column, message, ...rows] of [
    ["name", "name", "Row 2 has the same name.", "name,lot", "Taq,1", "Taq,2"],
    ["name", "name", "Row 2 has the same name.", "name,lot", "fresh,1", "fresh,2"],
    ["barcode", "barcode", "Row 2 has the same barcode.", "name,barcode", "x,B7", "y,B7"],
    ["none", "id", "Row 2 is about the same record.", "id,lot", `${id},1`, `${id},2`],
    ["name", "name", "Row 2 is about the same record.", "id,name", `${id},renamed`, ",renamed"],
  ]) {
    const { report } = await send(`consumables/import/?match=${match}`, table(...rows));
    expect(report.errors).toEqual([{ row: 3, column, message: `${message} ${separate}` }]);
  }
  const missing = await send("consumables/import/?match=barcode", table("name", "x"));
  expect(missing.report.message).toBe(
    "Row 1: The file has no column barcode, by which rows would find records.",
  );
  expect((await send("projects/import/?match=barcode", table("name", "x"))).status).toBe(400);
  expect((await send("consumables/import/?format=csv", table("name", "x"))).status).toBe(400);
});

test("an error about a duplicate unique name explains how to update the record", async () => {
  const file = table("name,description", "organ,changed");
  await send("vocabularies/categories/import/", file.replace("changed", "first"), "admin");
  const { report } = await send("vocabularies/categories/import/", file, "admin");
  const choose = "To change the existing record, choose to match by name, or give its id.";
  expect(report.errors).toEqual([
    { row: 2, column: "name", message: `There is already a record with this name. ${choose}` },
  ]);
  const changed = await send("vocabularies/categories/import/?match=name", file, "admin");
  expect(changed.report).toMatchObject({ updated: 1, errors: [] });
});

test("requires an id for an ambiguous name", async () => {
  await send("consumables/import/", table("name", "twin", "twin"));
  const { report } = await send("consumables/import/?match=name", table("name,amount", "twin,1"));
  expect(report.errors).toEqual([
    { row: 2, column: "name", message: "Several records have this name; give the id of one." },
  ]);
});
