import { expect, test } from "bun:test";
import {
  chosenColumns,
  parseFilters,
  filtersOrAll,
  pageQuery,
  viewQuery,
} from "../../src/web/inventory/list-address.ts";

test("derives filters, columns and API query from a list address", () => {
  const search = new URLSearchParams("place=a&place=b&query=&ordering=-label&page=2&fields=label,barcode");
  expect(parseFilters(search)).toEqual({ place: ["a", "b"] });
  expect(pageQuery(search)).toEqual({ place: ["a", "b"], ordering: "-label", page: "2", page_size: "50" });
  expect(chosenColumns(search)).toEqual(["label", "barcode"]);
  expect(viewQuery(search)).toBe("fields=label%2Cbarcode&ordering=-label&place=a&place=b");
});

test("selects undeleted records if there is no filter", () => {
  expect(filtersOrAll(new URLSearchParams("ordering=label&page=3"))).toEqual({ deleted: ["false"] });
});
