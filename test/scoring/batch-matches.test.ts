import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { readXlsx } from "hucre/xlsx";
import { E7 } from "../executable/messages.ts";
import { ended, openScoringAlone, P53, type ScoringAlone } from "./scoring-harness.ts";
import { withoutComments } from "../fixtures/without-comments.ts";
import { waitFor } from "../wait.ts";

setDefaultTimeout(300_000);

let service: ScoringAlone;
let path: string;
let jobs: string[] = [];
beforeAll(async () => {
  service = await openScoringAlone({ workers: 1, corpus: true });
  const proteins = [
    { identifier: "p53", querySequence: P53 },
    { identifier: "E7", querySequence: E7 },
    { accession: "NOSUCH1" },
  ];
  const body = { proteins, patterns: ["P..P", "WWWW"] };
  const { id } = (await service.ask("POST", "/batches", { body })).json;
  path = `/batches/${id}/matches`;
  jobs = await waitFor(async () => {
    const { items } = (await service.ask("GET", `/batches/${id}/items`)).json;
    const found = items.flatMap(({ job }: { job: string | null }) => job ?? []);
    return found.length === 2 && found;
  });
  for (const job of jobs) await ended(service, job);
});
afterAll(() => service.close());

/** Rows by column. */
async function fetchRows(query: string): Promise<Record<string, string>[]> {
  const { text } = await service.ask("GET", `${path}?format=tsv&${query}`);
  const [head, ...rows] = withoutComments(text)
    .split("\n")
    .slice(0, -1)
    .map((line) => line.split("\t"));
  return rows.map((row) => Object.fromEntries(row.map((cell, i) => [head[i], cell])));
}

test("the matches of a batch equal the matches of its results, in order", async () => {
  const { text, headers } = await service.ask("GET", path);
  expect(headers.get("content-type")).toStartWith("text/tab-separated-values");
  const [first, second] = await Promise.all(
    jobs.map(async (job) =>
      withoutComments((await service.ask("GET", `/jobs/${job}/result?format=tsv`)).text),
    ),
  );
  expect(withoutComments(text)).toBe(first + second.slice(second.indexOf("\n") + 1));
});

test("the best matches have a row for each motif in each protein, and the reason of each failure", async () => {
  const all = await fetchRows("");
  const best = await fetchRows("rows=best");
  expect(best.map(({ query, motif, verdict }) => [query, motif, verdict])).toEqual([
    ["p53", "P..P", expect.any(String)],
    ["p53", "WWWW", "no match"],
    ["E7", "P..P", expect.any(String)],
    ["E7", "WWWW", "no match"],
    ["NOSUCH1", "P..P", "failed"],
    ["NOSUCH1", "WWWW", "failed"],
  ]);
  expect(best[4].problem).toContain("no protein with this accession");
  const ofP53 = all.filter(({ query, pattern }) => query === "p53" && pattern === "P..P");
  const least = Math.min(...ofP53.map(({ overall_p: p }) => Number(p)));
  expect(best[0]).toMatchObject({ overall_p: String(least), matches: String(ofP53.length) });
});

test("the matches of a batch have the filters and formats of other tables", async () => {
  const failed = await fetchRows("rows=best&overall_verdict=failed");
  expect(failed.map(({ query }) => query)).toEqual(["NOSUCH1", "NOSUCH1"]);
  expect((await fetchRows("motif=WWWW")).map(({ verdict }) => verdict)).toEqual(["no match", "no match"]);
  const response = await service.send(new Request(`http://lab/api/scoring${path}?format=xlsx&rows=best`));
  const [{ rows }] = (await readXlsx(new Uint8Array(await response.arrayBuffer()))).sheets;
  expect(rows).toHaveLength(7);
  expect(rows[5]).toEqual(expect.arrayContaining(["NOSUCH1", "P..P", "failed"]));
  const gff3 = (await service.ask("GET", `${path}?format=gff3&rows=best`)).text.split("\n");
  expect(gff3.filter((line) => line.includes("polypeptide_motif")).length).toBeGreaterThan(0);
  expect((await service.ask("GET", `${path}?rows=worst`)).status).toBe(400);
  expect((await service.ask("GET", "/batches/none/matches")).status).toBe(404);
});
