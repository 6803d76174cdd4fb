import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readAlignmentText } from "../../src/scoring/batch/alignment-text.ts";
import { hashRequest } from "../../src/scoring/jobs/job.ts";
import { elnFaults, openEln } from "../eln-rules.ts";
import { ended, openScoringAlone, P53, type ScoringAlone } from "./scoring-harness.ts";

setDefaultTimeout(60_000);

let service: ScoringAlone;
beforeAll(async () => {
  service = await openScoringAlone({ workers: 1, corpus: true });
});
afterAll(() => service.close());

const PATTERNS = ["F...W..[VIL]"];
/** p53 with single residues replaced, as homologs. */
const ROWS = Array.from({ length: 5 }, (_, i) => P53.replace("W", "AFYLI"[i]));
const FASTA = ROWS.map((row, i) => `>h${i} a homolog\n${row}\n`).join("");

async function fetchResult(body: object) {
  const { status, json } = await service.ask("POST", "/jobs", { body: { patterns: PATTERNS, ...body } });
  expect(status).toBe(202);
  expect(json.hasOwnAlignment).toBe(true);
  await ended(service, json.id);
  return (await service.ask("GET", `/jobs/${json.id}/result`)).json;
}

test("a job scores on the client's alignment as labd score does", async () => {
  const alignment = `>q\n${P53}\n${FASTA}`;
  const result = await fetchResult({ alignment });
  const direct = service.scoring.scoreAlignment({
    alignment,
    patterns: PATTERNS,
    motifClasses: [],
    scoringModel: "continuous",
  });
  expect(result).toEqual(
    JSON.parse(
      JSON.stringify({
        identifier: "q",
        protein: null,
        provenance: direct.provenance,
        ...direct.prediction,
      }),
    ),
  );
  expect(result.corpus).toBeNull();
  expect(result.homologs).toHaveLength(5);
});

test("the query is the row that the client names, and rows left out are counted", async () => {
  const unrelated = "A".repeat(P53.length);
  const alignment = `${FASTA}>sp|P04637|P53_HUMAN\n${P53}\n>x\n${unrelated}\n`;
  const result = await fetchResult({ alignment, alignmentQuery: "sp|P04637|P53_HUMAN" });
  expect(result.identifier).toBe("P04637");
  expect(result.alignment.query).toBe(P53);
  expect(result.warnings.join()).toContain(
    "1 of 6 other rows of the alignment is no homolog: less than 50 %",
  );
});

test("a result's A3M gives the same result again", async () => {
  const { json } = await service.ask("POST", "/jobs", { body: { accession: "P04637", patterns: PATTERNS } });
  await ended(service, json.id);
  const searched = (await service.ask("GET", `/jobs/${json.id}/result`)).json;
  const { text } = await service.ask("GET", `/jobs/${json.id}/result?format=a3m`);
  expect(searched.alignment.rows.join("")).toMatch(/[a-z]/);
  const again = await fetchResult({ alignment: text });
  expect(again.alignment.rows).toEqual(searched.alignment.rows);
  expect(again.patterns[0].matches[0].score).toBeCloseTo(searched.patterns[0].matches[0].score, 6);
});

test("a result is available as an archive, by parameter and by Accept", async () => {
  const body = { alignment: `>q\n${P53}\n${FASTA}`, patterns: PATTERNS };
  const { id } = (await service.ask("POST", "/jobs", { body })).json;
  await ended(service, id);
  const get = (query: string, headers = {}) =>
    service.send(new Request(`http://lab/api/scoring/jobs/${id}/result${query}`, { headers }));
  const { status, headers, ...named } = await get("?format=eln").then(async (answer) =>
    Object.assign(answer, { archive: await answer.bytes() }),
  );
  expect([status, headers.get("content-type"), headers.get("content-disposition")]).toEqual([
    200,
    "application/vnd.eln+zip",
    `attachment; filename="labd-${id}.eln"`,
  ]);
  expect(elnFaults(named.archive, `labd-${id}`)).toEqual([]);
  const { node } = openEln(named.archive);
  expect(node("./result/").url).toBe(`http://lab/score/${id}`);
  expect(node("#run").object).toEqual([{ "@id": "./result/query.fasta" }]);
  const accepted = await get("", { Accept: "application/vnd.eln+zip" });
  expect(await accepted.bytes()).toEqual(named.archive);
});

describe("rejects with the field", () => {
  const alignment = `>q\n${P53}\n${FASTA}`;
  test.each<[string, object, string, string]>([
    ["a search besides", { alignment, accession: "P04637" }, "querySequence", "exactly one"],
    [
      "a choice of homologs",
      { alignment, homologs: { maxHomologs: 5 } },
      "homologs",
      "rows of the alignment",
    ],
    [
      "a query without alignment",
      { accession: "P04637", alignmentQuery: "q" },
      "alignmentQuery",
      "alignment, too",
    ],
    [
      "an unknown query",
      { alignment, alignmentQuery: "no" },
      "alignmentQuery",
      "The first rows are q, h0, h1, h2, h3.",
    ],
    ["two such rows", { alignment: ">a\nMK\n>a\nMK\n", alignmentQuery: "a" }, "alignmentQuery", "2 rows"],
    [
      "rows of different lengths",
      { alignment: ">a\nMK\n>b\nMKL\n" },
      "alignment",
      "Row 2 of the alignment has 3",
    ],
    ["a digit", { alignment: ">a\nM1\n" }, "alignment", "Character 2 of row 1"],
    ["an empty query", { alignment: ">a\n--\n>b\nMK\n" }, "alignment", "the query, a, has no residues"],
    ["no alignment", { alignment: "" }, "alignment", "Expected aligned FASTA, A3M, Clustal or Stockholm"],
    ["many rows", { alignment: ">a\nM\n".repeat(1001) }, "alignment", "1001 rows; at most 1000"],
    ["a long query", { alignment: `>a\n${"M".repeat(1001)}\n` }, "alignment", "1001 residues; at most 1000"],
  ])("%s", async (_, body, field, words) => {
    const { status, json } = await service.ask("POST", "/jobs", { body: { patterns: PATTERNS, ...body } });
    expect(status).toBe(400);
    expect(Object.keys(json)[0]).toBe(field);
    expect(json[field][0]).toContain(words);
  });
});

describe("reads", () => {
  const rows = [
    { name: "q", letters: "MK-LV" },
    { name: "h", letters: "MKALI" },
  ];
  test.each([
    ["aligned FASTA", ">q\nMK-\nLV\n>h\nMKALI\n"],
    ["A3M", ">q\nMKLV\n>h\nMKaLI\n"],
    [
      "Clustal",
      "CLUSTAL O(1.2.4) multiple sequence alignment\n\nq  MK- 2\nh  MKA 3\n   **\n\nq  LV 4\nh  LI 5\n   *.\n",
    ],
    ["Stockholm", "# STOCKHOLM 1.0\n#=GF ID x\n\nq MK-LV\nh MKALI\n#=GC RF xx.xx\n//\n"],
  ])("%s", (_, text) => {
    const read = readAlignmentText(text);
    expect(read.map(({ name }) => name)).toEqual(rows.map(({ name }) => name));
    expect(read.map(({ letters }) => letters)).toEqual(rows.map(({ letters }) => letters));
  });

  test("reads A3M with insertions at both ends", () => {
    const letters = readAlignmentText(">q\nMKLV\n>h\naMK.cLIde\n>g\nM-LV\n").map((row) => row.letters);
    expect(letters).toEqual(["-MK-LV--", "AMKCLIDE", "-M--LV--"]);
  });

  test("the query row may be named without its Stockholm range", () => {
    const text = "# STOCKHOLM 1.0\nh MKALI\nq/1-4 MK-LV\n//\n";
    expect(readAlignmentText(text, "q").map(({ name }) => name)).toEqual(["q/1-4", "h"]);
  });

  test.each([
    ["# STOCKHOLM 1.0\na MK\n//\n# STOCKHOLM 1.0\nb MK\n//\n", "line 4: another alignment"],
    ["CLUSTAL W\n\na\n", "line 3: expected a name, white space and residues"],
    ["CLUSTAL W\n\na MK LV\n", "line 3: white space within the residues"],
    ["MKLV\n", "line 1: expected a header that starts with >"],
  ])("refuses %j", (text, words) => {
    expect(() => readAlignmentText(text)).toThrow(words);
  });
});

test("a search, a choice and an alignment have different digests", () => {
  const request = { identifier: "", query: "MK", model: "continuous" as const, patterns: [] };
  const digests = [
    request,
    { ...request, homologs: { maxHomologs: 5 } },
    { ...request, alignment: [{ name: "q", letters: "MK" }] },
  ].map(hashRequest);
  expect(new Set(digests).size).toBe(3);
});
