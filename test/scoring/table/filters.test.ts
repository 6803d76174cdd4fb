import { expect, test } from "bun:test";
import {
  type ChoiceFilter,
  facetRows,
  type Filter,
  filterParameters,
  filterRows,
  filtersIn,
  type FilterValues,
  type LimitFilter,
  readFilters,
} from "../../../src/scoring/table/filters.ts";
import type { TableRow } from "../../../src/scoring/table/match-row.ts";

/** Rows with a colour and a size, either of which may be missing. */
interface Thing {
  colour: string | null;
  size: number | null;
}
const thing = (colour: string | null, size: number | null): TableRow => ({ colour, size }) as never;
const asThing = (row: TableRow): Thing => row as never;
const about = { title: "", description: "" };

const COLOUR: ChoiceFilter = {
  ...about,
  kind: "choice",
  name: "colour",
  choices: { red: "Red", blue: "Blue" },
  formerNames: ["tint"],
  aliases: { isRed: { true: "red", false: "blue" } },
  readValue: (row) => asThing(row).colour,
};
const ANY: ChoiceFilter = { ...about, kind: "choice", name: "any", choices: null, readValue: () => null };
const ONE: ChoiceFilter = { ...COLOUR, name: "one", single: "text", formerNames: [], aliases: {} };
const SIZE: LimitFilter = {
  ...about,
  kind: "limit",
  type: "fraction",
  name: "size",
  maximum: 1,
  readValue: (row) => asThing(row).size,
};
const FILTERS: Filter[] = [COLOUR, ANY, ONE, SIZE];

test.each<[parameters: Record<string, unknown>, values: FilterValues]>([
  [{}, {}],
  [{ colour: "red" }, { colour: ["red"] }],
  [
    { colour: ["red", "blue"], any: "x" },
    { colour: ["red", "blue"], any: ["x"] },
  ],
  [{ size: "0.5" }, { size: 0.5 }],
  [{ size: 0 }, { size: 0 }],
  [{ tint: "red" }, { colour: ["red"] }],
  [{ colour: "blue", tint: "red" }, { colour: ["blue"] }],
  [{ isRed: "false" }, { colour: ["blue"] }],
  [{ isRed: true }, { colour: ["red"] }],
  [{ isRed: "toString" }, {}],
])("reads the parameters %p as %p", (parameters, values) => {
  expect(readFilters(FILTERS, parameters)).toEqual(values);
});

test.each<[address: string, values: FilterValues]>([
  ["", {}],
  ["colour=red&colour=blue", { colour: ["red", "blue"] }],
  ["colour=green", {}],
  ["colour=toString&colour=red", { colour: ["red"] }],
  ["any=whatever&any=more", { any: ["whatever", "more"] }],
  ["one=red&one=blue", { one: ["red"] }],
  ["size=0", { size: 0 }],
  ["size=1", { size: 1 }],
  ["size=0.2&size=0.3", { size: 0.2 }],
  ["size=1.01", {}],
  ["size=-0.1", {}],
  ["size=", {}],
  ["size=x", {}],
])("reads the address %p as %p", (address, values) => {
  expect(filtersIn(FILTERS, new URLSearchParams(address))).toEqual(values);
});

test("parameters of a request are texts, joined by commas, and numbers", () => {
  const values = { colour: ["red", "blue"], size: 0, any: undefined };
  expect(filterParameters(values)).toEqual({ colour: "red,blue", size: 0, any: undefined });
});

const ROWS = [thing("red", 0.1), thing("red", 0.5), thing("blue", 0.5), thing("blue", null), thing(null, 0)];

test.each<[values: FilterValues, passing: number[], red: number, blue: number]>([
  [{}, [0, 1, 2, 3, 4], 2, 2],
  [{ colour: undefined }, [0, 1, 2, 3, 4], 2, 2],
  [{ colour: ["red"] }, [0, 1], 2, 2],
  [{ colour: ["red", "blue"] }, [0, 1, 2, 3], 2, 2],
  [{ size: 0.5 }, [0, 1, 2, 4], 2, 1],
  [{ size: 0.4 }, [0, 4], 1, 0],
  [{ size: 0 }, [4], 0, 0],
  [{ colour: ["blue"], size: 0.5 }, [2], 2, 1],
  // No row has the one value that another choice wants.
  [{ colour: ["red"], any: ["x"] }, [], 0, 0],
])("with %p the rows %p pass, and the choices have %i and %i rows", (values, passing, red, blue) => {
  const rows = passing.map((i) => ROWS[i]);
  const filters = [COLOUR, ANY, SIZE];
  expect(filterRows(ROWS, filters, values)).toEqual(rows);
  const faceted = facetRows(ROWS, filters, values);
  expect(faceted.passing).toEqual(rows);
  const counts = new Map(faceted.facets.colour.map(({ value, count }) => [value, count]));
  expect([counts.get("red") ?? 0, counts.get("blue") ?? 0]).toEqual([red, blue]);
});
