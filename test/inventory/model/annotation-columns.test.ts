import { afterAll, beforeAll, expect, test } from "bun:test";
import { readXlsx } from "hucre/xlsx";
import type { Json } from "../../../src/inventory/model/field.ts";
import { type Lab, openLab } from "../harness.ts";
import { IDS } from "../sample.ts";

/** Annotations as columns of lists; annotation-meaning.test.ts compares filters and orderings with a plain model. */

let lab: Lab;
const types: Record<string, string> = {};
const specimens: Record<string, string> = {};

async function sent(as: string, method: string, path: string, body?: unknown): Promise<Record<string, Json>> {
  const { status, text, body: answer } = await lab.send(as, method, path, body);
  expect({ path, ok: status < 300, text }).toEqual({ path, ok: true, text });
  return answer;
}
async function addType(name: string, body: object = {}, list = "annotationtypes"): Promise<string> {
  const { id } = await sent("alice", "POST", `${list}/`, { name, type: "TEXT", public: true, ...body });
  return (types[name] = String(id));
}
const get = async (query: string, as = "alice") => lab.send(as, "GET", `specimens/?${query}`);
const names = async (query: string, as = "alice"): Promise<string | Json[]> => {
  const { body, text } = await get(query, as);
  return (body.results as Record<string, Json>[] | undefined)?.map(({ name }) => name) ?? text;
};
const values = async (name: string, ...fields: string[]): Promise<Json[]> => {
  const query = `fields=${fields.map((each) => encodeURIComponent(`annotations__${each}`)).join()}&response_format=flat`;
  const { results } = await sent("alice", "GET", `specimens/${specimens[name]}/?${query}`);
  return Object.values(results as Record<string, Json>);
};

beforeAll(async () => {
  lab = await openLab();
  await addType("genotype");
  await addType("age", { type: "NUMBER", help_text: "In weeks" });
  await addType("born", { type: "DATE" });
  await addType("alive", { type: "BOOLEAN" });
  await addType("tag", { multiple: true });
  await addType("a, b: c__d");
  await addType("quiet", { searchable: false, sortable: false, list_visibility: "OPTIONAL" });
  await addType("private", { public: false });
  await addType("fixed", { readonly: true });
  await addType("for locations", { model_name: "stocks.location" });
  const model = { model_name: "stocks.specimen", model_type: "FISH" };
  types["twin property"] = await addType("twin", model, "custompropertytypes");
  await addType("twin");
  for (const [name, annotations] of Object.entries({
    casper: {
      genotype: "wt",
      age: 5,
      born: "2026-01-02",
      alive: true,
      tag: ["x", "y"],
      organ: "liver",
      weight: "5 gram",
    },
    nacre: {
      genotype: "mitfa -/-",
      age: 12,
      born: "2026-02-03",
      alive: false,
      tag: "y",
      private: "secret",
      quiet: "q",
    },
    roy: {},
  })) {
    const own = Object.entries(annotations).map(([type, value]) => [`annotations__${type}`, value]);
    const { id } = await sent("alice", "POST", "specimens/", {
      name,
      model_type: "FISH",
      public: true,
      ...Object.fromEntries(own),
    });
    specimens[name] = String(id);
  }
});
afterAll(() => lab.database.close());

const OURS = "name__in=casper,nacre,roy";

test.each<[query: string, found: string[]]>([
  ["annotations__genotype=wt", ["casper"]],
  ["annotations__genotype__icontains=MITFA", ["nacre"]],
  ["annotations__genotype__isnull=true", ["roy"]],
  ["annotations__genotype=null", ["roy"]],
  ["annotations__genotype__in=wt,x", ["casper"]],
  ["annotations__age__gte=6", ["nacre"]],
  ["annotations__born__lt=2026-02-01", ["casper"]],
  ["annotations__alive=false", ["nacre"]],
  ["annotations__tag=y", ["casper", "nacre"]],
  ["annotations__tag=y&annotations__tag__exact=x", ["casper"]],
  ["annotations__organ=liver", ["casper"]],
  ["annotations__organ__category__name=Tissue", ["casper"]],
  ["annotations__weight__gte=5 gram", ["casper"]],
  ["annotations__weight__unit__name__istartswith=G", ["casper"]],
  ["ordering=-annotations__age", ["nacre", "casper", "roy"]],
  ["ordering=annotations__organ,-name", ["roy", "nacre", "casper"]],
])("%s", async (query, found) => {
  expect(await names(`${OURS}&${query}`)).toEqual(found);
});

test("names with special characters are addressable, and all types by their id", async () => {
  const type = "a, b: c__d";
  await sent("alice", "PATCH", `specimens/${specimens.roy}/`, { [`annotations__${type}`]: "special" });
  for (const word of [type, types[type]])
    for (const lookup of ["", "__iexact", "__istartswith"])
      expect(await names(`${encodeURIComponent(`annotations__${word}${lookup}`)}=special`)).toEqual(["roy"]);
  expect(await names(`${OURS}&ordering=-annotations__${types[type]}`)).toEqual(["roy", "casper", "nacre"]);
  const twin = { [`annotations__${types["twin property"]}`]: "p", [`annotations__${types.twin}`]: "a" };
  await sent("alice", "PATCH", `specimens/${specimens.roy}/`, twin);
  expect(await values("roy", types["twin property"], types.twin)).toEqual(["p", "a"]);
  expect(await names(`annotations__${types.twin}=p`)).toEqual([]);
});

const NOT_SEARCHABLE =
  "Values of this annotation type cannot be searched. Set searchable to true in the annotation type.";
const ambiguous = () =>
  `Several types have this name. Give the id of one: ${types.twin} (annotation type, labelled "twin"); ${types["twin property"]} (custom property type of stocks.specimen FISH, labelled "twin").`;
test.each<[query: string, parameter: string, message: () => string, as?: string]>([
  [
    "annotations__genotyp=x",
    "annotations__genotyp",
    () => '"genotyp" is not an annotation of specimen records. Did you mean annotations__genotype?',
  ],
  [
    "annotations__genotyp__icontains=x",
    "annotations__genotyp__icontains",
    () =>
      '"genotyp__icontains" is not an annotation of specimen records. Did you mean annotations__genotype?',
  ],
  [
    "ordering=annotations__agee",
    "ordering",
    () => '"agee" is not an annotation of specimen records. Did you mean annotations__age?',
  ],
  [
    "fields=name,annotations__agee",
    "fields",
    () => '"agee" is not an annotation of specimen records. Did you mean annotations__age?',
  ],
  [
    "annotations__for locations=x",
    "non_field_errors",
    () => '"for locations" is not an annotation of specimen records.',
  ],
  ["annotations__twin=x", "annotations__twin", ambiguous],
  ["annotations__quiet=q", "annotations__quiet", () => NOT_SEARCHABLE],
  [
    "ordering=annotations__quiet",
    "ordering",
    () => 'Lists cannot be sorted by annotations of the type "quiet": its sortable is false.',
  ],
  [
    "annotations__age__icontains=x",
    "annotations__age__icontains",
    () =>
      '"contains the value, ignoring case" does not apply to this field. Use one of: exact, gte, gt, lte, lt.',
  ],
  ["annotations__age=old", "annotations__age", () => "Expected a number (integers up to ±2^53)."],
  [
    "annotations__1__text=wt",
    "annotations__1__text",
    () => '"1__text" is not an annotation of specimen records.',
  ],
  ["fields=annotations__1__text", "fields", () => '"1__text" is not an annotation of specimen records.'],
  ["ordering=annotations__1__text", "ordering", () => '"1__text" is not an annotation of specimen records.'],
  // For bob there is no such type.
  [
    "annotations__private=secret",
    "annotations__private",
    () => '"private" is not an annotation of specimen records.',
    "bob",
  ],
  [
    "ordering=annotations__private",
    "ordering",
    () => '"private" is not an annotation of specimen records.',
    "bob",
  ],
  [
    "fields=annotations__private",
    "fields",
    () => '"private" is not an annotation of specimen records.',
    "bob",
  ],
])("rejects %s", async (query, parameter, message, as = "alice") => {
  const { status, body } = await get(query, as);
  expect([status, body[parameter]]).toEqual([400, [message()]]);
});

test("annotations of a type that the caller may not view are in no list, export or count", async () => {
  expect(await names("annotations__private=secret")).toEqual(["nacre"]);
  expect((await lab.send("bob", "GET", "specimens/values/?field=annotations__private")).status).toBe(400);
  const { text } = await get("fields=name,annotations__*&format=csv", "bob");
  expect(text.split("\r\n")[0]).not.toContain("private");
  const expression = `query_expression={"category":"annotations__${types.private}","operator":"==","value":"secret"}`;
  expect((await get(expression, "bob")).status).toBe(400);
  const { body } = await lab.ask("OPTIONS", "specimens/", { as: "bob" });
  expect(Object.keys(body.annotations as object)).not.toContain("annotations__private");
});

test("a list offers no annotation that only records have that the caller may not view", async () => {
  await addType("rare");
  const body = { name: "hidden", model_type: "FISH", annotations__rare: "x" };
  await sent("alice", "POST", "specimens/", body);
  for (const [as, isShown] of [
    ["alice", true],
    ["bob", false],
  ] as const) {
    const header = (await get("fields=annotations__*&format=csv", as)).text.split("\r\n")[0];
    const { annotations } = (await lab.ask("OPTIONS", "specimens/", { as })).body;
    const { annotation } = (annotations as Record<string, { annotation: { used: boolean } }>)
      .annotations__rare;
    expect([as, header.includes("annotations__rare"), annotation.used]).toEqual([as, isShown, isShown]);
  }
});

test("shows annotations flat, nested, and plain in files", async () => {
  const fields = "fields=name,annotations__genotype,annotations__tag,annotations__weight,annotations__organ";
  const flat = (await get(`${OURS}&${fields}&response_format=flat&ordering=name`)).body.results as Json[];
  const gram = { id: IDS.gram, name: "gram" };
  expect(flat[0]).toEqual({
    name: "casper",
    annotations__genotype: "wt",
    annotations__tag: ["x", "y"],
    annotations__weight: { value: 5, unit: gram },
    annotations__organ: { id: IDS.liver, name: "liver" },
  });
  expect(flat[2]).toMatchObject({ annotations__genotype: null, annotations__tag: [] });
  const nested = (await get(`${OURS}&${fields}&response_format=nested&ordering=name`)).body.results as Json[];
  expect(nested[0]).toMatchObject({
    annotations__genotype: { name: "annotations__genotype", value: "wt", category: "annotation" },
  });
  const { text } = await get(`${OURS}&${fields}&format=csv&ordering=name`);
  expect(text.split("\r\n").slice(1, 4)).toEqual([
    'casper,wt,"[""x"",""y""]",5 gram,liver',
    "nacre,mitfa -/-,y,,",
    "roy,,,,",
  ]);
});

test("annotations__* names the types in use, by id where a name does not do", async () => {
  const { text } = await get("fields=annotations__*&format=csv");
  const header = text.split("\r\n")[0].split(",");
  expect(header).toContain("annotations__genotype");
  expect(header).toContain(`annotations__${types["a, b: c__d"]}`);
  expect(header).toContain(`annotations__${types.twin}`);
  expect(header).not.toContain("annotations__fixed");
});

test("sets annotations in bulk after a preview, and undoes them", async () => {
  const path = `specimens/?${OURS}`;
  const body = { annotations__genotype: "sox10 -/-", annotations__tag: ["y"], annotations__age: null };
  const preview = await sent("alice", "PATCH", `${path}&dry_run=1`, body);
  expect([preview.count, preview.records]).toEqual([7, 3]);
  expect(await values("casper", "genotype", "tag", "age")).toEqual(["wt", ["x", "y"], 5]);
  const shown = (preview.changes as { of: { id: string }; op: string; after: { value?: Json } }[]).map(
    ({ of, op, after }) => [of.id, op, after.value ?? null],
  );
  expect(shown).toContainEqual([specimens.roy, "create", "sox10 -/-"]);
  expect(shown).toContainEqual([specimens.casper, "delete", null]);
  const done = await lab.send("alice", "PATCH", `${path}&confirm=${String(preview.confirm)}`, body);
  expect(done.status).toBe(200);
  expect(await names("annotations__genotype=sox10 -/-")).toEqual(["casper", "nacre", "roy"]);
  expect(await values("casper", "genotype", "tag", "age")).toEqual(["sox10 -/-", ["y"], null]);
  const again = await lab.send("alice", "PATCH", path, body);
  expect([again.status, again.headers.get("batch-id")]).toEqual([200, null]);
  await sent("alice", "POST", `batches/${done.headers.get("batch-id")}/undo/`, {});
  expect(await values("casper", "genotype", "tag", "age")).toEqual(["wt", ["x", "y"], 5]);
  expect(await names(`${OURS}&annotations__genotype__isnull=true`)).toEqual(["roy"]);
});

test("a JSON Patch tests and sets annotations, of one record and of several", async () => {
  const path = `specimens/${specimens.nacre}/`;
  const replace = (at: string, value: Json) => ({
    op: "replace",
    path: `${at}/annotations__genotype`,
    value,
  });
  const tested = { op: "test", path: "/annotations__genotype", value: "mitfa -/-" };
  await sent("alice", "PATCH", path, [tested, replace("", "x"), { op: "remove", path: "/annotations__tag" }]);
  expect(await values("nacre", "genotype", "tag")).toEqual(["x", []]);
  expect((await lab.send("alice", "PATCH", path, [tested, replace("", "z")])).status).toBe(409);
  await sent("alice", "PATCH", "specimens/", [replace(`/${specimens.nacre}`, "mitfa -/-")]);
  await sent("alice", "PATCH", path, { annotations__tag: "y" });
  expect(await values("nacre", "genotype", "tag")).toEqual(["mitfa -/-", ["y"]]);
});

test("rejects annotations that the caller may not write, and writes nothing", async () => {
  const path = `specimens/${specimens.roy}/`;
  const refused = async (body: object, as = "alice") => {
    const { status, body: answer } = await lab.send(as, "PATCH", path, body);
    return [status, answer.message];
  };
  expect(await refused({ annotations__genotype: "x", annotations__agee: 1 })).toEqual([
    400,
    'annotations__agee: "agee" is not an annotation of specimen records. Did you mean annotations__age?',
  ]);
  expect(await refused({ annotations__genotype: "x", annotations__age: "old" })).toEqual([
    400,
    "annotations__age: A valid number is required.",
  ]);
  expect(await refused({ annotations__fixed: "x" })).toEqual([
    400,
    "annotations__fixed: Values of this type are read-only.",
  ]);
  expect((await refused({ annotations__genotype: "x" }, "bob"))[0]).toBe(403);
  expect(await values("roy", "genotype", "age")).toEqual([null, null]);
});

test("importing an unchanged export changes nothing, and changed cells change their annotations", async () => {
  const query = `${OURS}&fields=id,name,annotations__*&ordering=name`;
  for (const format of ["csv", "xlsx"]) {
    const { bytes } = await lab.bytes("GET", `specimens/?${query}&format=${format}`, { as: "alice" });
    const answer = await lab.bytes("POST", "specimens/import/", { as: "alice", body: bytes });
    const report = JSON.parse(new TextDecoder().decode(answer.bytes)) as Record<string, Json>;
    expect(report).toMatchObject({ rows: 3, unchanged: 3, errors: [] });
  }
  const file = [
    "name,model_type,annotations__genotype,annotations__age,annotations__born,annotations__tag,annotations__weight,annotations__alive",
    'casper,FISH,roy -/-,,2026-01-02T00:00:00.000Z,"[""z""]",7 gram,yes',
    "leopard,FISH,wt,3,,t,,",
  ].join("\n");
  const answer = await lab.send("alice", "POST", "specimens/import/?match=name", file);
  expect(answer.body).toMatchObject({ created: 1, updated: 1, errors: [] });
  expect(await values("casper", "genotype", "age", "born", "tag", "alive")).toEqual([
    "roy -/-",
    null,
    "2026-01-02",
    ["z"],
    true,
  ]);
  expect(await names("annotations__tag=t&annotations__age=3")).toEqual(["leopard"]);
  const short = await lab.send(
    "alice",
    "POST",
    "specimens/import/?dry_run=1&match=name",
    "name,age,tag,location__barcode\ncasper,4,z,",
  );
  expect(short.body).toMatchObject({ updated: 1, errors: [] });
  expect(short.body.columns).toMatchObject([
    { field: "name" },
    { header: "age", field: "annotations__age" },
    { field: "annotations__tag" },
    { header: "location__barcode", field: null },
  ]);
  const wrong = await lab.send(
    "alice",
    "POST",
    "specimens/import/?dry_run=1&match=name",
    "name,annotations__age,annotations__gen\ncasper,x,y",
  );
  expect((wrong.body.errors as object[])[0]).toMatchObject({ row: 1, column: "annotations__gen" });
  const cell = await lab.send(
    "alice",
    "POST",
    "specimens/import/?dry_run=1",
    "name,annotations__age\ncasper,x",
  );
  expect(cell.body.errors).toEqual([
    { row: 2, column: "annotations__age", message: "A valid number is required." },
  ]);
});

test("an import reports the invalid fields and annotations of a row together, and ignores the case of titles", async () => {
  const rows = (text: string) => lab.send("alice", "POST", "specimens/import/?dry_run=1", text);
  const number = { message: "A valid number is required." };
  const day = { message: "Expected a date, such as 2026-01-31." };
  const wrong = await rows(
    "name,Age,amount,location,Born,position\ncasper,x,1,Nowhere,soon,A1\nnew,x,y,,2026-01-02,\nleopard,x,,,,",
  );
  expect(wrong.body.errors).toMatchObject([
    { row: 2, column: "location", message: '"Nowhere" is not a place.' },
    { row: 2, column: "Age", ...number },
    { row: 2, column: "Born", ...day },
    { row: 3, column: "amount", ...number },
    { row: 3, column: "Age", ...number },
    { row: 4, column: "Age", ...number },
  ]);
  const unknown = await rows("name,Genotypes\ncasper,x");
  const [{ message }] = unknown.body.errors as { message: string }[];
  expect(message).toStartWith('"Genotypes" is not a field of specimen. Did you mean genotype?');
});

test("the import template has a column for each annotation, with its choices", async () => {
  const { bytes } = await lab.bytes("GET", "specimens/import/", { as: "alice" });
  const { sheets } = await readXlsx(bytes);
  expect(sheets[0].rows[0]).toContain("annotations__genotype");
  expect(sheets[0].rows[0]).toContain("annotations__organ");
  const at = sheets[1].rows[0].indexOf("annotations__organ");
  expect(sheets[1].rows.map((row) => row[at])).toContain("liver");
});

test("OPTIONS describes the annotations that a list offers", async () => {
  const { body } = await lab.ask("OPTIONS", "specimens/", { as: "alice" });
  const described = body.annotations as Record<string, Record<string, Json>>;
  expect(described.annotations__age).toMatchObject({
    kind: "number",
    label: "age",
    help_text: "In weeks",
    sortable: true,
    annotation: { type: "NUMBER", multiple: false, used: true, list_visibility: "ALWAYS" },
  });
  expect(described.annotations__organ).toMatchObject({
    reference: { segment: "vocabularies/terms", filter: { category_id: IDS.tissue } },
  });
  expect(described.annotations__quiet).toMatchObject({ lookups: [], sortable: false });
  expect(Object.keys(described)).not.toContain("annotations__for locations");
});
