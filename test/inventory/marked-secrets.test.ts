import { afterAll, beforeAll, expect, test } from "bun:test";
import { recordEvents } from "../../src/inventory/index.ts";
import type { Actor } from "../../src/inventory/model/access.ts";
import { type Field, isComparable, type Json } from "../../src/inventory/model/field.ts";
import { columnName, COMMON, isGuarded, pathNames } from "../../src/inventory/model/resource.ts";
import { DECLARED, type RoutedResource } from "../../src/inventory/resources/index.ts";
import { SHOWN_LISTS, type Lab, openLab, readPaths } from "./harness.ts";
import { seeded } from "./random.ts";
import { EMPTY } from "./sample.ts";
import { unzipAll } from "../unzip.ts";

/**
 * Every text of every record contains a mark of its own. Each kind of caller then reads everything there is to read, in
 * every form, and no answer contains the mark of a record that the caller may not view today, nor its id, unless a record
 * refers to it by a field that shows the ids of all. Filters, which answer without showing anything, find nothing by such
 * a mark either.
 */

const random = seeded(13);
const GROUPS: Record<string, string[]> = {
  alice: ["Genomics"],
  bob: ["Imaging"],
  carol: ["Genomics", "Imaging"],
};
const CALLERS = [undefined, "alice", "bob", "carol", "admin"];
const EACH = 3;

interface Access {
  owner: string;
  group: string;
  public: boolean;
  viewer: string | undefined;
}
interface Marked extends Access {
  resource: RoutedResource;
  id: string;
  /** Of its living notes, annotations and files. */
  parts: string[];
  /** Of its values so far, and of what was deleted. */
  marks: string[];
  /** Marks from before it was published, with its access of then. */
  former: { marks: string[]; access: Access }[];
}

/** The lists that pages show; and of those for clients, the ones whose values contain other records. */
const LISTS = [
  ...SHOWN_LISTS,
  ...["study", "dataset_collection", "sample", "dataset", "datafile"].map(
    (name) => DECLARED.get(name) as RoutedResource,
  ),
];

let lab: Lab;
const records: Marked[] = [];
let marks = 0;
const newMark = (of: string[]): string => {
  const mark = `zq${(++marks).toString(36).padStart(4, "0")}qz`;
  of.push(mark);
  return mark;
};

const views = (as: string | undefined, of: Access): boolean =>
  as === "admin" ||
  of.public ||
  (as !== undefined && (of.owner === as || GROUPS[as].includes(of.group) || of.viewer === as));

const send = async (method: string, path: string, body?: unknown): Promise<Record<string, Json>> => {
  const answer = await lab.send("admin", method, path, body);
  expect({ method, path, body, text: answer.text, ok: answer.status < 300 }).toMatchObject({ ok: true });
  return answer.body;
};

/** Values that the declarations require and a mark cannot be. */
const FIXED: Record<string, Record<string, Json>> = {
  annotation_type: { type: "TEXT" },
  custom_property_type: { type: "TEXT", model_name: "stocks.specimen", model_type: "FISH" },
  saved_view: { list: "locations", query: "" },
};

function valueFor(field: Field, of: string[]): Json | undefined {
  if (field.kind === "text" && !field.choices && !field.pattern) return newMark(of);
  if (field.kind === "reference" && (field.write === "required" || random.chance(0.8))) {
    const known = records.filter(({ resource }) => resource.name === field.to);
    if (field.to === "address") return "x";
    return known.length === 0 ? undefined : random.pick(known).id;
  }
  const listed = records.filter(({ resource }) => resource.name === field.listOf);
  if (listed.length > 0) return listed.filter(() => random.chance(0.7)).map(({ id }) => id);
  return field.form?.idsOf
    ? random.pick(records.filter(({ resource }) => resource.name === field.form?.idsOf)).id
    : undefined;
}

async function addRecord(resource: RoutedResource): Promise<void> {
  const [own, parts]: string[][] = [[], []];
  const body: Record<string, Json> = {};
  for (const [name, field] of Object.entries(resource.fields)) {
    if (field.write === "never" || field.shown === "internal" || name === "unit_category") continue;
    // Barcodes stay on the record, whatever it is called.
    const of = name === "barcode" ? parts : own;
    const value = ["owner", "owned_by"].includes(name) ? undefined : valueFor(field, of);
    if (value !== undefined) body[name] = value;
  }
  const owner = random.pick(["admin", "alice", "bob"]);
  const group = random.pick(["Genomics", "Imaging", "SYSTEM_GROUP"]);
  const access = { owner, owned_by: group, public: random.chance(0.25) };
  const { id } = await send("POST", `${resource.segment}/`, { ...body, ...FIXED[resource.name], ...access });
  const viewer = random.chance(0.2) ? "bob" : undefined;
  const marked = { resource, id: String(id), parts, marks: own, former: [] };
  records.push({ ...marked, owner, group, public: access.public, viewer });
  if (viewer)
    await send("PUT", `${resource.segment}/${marked.id}/permissions/`, {
      users: [{ user: viewer, view: true }],
    });
}

/** Notes, annotations, files and a history. */
async function addParts({ resource, id, parts, marks }: Marked): Promise<void> {
  const path = `${resource.segment}/${id}/`;
  await send("POST", `${path}notes/`, { content: newMark(parts) });
  const gone = await send("POST", `${path}notes/`, { content: newMark(marks) });
  await send("PATCH", `${path}notes/${String(gone.id)}/`, { content: newMark(marks) });
  await send("DELETE", `${path}notes/${String(gone.id)}/`);
  const type = records.find((of) => of.resource.name === "annotation_type")!;
  await send("POST", `${path}annotations/`, { annotation_type_id: type.id, value: newMark(parts) });
  const form = new FormData();
  form.append("file", new File([newMark(parts)], `${newMark(parts)}.txt`));
  const file = await lab.bytes("POST", `${path}attachments/`, { as: "admin", body: form });
  expect(file.status).toBe(201);
  const key = "name" in resource.fields && resource.fields.name.kind === "text" ? "name" : "description";
  if (key in resource.fields) await send("PATCH", path, { [key]: newMark(marks) });
}

/** Applied and open stocktakes of locations with records that not everyone may view, which everyone may see. */
async function countLocation(location: Marked, apply: boolean): Promise<void> {
  const { id } = await send("POST", "stocktakes/", {
    name: `Stocktake of ${location.id}`,
    location: location.id,
    public: true,
  });
  const path = `stocktakes/${String(id)}/`;
  const scanned = records.filter(({ resource }) => "barcode" in resource.fields && random.chance(0.6));
  const barcodes = await Promise.all(
    scanned.map(async (of) => (await send("GET", `${of.resource.segment}/${of.id}/?fields=barcode`)).barcode),
  );
  const codes = [...barcodes, ...scanned.slice(0, 2).map((of) => of.id)].filter((code) => code !== "");
  await send("POST", `${path}scans/`, { codes });
  if (apply) await send("POST", `${path}apply/`, { missing: "status" });
}

/** Gives a record new values and makes it public; those from before stay hidden. */
async function publish(of: Marked): Promise<void> {
  const { resource, id, parts: _, marks, former, ...access } = of;
  former.push({ marks, access });
  of.marks = [];
  const texts = Object.entries(resource.fields).filter(
    ([name, field]) =>
      field.kind === "text" &&
      field.write !== "never" &&
      !field.choices &&
      !field.pattern &&
      name !== "barcode",
  );
  const values = Object.fromEntries(texts.map(([name]) => [name, newMark(of.marks)]));
  await send("PATCH", `${resource.segment}/${id}/`, { ...values, public: true });
  of.public = true;
}

/** For each list of records in a record: a public record of alice, which listed a hidden one and then lists it again. */
async function listHidden(): Promise<void> {
  for (const resource of LISTS)
    for (const [name, { listOf }] of Object.entries(resource.fields)) {
      if (listOf === undefined) continue;
      const target = DECLARED.get(listOf) as RoutedResource;
      const known = records.find((of) => of.resource === target)!;
      const hidden = await addFor("admin", target, { public: false });
      const holder = await addFor("alice", resource, { public: true, [name]: [hidden.id, known.id] });
      for (const listed of [[], [hidden.id]])
        await send("PATCH", `${resource.segment}/${holder.id}/`, { [name]: listed });
    }
}

async function addFor(owner: string, resource: RoutedResource, values: Record<string, Json>) {
  const marks: string[] = [];
  const group = "SYSTEM_GROUP";
  const known = records.find((of) => of.resource === resource)!;
  const body: Record<string, Json> = { owner, owned_by: group, ...values };
  for (const [name, field] of Object.entries(resource.fields))
    if (field.write === "required")
      body[name] ??=
        field.kind === "reference"
          ? ((await send("GET", `${resource.segment}/${known.id}/?fields=${name}`))[name] ?? null)
          : newMark(marks);
  const { id } = await send("POST", `${resource.segment}/`, body);
  const access = { owner, group, public: values.public === true, viewer: undefined };
  const marked: Marked = { resource, id: String(id), parts: [], marks, former: [], ...access };
  records.push(marked);
  return marked;
}

/** Ids of hidden records, except those that a field shows which contains one id: that is a value of its record. */
function secretIdsFor(as: string | undefined): Set<string> {
  const secret = new Set(records.filter((of) => !views(as, of)).map(({ id }) => id));
  for (const { name, fields } of DECLARED.values())
    for (const [field, { to, form }] of Object.entries(fields)) {
      const far = DECLARED.get(to ?? form?.idsOf ?? "");
      if (!far || !isGuarded(far)) continue;
      const value = `c.after ->> '$.${field}'`;
      const shown = to ? `(SELECT ${columnName(far, "id")} FROM ${far.table} WHERE rid = ${value})` : value;
      const rows = lab.database
        .query(`SELECT DISTINCT ${shown} AS id FROM record_change AS c WHERE object_kind = ?`)
        .all(name) as { id: string | null }[];
      for (const { id } of rows) secret.delete(String(id));
    }
  return secret;
}

beforeAll(async () => {
  lab = await openLab({ sample: EMPTY });
  await lab.accounts.addUser({ username: "carol", group: "Genomics" });
  lab.tokens.carol = lab.accounts.addToken("carol", "test");
  await send("PUT", "groups/Imaging/members/carol/", {});
  // Patterns are no texts of people.
  const guarded = LISTS.filter((resource) => isGuarded(resource) && resource.name !== "code_pattern");
  const order = ["place", "equipment", "location", "field_meta", "category", "term", "annotation_type"];
  guarded.sort((a, b) => ((order.indexOf(a.name) + 100) % 100) - ((order.indexOf(b.name) + 100) % 100));
  for (const resource of guarded) for (let i = 0; i < EACH; i++) await addRecord(resource);
  for (const marked of records.slice()) await addParts(marked);
  const locations = records.filter(({ resource }) => resource.name === "location");
  for (const marked of records.filter(
    ({ resource }) => "location" in resource.fields && resource.name !== "stocktake",
  ))
    await send("PATCH", `${marked.resource.segment}/${marked.id}/`, { location: random.pick(locations).id });
  for (const [i, location] of locations.entries()) {
    await countLocation(location, i % 2 === 0);
    if (i > 1) await send("PATCH", `locations/${location.id}/`, { public: (location.public = true) });
  }
  const deleted = records.find(({ resource }) => resource.name === "consumable")!;
  await send("DELETE", `${deleted.resource.segment}/${deleted.id}/`);
  const open = new Set(["stocktake", "saved_view", "location"]);
  for (const of of records)
    if (!of.public && of !== deleted && !open.has(of.resource.name) && random.chance(0.3)) await publish(of);
  await listHidden();
}, 60_000);
afterAll(() => lab.database.close());

const AS_OF = "as_of=2026-01-01T00:00:00Z";
const OF_RECORDS = [
  "",
  "?fields=*&page_size=max",
  "?fields=*&format=csv",
  "?fields=*&format=api&deleted=all",
  "?fields=*&response_format=nested&deleted=all&page_size=max",
  `?fields=*&${AS_OF}`,
  "?explain=1",
  "?fields=*&format=eln",
  "?fields=*&format=xlsx",
];
const listVariants = (path: string): string[] =>
  // The text of a PDF is compressed.
  /labels\/?$/.test(path)
    ? ["?format=zpl"]
    : /(history|import)\/?$/.test(path)
      ? [""]
      : LISTS.some(({ segment }) => [segment, `${segment}/{id}`].includes(path.replace(/\/$/, "")))
        ? OF_RECORDS
        : ["?deleted=all&page_size=max", `?${AS_OF}`];

/** Paths of filters; those that begin with a field of all records of the locations only, which stand for the others. */
const ownPaths = (resource: RoutedResource): string[] =>
  pathNames(DECLARED, resource).filter(
    (name) => resource.name === "location" || !COMMON.has(name.split("__")[0]),
  );

/** Addresses of everything that can be read, from the OpenAPI document. */
async function addresses(): Promise<string[]> {
  const lists = LISTS.map(({ segment }) => segment);
  const readable = Object.entries(await readPaths(lab, lists)).filter(([, methods]) => "get" in methods);
  const found: string[] = [];
  for (const path of readable.map(([one]) => one.replace(/\/api\/v2\/?/, ""))) {
    const own = records.filter(({ resource }) => path.startsWith(`${resource.segment}/`));
    const filled =
      path.includes("{id}") && own.length > 0 ? own.map(({ id }) => path.replace("{id}", id)) : [path];
    for (const one of filled.filter((each) => !each.includes("{"))) {
      // Of the records of a resource, each is read in other forms.
      const variants = listVariants(path).filter(() => filled.length === 1 || random.chance(0.25));
      found.push(...variants.map((variant) => one + variant));
    }
  }
  const ids = lab.database.query("SELECT id FROM record_batch ORDER BY rid DESC LIMIT 20").all() as {
    id: string;
  }[];
  found.push(
    ...ids.map(({ id }) => `batches/${id}/?page_size=max`),
    "search/?q=zq0&deleted=all&limit=500",
    "changes/?page_size=10000",
    "batches/?page_size=25",
  );
  for (const resource of LISTS)
    for (const name of ownPaths(resource))
      found.push(`${resource.segment}/values/?field=${name}&deleted=all`);
  for (const { resource, id } of records)
    if (["place", "equipment", "location"].includes(resource.name))
      found.push(`locations/tree/?of=${resource.segment}/${id}`);
  const files = lab.database.query("SELECT id FROM attachment WHERE rid % 3 = 0").all() as { id: string }[];
  for (const { id } of files)
    found.push(`attachments/${id}/`, `attachments/${id}/content/`, `attachments/${id}/history/`);
  return found;
}

/** The marks that a caller must not see: of hidden records, and those from before a record was published. */
const secretsFor = (as: string | undefined): string[] =>
  records.flatMap((of) => {
    const former = of.former.filter(({ access }) => !views(as, of) || !views(as, access));
    return (views(as, of) ? [] : of.parts.concat(of.marks)).concat(former.flatMap(({ marks }) => marks));
  });

/** The text of an answer; of an archive or a spreadsheet, of the files in it. */
async function read(as: string | undefined, method: string, path: string, body?: unknown): Promise<string> {
  const by = as === undefined ? {} : { as };
  if (!/format=(eln|xlsx)/.test(path))
    return (await lab.ask(method, path, body === undefined ? by : { ...by, body })).text;
  const { status, bytes } = await lab.bytes(method, path, by);
  return status === 200 ? [...unzipAll(bytes).values()].join("\n") : new TextDecoder().decode(bytes);
}

/** Marks and ids of hidden records in a text, except ids that the request names. */
const leaked = (text: string, path: string, secrets: Set<string>, ids: Set<string>): string[] => [
  ...(text.match(/zq\w{4}qz/g) ?? []).filter((mark) => secrets.has(mark)),
  ...new Set(
    (text.match(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g) ?? []).filter(
      (id) => ids.has(id) && !path.includes(id),
    ),
  ),
];

test("no response contains the mark or the id of a record that its reader may not view", async () => {
  const all = await addresses();
  expect(all.length).toBeGreaterThan(600);
  let seen = 0;
  for (const as of CALLERS.filter((each) => each !== "admin")) {
    const secrets = new Set(secretsFor(as));
    const ids = secretIdsFor(as);
    expect(ids.size).toBeGreaterThan(4);
    for (const path of all) {
      const text = await read(as, "GET", path);
      seen += (text.match(/zq\w{4}qz/g) ?? []).length;
      expect({ as, path, leaked: leaked(text, path, secrets, ids) }).toEqual({ as, path, leaked: [] });
    }
  }
  // Most answers show something.
  expect(seen).toBeGreaterThan(5000);
}, 300_000);

test("no preview of a write contains the mark or the id of a record that the writer may not view", async () => {
  let previews = 0;
  const batches = lab.database.query("SELECT id FROM record_batch").all() as { id: string }[];
  for (const as of ["alice", "bob", "carol"]) {
    const secrets = new Set(secretsFor(as));
    const ids = secretIdsFor(as);
    const requests: [method: string, path: string, body?: Json][] = batches.map(({ id }) => [
      "POST",
      `batches/${id}/undo/?dry_run=1&force=1`,
      {},
    ]);
    for (const { resource, id } of records.filter((of) => views(as, of))) {
      const path = `${resource.segment}/${id}/`;
      const lists = Object.keys(resource.fields).filter((name) => resource.fields[name].listOf);
      requests.push(
        ["POST", `${path}restore/?dry_run=1`, { version: 1 }],
        ["DELETE", `${path}?dry_run=1`],
        ["PATCH", `${path}?dry_run=1`, Object.fromEntries(lists.map((name) => [name, []]))],
        ["PATCH", `${resource.segment}/?id=${id}&dry_run=1`, { public: true }],
      );
    }
    for (const [method, path, body] of requests) {
      const text = await read(as, method, path, body);
      if (text.includes('"dry_run":true')) previews++;
      expect({ as, method, path, leaked: leaked(text, path, secrets, ids) }).toMatchObject({ leaked: [] });
    }
  }
  expect(previews).toBeGreaterThan(100);
}, 300_000);

test("no filter matches the mark of a record that the caller may not view", async () => {
  let found = 0;
  for (const as of CALLERS.filter((each) => each !== "admin")) {
    const hidden = secretsFor(as);
    for (const resource of LISTS) {
      const texts = Object.keys(resource.fields).filter((name) => resource.fields[name].shown !== "internal");
      const lists = texts.filter((name) => resource.fields[name].listOf !== undefined);
      const names = [
        ...new Set([...texts, ...lists.map((name) => `${name}__description`), ...ownPaths(resource)]),
      ].map((name) => `${name}__icontains`);
      for (const name of [...names, "name", "query", "description", "notes__content__icontains"]) {
        // Data of other records within a value may have any mark.
        const field = resource.fields[name.replace("__icontains", "")];
        const isJson = field?.kind === "json" && field.listOf === undefined;
        const asked = isJson
          ? hidden.filter(() => random.chance(0.2))
          : hidden.length > 0
            ? [random.pick(hidden)]
            : [];
        const ask = async (value: string) => {
          const path = `${resource.segment}/?deleted=all&page_size=1&${name}=${value}`;
          const { status, body } = await lab.ask("GET", path, as === undefined ? {} : { as });
          return status === 200 ? Number(body.total) : 0;
        };
        for (const mark of asked)
          expect({ as, list: resource.segment, name, mark, total: await ask(mark) }).toMatchObject({
            total: 0,
          });
        if (as === "alice") found += await ask("zq");
      }
    }
    const step = Math.ceil(hidden.length / 60);
    for (const mark of hidden.filter((_, i) => i % step === 0)) {
      const path = `search/?deleted=all&q=${mark}`;
      const { body } = await lab.ask("GET", path, as === undefined ? {} : { as });
      expect({ as, mark, body }).toEqual({ as, mark, body: { q: mark, total: 0, more: false, groups: [] } });
    }
    for (const mark of hidden.slice(0, 60)) {
      const { body } = await lab.ask("GET", `resolver/?query=${mark}`, as === undefined ? {} : { as });
      expect(body.id).toBeNull();
    }
  }
  expect(found).toBeGreaterThan(100);
}, 300_000);

test("webhook events contain no hidden mark, and no filter reveals values of other records", () => {
  const events = recordEvents(lab.database, lab.clock, "http://lab");
  const { user } = lab.database
    .query("SELECT rid AS user FROM user_account WHERE username = 'bob'")
    .get() as { user: number };
  const bob: Actor = { user, username: "bob", superuser: false, groups: [], primaryGroup: 1 };
  const all = events.since(0, bob, { resource: null, expression: null }, 10_000);
  expect(all.events.length).toBeGreaterThan(50);
  expect(JSON.stringify(all)).not.toMatch(/zq\w{4}qz/);
  expect(leaked(JSON.stringify(all), "", new Set(), secretIdsFor("bob"))).toEqual([]);
  for (const resource of LISTS)
    for (const [category, field] of Object.entries(resource.fields)) {
      const expression = JSON.stringify({ category, operator: "icontains", value: "zq" });
      if (!isComparable(field) && field.listOf === undefined)
        expect(() => events.check({ resource: resource.segment, expression })).toThrow();
    }
});
