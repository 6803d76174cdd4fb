import { afterEach, beforeEach, expect, test } from "bun:test";
import { unitOperations } from "../../src/inventory/api/route-units.ts";
import type { Json } from "../../src/inventory/model/field.ts";
import { convertAmount } from "../../src/inventory/model/unit.ts";
import { type Answered, type Lab, openLab } from "./harness.ts";

/** Merging units of the same meaning, such as ul and µL. */

let lab: Lab;
let category: string;
beforeEach(async () => {
  lab = await openLab();
  category = await make("vocabularies/categories", { name: "Volumes", kind: "unit", public: true });
});
afterEach(() => lab.database.close());

type Values = Record<string, Json>;

async function make(list: string, values: object, as = "alice"): Promise<string> {
  const made = await lab.send(as, "POST", `${list}/`, values);
  expect([made.text, made.status]).toEqual([made.text, 201]);
  return String(made.body.id);
}
const read = async (path: string, as = "alice"): Promise<Values> => (await lab.send(as, "GET", path)).body;
const unit = (name: string, values: object = {}, as = "alice") =>
  make("vocabularies/terms", { name, category, public: true, ...values }, as);
const merge = (from: string, into: string, query = "", as = "alice"): Promise<Answered> =>
  lab.send(as, "POST", `vocabularies/terms/merge/${query}`, { merges: [{ from, into }] });

/** Everything that refers to units: stock, a product, metadata with several values, and a default value. */
async function fill(from: string, into: string) {
  const product = await make("stocks/products", { name: "Ligase", unit: from, minimum_amount: 100 });
  const tubes = [
    await make("stocks/consumables", { name: "A", product, amount: 20, minimum_amount: 5, unit: from }),
    await make("stocks/consumables", { name: "B", product, amount: 30.5, unit: into }),
    await make("stocks/consumables", { name: "C", product, amount: 0.25, unit: from, public: false }),
  ];
  const specimen = await make("stocks/specimen", { name: "S", amount: 7, unit: from });
  const type = await make("annotationtypes", {
    name: "volumes",
    type: "NUMBERUNIT",
    multiple: true,
    unit_category: category,
    default: "5 ul",
  });
  const value = [
    { value: 1.5, unit: from },
    { value: 2, unit: into },
  ];
  await make(`stocks/consumables/${tubes[0]}/annotations`, { annotation_type_id: type, value });
  return { product, tubes, specimen, type };
}

const LISTS = [
  "stocks/consumables",
  "stocks/specimen",
  "stocks/products",
  "vocabularies/terms",
  "annotationtypes",
];
/** All records of these lists as an administrator sees them, without what every write changes. */
async function dump(): Promise<string> {
  const parts = LISTS.map(async (list) => {
    const { results } = await read(
      `${list}/?page_size=max&fields=*,annotations__*&response_format=flat`,
      "admin",
    );
    return (results as Values[]).map((record) =>
      JSON.stringify(record, (name, value) => (/^(version|modified.*)$/.test(name) ? undefined : value)),
    );
  });
  return (await Promise.all(parts)).flat().toSorted().join("\n");
}

const total = async (product: string) => {
  const [row] = (await read(`stocks/products/running_out/?product=${product}`)).results as Values[];
  return {
    ...row,
    inLiters: convertAmount({ value: Number(row.left), unit: String(row.unit) }, "L"),
    unit: null,
  };
};

test("all references move to the other unit, totals stay, and undo brings everything back", async () => {
  const [from, into] = [await unit("ul"), await unit("microliter", { label: "µL" })];
  const { product, tubes, type } = await fill(from, into);
  const [before, stock] = [await dump(), await total(product)];
  const preview = await merge(from, into, "?dry_run=1");
  // Product, two consumables, specimen, type, the unit itself; and the annotation.
  expect(preview.body).toMatchObject({ dry_run: true, count: 7, records: 6 });
  expect(await dump()).toBe(before);

  const merged = await merge(from, into, `?confirm=${String(preview.body.confirm)}`);
  expect([merged.status, merged.body]).toEqual([200, { merged: 1 }]);
  const expected = before
    .split("\n")
    .filter((line) => !line.startsWith(`{"id":"${from}"`))
    .map((line) =>
      line
        .replaceAll(from, into)
        .replaceAll('"unit":{"id":"' + into + '","name":"ul"}', `"unit":{"id":"${into}","name":"microliter"}`)
        .replace("5 ul", `5 ${into}`),
    );
  expect((await dump()).split("\n")).toEqual(expected.toSorted());
  expect(await total(product)).toEqual(stock);
  for (const table of ["consumable", "specimen", "product"])
    expect(
      lab.database
        .query(`SELECT 1 FROM ${table} WHERE unit = (SELECT rid FROM vocabulary_term WHERE id = ?)`)
        .all(from),
    ).toEqual([]);
  expect(lab.database.query("SELECT 1 FROM annotation WHERE instr(value, ?)").all(from)).toEqual([]);
  expect((await read(`vocabularies/terms/${from}/`)).message).toBe("Not found.");
  // The default value means the remaining unit.
  const annotated = await lab.send("alice", "POST", `stocks/consumables/${tubes[1]}/annotations/`, {
    annotation_type_id: type,
  });
  expect(annotated.body.value).toEqual({ value: 5, unit: { id: into, name: "microliter" } });
  await lab.send(
    "alice",
    "DELETE",
    `stocks/consumables/${tubes[1]}/annotations/${String(annotated.body.id)}/`,
  );

  const undone = await lab.send("alice", "POST", `batches/${merged.headers.get("Batch-Id")}/undo/`);
  expect(undone.status).toBe(200);
  expect(await dump()).toBe(before);
});

test("several units are merged at once, or none, and one undo brings all back", async () => {
  const [ul, mls] = [await unit("ul"), await unit("ml")];
  const [micro, milli] = [await unit("microliter"), await unit("milliliter")];
  const tube = await make("stocks/consumables", { name: "A", amount: 1, unit: ul });
  const send = (merges: object[], query = "") =>
    lab.send("alice", "POST", `vocabularies/terms/merge/${query}`, { merges });
  const pairs = [
    { from: ul, into: micro },
    { from: mls, into: milli },
  ];
  const wrong = await send([...pairs, { from: milli, into: micro }]);
  expect([wrong.status, (await read(`stocks/consumables/${tube}/`)).unit]).toEqual([400, ul]);
  const preview = await send(pairs, "?dry_run=1");
  expect(preview.body).toMatchObject({ dry_run: true, records: 3 });
  const merged = await send(pairs, `?confirm=${String(preview.body.confirm)}`);
  expect([merged.body, (await read(`stocks/consumables/${tube}/`)).unit]).toEqual([{ merged: 2 }, micro]);
  await lab.send("alice", "POST", `batches/${merged.headers.get("Batch-Id")}/undo/`);
  const names = async () => (await read("vocabularies/terms/?category__name=Volumes")).total;
  expect([await names(), (await read(`stocks/consumables/${tube}/`)).unit]).toEqual([4, ul]);
});

test("a preview is refused once another record has the unit", async () => {
  const [from, into] = [await unit("ul"), await unit("µL")];
  await make("stocks/consumables", { name: "A", amount: 1, unit: from });
  const preview = await merge(from, into, "?dry_run=1");
  await make("stocks/consumables", { name: "B", amount: 1, unit: from });
  const refused = await merge(from, into, `?confirm=${String(preview.body.confirm)}`);
  expect(refused.status).toBe(409);
  expect((await read(`vocabularies/terms/${from}/references/`)).total).toBe(2);
});

test.each<[string, object, string, object, string]>([
  ["ml", {}, "µL", {}, "into: Only units of the same meaning can be merged, not mL into µL."],
  ["bag", {}, "sack", {}, "into: Only units of the same meaning can be merged, not bag into sack."],
  ["mM", {}, "mm", {}, "into: Only units of the same meaning can be merged, not mM into mm."],
  ["ul", {}, "µL", { public: false }, "into: The other unit must be public, as not all may view it."],
])("%s %j is not merged into %s %j", async (name, values, other, others, message) => {
  const [from, into] = [await unit(name, values), await unit(other, others)];
  expect((await merge(from, into)).body.message).toBe(message);
  expect((await read(`vocabularies/terms/${from}/`)).name).toBe(name);
});

test("a unit is not merged into itself, into a term that is no unit, or into none", async () => {
  const from = await unit("ul");
  const terms = await make("vocabularies/categories", { name: "Words", kind: "term" });
  const word = await make("vocabularies/terms", { name: "µL", category: terms, public: true });
  const messages = [from, word, "x"].map(async (into) => (await merge(from, into)).body.message);
  expect(await Promise.all(messages)).toEqual([
    "into: Give another unit.",
    'into: "µL" is not a unit.',
    "into: There is no such unit.",
  ]);
});

test("a private unit is merged only into one that its viewers may view", async () => {
  const from = await unit("ul", { public: false });
  const [others, own] = [
    await unit("µL", { public: false }, "admin"),
    await unit("microliter", { public: false }),
  ];
  expect((await merge(from, others, "", "admin")).status).toBe(400);
  expect((await merge(from, own)).status).toBe(200);
});

test("units that are not in the table are merged if their names are equal", async () => {
  const bags = await make("vocabularies/categories", { name: "Bags", kind: "unit" });
  const [from, into] = [await unit("bag"), await unit("bag", { category: bags })];
  const tube = await make("stocks/consumables", { name: "A", amount: 1, unit: from });
  expect((await merge(from, into)).status).toBe(200);
  expect((await read(`stocks/consumables/${tube}/`)).unit).toBe(into);
});

test("metadata whose type does not offer the other unit refuses it", async () => {
  const others = await make("vocabularies/categories", { name: "Other", kind: "unit" });
  const [from, into] = [await unit("ul"), await unit("µL", { category: others })];
  const { tubes } = await fill(from, from);
  const refused = await merge(from, into);
  expect(refused.status).toBe(400);
  expect(refused.body).toMatchObject({
    rows: [{ id: tubes[0], message: expect.stringContaining("is not one of the units") }],
  });
  expect((await read(`stocks/consumables/${tubes[0]}/`)).unit).toBe(from);
});

test("whoever may not change a referring record is refused, and learns nothing of hidden ones", async () => {
  const [from, into] = [await unit("ul"), await unit("µL")];
  const [seen, hidden] = [
    await make("stocks/consumables", { name: "Bob's", amount: 1, unit: from, public: true }, "bob"),
    await make("stocks/consumables", { name: "Hidden", amount: 1, unit: from, public: false }, "bob"),
  ];
  const refused = await merge(from, into, "?dry_run=1");
  expect(refused.status).toBe(403);
  expect(refused.body).toMatchObject({ refused: 1, rows: [{ id: seen, code: "forbidden" }] });
  expect(refused.text).not.toContain(hidden);

  await lab.send("bob", "DELETE", `stocks/consumables/${seen}/`);
  const left = await merge(from, into, "?dry_run=1");
  const message =
    "The units cannot be merged: other records refer to this one. Ask an administrator to merge them.";
  expect([left.status, left.body.message]).toEqual([409, message]);
  expect(left.text).not.toMatch(/Hidden|consumables/);
  // Those who may not delete the unit are refused before.
  expect((await merge(from, into, "", "bob")).status).toBe(403);
  expect((await merge(from, into, "", "admin")).status).toBe(200);
  expect((await read(`stocks/consumables/${hidden}/`, "admin")).unit).toBe(into);
});

test("metadata of a record that the caller may not view or change refuses the merge", async () => {
  const [from, into] = [await unit("ul"), await unit("µL")];
  const type = await make("annotationtypes", { name: "volume", type: "NUMBERUNIT", public: true });
  const tube = await make("stocks/consumables", { name: "Hidden", public: false }, "bob");
  const value = { value: 1, unit: from };
  const annotations = `stocks/consumables/${tube}/annotations`;
  const annotation = await make(annotations, { annotation_type_id: type, value }, "bob");
  const hidden = await merge(from, into);
  expect([hidden.status, hidden.text.includes(tube)]).toEqual([409, false]);
  await lab.send("bob", "PATCH", `stocks/consumables/${tube}/`, { public: true });
  const seen = await merge(from, into);
  expect(seen.body).toMatchObject({ rows: [{ id: tube, code: "forbidden" }] });
  expect((await merge(from, into, "", "admin")).status).toBe(200);
  const moved = await read(`${annotations}/${annotation}/`, "admin");
  expect(moved.value).toEqual({ value: 1, unit: { id: into, name: "µL" } });
});

test("other requests are answered while units are merged, which many records may have", () => {
  expect(unitOperations().map(({ heavy }) => heavy)).toEqual([true]);
});
