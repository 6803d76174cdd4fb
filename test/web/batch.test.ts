import { expect, test } from "bun:test";
import { newBatch, packBatch, unpackBatch } from "../../src/web/batch/batch.ts";
import { summarize } from "../../src/web/batch/run.ts";
import { printReport } from "../../src/scoring/results/result-format.ts";
import { SAMPLE } from "../scoring/sample-prediction.ts";

const ENTRIES = [
  { name: "one", sequence: "MKT" },
  { name: "P04637", sequence: null },
  { name: "", sequence: "MEEP" },
];

test("divides motifs among several jobs if one job cannot take all", () => {
  const classes = Array.from({ length: 1001 }, (_, i) => `class ${i}`);
  const { groups, items } = newBatch(ENTRIES, ["P..P"], classes, "continuous");
  expect(groups).toEqual([
    { patterns: ["P..P"], motifClasses: classes.slice(0, 1000) },
    { patterns: [], motifClasses: ["class 1000"] },
  ]);
  expect(items.map(({ name, query, group }) => [name, query, group])).toEqual([
    ["one", { querySequence: "MKT" }, 0],
    ["one", { querySequence: "MKT" }, 1],
    ["P04637", { accession: "P04637" }, 0],
    ["P04637", { accession: "P04637" }, 1],
    ["sequence 3", { querySequence: "MEEP" }, 0],
    ["sequence 3", { querySequence: "MEEP" }, 1],
  ]);
});

test("encodes submitted jobs in a link, and rejects invalid links", async () => {
  const batch = newBatch(ENTRIES, [], ["a"], "discontinuous");
  Object.assign(batch.items[0], { job: "01a2", query: null });
  const link = await packBatch(batch);
  expect(link).toMatch(/^[\w-]+$/);
  expect(await unpackBatch(link)).toEqual({ ...batch, items: [batch.items[0]] });
  expect(link.length).toBeLessThan(300);
  const odd = { ...batch, items: [{ ...batch.items[0], group: 7 }] };
  for (const text of ["", "x", link.slice(0, 20), await packBatch(odd)])
    expect(await unpackBatch(text)).toBeNull();
  // A link that would make the browser submit a job.
  const greedy = { ...batch, items: [...batch.items, { ...batch.items[0], job: null }] };
  const bytes = await new Response(
    new Blob([JSON.stringify(greedy)]).stream().pipeThrough(new CompressionStream("deflate-raw")),
  ).arrayBuffer();
  const made = await unpackBatch(Buffer.from(bytes).toString("base64url"));
  expect(made!.items).toEqual([batch.items[0]]);
});

test("summarizes the table of a job by motif with the best match of each", () => {
  const [first, second] = summarize(printReport(SAMPLE, "tsv") as string);
  expect(first).toMatchObject({ motif: "F.{1,2}W", matches: 3 });
  expect(first.best).toMatchObject({
    number: 1,
    start: 19,
    text: "FSDW",
    verdict: "likely functional",
    overallPValue: 0.0123,
    conservation: "conserved",
    kept: 1,
    homologs: 2,
    score: 0.7814,
  });
  expect(second).toEqual({ motif: "LIG_SH3_1", matches: 0, best: null });
});

test("prefers a match with overall evidence to a conserved one, and both to one without a score", () => {
  const head = "query\tpattern\tstart\tmatch\tz\tp\tverdict\toverall_p\toverall_verdict";
  const unscored = "q\tP..P\t1\tPAAP\t\t\tinsufficient data\t\t";
  const conserved = "q\tP..P\t9\tPAAP\t0.1\t0.01\tconserved\t0.4\tno evidence";
  const likely = "q\tP..P\t20\tPAAP\t1.9\t0.3\tnot conserved\t0.02\tlikely functional";
  const bestOf = (...rows: string[]) => summarize([head, ...rows].join("\n"))[0].best;
  expect(bestOf(unscored)).toMatchObject({ number: 1, verdict: "not scored", overallPValue: null });
  expect(bestOf(unscored, conserved)).toMatchObject({ number: 2, verdict: "no evidence" });
  expect(bestOf(unscored, conserved, likely)).toMatchObject({ number: 3, verdict: "likely functional" });
});
