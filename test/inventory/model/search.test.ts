import { afterAll, beforeAll, expect, test } from "bun:test";
import { prepareSearch } from "../../../src/inventory/index.ts";
import { ALIVE } from "../../../src/inventory/model/condition.ts";
import type { Json } from "../../../src/inventory/model/field.ts";
import { openStore } from "../../../src/inventory/records/store.ts";
import { type Lab, openLab, START } from "../harness.ts";
import { seeded } from "../random.ts";
import { computeRank, type Searched, views } from "../search-model.ts";
import { EMPTY } from "../sample.ts";

/** Random records and searches. Every answer equals that of a plain model of the rules. */

const random = seeded(17);
const CALLERS = [undefined, "alice", "bob", "admin"] as const;
const WORDS = [
  "Anti-GFP",
  "GFP",
  "gfp2",
  "Übermaß",
  "tube",
  "Tub",
  "TUBULIN",
  "ab",
  "a",
  "-20",
  "10%",
  'x"y',
  "N*",
  "(OR)",
];
/** In the order of the answer among lists with equally good results; the last has no trigram index. */
const LISTS = [
  "locations",
  "stocks/consumables",
  "stocks/specimen",
  "stocks/samples",
  "protocols/protocols",
] as const;

interface Thing extends Searched {
  list: (typeof LISTS)[number];
  deleted: boolean;
  modified: number;
}

let lab: Lab;
const things: Thing[] = [];
const terms: { id: string; name: string; hidden: boolean }[] = [];
let time = START;

const phrase = (most: number): string =>
  Array.from({ length: 1 + random.below(most) }, () => random.pick(WORDS)).join(" ");

const send = async (method: string, path: string, body?: unknown): Promise<Record<string, Json>> => {
  lab.clock.set((time += 1000));
  const answer = await lab.send("admin", method, path, body);
  expect({ method, path, text: answer.status < 300 ? "" : answer.text }).toMatchObject({ text: "" });
  return answer.body;
};

async function addThing(list: Thing["list"], i: number): Promise<void> {
  const named = { name: phrase(3), description: random.chance(0.5) ? phrase(4) : "" };
  const barcode =
    list !== "protocols/protocols" && random.chance(0.5) ? `GFP${String(i).padStart(4, "0")}` : "";
  const access = { owner: random.pick(["alice", "bob", "admin"]), public: random.chance(0.2) };
  const group = random.pick(["Genomics", "Imaging", "SYSTEM_GROUP"]);
  const { id } = await send("POST", `${list}/`, {
    [list === "locations" ? "label" : "name"]: named.name,
    description: named.description,
    ...(barcode === "" ? {} : { barcode }),
    ...access,
    owned_by: group,
  });
  const path = `${list}/${String(id)}/`;
  const thing: Thing = {
    ...named,
    ...access,
    list,
    id: String(id),
    barcode,
    parts: [],
    group,
    viewer: random.chance(0.2) ? "bob" : undefined,
    deleted: false,
    modified: time,
  };
  things.push(thing);
  if (thing.viewer) await send("PUT", `${path}permissions/`, { users: [{ user: "bob", view: true }] });
  await addParts(thing, path);
  if (random.chance(0.1)) {
    await send("DELETE", path);
    thing.deleted = true;
    thing.modified = time;
  }
}

async function addParts({ parts }: Thing, path: string): Promise<void> {
  if (random.chance(0.4)) {
    const type = random.pick(["genotype", "secret_type", "unsearchable"]);
    const value = phrase(2);
    await send("POST", `${path}annotations/`, { annotation_type_id: type, value });
    if (type !== "unsearchable")
      parts.push({ by: type === "genotype" ? "annotation" : "secret", text: value });
  }
  if (random.chance(0.3)) {
    const { id, name, hidden } = random.pick(terms);
    await send("POST", `${path}annotations/`, { annotation_type_id: "organism", value: id });
    parts.push({ by: hidden ? "secret" : "annotation", text: name });
  }
  for (let i = random.below(3); i > 0; i--) {
    const content = phrase(4);
    const { id } = await send("POST", `${path}notes/`, { content });
    if (random.chance(0.3)) await send("DELETE", `${path}notes/${String(id)}/`);
    else parts.push({ by: "note", text: content });
  }
  if (!random.chance(0.3)) return;
  const name = `${random.pick(["gfp", "tube"])}-${parts.length}.txt`;
  const form = new FormData();
  form.append("file", new File(["x"], name));
  expect((await lab.bytes("POST", `${path}attachments/`, { as: "admin", body: form })).status).toBe(201);
  parts.push({ by: "attachment", text: name });
}

beforeAll(async () => {
  lab = await openLab({ sample: EMPTY });
  await send("POST", "annotationtypes/", { name: "genotype", type: "TEXT", public: true });
  await send("POST", "annotationtypes/", {
    name: "secret_type",
    type: "TEXT",
    owner: "alice",
    owned_by: "Genomics",
  });
  await send("POST", "annotationtypes/", {
    name: "unsearchable",
    type: "TEXT",
    public: true,
    searchable: false,
  });
  const { id: category } = await send("POST", "vocabularies/categories/", {
    name: "organisms",
    public: true,
  });
  for (const name of ["Tubulin mouse", "GFP fish", "Secret zebra gfp2"]) {
    const hidden = name.startsWith("Secret");
    const access = hidden ? { owner: "alice", owned_by: "Genomics" } : { public: true };
    const { id } = await send("POST", "vocabularies/terms/", { name, category, ...access });
    terms.push({ id: String(id), name, hidden });
  }
  const organism = { name: "organism", type: "VOCABULARYTERM", cv_category: category, public: true };
  await send("POST", "annotationtypes/", organism);
  for (let i = 0; i < 150; i++) await addThing(random.pick(LISTS), i);
});
afterAll(() => lab.database.close());

/** The lists in the order of the answer, with their results. */
function expected(as: string | undefined, typed: string, deleted: string) {
  const found = things
    .filter((of) => views(as, of) && (deleted === "all" || of.deleted === (deleted === "true")))
    .flatMap((of) => {
      const ranked = computeRank(as, of, typed);
      return ranked ? [{ of, ...ranked }] : [];
    })
    .sort((a, b) => a.rank - b.rank || b.of.modified - a.of.modified || (a.of.id < b.of.id ? -1 : 1));
  const lists = LISTS.map((list) => found.filter(({ of }) => of.list === list)).filter(
    (list) => list.length > 0,
  );
  return lists
    .sort((a, b) => a[0].rank - b[0].rank)
    .map((list) => ({
      list: list[0].of.list,
      total: list.length,
      results: list
        .slice(0, 20)
        .map(({ of, by, rank }) => `${of.id} ${of.name} ${by}${rank === 0 ? " exact" : ""}`),
    }));
}

const PARTS = new Set(["annotation", "note", "attachment"]);

async function search(as: string | undefined, query: Record<string, string>) {
  const path = `search/?${new URLSearchParams(query).toString()}`;
  const { status, body } = await lab.ask("GET", path, as === undefined ? {} : { as });
  expect(status).toBe(200);
  const groups = body.groups as {
    list: string;
    total: number;
    results: Record<string, string | boolean>[];
  }[];
  return groups
    .filter(({ list }) => (LISTS as readonly string[]).includes(list))
    .map(({ list, total, results }) => ({
      list,
      total,
      results: results.map(
        ({ id, name, by, exact }) =>
          `${String(id)} ${String(name)} ${PARTS.has(String(by)) ? "part" : String(by)}${exact ? " exact" : ""}`,
      ),
    }));
}

test("finds, counts and ranks the same records as a plain model of the rules", async () => {
  let found = 0;
  for (let i = 0; i < 120; i++) {
    const as = random.pick(CALLERS);
    const some = random.pick(things);
    const typed = random.pick([
      () => phrase(1),
      () => phrase(3),
      () => random.pick(WORDS).slice(0, 1 + random.below(4)),
      () => some.barcode || "gfp00",
      () => some.barcode.toLowerCase().slice(0, 5) || "tub",
      () => some.id,
      () => some.id.slice(0, 13),
      () => some.name.toUpperCase(),
      () => `${some.parts[0]?.text ?? ""} ${some.name.split(" ")[0]}`,
    ])();
    const deleted = random.pick(["false", "false", "true", "all"]);
    const answer = await search(as, { q: typed, deleted, limit: "20" });
    expect({ as, typed, deleted, answer }).toEqual({
      as,
      typed,
      deleted,
      answer: expected(as, typed, deleted),
    });
    found += answer.length;
  }
  expect(found).toBeGreaterThan(120);
});

test("ranks old exact matches before many newer prefix matches", async () => {
  const [first, second] = [
    await send("POST", "stocks/specimen/", { name: "Zebra", barcode: "ZEBRA" }),
    await send("POST", "stocks/specimen/", { name: "The zebra" }),
  ];
  await send(
    "POST",
    "stocks/specimen/",
    Array.from({ length: 510 }, (_, i) => ({ name: `Zebra ${i}` })),
  );
  const { body } = await lab.ask("GET", "search/?q=zebra&limit=500", { as: "admin" });
  const [group] = body.groups as { total: number; more: boolean; results: { id: string; name: string }[] }[];
  expect(group).toMatchObject({ total: 500, more: true });
  expect(group.results.slice(0, 2)).toMatchObject([
    { id: first.id },
    { name: expect.stringMatching(/^Zebra \d+$/) },
  ]);
  expect(group.results.some(({ id }) => id === second.id)).toBe(false);
});

test("a search result names the place of a record as far as the caller may view it", async () => {
  const place = await send("POST", "places/", { room: "Vault", public: true });
  const hidden = { owner: "alice", owned_by: "Genomics" };
  const box = await send("POST", "locations/", {
    label: "Ximera box",
    place: place.id,
    grid_rows: 9,
    grid_columns: 9,
    ...hidden,
  });
  const tube = { name: "Ximera", location: box.id, position: "B8", public: true };
  await send("POST", "stocks/specimen/", tube);
  const where = async (as: string) => {
    const { body } = await lab.ask("GET", "search/?q=ximera", { as });
    const groups = body.groups as { results: { name: string; where: string }[] }[];
    return groups.flatMap(({ results }) => results.map((found) => [found.name, found.where]));
  };
  expect(await where("alice")).toEqual([
    ["Ximera", "Ximera box, B8"],
    ["Ximera box", "Vault"],
  ]);
  expect(await where("bob")).toEqual([["Ximera", ""]]);
});

test("finds written records immediately", async () => {
  const { id } = await send("POST", "stocks/consumables/", { name: "Quenched sample" });
  const names = async (as: string, q: string) => (await search(as, { q })).flatMap(({ results }) => results);
  expect(await names("admin", "quenched")).toEqual([`${String(id)} Quenched sample name`]);
  expect(await names("alice", "quenched")).toEqual([]);
  await send("PATCH", `stocks/consumables/${String(id)}/`, { name: "Frozen sample", owned_by: "Genomics" });
  expect(await names("admin", "quenched")).toEqual([]);
  expect(await names("alice", "frozen")).toEqual([`${String(id)} Frozen sample name`]);
  await send("DELETE", `stocks/consumables/${String(id)}/`);
  expect(await names("admin", "frozen")).toEqual([]);
});

test("finds people for signed-in callers only", async () => {
  const lists = async (as: string | undefined) => {
    const { body } = await lab.ask("GET", "search/?q=Archer", as === undefined ? {} : { as });
    return (body.groups as { list: string }[]).map(({ list }) => list);
  };
  expect(await lists("bob")).toEqual(["users"]);
  expect(await lists(undefined)).toEqual([]);
});

test("shows the text in which a word was found", async () => {
  const { id } = await send("POST", "core/projects/", { name: "Atlas" });
  await send("POST", `core/projects/${String(id)}/notes/`, {
    content: `${"Long. ".repeat(40)}The zymogen arrived.`,
  });
  const { body } = await lab.ask("GET", "search/?q=ZYMO", { as: "admin" });
  const [group] = body.groups as { results: Record<string, string>[] }[];
  expect(group.results[0]).toMatchObject({
    by: "note",
    text: expect.stringMatching(/^….*The zymogen arrived\.$/),
  });
});

test.each([
  ["", "q"],
  ["q=", "q"],
  ["q=%20", "q"],
  ["q=a%00bc", "without NUL"],
  [`q=${"x".repeat(201)}`, "200"],
  [`q=${"ab+".repeat(21)}`, "20"],
  ["q=x&list=rooms", "stocks/consumables"],
  ["q=x&limit=0", "limit"],
  ["q=x&deleted=maybe", "true, false or all"],
])("rejects a search for %s", async (query, message) => {
  const { status, text } = await lab.ask("GET", `search/?${query}`, { as: "admin" });
  expect({ status, text }).toEqual({ status: 400, text: expect.stringContaining(message) });
});

test("reads large tables before the first search", async () => {
  const large = await openLab({ sample: EMPTY });
  large.database.run(
    "INSERT INTO consumable (rid, id, name, name_fold, created, modified, created_by, modified_by, owner, owned_by) VALUES (6000, 'a', 'Tube', 'tube', 0, 0, 1, 1, 1, 1)",
  );
  const { reader, search, resources } = openStore(large.database, large.clock);
  const asked: string[] = [];
  reader.loadRowsWith(async (request) => {
    asked.push(request.resource);
    return reader.readRows(request);
  });
  await large.accounts.addUser({ username: "mia", group: "Mia" });
  const mia = large.accounts.readActor(large.accounts.userId("mia")!);
  const prepared = prepareSearch(large.database, large.clock, [mia]);
  expect(asked).toEqual(["consumable"]);
  await prepared;
  expect(asked).toEqual(["consumable", "consumable"]);
  const actor = large.accounts.readActor(large.accounts.userId("admin")!);
  const searched = {
    typed: "",
    actor,
    resources: [resources.get("consumable")!],
    makeCondition: () => ALIVE,
    results: 5,
  };
  expect(search.loading(searched)).toEqual([]);
  expect(search.loading({ ...searched, actor: mia })).toEqual([]);
  large.database.close();
});
