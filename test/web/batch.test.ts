import { expect, test } from "bun:test";
import { motifParameters } from "../../src/web/batch/batch.ts";
import { formerBatch } from "../../src/web/batch/former-batch.ts";
import { summarize } from "../../src/web/batch/run.ts";
import { printReport } from "../../src/scoring/results/result-format.ts";
import { SAMPLE } from "../scoring/sample-prediction.ts";

/** A batch as version 0.2.0 put it into a link. */
const FORMER = {
  id: "abc",
  created: 1,
  model: "continuous",
  groups: [{ patterns: ["P..P"], motifClasses: ["LxCxE"] }],
  items: [
    { name: "one", query: null, group: 0, line: 3, job: "01a2" },
    { name: "two", query: { accession: "P04637" }, group: 0, job: null },
  ],
};
async function packed(value: unknown): Promise<string> {
  const stream = new Blob([JSON.stringify(value)]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  return Buffer.from(await new Response(stream).arrayBuffer()).toString("base64url");
}

test("a link to a former batch shows its jobs, and what was not submitted is left out", async () => {
  const { groups, items } = (await formerBatch("abc", await packed(FORMER)))!;
  expect(items).toEqual([
    { position: 0, name: "one", group: 0, line: 3, job: "01a2", state: "queued", failure: null },
  ]);
  expect(motifParameters(groups)).toEqual({ pattern: ["P..P"], class: ["LxCxE"] });
});

test.each([
  ["an empty fragment", ""],
  ["a fragment of another kind", "x"],
  ["an unknown group", { ...FORMER, items: [{ ...FORMER.items[0], group: 7 }] }],
  ["no groups", { ...FORMER, groups: [] }],
  ["an id that is no text", { ...FORMER, id: 7 }],
])("%s is no batch", async (_, value) => {
  expect(await formerBatch("abc", typeof value === "string" ? value : await packed(value))).toBeNull();
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
