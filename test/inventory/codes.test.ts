import { afterEach, beforeEach, expect, test } from "bun:test";
import { parseCodePattern } from "../../src/inventory/model/code-pattern.ts";
import { openStore } from "../../src/inventory/records/store.ts";
import { openDatabase } from "../../src/platform/sqlite.ts";
import { MIGRATIONS } from "../../db/index.ts";
import { scratch } from "../scratch.ts";
import { type Answered, type Lab, openLab } from "./harness.ts";
import { makeImports, table } from "./import-files.ts";
import { IDS } from "./sample.ts";

/** New records without a barcode get the next code by the pattern of their list and type. */

let lab: Lab;
beforeEach(async () => {
  lab = await openLab();
  await setPattern("CO{7}");
});
afterEach(() => lab.database.close());
const { send } = makeImports(() => lab);

const setPattern = async (pattern: string, more: object = {}, as = "admin") => {
  const body = { pattern, list: "stocks/consumables", ...more };
  return lab.send(as, "POST", "codepatterns/", body);
};
const add = async (values: object = {}, as = "alice", query = "") =>
  (await lab.send(as, "POST", `consumables/${query}`, { name: "Tube", ...values })).body;
const codes = (): string[] =>
  (
    lab.database.query("SELECT barcode FROM consumable WHERE barcode LIKE 'CO%' ORDER BY barcode").all() as {
      barcode: string;
    }[]
  ).map(({ barcode }) => barcode);

test.each([
  ["CO{7}", { before: "CO", digits: 7, after: "" }],
  ["{4}/x", { before: "", digits: 4, after: "/x" }],
  ["none", undefined],
  ["CO", undefined],
  ["CO{0}", undefined],
  ["CO{13}", undefined],
  ["C{2}{3}", undefined],
  ["C{2}}", undefined],
  ["CÖ{2}", undefined],
  ["C {2}", undefined],
  [`${"C".repeat(39)}{2}`, undefined],
])("reads the pattern %s", (text, parts) => expect(parseCodePattern(text)).toEqual(parts!));

test("every way to add a record gives it a code", async () => {
  expect((await add()).barcode).toBe("CO0000001");
  const bulk = await lab.send("alice", "POST", "consumables/", [{ name: "A" }, { name: "B", barcode: "" }]);
  expect((bulk.body as unknown as { barcode: string }[]).map(({ barcode }) => barcode)).toEqual([
    "CO0000002",
    "CO0000003",
  ]);
  await send("consumables/import/", table("name,barcode", "C,", "D,LAB-77"));
  const { id } = await add({ amount: 10 });
  const divided = await lab.send("alice", "POST", `consumables/${String(id)}/aliquots/`, {
    count: 2,
    amount: 1,
  });
  expect(divided.status).toBe(201);
  const order = await lab.send("alice", "POST", "stocks/orders/", { name: "Ligase" });
  const received = await lab.send("alice", "POST", `stocks/orders/${String(order.body.id)}/receive/`, {
    tubes: 2,
  });
  expect([order.status, received.status]).toEqual([201, 201]);
  expect(codes()).toEqual(Array.from({ length: 9 }, (_, i) => `CO${String(i + 1).padStart(7, "0")}`));
  await setPattern("LO{3}", { list: "locations" });
  const plan = { place: IDS.a101, levels: [{ list: "locations", name: "Rack {1..3}" }] };
  expect((await lab.send("admin", "POST", "locations/build/", plan)).status).toBe(201);
  const built = lab.database.query("SELECT barcode FROM location WHERE label LIKE 'Rack _' ORDER BY label");
  expect(built.all()).toEqual([{ barcode: "LO001" }, { barcode: "LO002" }, { barcode: "LO003" }]);
});

test("a given code stays, an emptied one stays empty, and both are never given again", async () => {
  const { id } = await add();
  expect((await add({ barcode: "CO0000002" })).barcode).toBe("CO0000002");
  expect((await lab.send("alice", "PATCH", `consumables/${String(id)}/`, { barcode: "" })).body.barcode).toBe(
    "",
  );
  expect((await add()).barcode).toBe("CO0000003");
});

test("codes that later rows of a file or of a list bring are not given to earlier ones", async () => {
  const { report } = await send("consumables/import/", table("name,barcode", "A,", "B,CO0000001", "C,"));
  expect(report.created).toBe(3);
  expect(codes()).toEqual(["CO0000001", "CO0000002", "CO0000003"]);
  const bodies = [{ name: "D" }, { name: "E", barcode: "CO0000004" }, { name: "F", barcode: "" }];
  await lab.send("alice", "POST", "consumables/", bodies);
  expect(codes().slice(3)).toEqual(["CO0000004", "CO0000005", "CO0000006"]);
});

test("codes of hidden and deleted records, and of other lists, are left out; nothing says so", async () => {
  await add({ barcode: "CO0000001" }, "bob");
  const { id } = await add({ barcode: "CO0000002" });
  await lab.send("alice", "DELETE", `consumables/${String(id)}/`);
  await lab.send("alice", "POST", "specimens/", { name: "Fish", barcode: "CO0000003" });
  // Longer and shorter numbers, and other texts, are no codes of the pattern.
  for (const barcode of ["CO00000090", "CO90", "COLD12345", "CO00000x9"]) await add({ barcode });
  expect((await add()).barcode).toBe("CO0000004");
});

test("a new pattern continues after the codes in use", async () => {
  await add({ barcode: "AB-0041-x" }, "bob");
  await setPattern("AB-{4}-x", { model_type: "ANTIBODY" });
  expect((await add({ model_type: "ANTIBODY" })).barcode).toBe("AB-0042-x");
  expect((await add({ model_type: "ENZYME" })).barcode).toBe("CO0000001");
  expect((await setPattern("none", { model_type: "OLIGO" })).status).toBe(201);
  expect((await add({ model_type: "OLIGO" })).barcode).toBe("");
  lab.database.run("UPDATE code_counter SET last = 9999 WHERE pattern = 'AB-{4}-x'");
  expect((await add({ model_type: "ANTIBODY" })).barcode).toBe("AB-10000-x");
});

test("only administrators set patterns, one for each list and type", async () => {
  const refused = async (...[pattern, more, as]: Parameters<typeof setPattern>) => {
    const { status, body } = await setPattern(pattern, more, as);
    return [status, body.message];
  };
  expect(await refused("AB{3}", { model_type: "ANTIBODY" }, "alice")).toEqual([
    400,
    "pattern: Only an administrator may set patterns of codes.",
  ]);
  expect(await refused("XX{7}")).toEqual([
    400,
    "list: There is already a pattern for this list and type. Change that one.",
  ]);
  expect(await refused("XX")).toEqual([400, expect.stringContaining("such as CO{7}, or none")]);
  expect(await refused("XX{2}", { list: "locations", model_type: "BOX" })).toEqual([
    400,
    "model_type: Records of this list have no types.",
  ]);
  expect(await refused("XX{2}", { list: "core/projects" })).toEqual([400, expect.stringContaining("list")]);
  const { results } = (await lab.send("admin", "GET", "codepatterns/")).body as { results: { id: string }[] };
  for (const method of ["PATCH", "DELETE"])
    expect((await lab.send("alice", method, `codepatterns/${results[0].id}/`, {})).status).toBe(404);
  await lab.send("admin", "DELETE", `codepatterns/${results[0].id}/`);
  expect((await add()).barcode).toBe("");
});

test("a dry run shows the code, and confirms what is written after other records", async () => {
  const dry = await add({}, "alice", "?dry_run=1");
  expect(JSON.stringify(dry.changes)).toContain("CO0000001");
  expect(codes()).toEqual([]);
  await add({}, "bob");
  const made = await add({}, "alice", `?confirm=${String(dry.confirm)}`);
  expect(made.barcode).toBe("CO0000002");
  const other = await lab.send("alice", "POST", `consumables/?confirm=${String(dry.confirm)}`, {
    name: "Tube",
    barcode: "mine",
  });
  expect(other.status).toBe(409);
});

test("undone records keep their codes", async () => {
  const undo = async (answer: Answered): Promise<Answered> => {
    const undone = await lab.send("alice", "POST", `batches/${answer.headers.get("batch-id")}/undo/`);
    expect(undone.status).toBe(200);
    return undone;
  };
  const undone = await undo(await lab.send("alice", "POST", "consumables/", { name: "Tube" }));
  expect((await add()).barcode).toBe("CO0000002");
  await undo(undone);
  expect(codes()).toEqual(["CO0000001", "CO0000002"]);
});

test("eight clients and another connection get different codes", async () => {
  using folder = scratch();
  const path = `${folder.directory}/labd.sqlite`;
  const shared = await openLab({ path });
  await shared.send("admin", "POST", "codepatterns/", { pattern: "CO{7}", list: "stocks/consumables" });
  const other = openDatabase(path, MIGRATIONS);
  const store = openStore(other, shared.clock);
  const consumable = store.resources.get("consumable")!;
  const actor = { user: 2, username: "admin", superuser: true, groups: [], primaryGroup: 1 };
  await Promise.all(
    Array.from({ length: 8 }, async (_, client) => {
      for (let i = 0; i < 10; i++) {
        const { status } = await shared.send(client % 2 ? "alice" : "bob", "POST", "consumables/", {
          name: `Tube ${client} ${i}`,
        });
        expect(status).toBe(201);
        if (client === 0) store.write((writer) => writer.create(consumable, { name: `Thread ${i}` }, actor));
      }
    }),
  );
  const found = other.query("SELECT barcode FROM consumable WHERE barcode LIKE 'CO%' ORDER BY barcode").all();
  expect(found.map((row) => (row as { barcode: string }).barcode)).toEqual(
    Array.from({ length: 90 }, (_, i) => `CO${String(i + 1).padStart(7, "0")}`),
  );
  other.close();
  shared.database.close();
});

test("the statements of a code read no table row by row", () => {
  const plans = ["consumable", "specimen", "location", "equipment", "sample"].flatMap((name) => {
    const taken = lab.database.prepare(`EXPLAIN QUERY PLAN SELECT 1 FROM ${name} WHERE barcode = 'x'`).all();
    return taken.map((step) => (step as { detail: string }).detail);
  });
  expect(plans.filter((step) => !step.includes("barcode=?"))).toEqual([]);
});
