import { expect, test } from "bun:test";
import { countNames, expandNames, PatternError } from "../../../src/inventory/model/name-pattern.ts";

test.each<[pattern: string, names: string[]]>([
  ["Rack", ["Rack"]],
  [" Rack ", ["Rack"]],
  ["Rack {1..3}", ["Rack 1", "Rack 2", "Rack 3"]],
  ["Rack {2..2}", ["Rack 2"]],
  ["{8..11} of 20", ["8 of 20", "9 of 20", "10 of 20", "11 of 20"]],
  ["{08..11}", ["08", "09", "10", "11"]],
  ["{000..1}", ["000", "001"]],
  ["{ A .. C }", ["A", "B", "C"]],
  ["{y..z}", ["y", "z"]],
  ["{A..B}{1..2}x", ["A1x", "A2x", "B1x", "B2x"]],
  ["{A..B}-{1..2}-{a..a}", ["A-1-a", "A-2-a", "B-1-a", "B-2-a"]],
])("%p stands for %p", (pattern, names) => {
  expect(expandNames(pattern, 100)).toEqual(names);
  expect(countNames(pattern)).toBe(names.length);
});

test.each([
  ["{1..999999}", 3, ["1", "2", "3"], 999_999],
  ["{A..C}{1..3}", 4, ["A1", "A2", "A3", "B1"], 9],
  ["{1..3}", 3, ["1", "2", "3"], 3],
])("of %p at most %i are expanded, and all are counted", (pattern, most, names, count) => {
  expect(expandNames(pattern, most)).toEqual(names);
  expect(countNames(pattern)).toBe(count);
});

test.each([
  ["{}", "{} is not a range. Write {1..5}, {01..12} or {A..D}."],
  ["{1..}", "{1..} is not a range"],
  ["{1...2}", "{1...2} is not a range"],
  ["{1..1000000}", "is not a range"],
  ["{AA..B}", "is not a range"],
  ["{1..B}", "{1..B} does not end as it begins. Write"],
  ["{A..1}", "does not end as it begins"],
  ["{a..B}", "does not end as it begins"],
  ["{A..b}", "does not end as it begins"],
  ["{5..4}", "{5..4} ends before it begins"],
  ["{B..A}", "ends before it begins"],
])("%p is refused: %s", (pattern, message) => {
  expect(() => countNames(pattern)).toThrow(message);
  expect(() => expandNames(pattern, 10)).toThrow(PatternError);
});
