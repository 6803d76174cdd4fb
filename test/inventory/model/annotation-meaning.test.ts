import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Json } from "../../../src/inventory/model/field.ts";
import {
  CALLERS,
  type Holds,
  type Item,
  type Specimen,
  type Target,
  type Type,
  all,
  toBody,
  compareKeys,
  makeHolds,
  insiders,
  isTarget,
  sortKey,
  random,
  randomExpression,
  randomFilter,
  randomItem,
} from "../annotation-model.ts";
import { type Lab, openLab } from "../harness.ts";
import { order } from "../meanings.ts";
import { IDS } from "../sample.ts";

/**
 * Random filters and orderings by annotations over HTTP, for every caller, before and after writes, and of the past: a
 * list finds what a plain model of the annotations finds. Nothing of the program is used on the other side.
 */

let lab: Lab;
const types: Type[] = [];
const specimens: Specimen[] = [];
const terms: Target[] = [];

async function sent(as: string, method: string, path: string, body?: unknown): Promise<Record<string, Json>> {
  const { status, text, body: answer } = await lab.send(as, method, path, body);
  expect({ path, body, ok: status < 300, text }).toEqual({ path, body, ok: true, text });
  return answer;
}

async function addType(
  declared: Record<string, Json>,
  rest: Omit<Type, "id" | "word" | "viewers"> & Partial<Type>,
) {
  const { list = "annotationtypes", ...body } = declared;
  const made = await sent("alice", "POST", `${String(list)}/`, { public: true, ...body });
  const id = String(made.id);
  types.push({ id, word: String(body.name), viewers: all, ...rest });
  return id;
}

beforeAll(async () => {
  lab = await openLab();
  const category = String(
    (
      await sent("alice", "POST", "vocabularies/categories/", {
        name: "Tissue 2",
        kind: "term",
        public: true,
      })
    ).id,
  );
  for (const [name, isPublic] of [
    ["Liver", true],
    ["heart ÄÖ", true],
    ["secret gland", false],
    ["straße", true],
  ] as const) {
    const { id } = await sent("alice", "POST", "vocabularies/terms/", { name, category, public: isPublic });
    terms.push({ id: String(id), name, viewers: isPublic ? all : insiders });
  }
  const locations = [
    { id: IDS.secret, name: "Secret", viewers: insiders },
    { id: IDS.shelf, name: "Shelf 1", viewers: all },
  ];
  const users = await Promise.all(
    ["alice", "bob"].map(async (name) => ({
      id: String((await sent("admin", "GET", `users/${name}/`)).id),
      name,
      viewers: all,
    })),
  );
  await addType({ name: "Größe, second (cm)", type: "TEXT" }, { kind: "text" });
  types[0].word = types[0].id;
  await addType({ name: "tag__icontains", type: "TEXT", multiple: true }, { kind: "text", multiple: true });
  await addType({ name: "age", type: "NUMBER", multiple: true }, { kind: "number", multiple: true });
  await addType({ name: "mass", type: "NUMBERUNIT" }, { kind: "amount" });
  await addType({ name: "born", type: "DATE" }, { kind: "day" });
  await addType({ name: "alive", type: "BOOLEAN" }, { kind: "flag" });
  await addType(
    { name: "tissue", type: "VOCABULARYTERM", cv_category: category, multiple: true },
    { kind: "reference", key: "name", targets: terms, multiple: true },
  );
  await addType({ name: "keeper", type: "USER" }, { kind: "reference", key: "username", targets: users });
  await addType(
    { name: "kept_in", type: "OBJECT", choices_target: "locations" },
    { kind: "reference", key: "label", targets: locations },
  );
  await addType({ name: "hidden type", type: "TEXT", public: false }, { kind: "text", viewers: insiders });
  const model = { model_name: "stocks.specimen", model_type: "FISH" };
  const property = await addType(
    { list: "custompropertytypes", name: "twin", type: "TEXT", ...model },
    { kind: "text" },
  );
  const twin = await addType({ name: "twin", type: "TEXT" }, { kind: "text" });
  for (const type of types) if ([property, twin].includes(type.id)) type.word = type.id;
  for (let i = 0; i < 50; i++) {
    const isPublic = random.chance(0.6);
    const { id } = await sent("alice", "POST", "specimens/", {
      name: `S${i % 9}`,
      model_type: "FISH",
      public: isPublic,
    });
    specimens.push({ id: String(id), viewers: isPublic ? all : insiders, values: new Map() });
  }
  for (const specimen of specimens)
    for (const type of types) if (random.chance(0.7)) await annotate(specimen, type);
}, 30_000);
afterAll(() => lab.database.close());

/** Sets the annotations of a type like a field, or one by one. */
async function annotate(specimen: Specimen, type: Type): Promise<void> {
  const items = Array.from({ length: type.multiple ? 1 + random.below(3) : 1 }, () => randomItem(type));
  const isNew = !specimen.values.has(type);
  const path = `specimens/${specimen.id}/`;
  specimen.values.set(type, items);
  if (isNew && random.chance(0.5))
    for (const item of items)
      await sent("alice", "POST", `${path}annotations/`, {
        annotation_type_id: type.id,
        value: toBody(item),
      });
  else {
    const bodies = items.map(toBody);
    await sent("alice", "PATCH", path, { [`annotations__${type.word}`]: type.multiple ? bodies : bodies[0] });
  }
}

async function compareLists(rounds: number, now: readonly Specimen[], past?: string): Promise<number> {
  let telling = 0;
  for (let i = 0; i < rounds; i++) {
    const caller = past ? "admin" : random.pick(CALLERS);
    const usable = types.filter(({ viewers }) => viewers.includes(caller));
    const parameters: [string, string][] = [
      ["fields", "id"],
      ["page_size", "max"],
    ];
    const conditions: Holds[] = [];
    if (random.chance(0.6)) {
      const filter = randomFilter(random.pick(usable));
      for (const value of filter.values)
        parameters.push([`annotations__${filter.type.word}${filter.suffix}`, value]);
      conditions.push(makeHolds(filter));
    } else {
      const { expression, holds } = randomExpression(2, usable);
      parameters.push(["query_expression", JSON.stringify(expression)]);
      conditions.push(holds);
    }
    const by = random.pick(usable);
    const descending = random.chance(0.5);
    parameters.push(
      ["ordering", `${descending ? "-" : ""}annotations__${by.word}`],
      ["name__startswith", "S"],
    );
    if (past) parameters.push(["as_of", past]);
    const expected = now
      .filter(
        (specimen) =>
          specimen.viewers.includes(caller) && conditions.every((holds) => holds(specimen, caller)),
      )
      .toSorted((a, b) => {
        const keys = [a, b].map(({ values }) => sortKey(by, values.get(by) ?? [], caller));
        return compareKeys(keys[0], keys[1]) * (descending ? -1 : 1) || order(a.id, b.id);
      });
    // Rows that are in memory are used from the second time on.
    for (let use = 0; use < (past ? 1 : 3); use++) {
      const { text, body } = await lab.ask(
        "GET",
        `specimens/?${new URLSearchParams(parameters)}`,
        caller ? { as: caller } : {},
      );
      const found = (body.results as { id: string }[] | undefined)?.map(({ id }) => id) ?? text;
      const context = { caller, parameters, use };
      expect({ ...context, found }).toEqual({ ...context, found: expected.map(({ id }) => id) });
    }
    if (expected.length > 0 && expected.length < now.length) telling++;
  }
  return telling;
}

test("random filters and orderings by annotations find the expected records, before and after writes, and in the past", async () => {
  expect(await compareLists(80, specimens)).toBeGreaterThan(40);
  const then = new Date(lab.clock.now()).toISOString();
  const past = structuredClone(
    specimens.map(({ values, ...rest }) => ({
      ...rest,
      values: [...values].map(([type, items]) => [types.indexOf(type), items] as const),
    })),
  );
  lab.clock.set(lab.clock.now() + 86_400_000);
  terms[0].name = "Hepar";
  await sent("alice", "PATCH", `vocabularies/terms/${terms[0].id}/`, { name: "Hepar" });
  for (let i = 0; i < 30; i++) {
    const specimen = random.pick(specimens);
    const type = random.pick(types);
    if (random.chance(0.6)) await annotate(specimen, type);
    else {
      specimen.values.delete(type);
      await sent("alice", "PATCH", `specimens/${specimen.id}/`, { [`annotations__${type.id}`]: null });
    }
    if (i % 6 === 0) await compareLists(3, specimens);
  }
  expect(await compareLists(30, specimens)).toBeGreaterThan(12);
  const before = past.map(({ values, ...rest }) =>
    Object.assign(rest, {
      values: new Map(values.map(([at, items]) => [types[at], items])),
    }),
  );
  expect(await compareLists(20, before, then)).toBeGreaterThan(8);
}, 60_000);

test("the counts of annotation values equal the results of filters", async () => {
  for (const type of types.filter(({ kind, viewers }) => kind !== "amount" && viewers === all)) {
    for (const caller of CALLERS) {
      const seen = specimens.filter(({ viewers }) => viewers.includes(caller));
      const path = `specimens/values/?name__startswith=S&field=${encodeURIComponent(`annotations__${type.word}`)}`;
      const { results } = (await lab.ask("GET", path, caller ? { as: caller } : {})).body as {
        results: { value: Json; total: number }[];
      };
      const toValue = (item: Item): Json =>
        isTarget(item) ? (type.key === "username" ? item.name : item.id) : (item as Json);
      const counts = new Map<Json, number>();
      for (const { values } of seen)
        for (const value of new Set((values.get(type) ?? []).map(toValue)))
          counts.set(value, (counts.get(value) ?? 0) + 1);
      const listed = results
        .filter(({ value }) => value !== null)
        .map(({ value, total }) => [value, total] as const);
      expect({ type: type.word, caller, counts: new Map(listed) }).toEqual({
        type: type.word,
        caller,
        counts,
      });
    }
  }
});

test("the database keeps the values in step with the annotations", () => {
  const columns = "rid, object_kind, object_rid, annotation_type, text, number, unit, reference";
  const kept = lab.database.query(`SELECT ${columns}, fold FROM annotation_value ORDER BY rid`).all();
  const items = lab.database
    .query(`SELECT ${columns}, fold(text) AS fold FROM annotation_item ORDER BY rid`)
    .all();
  expect(kept).toEqual(items);
  expect(kept.length).toBeGreaterThan(300);
});
