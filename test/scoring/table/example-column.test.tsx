import { expect, test } from "bun:test";
import { Type } from "typebox";
import { renderToString } from "preact-render-to-string";
import { viewFlags } from "../../../src/commands/filter-flags.ts";
import { formatSchema } from "../../../src/scoring/api/json-schemas.ts";
import { describeContent } from "../../../src/scoring/api/openapi-parts.ts";
import { printTable } from "../../../src/scoring/results/print-table.ts";
import { filterSchemas, matchProperties, orderSchema } from "../../../src/scoring/results/table-schemas.ts";
import { readCell, type Column, matchObject } from "../../../src/scoring/table/column.ts";
import { COLUMNS } from "../../../src/scoring/table/columns.ts";
import { forMatch } from "../../../src/scoring/table/filters.ts";
import { isMatch, type MatchRow } from "../../../src/scoring/table/match-row.ts";
import { makeTables } from "../../../src/scoring/table/match-tables.ts";
import { resultRows } from "../../../src/scoring/table/rows.ts";
import { TABLE_FORMATS, type TableFormat } from "../../../src/scoring/table/table-formats.ts";
import { viewRows } from "../../../src/scoring/table/view.ts";
import { MatchTable } from "../../../src/web/score/match-table.tsx";
import { SAMPLE } from "../sample-prediction.ts";

/** The examples of CONTRIBUTING.md: a column with its filter, and a format. */

const length: Column = {
  name: "match_length",
  title: "Length",
  description: "Residues of the match.",
  type: "count",
  unit: "residues",
  json: "matchLength",
  required: true,
  of: "match",
  value: ({ text }) => text.length,
  filter: {
    kind: "limit",
    name: "max_length",
    title: "Length, at most",
    description: "Only matches with at most this many residues.",
    type: "count",
    maximum: 1000,
    readValue: forMatch(({ text }) => text.length),
  },
};

const csv: TableFormat = {
  title: "CSV",
  contentType: "text/csv; charset=utf-8",
  aliases: [],
  extension: "csv",
  sentence: "One line per match, separated by commas.",
  head: ({ columns }) => `${columns.map(({ name }) => name).join(",")}\n`,
  print: ({ columns }, { rows }) =>
    rows
      .map((row) => `${columns.map((column) => JSON.stringify(readCell(column, row))).join(",")}\n`)
      .join(""),
};

const tables = makeTables([...COLUMNS, length]);
const ROWS = resultRows(SAMPLE, () => null);
const MATCHES = ROWS.filter(isMatch);
const part = { rows: ROWS, sequences: [] };
const lengths = MATCHES.map(({ text }) => text.length);

test.each(Object.values(tables))("the column is in the table of a $name", (table) => {
  const [head, ...lines] = (printTable(TABLE_FORMATS.tsv, table, [part]) as string).split("\n").slice(0, -1);
  const at = head.split("\t").indexOf("match_length");
  const cells = lines.map((line) => line.split("\t")[at]);
  expect(cells.filter((cell) => cell !== "").map(Number)).toEqual(lengths);
  expect(printTable(TABLE_FORMATS.gff3, table, [part])).toContain(";match_length=4");
});

test("the column is in XLSX", async () => {
  const bytes = await printTable(TABLE_FORMATS.xlsx, tables.scan, [part]);
  const { readXlsx } = await import("hucre/xlsx");
  const [{ rows }] = (await readXlsx(bytes as Uint8Array)).sheets;
  const at = rows[0].indexOf("match_length");
  expect(rows.slice(1).map((row) => row[at])).toEqual(
    ROWS.map((row) => (isMatch(row) ? row.text.length : null)),
  );
});

test("the column is in JSON, and in its schema", () => {
  expect(matchObject(tables.scan.columns, MATCHES[0])).toMatchObject({ matchLength: 4 });
  expect(matchProperties(tables.scan).matchLength).toEqual(
    Type.Integer({ $id: "MatchMatchLength", description: "Residues of the match.", minimum: 0 }),
  );
});

test("the column is an order, and its filter a parameter and a flag", () => {
  const { enum: orders } = orderSchema(tables.proteome) as unknown as { enum: string[] };
  expect(orders).toEqual(expect.arrayContaining(["match_length", "-match_length"]));
  expect(filterSchemas(tables.result)).toMatchObject({
    max_length: { description: "Only matches with at most this many residues.", maximum: 1000 },
  });
  expect(viewFlags(tables.scan)).toMatchObject({
    "--max-length 0-1000": "Print only matches with at most this many residues.",
  });
  const shown = viewRows(tables.result, ROWS, { values: { max_length: 3 }, order: "-match_length" });
  expect(shown.map((row) => (row as MatchRow).text.length)).toEqual(
    lengths.filter((each) => each <= 3).toSorted((a, b) => b - a),
  );
});

test("the column is in the page's table with its filter, and the format among its downloads", () => {
  const html = renderToString(
    <MatchTable
      table={tables.result}
      title="Matches"
      caption="Matches"
      view={{ rows: MATCHES, total: MATCHES.length, passing: MATCHES.length, facets: {} }}
      all={MATCHES}
      rowKey={({ number }) => number!}
      columns={["motif", "match_length"]}
      download={{ path: "/api/matches", name: "matches" }}
      formats={{ csv }}
    />,
  );
  expect(html).toMatch(/<button type="button" class="sort">Length<\/button>/);
  expect(html).toContain('aria-label="Length, at most"');
  expect(html).toContain("<dt>Length (residues)</dt><dd>Residues of the match.</dd>");
  expect(html.match(/<td class="num[^>]*>(\d+)<\/td>/g)).toHaveLength(MATCHES.length);
  expect(html).toContain('href="/api/matches?format=csv" download="matches.csv"');
});

test("the format is printed, and documented for requests and responses", () => {
  const lines = (printTable(csv, tables.result, [part]) as string).trimEnd().split("\n");
  expect(lines).toHaveLength(ROWS.length + 1);
  expect(lines[0]).toEndWith(",match_length");
  const formats = { ...TABLE_FORMATS, csv };
  expect(formatSchema(formats)).toMatchObject({ enum: Object.keys(formats) });
  expect(describeContent(formats)["text/csv"].schema).toMatchObject({ description: csv.sentence });
});
