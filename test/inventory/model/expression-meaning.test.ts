import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Json } from "../../../src/inventory/model/field.ts";
import { type Lab, openLab } from "../harness.ts";
import { fold, MEANINGS } from "../meanings.ts";
import { type Random, randomText, seeded } from "../random.ts";

/**
 * Random advanced filters, nested and flat, over HTTP: what a list finds equals what a plain reading of the JSON finds
 * in the records as they are shown. Nothing of the program is used on the other side.
 */

type Shown = Record<string, Json>;
type Expression = { [key: string]: Json };

let lab: Lab;
let all: Shown[];
const random = seeded(23);
const pool = ["Freezer", "freezer box", "Shelf ÄÖ 12", "äö", "STRASSE", "straße", "e\u0301te\u0301", "été"];

beforeAll(async () => {
  lab = await openLab();
  const word = () => (random.chance(0.5) ? random.pick(pool) : `${random.pick(pool)} ${randomText(random)}`);
  const body = Array.from({ length: 80 }, (_, i) => ({
    label: `${word()} ${i}`,
    description: random.chance(0.3) ? "" : word(),
    public: random.chance(0.5),
    place: random.chance(0.3) ? null : random.pick(["A 101", "A 102"]),
  }));
  expect((await lab.ask("POST", "locations/", { as: "alice", body })).status).toBe(201);
  const answer = await lab.ask("GET", "locations/?fields=*,place__room&response_format=flat&page_size=max", {
    as: "admin",
  });
  all = answer.body.results as Shown[];
  expect(all.length).toBeGreaterThan(80);
});
afterAll(() => lab.database.close());

const CATEGORIES = ["label", "description", "place__room", "public"];

function randomExpression(random: Random, depth: number): Expression {
  const part = () => randomExpression(random, depth - 1);
  const kind = depth === 0 ? "compare" : random.pick(["compare", "compare", "and", "or", "not"] as const);
  if (kind === "not") return { not: part() };
  if (kind !== "compare") return { [kind]: Array.from({ length: random.below(4) }, part) };
  const category = random.pick(CATEGORIES);
  if (category === "public")
    return { category, operator: "==", value: random.pick(["true", "False", "1", true]) };
  const taken = String(random.pick(all)[category] ?? "");
  const value = taken.slice(random.below(4), taken.length - random.below(4)).toWellFormed();
  return { category, operator: random.pick(Object.keys(MEANINGS)), value: value === "" ? "a" : value };
}

function holds(expression: Expression, record: Shown): boolean {
  if (Array.isArray(expression.and)) return expression.and.every((part) => holds(part as Expression, record));
  if (Array.isArray(expression.or)) return expression.or.some((part) => holds(part as Expression, record));
  if (expression.not) return !holds(expression.not as Expression, record);
  const { category, operator, value } = expression as Record<string, string>;
  const stored = record[category];
  if (category === "public") return stored === /^(true|1)$/i.test(String(value));
  return typeof stored === "string" && MEANINGS[operator](stored, value);
}

test("random expressions find the expected records", async () => {
  let telling = 0;
  for (let i = 0; i < 400; i++) {
    const series = Array.from({ length: 1 + random.below(2) }, () => randomExpression(random, 3));
    const text = series.map((part) => JSON.stringify(part)).join(",");
    const path = `locations/?fields=id&page_size=max&ordering=id&query_expression=${encodeURIComponent(text)}`;
    const answer = await lab.ask("GET", path, { as: "admin" });
    const found = (answer.body.results as Shown[] | undefined)?.map(({ id }) => id);
    const expected = all.filter((record) => series.every((part) => holds(part, record)));
    expect({ text, found }).toEqual({ text, found: expected.map(({ id }) => id).sort() });
    if (expected.length > 0 && expected.length < all.length) telling++;
  }
  expect(telling).toBeGreaterThan(150);
});

test("finds words by trigrams, and short ones by scanning", async () => {
  for (const words of [
    "freezer",
    "FREEZER box",
    "äö",
    "fre 1",
    "ÉTÉ",
    "e\u0301t",
    "straße",
    "%",
    '"',
    "x OR y",
  ]) {
    const wanted = fold(words).split(/\s+/);
    const answer = await lab.ask(
      "GET",
      `locations/?fields=id&page_size=max&query=${encodeURIComponent(words)}`,
      { as: "admin" },
    );
    const expected = all.filter(({ label }) => wanted.every((word) => fold(String(label)).includes(word)));
    expect({ words, total: answer.body.total }).toEqual({ words, total: expected.length });
  }
});

test("the text index follows changes and deletions", async () => {
  const total = async (word: string): Promise<Json> =>
    (await lab.ask("GET", `locations/?deleted=all&query=${word}`, { as: "admin" })).body.total;
  const made = await lab.ask("POST", "locations/", { as: "alice", body: { label: "quagmire" } });
  expect(await total("quagmire")).toBe(1);
  await lab.ask("PATCH", `locations/${made.body.id}/`, { as: "alice", body: { label: "whirlpool" } });
  expect([await total("quagmire"), await total("IRLPOO")]).toEqual([0, 1]);
  await lab.ask("DELETE", `locations/${made.body.id}/`, { as: "alice" });
  expect(await total("whirlpool")).toBe(1);
  await lab.ask("POST", `locations/${made.body.id}/purge/`, { as: "admin", body: {} });
  const rows = lab.database.query("SELECT rowid FROM record_text_location ('hir')").all();
  expect(rows).toEqual([]);
});
