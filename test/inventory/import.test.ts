import { afterEach, beforeEach, expect, test } from "bun:test";
import { openXlsx, writeXlsx } from "hucre/xlsx";
import { type Lab, openLab } from "./harness.ts";
import { textIndexErrors } from "./text-index.ts";
import { counts, makeImports, table } from "./import-files.ts";
import { IDS } from "./sample.ts";

/** Imports create and update records: all rows of a file or none. */

let lab: Lab;
beforeEach(async () => {
  lab = await openLab();
});
afterEach(() => lab.database.close());

const { send, imported, records } = makeImports(() => lab);

test("with match=name an import updates records with the same name, and repeating it changes nothing", async () => {
  const file = table("Name;Model type;Amount;Public", "Taq;ENZYME;1.5;true", "Pfu;ENZYME;;");
  expect(await imported("consumables/import/", file)).toEqual([2, 0, 0, 0]);
  expect(await records("consumables/?fields=name,model_type,amount,public&model_type=ENZYME")).toEqual([
    { name: "Pfu", model_type: "ENZYME", amount: null, public: false },
    { name: "Taq", model_type: "ENZYME", amount: 1.5, public: true },
  ]);
  const changed = file.replace("1.5", "2");
  expect(await imported("consumables/import?match=name", changed)).toEqual([0, 1, 1, 0]);
  expect(await imported("consumables/import/?match=name", changed)).toEqual([0, 0, 2, 0]);
  expect(await imported("consumables/import/", changed)).toEqual([2, 0, 0, 0]);
});

test("importing an unchanged export changes nothing", async () => {
  await send("consumables/import/", table("name,description,amount", '=1+1,"\'a, ""b""\nc",0.25', "ä 😀,,"));
  const segments = [
    "consumables",
    "locations",
    "annotationtypes",
    "experiments",
    "vocabularies/terms",
    "addresses",
  ];
  for (const path of segments.flatMap((segment) => [`${segment}/?format=csv`, `${segment}/?format=xlsx`])) {
    const { bytes } = await lab.bytes("GET", `${path}&fields=*`, { as: "admin" });
    const { status, report } = await send(path.replace(/\?.*/, "import/"), bytes, "admin");
    expect([path, status, report.errors]).toEqual([path, 200, []]);
    expect([path, ...counts(report)]).toEqual([path, 0, 0, report.rows, 0]);
    expect(report.rows).toBeGreaterThan(0);
  }
});

test("updates edited cells of an export, and clears emptied ones", async () => {
  const { bytes } = await lab.bytes("GET", "locations/?format=csv&fields=id,label,description,place", {
    as: "admin",
  });
  const text = new TextDecoder().decode(bytes).replace("Antibodies", "").replace("drawer", "Drawer 1");
  const { report } = await send("locations/import/", text, "admin");
  expect(counts(report)).toEqual([0, 2, 2, 0]);
  const after = await lab.ask("GET", `locations/${IDS.shelf}/?fields=label,description,place`);
  expect(after.body).toEqual({ label: "Shelf 1", description: "", place: IDS.a101 });
});

test("writes nothing if a cell is invalid, and lists all invalid cells", async () => {
  const head = "name,amount,location,public";
  const file = table(head, "good,1,,", "bad,many,Nowhere,perhaps", ",2,,", "negative,-1,,");
  for (const query of ["", "?dry_run=1"]) {
    const { status, report } = await send(`consumables/import/${query}`, file);
    expect(status).toBe(query === "" ? 400 : 200);
    expect(report.message).toBe("Row 3, amount: A valid number is required.");
    expect(report.errors).toEqual([
      { row: 3, column: "amount", message: "A valid number is required." },
      { row: 3, column: "public", message: "Must be a valid boolean." },
      { row: 3, column: "location", message: '"Nowhere" is not a place.' },
      { row: 4, column: "name", message: "This field is required." },
      { row: 5, column: "amount", message: "Ensure this value is greater than or equal to 0." },
    ]);
  }
  expect(await records("consumables/?name=good")).toEqual([]);
});

test("reports a dry run without writing", async () => {
  const tables = ["consumable", "location", "record_change", "record_batch"];
  const snapshot = () => tables.map((name) => lab.database.query(`SELECT * FROM ${name}`).all());
  const before = snapshot();
  const { status, report } = await send(
    "consumables/import/?dry_run=1",
    table("name,location", "x,A / 1 / Box"),
  );
  expect(status).toBe(200);
  expect(report).toMatchObject({ dry_run: true, created: 1, locations_made: 3, errors: [], batch: null });
  expect(snapshot()).toEqual(before);
});

test("creates the missing locations of a path once", async () => {
  const file = table(
    "path,description",
    "A / 2 / Room 5 / Freezer 1 / Shelf 3,cold",
    "A/2/Room 5/Freezer 1/Shelf 4,",
    "A / 2,upstairs",
  );
  const { report } = await send("locations/import/", file);
  // The third row describes a location that the first one made.
  expect(report).toMatchObject({ created: 3, updated: 0, locations_made: 3, errors: [] });
  const [shelf] = await records(
    "locations/?label=Shelf 3&fields=label,description,equipment,place,parent__label,parent__parent__label",
  );
  expect(shelf).toEqual({
    label: "Shelf 3",
    description: "cold",
    equipment: IDS.freezer,
    place: IDS.a101,
    parent__label: "Freezer 1",
    parent__parent__label: "Room 5",
  });
  expect(await imported("locations/import/?match=name", file)).toEqual([0, 0, 3, 0]);
  const again = await send("locations/import/", file);
  expect(again.report.errors).toHaveLength(3);
  expect(again.report.errors[0]).toMatchObject({ row: 2, column: "path" });
  const made = await send("specimens/import/", table("name,location", "Fish 1,A / 2 / Room 5 / Tank 9"));
  expect(made.report).toMatchObject({ created: 1, locations_made: 1 });
});

test("finds locations by the end of their path, also below equipment and rooms", async () => {
  const build = async (freezer: string, shelf: string) => {
    const levels = [
      { list: "places", name: `Room of ${freezer}` },
      { list: "equipment", name: freezer },
      { list: "locations", name: shelf },
      { list: "locations", name: "Box {1..2}" },
    ];
    expect((await lab.send("alice", "POST", "locations/build/", { levels })).status).toBe(201);
  };
  await build("North", "Top");
  await build("South", "Top");
  const places = ["South / Top / Box 2", "North/Top", "Room of South / South / Top", "Top / Box 2", "Box 2"];
  const file = table("name,location", ...places.map((place, i) => `tube ${i},${place}`));
  const { report } = await send("consumables/import/", file);
  const message =
    "Several locations match. Put what contains it before the label, such as Freezer 1 / Shelf 3, or give the id.";
  expect(report.errors).toEqual([5, 6].map((row) => ({ row, column: "location", message })));
  const found = await send("consumables/import/", file.split("\r\n").slice(0, 4).join("\r\n"));
  expect(found.report).toMatchObject({ created: 3, locations_made: 0, errors: [] });
  const fields = "location__label,location__equipment__name,location__place__room";
  const rows = await records(`consumables/?name=tube&ordering=name&fields=${fields}&response_format=flat`);
  expect(rows.map((row) => Object.values(row).join())).toEqual([
    "Box 2,South,Room of South",
    "Top,North,Room of North",
    "Top,South,Room of South",
  ]);
});

test("understands labels of fields, constants in words, and new units", async () => {
  const file = table(
    "Name,Type,Status,Amount,Unit",
    "p1,restriction enzyme,Available,2,vial",
    "p2,OTHER,,3,vial",
  );
  const { report } = await send("consumables/import/", file);
  expect(report).toMatchObject({ created: 2, units_made: 1, errors: [] });
  expect(report.columns[1]).toEqual({ header: "Type", field: "model_type", source: "same" });
  const fields = "model_type,status,unit__name,unit__category__kind";
  expect(await records(`consumables/?name=p1&fields=${fields}&response_format=flat`)).toEqual([
    {
      model_type: "RESTRICTION_ENZYME",
      status: "AVAILABLE",
      unit__name: "vial",
      unit__category__kind: "unit",
    },
  ]);
  const again = await send("consumables/import/?match=name", file);
  expect(again.report).toMatchObject({ unchanged: 2, units_made: 0 });
});

test("renames, ignores or rejects columns", async () => {
  const file = table("Bezeichnung,Menge,Rest", "x,3,?");
  const refused = await send("consumables/import/", file.replace("Menge", "amuont"));
  expect(refused.status).toBe(400);
  expect(refused.report.errors.map(({ column }) => column)).toEqual(["Bezeichnung", "amuont", "Rest"]);
  expect(refused.report.errors[1].message).toContain("Did you mean amount?");
  const mapping = encodeURIComponent('{"Bezeichnung": "name", "Menge": "amount", "Rest": null}');
  const { report } = await send(`consumables/import/?mapping=${mapping}`, file);
  expect(report.columns).toEqual([
    { header: "Bezeichnung", field: "name", source: "chosen" },
    { header: "Menge", field: "amount", source: "chosen" },
    { header: "Rest", field: null, source: "chosen" },
  ]);
  expect(counts(report)).toEqual([1, 0, 0, 0]);
});

test("respects the permissions of the caller", async () => {
  const { report } = await send("specimens/import/", table("id,name", `${IDS.hidden},mine`), "bob");
  expect(report.errors).toEqual([{ row: 2, column: "id", message: "No record has this id." }]);
  const foreign = await send("specimens/import/", table("id,name", `${IDS.fish},mine`), "bob");
  expect(foreign.report.errors).toEqual([
    { row: 2, column: null, message: "You do not have permission to perform this action. Ask admin." },
  ]);
  // The name of a record that bob may not view is free for him.
  expect(await imported("specimens/import/", table("name", "Fish 13"), "bob")).toEqual([1, 0, 0, 0]);
  expect((await lab.bytes("POST", "specimens/import/", { body: "name\r\nx\r\n" })).status).toBe(401);
});

test("an import writes one batch, which can be undone", async () => {
  const { report, headers } = await send("projects/import/", table("name", "a", "b"));
  expect(report.batch).toMatch(/^[0-9a-f-]{36}$/);
  expect(headers.get("batch-id")).toBe(report.batch);
  expect((await lab.send("alice", "POST", `batches/${report.batch}/undo/`)).status).toBe(200);
  expect(await records("projects/?owner=alice")).toEqual([]);
});

test("accepts a form with a spreadsheet from another program", async () => {
  const heads = ["name", "start_date", "is_frozen"];
  const rows = [heads, ["dated", new Date("2026-05-06T00:00:00Z"), true]];
  const bytes = (await writeXlsx({ sheets: [{ name: "Sheet1", rows }] })) as Uint8Array<ArrayBuffer>;
  const form = new FormData();
  form.append("file", new File([bytes], "experiments.xlsx"));
  expect(await imported("experiments/import/", form)).toEqual([1, 0, 0, 0]);
  const [record] = await records("experiments/?name=dated&response_format=flat&fields=start_date,is_frozen");
  expect(record).toEqual({ start_date: "2026-05-06", is_frozen: true });
});

test("accepts UTF-16 files with tabs", async () => {
  const little = Buffer.from(`\ufeff${table("name\tdescription", "Böcke\tfür Kühlschränke")}`, "utf16le");
  expect(await imported("projects/import/", Uint8Array.from(little))).toEqual([1, 0, 0, 0]);
  expect(await imported("projects/import/", Uint8Array.from(little.swap16()))).toEqual([1, 0, 0, 0]);
  const [record] = await records("projects/?name=Böcke&response_format=flat&fields=description");
  expect(record).toEqual({ description: "für Kühlschränke" });
});

test("rejects files of other types", async () => {
  for (const [body, message] of [
    ["", "The file is empty. Its first row must name the columns."],
    [new Uint8Array([0x6e, 0xff, 0, 0, 0x0a]), "The file must be XLSX, or CSV in UTF-8."],
    [
      new Uint8Array([0xd0, 0xcf, 0x11, 0xe0, 0xa1]),
      "This is a workbook of an old Excel (.xls). Save it as XLSX or CSV.",
    ],
    [
      "PK\x03\x04 no zip, but long enough",
      "The file is truncated: it is neither a spreadsheet (XLSX) nor an archive (.eln).",
    ],
  ] as const) {
    const { status, report } = await send("projects/import/", body);
    expect([status, report.message]).toEqual([400, message]);
  }
  expect((await send("projects/import/?nothing=1", "name\r\n")).status).toBe(400);
});

test("provides a template with drop-down lists", async () => {
  const { status, headers, bytes } = await lab.bytes("GET", "consumables/import/", { as: "bob" });
  expect(status).toBe(200);
  expect(headers.get("content-disposition")).toBe('attachment; filename="stocks-consumables-template.xlsx"');
  const { sheets } = await openXlsx(bytes);
  expect(sheets.map(({ name }) => name)).toEqual(["consumable", "choices", "columns"]);
  expect(sheets[0].rows[0].slice(0, 4)).toEqual(["id", "name", "description", "model_type"]);
  const [heads, ...rows] = sheets[1].rows;
  const choices = (name: string) => rows.map((row) => row[heads.indexOf(name)]).filter((value) => value);
  expect(choices("unit")).toEqual(["gram", "kidney", "liver"]);
  expect(choices("location")).toEqual(["Bench ÄÖ", "Shelf 1", "drawer"]);
  expect(choices("public")).toEqual(["true", "false"]);
  const validated = sheets[0].dataValidations?.map(({ range, formula1 }) => `${range} ${formula1}`) ?? [];
  const unit = String.fromCharCode(65 + sheets[0].rows[0].indexOf("unit"));
  expect(validated.some((text) => text.startsWith(`${unit}2:`))).toBe(true);
  // The template itself, empty, is a file that does nothing.
  expect(await imported("consumables/import/", bytes, "bob")).toEqual([0, 0, 0, 0]);
});

test("streams progress as JSON lines that end with the report", async () => {
  const file = table("name", ...Array.from({ length: 1200 }, (_, i) => `p${i}`));
  const path = "projects/import/?progress=1";
  const { headers, bytes } = await lab.bytes("POST", path, { as: "alice", body: file });
  expect(headers.get("content-type")).toBe("application/x-ndjson");
  const text = new TextDecoder().decode(bytes).trim();
  const lines = text.split("\n").map((line) => JSON.parse(line));
  expect(lines.slice(0, 4)).toEqual([0, 500, 1000, 1200].map((rows) => ({ phase: "reading", rows })));
  expect(lines[4]).toEqual({ phase: "writing", rows: 1200, checked: 0, written: 0 });
  expect(lines.at(-1).report).toMatchObject({ rows: 1200, created: 1200, errors: [] });
});

test("search finds all records of a large import, also after later changes", async () => {
  await send("consumables/import/", table("name,description", "Old tube,Kept in the vestibule"));
  const rows = Array.from({ length: 1100 }, (_, i) => `Tube ${i},Description ${i % 7} of the zymogen`);
  const file = table("name,description", "Old tube,Moved to the atrium", ...rows);
  const schema = (): unknown[] =>
    lab.database.query("SELECT name, sql FROM sqlite_schema ORDER BY name").all();
  const found = async (word: string): Promise<number> =>
    Number(
      (await lab.send("alice", "GET", `consumables/?description__icontains=${word}&page_size=1`)).body.total,
    );
  const indexed = () => lab.database.query("SELECT count(*) AS n FROM record_text_consumable_docsize").get();
  const before = { schema: schema(), indexed: indexed() };
  expect(await imported("consumables/import/?dry_run=1&match=name", file)).toEqual([1100, 1, 0, 0]);
  expect((await send("consumables/import/", `${file},nameless\r\n`)).status).toBe(400);
  expect({ schema: schema(), indexed: indexed() }).toEqual(before);
  expect(await imported("consumables/import/?match=name", file)).toEqual([1100, 1, 0, 0]);
  const last = table("name,description", "Tube 3,Changed in the pergola");
  expect(await imported("consumables/import/?match=name", last)).toEqual([0, 1, 0, 0]);
  expect(schema()).toEqual(before.schema);
  await lab.send("alice", "POST", "consumables/", { name: "Later", description: "Another zymogen" });
  const words = ["zymogen", "pergola", "atrium", "vestibule", "description 3"];
  expect(await Promise.all(words.map(found))).toEqual([1100, 1, 1, 0, 156]);
  expect(textIndexErrors(lab.database)).toEqual([]);
});

test("puts a new box into the place that the beginning of its path means, with slots if rows name some", async () => {
  const levels = [{ list: "equipment", name: "Freezer 7" }, { name: "Shelf 7" }, { name: "Rack 7" }];
  expect((await lab.send("alice", "POST", "locations/build/", { levels })).status).toBe(201);
  const { report } = await send(
    "specimens/import/",
    table(
      "name,location,position",
      "a,Freezer 7 / Shelf 7 / Rack 7 / Box 7,B2",
      "b,Shelf 7 / Rack 7 / Drawer 7,",
    ),
  );
  expect(report).toMatchObject({ created: 2, locations_made: 2, errors: [] });
  const made = await records(
    "locations/?label__in=Box 7,Drawer 7&fields=label,parent__label,equipment__name,grid_rows&ordering=label",
  );
  const inRack = { parent__label: "Rack 7", equipment__name: "Freezer 7" };
  expect(made).toEqual([
    { label: "Box 7", ...inRack, grid_rows: 9 },
    { label: "Drawer 7", ...inRack, grid_rows: null },
  ]);
});

test("says that equipment is not a place, with an example of one in it", async () => {
  const levels = [{ list: "equipment", name: "Freezer 8" }, { name: "Shelf 8" }];
  expect((await lab.send("alice", "POST", "locations/build/", { levels })).status).toBe(201);
  const { report } = await send("specimens/import/", table("name,location", "a,Freezer 8"));
  const message = '"Freezer 8" is equipment. Name a place in it, such as Freezer 8 / Shelf 1 / Box 1.';
  expect(report.errors).toEqual([{ row: 2, column: "location", message }]);
});
