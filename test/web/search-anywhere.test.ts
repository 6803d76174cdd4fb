import { afterEach, beforeEach, expect, type Mock, spyOn, test } from "bun:test";
import { exactRecord, formatTotal, recordHref, searchAnywhere } from "../../src/web/search/search.ts";
import { proteinHref, proteinTitle } from "../../src/web/score/protein-identity.tsx";

const asked: URL[] = [];
const statuses = { search: 200, proteins: 200, "motif-classes": 200 };
let fetched: Mock<typeof fetch>;
beforeEach(() => {
  asked.length = 0;
  Object.assign(statuses, { search: 200, proteins: 200 });
  fetched = spyOn(globalThis, "fetch").mockImplementation((async (address: string) => {
    const url = new URL(address, "http://lab");
    asked.push(url);
    const name =
      (["proteins", "motif-classes"] as const).find((one) => url.pathname.includes(one)) ?? "search";
    const status = statuses[name];
    return Response.json(status === 200 ? { name } : { code: "busy", message: name }, { status });
  }) as unknown as typeof fetch);
});
afterEach(() => fetched.mockRestore());

const { signal } = new AbortController();
const addresses = (): string[] => asked.map(({ pathname, search }) => pathname + search);

test.each([
  [
    " p53 ",
    { limit: 5 },
    [
      "/api/v2/search/?q=p53&limit=5",
      "/api/scoring/proteins?query=p53&limit=5",
      "/api/scoring/motif-classes?query=p53&limit=5",
    ],
  ],
  [
    "x",
    { limit: 40 },
    [
      "/api/v2/search/?q=x&limit=40",
      "/api/scoring/proteins?query=x&limit=10",
      "/api/scoring/motif-classes?query=x&limit=10",
    ],
  ],
  ["x", { limit: 5, list: "places" }, ["/api/v2/search/?q=x&limit=5&list=places"]],
  [
    "x",
    { limit: 1, withDeleted: true },
    [
      "/api/v2/search/?q=x&limit=1&deleted=all",
      "/api/scoring/proteins?query=x&limit=1",
      "/api/scoring/motif-classes?query=x&limit=1",
    ],
  ],
])("searches for %p with %p", async (text, options, expected) => {
  await searchAnywhere(text, options, signal);
  expect(addresses()).toEqual(expected);
});

test("asks for at most 200 characters", async () => {
  await searchAnywhere("a".repeat(300), { limit: 1 }, signal);
  expect(asked.map(({ searchParams }) => searchParams.get("q") ?? searchParams.get("query"))).toEqual([
    "a".repeat(200),
    "a".repeat(200),
    "a".repeat(200),
  ]);
});

const CLASSES = { name: "motif-classes" };
test.each([
  [200, 200, null, { records: { name: "search" }, proteins: { name: "proteins" }, classes: CLASSES }],
  [404, 200, null, { records: undefined, proteins: { name: "proteins" }, classes: CLASSES }],
  [200, 404, null, { records: { name: "search" }, proteins: undefined, classes: CLASSES }],
  [404, 404, null, "search"],
  [404, 200, "places", "search"],
  [200, 404, "places", { records: { name: "search" }, proteins: undefined, classes: undefined }],
])(
  "with %i of the records and %i of the proteins in the list %p",
  async (search, proteins, list, expected) => {
    Object.assign(statuses, { search, proteins });
    const found = await searchAnywhere("x", { limit: 1, list }, signal).catch(
      (error: Error) => error.message,
    );
    expect(found as unknown).toEqual(expected);
  },
);

const protein = { accession: "P04637", entryName: "P53_HUMAN", name: "Tumor antigen" } as Parameters<
  typeof proteinTitle
>[0];
test.each([
  [{}, "Tumor antigen"],
  [{ name: "" }, "P53_HUMAN"],
  [{ name: "", entryName: "" }, "P04637"],
])("a protein with %p is shown as %s", (changed, shown) => {
  expect(proteinTitle({ ...protein, ...changed })).toBe(shown);
});

const found = (...exact: boolean[]) =>
  ({ groups: [{ list: "places", results: exact.map((is, i) => ({ id: String(i), exact: is })) }] }) as never;
test.each([
  [[], undefined],
  [[false], undefined],
  [[false, true], "1"],
  [[true, true], undefined],
])("with exact results %p the scanned record is %p", (exact, id) => {
  expect(exactRecord(found(...exact))?.result.id).toBe(id!);
});

test("search results have links and totals", () => {
  expect(recordHref("places", "p1")).toBe("/inventory/places/p1");
  expect(proteinHref(protein)).toBe("/proteins/P04637");
  expect([formatTotal({ total: 37, more: false }), formatTotal({ total: 500, more: true })]).toEqual([
    "37",
    "500+",
  ]);
});
