import { afterAll, describe, expect, test } from "bun:test";
import {
  compareStored,
  foldCase,
  foldedText,
  LOOKUPS,
  type Operator,
  OPERATORS,
} from "../../../src/inventory/model/operator.ts";
import { randomText, seeded } from "../random.ts";
import { openMigrated } from "../../database.ts";

const database = openMigrated();
afterAll(() => database.close());

test("the operators equal the specification", () => {
  const specified =
    "==, =, >=, >, <=, <, contains, icontains, exact, iexact, startswith, istartswith, endswith, iendswith";
  expect(Object.keys(OPERATORS)).toEqual(specified.split(", "));
});

test("every lookup corresponds to an operator", () => {
  for (const [lookup, name] of LOOKUPS) expect(OPERATORS[name].lookup).toBe(lookup);
  expect(LOOKUPS.size).toBe(12);
});

test("folds text in memory as in SQL", () => {
  const random = seeded(1);
  const fold = database.prepare(
    `SELECT fold(stored) AS called, ${foldedText("stored")} AS folded FROM (SELECT ? AS stored)`,
  );
  const texts = Array.from({ length: 500 }, () => randomText(random, 8));
  for (const text of [...texts, "", "Box 42\0A", "\0", "\0É", "~[Z]^\x7f\n", "\u00a0É"])
    expect(fold.get(text)).toEqual({ called: foldCase(text), folded: foldCase(text) });
  expect(fold.get(null)).toEqual({ called: null, folded: null });
});

test("folds ASCII text without JavaScript", () => {
  const counted = openMigrated();
  let calls = 0;
  counted.function("fold", { deterministic: true }, (text: unknown) => (calls++, foldCase(String(text))));
  const texts = JSON.stringify(["Box 42", "BOX 43", "Bóx 42", "ﬂask"]);
  const { text, args } = OPERATORS.icontains.sql({ plain: "value", folded: foldedText("value") }, "BOX");
  expect(counted.query(`SELECT value FROM json_each(?) WHERE ${text}`).values(texts, ...args)).toEqual([
    ["Box 42"],
    ["BOX 43"],
  ]);
  expect(calls).toBe(2);
  counted.close();
});

test("orders values in memory as in SQL", () => {
  const random = seeded(2);
  const less = database.prepare("SELECT ? < ? AS less");
  for (let i = 0; i < 1000; i++) {
    const [a, b] = [randomText(random), randomText(random)];
    expect({ a, b, less: compareStored(a, b) < 0 }).toEqual({
      a,
      b,
      less: (less.get(a, b) as { less: number }).less === 1,
    });
  }
  // UTF-16 units would order these the other way round.
  expect(compareStored("\uffee", "😀")).toBeLessThan(0);
});

describe("an operator has the same meaning in SQL and in memory", () => {
  for (const [name, operator] of Object.entries(OPERATORS) as [string, Operator][]) {
    test(name, () => {
      const random = seeded(name.length);
      let held = 0;
      for (let i = 0; i < 1500; i++) {
        const stored = randomText(random);
        // Parts of the stored text, so that often enough something is found.
        const value = random.chance(0.5) ? randomText(random, 2) : stored.slice(random.below(3));
        if (!value.isWellFormed()) continue;
        const { text, args } = operator.sql({ plain: "stored", folded: foldedText("stored") }, value);
        const row = database
          .prepare(`SELECT (${text}) IS TRUE AS holds FROM (SELECT ? AS stored)`)
          .get(...args, stored) as { holds: number };
        const holds = operator.holds(stored, value);
        held += holds ? 1 : 0;
        expect({ stored, value, holds: row.holds === 1 }).toEqual({ stored, value, holds });
      }
      expect(held).toBeGreaterThan(50);
    });
  }
});

test("startswith compiles to a range that uses an index", () => {
  const { sql } = OPERATORS.startswith;
  expect(sql({ plain: "c", folded: "f" }, "ab")).toEqual({ text: "c >= ? AND c < ?", args: ["ab", "ac"] });
  expect(sql({ plain: "c", folded: "f" }, "a\u{10ffff}")).toEqual({
    text: "c >= ? AND c < ?",
    args: ["a\u{10ffff}", "b"],
  });
  expect(sql({ plain: "c", folded: "f" }, "\ud7ff")).toEqual({
    text: "c >= ? AND c < ?",
    args: ["\ud7ff", "\ue000"],
  });
  expect(sql({ plain: "c", folded: "f" }, "")).toEqual({ text: "c >= ?", args: [""] });
  expect(OPERATORS.istartswith.sql({ plain: "c", folded: "f" }, "Ab").args).toEqual(["ab", "ac"]);
});
