import { expect, test } from "bun:test";
import { jsonAddress } from "../../src/web/components/developer-menu.tsx";

const address = (path: string) => {
  const { pathname, searchParams } = new URL(path, "http://labd");
  return jsonAddress(pathname, searchParams);
};

test("links the content of a page as JSON, for lists with the filters", () => {
  expect(address("/inventory/stocks-consumables?status=LOW&page=2")).toBe(
    "/api/v2/stocks/consumables/?status=LOW&format=api",
  );
  expect(address("/inventory/locations/6f?at=C3")).toBe("/api/v2/locations/6f/?format=api");
  expect(address("/inventory/storage")).toBe("/api/v2/locations/tree/?format=api");
  expect(address("/score/01")).toBe("/api/scoring/jobs/01/result");
  expect(address("/classes/14-3-3%201")).toBe("/api/scoring/motif-classes/14-3-3%201");
  expect(address("/administration/audit")).toBe("/api/admin/audit");
});

test("links no JSON for pages that show no answer of the API", () => {
  for (const path of ["/", "/help", "/score", "/score/compare", "/profile", "/inventory/labels"])
    expect(address(path)).toBeUndefined();
  expect(address("/inventory/stocks-consumables/new")).toBeUndefined();
});
