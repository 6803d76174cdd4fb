import { afterEach, beforeEach, expect, test } from "bun:test";
import { openXlsx, writeXlsx } from "hucre/xlsx";
import { addCommonUnits } from "../../src/app/common-units.ts";
import { type Lab, openLab } from "./harness.ts";
import type { Json } from "../../src/inventory/model/field.ts";
import { makeImports, table } from "./import-files.ts";
import type { ImportReport } from "../../src/inventory/imports/import-report.ts";
import { MESSY_HEADERS, messySheet } from "./messy-sheet.ts";

/** Spreadsheets as people have them: titles are guessed, cells are understood, and bad rows wait. */

let lab: Lab;
beforeEach(async () => {
  lab = await openLab({ sample: {} });
  await addCommonUnits(lab.database, lab.clock);
  await lab.send("admin", "PATCH", "users/alice/", { full_name: "Ana Petrova" });
  const { body: box } = await lab.send("alice", "POST", "locations/", {
    label: "Box 1",
    grid_rows: 9,
    grid_columns: 9,
  });
  expect(box.label).toBe("Box 1");
  await lab.send("alice", "POST", "consumables/", {
    name: "anti-MDM2 SMP14",
    model_type: "ANTIBODY",
    catalogue_number: "sc-965",
    amount: 90,
    unit: await unit("microliter"),
    minimum_amount: 20,
    lot: "J2214",
  });
});
afterEach(() => lab.database.close());

const { send, records } = makeImports(() => lab);
const IMPORT = "consumables/import/";
const query = (values: Record<string, string>): string => `?${new URLSearchParams(values)}`;

const unit = async (name: string): Promise<string> =>
  String((await records(`terms/?name=${name}&fields=id`))[0].id);

test("matches 14 of 14 titles, reads units and dates, and imports all rows but the bad one", async () => {
  const file = await messySheet();
  const { report } = await send(IMPORT + query({ partial: "1", dry_run: "1", match: "barcode" }), file);
  expect(report.columns.map(({ field, source }) => `${field} ${source}`)).toEqual([
    "name guessed",
    "description guessed",
    "model_type same",
    "location guessed",
    "position guessed",
    "amount guessed",
    "annotations__concentration guessed",
    "supplier guessed",
    "catalogue_number guessed",
    "lot guessed",
    "received same",
    "expiry guessed",
    "owner guessed",
    "notes guessed",
  ] as never);
  expect(report).toMatchObject({ created: 19, updated: 0, waiting: 1, rows: 20, existing: { name: 1 } });
  expect(report.dates).toEqual({ order: "day", example: "03.09.2026" });
  expect(report.unit).toBe("µL");
  expect(report.errors).toEqual([
    { row: 21, column: "Exp. date", message: "February 2027 has 28 days.", fixes: ["2027-02-28", ""] },
    { row: 21, column: "Freezer box", message: '"Box 99" is not a place.', fixes: ["Box 1"] },
  ]);
  const [bad, similar] = report.preview;
  expect([bad.row, bad.outcome, bad.cells[11]]).toEqual([21, "waiting", "31.02.2027"]);
  expect(similar).toMatchObject({
    row: 4,
    outcome: "created",
    values: { amount: 0.2, unit: "mL", expiry: "2027-12-31", received: "2026-09-12" },
    similar: { name: "anti-MDM2 SMP14", same: ["name", "catalogue_number"], owner: "Ana Petrova" },
  });

  const rows = JSON.stringify({ 4: { change: similar.similar!.id }, 9: { skip: true } });
  const form = new FormData();
  form.append("rows", rows);
  form.append("file", new File([file], "Freezer south.xlsx"));
  const { status, report: done } = await send(IMPORT + query({ partial: "1", match: "barcode" }), form);
  expect(status).toBe(200);
  expect(done).toMatchObject({ created: 17, updated: 1, waiting: 1, skipped: 1, units_made: 0 });
  const fields = "name,amount,unit__name,position,received,expiry,owner__username";
  const shown = await records(
    `consumables/?fields=${fields}&response_format=flat&location__label=Box 1&page_size=50`,
  );
  expect(shown).toHaveLength(18);
  const byName = new Map(shown.map((each) => [each.name, each]));
  const common = { unit__name: "microliter", owner__username: "alice" };
  expect(byName.get("p53 TAD F")).toMatchObject({
    ...common,
    amount: 100,
    position: "A1",
    expiry: "2028-06-30",
  });
  expect(byName.get("anti-GFP")).toMatchObject({ amount: 0.2, unit__name: "milliliter" });
  // In the unit of the record, whose minimum keeps its meaning.
  expect(byName.get("anti-MDM2 SMP14")).toMatchObject({ ...common, amount: 200, position: "A3" });
  const enzyme = { amount: 50, received: "2026-10-01", expiry: "2027-10-01" };
  expect(byName.get("BsaI-HFv2")).toMatchObject({ ...common, ...enzyme });
  expect(byName.get("Q5 polymerase")!.position).toBe("A7");
  expect(byName.get("MDM2 qPCR 1")).toMatchObject({ received: "2025-12-01", expiry: "2026-11-30" });
  const [first] = await records("consumables/?name=p53 TAD F&fields=id,annotations__concentration");
  expect(JSON.stringify(first)).toContain('"value":100,"unit":{');
  const notes = await lab.send("alice", "GET", `consumables/${String(first.id)}/notes/`);
  expect(JSON.stringify(notes.body)).toContain("from Ana");
  // Undo takes all of it back.
  expect((await lab.send("alice", "POST", `batches/${done.batch}/undo/`)).status).toBe(200);
  expect(await records("consumables/?name=p53 TAD F")).toEqual([]);
});

test("changes existing records only by id, by barcode, or where a person says so", async () => {
  const make = async (values: object): Promise<string> =>
    String(
      (await lab.send("alice", "POST", "consumables/", { model_type: "ENZYME", lot: "old", ...values })).body
        .id,
    );
  const ids = [
    await make({ name: "Taq", catalogue_number: "M1" }),
    await make({ name: "Pfu", barcode: "B7" }),
    await make({ name: "Q5" }),
    await make({ name: "Phi29", catalogue_number: "M1" }),
  ];
  const file = table(
    "id,name,catalogue_number,barcode,lot",
    ...["Taq,M1,", "Pfu,,B7", "Pfu,,", "Phi29,M1,"].map((row) => `,${row},new`),
    `${ids[2]},Q5,,,new`,
  );
  const lots = async (): Promise<Json[]> =>
    await Promise.all(ids.map(async (id) => (await lab.send("alice", "GET", `consumables/${id}/`)).body.lot));
  const all = query({ partial: "1", match: "barcode" });
  const imported = async (parameters: string): Promise<(number | Json[])[]> => {
    const { report } = await send(IMPORT + parameters, file);
    const after = await lots();
    await lab.send("alice", "POST", `batches/${report.batch}/undo/`);
    expect(await lots()).toEqual(["old", "old", "old", "old"]);
    return [report.created, report.updated, report.waiting, after];
  };
  expect(await imported(query({ partial: "1" }))).toEqual([4, 1, 0, ["old", "old", "new", "old"]]);
  expect(await imported(all)).toEqual([3, 2, 0, ["old", "new", "new", "old"]]);
  const rows = JSON.stringify({ 5: { change: ids[3] } });
  expect(await imported(`${all}&${new URLSearchParams({ rows })}`)).toEqual([
    2,
    3,
    0,
    ["old", "new", "new", "new"],
  ]);
});

test("gives the rows that wait with the reasons, which imports ignore", async () => {
  const file = await messySheet();
  const at = (format: string): string => IMPORT + query({ partial: "1", dry_run: "1", format });
  const { bytes } = await lab.bytes("POST", at("waiting-csv"), { as: "alice", body: file });
  const [head, line, ...rest] = new TextDecoder().decode(bytes).split("\r\n");
  expect([head, rest]).toEqual([[...MESSY_HEADERS, "reason"].join(","), [""]]);
  expect(line).toEndWith('February 2027 has 28 days. ""Box 99"" is not a place."');
  const sheet = await lab.bytes("POST", at("waiting-xlsx"), { as: "alice", body: file });
  const { sheets } = await openXlsx(sheet.bytes);
  expect(sheets[0].rows[1].slice(0, 5)).toEqual(["MDM2 qPCR 12", "", "Oligo", "Box 99", "C3"]);
  const corrected = `${head}\r\n${line.replace("Box 99", "Box 1").replace("31.02.2027", "28 Feb 2027")}\r\n`;
  const { report } = await send(`${IMPORT}?dry_run=1`, corrected);
  expect(report).toMatchObject({ created: 1, errors: [] });
  const rows = JSON.stringify({ 21: { cells: { "Exp. date": "28 Feb 2027", "Freezer box": "Box 1" } } });
  expect((await send(IMPORT + query({ dry_run: "1", rows }), file)).report).toMatchObject({
    created: 20,
    errors: [],
  });
});

/** Files as spreadsheets of laboratories save them; all but the last have the tube Günther with 0.2 mL. */
const TITLES = ["Name", "Vol (ml)", "Exp."];
const TUBE = ["Günther", 0.2, 46_356];
const LINES = `${TITLES.join(";")}\r\nGünther;0,2;30.11.2026\r\n`;
const workbook = async (...sheets: [string, unknown[][], boolean?][]) =>
  (await writeXlsx({
    sheets: sheets.map(([name, rows, hidden = false]) => ({ name, rows: rows as never, hidden })),
  })) as Uint8Array<ArrayBuffer>;
const titled = (): Promise<Uint8Array<ArrayBuffer>> =>
  workbook(["Tubes", [["Freezer south, November 2026"], [], TITLES, TUBE]]);

test.each([
  ["below a merged title", titled, 4],
  ["on the second sheet", () => workbook(["Read me", [["Fill in"], ["the next"]]], ["T", [TITLES, TUBE]]), 2],
  [
    "after an empty and a hidden sheet",
    () => workbook(["A", []], ["B", [TITLES], true], ["C", [TITLES, TUBE]]),
    2,
  ],
  [
    "beside columns without titles",
    () =>
      workbook([
        "A",
        [
          [...TITLES, "", null],
          [...TUBE, "x"],
        ],
      ]),
    2,
  ],
  ["as CSV with semicolons and decimal commas", () => LINES, 2],
  ["as CSV with the line that Excel adds", () => `sep=;\r\n${LINES}`, 2],
  ["as CSV below a title", () => `Freezer south\r\n\r\n${LINES}`, 4],
  ["as CSV in Windows-1252", () => Buffer.from(LINES, "latin1"), 2],
  ["as CSV in UTF-16", () => Buffer.from(`\uFEFF${LINES}`, "utf16le"), 2],
  ["as CSV in UTF-16 without a mark", () => Buffer.from(LINES.replaceAll(";", "\t"), "utf16le"), 2],
])("reads a table %s", async (_, make, row) => {
  const { report } = await send(`${IMPORT}?dry_run=1`, (await make()) as Uint8Array<ArrayBuffer>);
  expect(report.errors).toEqual([]);
  const values = { name: "Günther", amount: 0.2, unit: "mL", expiry: "2026-11-30" };
  expect(report.preview.map(({ row, values }) => [row, values])).toEqual([[row, values]]);
});

test("reads the sheet that is named, and says which there are", async () => {
  const file = await workbook(["Box 1", [TITLES, TUBE]], ["Box & 2", [TITLES, ["b", 1, ""], ["c", 2, ""]]]);
  const read = async (given: Record<string, string>) =>
    (await send(IMPORT + query({ dry_run: "1", ...given }), file)).report;
  const sheets = ["Box 1", "Box & 2"];
  expect(await read({})).toMatchObject({ rows: 1, sheet: "Box 1", sheets });
  expect(await read({ sheet: "Box & 2" })).toMatchObject({ rows: 2, sheet: "Box & 2", sheets });
  const message = 'sheet: There is no sheet "Box 3". Choices: Box 1, Box & 2.';
  expect((await read({ sheet: "Box 3" })).message).toBe(message);
});

test("guesses only what is likely, and is strict without partial", async () => {
  const strict = await send(IMPORT, table("Tube label,Karma,Comment", "x,1,note"));
  expect(strict.report.errors.map(({ column }) => column)).toEqual(["Karma"]);
  const { report } = await send(`${IMPORT}?partial=1`, table("Tube label,Name,Karma", "y,x,1"));
  expect(report.columns.map(({ field, source }) => [field, source])).toEqual([
    [null, "none"],
    ["name", "same"],
    [null, "none"],
  ]);
  expect(report.created).toBe(1);
  const chosen = await send(
    `${IMPORT}?mapping=${encodeURIComponent('{"Karma":"lot"}')}`,
    table("Tube label,Karma", "z,1"),
  );
  expect(chosen.report.columns.map(({ source }) => source)).toEqual(["guessed", "chosen"]);
});

test.each([
  ["day", "3/9/2026", "2026-09-03"],
  ["month", "3/9/2026", "2026-03-09"],
  ["month", "31/12/2027", "2027-12-31"],
  ["day", "12/31/2027", "2027-12-31"],
  ["day", "31.12.27", "2027-12-31"],
  ["day", "31 Dec 2027", "2027-12-31"],
  ["day", "Dec 31, 2027", "2027-12-31"],
  ["day", "Dec-2027", "2027-12-31"],
  ["day", "Sept 2027", "2027-09-30"],
  ["day", "2027-02", "2027-02-28"],
  ["day", "46356", "2026-11-30"],
  ["day", "2027/1/5", "2027-01-05"],
  ["month", "12/31/2027 00:00", "2027-12-31"],
  ["day", "none", null],
  ["day", "31.02.2027", "Exp: February 2027 has 28 days."],
  ["day", "13/13/2027", "Exp: Expected a date, such as 2027-12-31 or 31 Dec 2027."],
  ["day", "soon", "Exp: Expected a date, such as 2027-12-31 or 31 Dec 2027."],
])("with the %s first, %p is %p", async (dates, text, expected) => {
  const { report } = await send(IMPORT + query({ dates, dry_run: "1" }), table("name,Exp", `x,"${text}"`));
  const [error] = report.errors;
  expect(error ? `${error.column}: ${error.message}` : report.preview[0].values.expiry).toBe(expected);
});

test("tells the order of days and months from the dates of the file", async () => {
  const order = async (...dates: string[]) =>
    (await send(`${IMPORT}?dry_run=1`, table("name,expiry", ...dates.map((date) => `x,${date}`)))).report
      .dates;
  expect(await order("3/9/2026", "12/31/2027")).toEqual({ order: "month", example: "3/9/2026" });
  expect(await order("3/9/2026", "31/12/2027")).toEqual({ order: "day", example: "3/9/2026" });
  expect(await order("2026-09-03")).toEqual({ order: "day", example: null });
});

test.each([
  ["Vol", "100 µl", "100 µL"],
  ["Vol", "0,2 mL", "0.2 mL"],
  ["Vol", "50", "50 mg"],
  ["Vol (ul)", "50", "50 µL"],
  ["Vol (ul)", "1 mL", "1 mL"],
  ["Vol", "~5 ul", "5 µL"],
  ["Vol", "ca. 5 mls", "5 mL"],
  ["Vol", "1,500.5 ul", "1500.5 µL"],
  ["Vol", "1,500 ul", "1,500 may be 1500 or 1.5."],
  ["Vol", "5 blobs", "blobs is not a unit. Write one such as mL, L, µL, nL, mg, g, kg, µg, ng, pg."],
  ["Vol", "a few", "A valid number is required."],
])("under %p, %p is %p", async (header, text, expected) => {
  const { report } = await send(
    IMPORT + query({ unit: "mg", dry_run: "1" }),
    table(`name,${header}`, `x,"${text}"`),
  );
  const { amount, unit } = report.preview[0].values;
  expect(report.errors[0]?.message ?? `${String(amount)} ${String(unit)}`).toBe(expected);
});

test("refuses parameters that it does not know", async () => {
  for (const [given, message] of [
    [
      { rows: '{"2": {"karma": 1}}' },
      'rows: Expected an object such as {"21": {"cells": {"Header": "text"}}}.',
    ],
    [{ unit: "blob" }, 'unit: "blob" is not a unit. Choices: such as µL, mL, mg or µM.'],
    [{ format: "waiting" }, "format: Choices: csv, waiting-csv, waiting-xlsx."],
  ] as const)
    expect((await send(IMPORT + query(given as never), table("name", "x"))).report.message).toBe(message);
});

test("reads sheets with the same headers by a remembered mapping, one's own or a shared one", async () => {
  const query = String(
    new URLSearchParams({
      mapping: '{"Vol":"minimum_amount","Karma":"lot","Name":"name"}',
      dates: "month",
      unit: "mL",
    }),
  );
  const body = { name: "Freezer list", list: "stocks/consumables", kind: "import", query };
  const { body: view } = await lab.send("alice", "POST", "views/", body);
  expect(view.kind).toBe("import");
  const file = table("Name,Karma,Vol", "x,L1,3");
  const read = async (as: string, more = ""): Promise<ImportReport> =>
    (await send(`${IMPORT}?dry_run=1&partial=1${more}`, file, as)).report;
  const used = await read("alice");
  expect(used.remembered).toEqual({ id: String(view.id), name: "Freezer list", mine: true, same: true });
  expect(used.preview[0].values).toEqual({ name: "x", lot: "L1", minimum_amount: 3, unit: "mL" });
  expect(used.dates.order).toBe("month");
  // A mapping that is given holds as it is.
  const given = await read("alice", `&mapping=${encodeURIComponent('{"Karma":null}')}`);
  expect([given.remembered!.same, given.preview[0].values.amount]).toEqual([false, 3]);
  // Only its owner may view it, until it is shared.
  await lab.accounts.addUser({ username: "carol", group: "Genomics" });
  lab.tokens.carol = lab.accounts.addToken("carol", "test");
  expect((await read("carol")).remembered).toBeUndefined();
  const groups = [{ group: "Genomics", view: true }];
  await lab.send("alice", "PATCH", `views/${String(view.id)}/permissions/`, { groups });
  expect((await read("carol")).remembered).toMatchObject({ name: "Freezer list", mine: false, same: true });
  expect((await read("bob")).remembered).toBeUndefined();
  // Others' mappings are proposed, and not used unseen.
  const real = await send(`${IMPORT}?partial=1`, file, "carol");
  expect(real.report).toMatchObject({ remembered: { mine: false, same: false }, created: 1 });
  expect(real.report.preview[0].values).toEqual({ name: "x", amount: 3 });
  const other = await send(`${IMPORT}?dry_run=1&partial=1`, table("Name,Vol", "x,3"));
  expect(other.report.remembered).toBeUndefined();
});

test.each(["", "mapping=no", "mapping=[]", 'mapping={"a":1}'])(
  "a view of imports needs a mapping, not %p",
  async (query) => {
    const body = { name: "X", list: "stocks/consumables", kind: "import", query };
    expect((await lab.send("alice", "POST", "views/", body)).body.query).toEqual([
      'Expected mapping={"Header": "field", "Other": null}.',
    ]);
  },
);

test("says which slots of boxes the rows take, and which rows have errors there", async () => {
  const rows = ["a,Box 1,a01", "b,Box 1,A2", "c,Box 1,A2", "d,Nowhere,A3", "e,Box 1,", "f,Tray / New,A1"];
  const { report } = await send(`${IMPORT}?dry_run=1&partial=1`, table("name,location,position", ...rows));
  expect(report.boxes).toEqual([
    { id: expect.any(String), name: "Box 1", slots: { A1: "created", A2: "waiting" } },
  ]);
  // A box that the caller may not view is not described.
  const hidden = { label: "Hidden", grid_rows: 1, grid_columns: 1, public: false };
  const { body: box } = await lab.send("bob", "POST", "locations/", hidden);
  const byId = await send(`${IMPORT}?dry_run=1`, table("name,location,position", `x,${String(box.id)},A1`));
  expect([byId.report.boxes, byId.report.waiting, byId.report.created]).toEqual([[], 0, 0]);
  const done = await send(`${IMPORT}?partial=1`, table("name,location,position", ...rows));
  expect([done.report.boxes, done.report.preview.map(({ row, outcome }) => [row, outcome])]).toEqual([
    undefined,
    expect.arrayContaining([
      [2, "created"],
      [4, "waiting"],
      [5, "waiting"],
    ]),
  ]);
});
