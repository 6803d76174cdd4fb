import { expect, test } from "bun:test";
import { DECLARED } from "../../src/inventory/resources/index.ts";
import { parseExpression } from "../../src/inventory/model/expression.ts";
import { seeded } from "../inventory/random.ts";
import {
  comparison,
  matchEverything,
  type Form,
  type Group,
  printExpression,
  readExpression,
} from "../../src/web/inventory/expression.ts";

/** The editor's tree and the text of the interface mean each other. */

const FIELDS = ["label", "place__room", "description", "equipment__place__building"];
const OPERATORS = ["exact", "gte", "lt", "icontains", "startswith"];

function anyForm(random: ReturnType<typeof seeded>, depth: number): Form {
  if (depth === 0 || random.chance(0.5))
    return {
      ...comparison(
        random.pick(FIELDS),
        random.pick(OPERATORS),
        random.pick(["2026-01-01", 'a "b", {c}', "101"]),
      ),
      not: random.chance(0.3),
    };
  return anyGroup(random, depth);
}
function anyGroup(random: ReturnType<typeof seeded>, depth: number): Group {
  const parts = Array.from({ length: 1 + random.below(3) }, () => anyForm(random, depth - 1));
  return { kind: random.chance(0.5) ? "and" : "or", parts, not: random.chance(0.2) };
}

test("reads printed expressions back with the same meaning for the server", () => {
  const random = seeded(3);
  const location = DECLARED.get("location")!;
  for (let i = 0; i < 500; i++) {
    const text = printExpression(anyGroup(random, 3));
    const again = printExpression(readExpression(text)!);
    expect(parseExpression(DECLARED, location, again)).toEqual(parseExpression(DECLARED, location, text));
    expect(printExpression(readExpression(again)!)).toBe(again);
  }
});

test("reads the forms of the specification", () => {
  const text =
    '{"category":"label","operator":"==","value":"x"},{"category":"place__room","operator":"icontains","value":"1"},';
  expect(readExpression(text)?.parts).toEqual([
    { kind: "compare", category: "label", operator: "exact", value: "x", not: false },
    { kind: "compare", category: "place__room", operator: "icontains", value: "1", not: false },
  ]);
  expect(readExpression('[{"Category":"label","OPERATOR":"=","value":null}]')?.parts).toEqual([
    { kind: "compare", category: "label", operator: "exact", value: "null", not: false },
  ]);
  for (const wrong of ["{", "1", '{"category":"x"}', '{"and":1}'])
    expect(readExpression(wrong)).toBeUndefined();
});

test("treats empty groups as no filter", () => {
  expect(printExpression(matchEverything())).toBe("");
  expect(printExpression({ ...matchEverything(), parts: [{ kind: "or", parts: [], not: true }] })).toBe("");
  expect(readExpression("")).toEqual(matchEverything());
});
