import { afterAll, beforeAll, expect, test } from "bun:test";
import { readXlsx } from "hucre/xlsx";
import { parseCsv } from "hucre/csv";
import { csvLine, csvValue } from "../../../src/inventory/model/page.ts";
import { type Lab, openLab } from "../harness.ts";

/** Lists as files, parsed by a library. */

const COUNT = 1234;
const EVIL = ["=1+1", "'=1+1", "+x", "-x", "@x", "|x", "''=x", "'quoted'", 'a "b", c', "two\nlines", "ä 😀"];
let lab: Lab;
beforeAll(async () => {
  lab = await openLab();
  const bodies = Array.from({ length: COUNT }, (_, i) => ({
    name: `item ${String(i).padStart(4, "0")}`,
    description: EVIL[i % EVIL.length],
    amount: i / 4,
    model_type: "OTHER",
  }));
  expect((await lab.send("alice", "POST", "consumables/", bodies)).status).toBe(201);
});
afterAll(() => lab.database.close());

const QUERY = "name=item&fields=name,description,amount,public,unit";
const fetchBytes = (path: string, as = "alice") => lab.bytes("GET", path, { as });
const makeRow = (i: number) => [
  `item ${String(i).padStart(4, "0")}`,
  EVIL[i % EVIL.length],
  i / 4,
  false,
  null,
];

test("writes all pages to XLSX, with numbers and without formulas", async () => {
  const { status, headers, bytes } = await fetchBytes(`consumables/?format=xlsx&${QUERY}`);
  expect(status).toBe(200);
  expect(headers.get("content-type")).toBe(
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  );
  expect(headers.get("content-disposition")).toBe('attachment; filename="stocks-consumables.xlsx"');
  const { sheets } = await readXlsx(bytes);
  const [names, ...rows] = sheets[0].rows;
  expect(names).toEqual(["name", "description", "amount", "unit", "public"]);
  expect(rows.length).toBe(COUNT);
  for (const i of [0, 1, 10, 499, 500, COUNT - 1])
    expect(Object.fromEntries(rows[i].map((value, at) => [String(names[at]), value ?? null]))).toEqual(
      Object.fromEntries(
        ["name", "description", "amount", "public", "unit"].map((name, at) => [name, makeRow(i)[at]]),
      ),
    );
  // Part of the sheet: no cell has a formula.
  expect([...(sheets[0].cells?.values() ?? [])].filter((cell) => cell.formula)).toEqual([]);
});

test("writes all pages to CSV, with a quote before cells that spreadsheets would execute", async () => {
  const { bytes } = await fetchBytes(`consumables/?format=csv&${QUERY}`);
  const [names, ...rows] = parseCsv(new TextDecoder().decode(bytes)) as string[][];
  expect(rows.length).toBe(COUNT);
  const at = names.indexOf("description");
  for (const row of rows) expect(row[at]).not.toMatch(/^[=+\-@|]/);
  expect(rows.map((row) => csvValue(row[at]))).toEqual(rows.map((_, i) => EVIL[i % EVIL.length]));
});

test("writes only the requested page", async () => {
  const { bytes } = await fetchBytes(`consumables/?format=csv&${QUERY}&page_size=3&page=2`);
  expect(new TextDecoder().decode(bytes).match(/item \d+/g)).toEqual(["item 0003", "item 0004", "item 0005"]);
});

test("writes only records that the caller may view", async () => {
  const { bytes } = await fetchBytes(`consumables/?format=csv&${QUERY}`, "bob");
  expect(new TextDecoder().decode(bytes).trim().split("\r\n")).toBeArrayOfSize(1);
});

test("preserves every text in a cell", () => {
  for (const text of [...EVIL, "", "'", "''", "'-", "\t=", "\r", "\n=", "x'=y"]) {
    const [[cell]] = parseCsv(csvLine([text, "end"])) as string[][];
    expect(csvValue(cell)).toBe(text);
  }
});
