import { afterEach, beforeEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ProteomeMatch } from "../../src/motif/index.ts";
import { Problem } from "../../src/problem.ts";
import type { CorpusInfo } from "../../src/scoring/index.ts";
import { removeFamilies, writeFamilies } from "../../src/scoring/corpus/families-file.ts";
import type { ProteomePart, ProteomeRequest } from "../../src/scoring/proteome/search.ts";
import { SearchFiles, type SearchRequest } from "../../src/scoring/proteome/search-files.ts";
import { ProteomeSearches, type SearchState } from "../../src/scoring/proteome/searches.ts";
import { proteomeStage } from "./proteome-stage.ts";
import { SAMPLE } from "./sample-prediction.ts";
import { waitFor } from "../wait.ts";

/** A data directory with the family of one human protein. */
let dataDirectory: string;
let corpus: CorpusInfo;
let remove: () => void;
beforeEach(() => {
  ({ dataDirectory, corpus, remove } = proteomeStage());
  writeFamilies(corpus, [{ protein: 0, record: new Uint8Array(1), sizes: [0, 0] }]);
});
afterEach(() => remove());

const makeRequest = (expression: string, organism: string | null = null): SearchRequest => ({
  corpus: { name: corpus.name, hash: corpus.hash },
  pattern: { expression, name: null, dialect: "plain" },
  model: "continuous",
  organism,
});

const [{ atHomologs: _atHomologs, ...match }] = SAMPLE.prediction.patterns[0].matches;
const matchIn = (protein: number, overallPValue: number): ProteomeMatch =>
  Object.assign({}, match, { protein, overallPValue, z: -overallPValue, disorder: 0.5 });

/** Searches whose parts, one per protein, arrive when the test releases them. */
function stagedSearches(maxRows?: number, files?: SearchFiles) {
  const started: string[] = [];
  const released = { parts: 0, open: 0 };
  let gate = Promise.withResolvers<void>();
  const find = async function* ({ pattern }: ProteomeRequest): AsyncGenerator<ProteomePart> {
    started.push(pattern.expression);
    released.open++;
    try {
      for (let protein = 0; protein < 3; protein++) {
        while (released.parts === 0) await gate.promise;
        released.parts--;
        if (pattern.expression === "bad") throw new Problem("bad_corpus", "altered");
        const matches = [matchIn(2 - protein, 0.01 * (protein + 1))];
        yield { matches, searched: protein + 1, total: 3, missing: 0 };
      }
    } finally {
      released.open--;
    }
  };
  const release = (more: number): void => {
    released.parts += more;
    gate.resolve();
    gate = Promise.withResolvers();
  };
  const searches = new ProteomeSearches({
    dataDirectory,
    workers: 1,
    find,
    ...(maxRows !== undefined && { maxRows }),
    ...(files && { files }),
  });
  const reach = async (id: string, ...states: SearchState[]): Promise<void> => {
    await waitFor(() => states.includes(searches.get(id).state));
  };
  return { searches, started, release, released, reach };
}

test("joins equal requests, shows partial rows, and keeps the result", async () => {
  const { searches, started, release, reach } = stagedSearches();
  const search = searches.open(makeRequest("M"), 0);
  expect(searches.open(makeRequest("M"), 1)).toBe(search);
  release(1);
  await waitFor(() => search.total > 0);
  expect(search.table()).toMatchObject({ searched: 1, rows: [{ protein: { gene: "GENE2" }, q: 0.01 }] });
  release(2);
  await reach(search.id, "finished");
  const { rows, matching, searched } = search.table();
  expect(rows.map(({ protein, q }) => [protein.gene, q])).toEqual([
    ["GENE2", 0.03],
    ["GENE1", 0.03],
    ["GENE0", 0.03],
  ]);
  expect([matching, searched]).toEqual([3, 3]);
  expect(searches.open(makeRequest("M"), 2).table()).toBe(search.table());
  expect(started).toEqual(["M"]);

  // Another process has the result, too.
  const later = stagedSearches();
  expect(later.searches.open(makeRequest("M"), 3).table()).toEqual(search.table());
  expect(later.searches.get(search.id)).toMatchObject({ state: "finished", submitted: 0, total: 3 });
  expect(later.started).toEqual([]);
  expect(searches.open({ ...makeRequest("M"), model: "discontinuous" }, 3).id).not.toBe(search.id);
});

test("runs one search at a time, and stops a cancelled one immediately", async () => {
  const { searches, started, release, released, reach } = stagedSearches();
  const [one, two, three] = ["A", "C", "D"].map((expression) => searches.open(makeRequest(expression), 0));
  expect([one, two, three].map(({ id }) => searches.place(id))).toEqual([null, 1, 2]);
  searches.cancel(two.id);
  expect([one, two, three].map(({ state }) => state)).toEqual(["running", "cancelled", "queued"]);
  expect(searches.cancel(one.id).state).toBe("cancelled");
  release(4);
  await reach(three.id, "finished");
  expect(released.open).toBe(0);
  expect(started).toEqual(["A", "D"]);
  expect(() => searches.cancel(three.id)).toThrow("it is finished");
  expect(() => searches.cancel("0".repeat(64))).toThrow("No proteome search has this identifier");
  expect(searches.open(makeRequest("C"), 0)).not.toBe(two);
  release(3);
  await reach(two.id, "finished");
});

test("runs searches again that a stopped process has left, but no cancelled or failed ones", async () => {
  const first = stagedSearches();
  const ids = ["E", "F", "G", "bad"].map((expression) => first.searches.open(makeRequest(expression), 5).id);
  first.searches.cancel(ids[1]);
  const bad = stagedSearches();
  bad.release(10);
  await bad.reach(ids[3], "failed");
  expect(bad.started.toSorted()).toEqual(["E", "G", "bad"]);
  for (const id of [ids[0], ids[2]]) expect(bad.searches.get(id)).toMatchObject({ state: "finished" });
  const last = stagedSearches();
  expect(last.started).toEqual([]);
  expect(last.searches.get(ids[3])).toMatchObject({ state: "failed", failure: "altered" });
  expect(() => last.searches.get(ids[1])).toThrow("No proteome search has this identifier");
  expect(last.searches.open(makeRequest("bad"), 6).state).toBe("running");
});

test("queues up to ten searches of one client, and more from other clients", () => {
  const { searches } = stagedSearches();
  const open = (i: number, client: string) => searches.open(makeRequest("A".repeat(i + 1)), 0, client).state;
  for (let i = 0; i <= 10; i++) open(i, "greedy");
  expect(() => open(11, "greedy")).toThrow("10 of your proteome searches are waiting");
  expect(open(3, "greedy")).toBe("queued");
  for (let i = 20; i < 60; i++) open(i, `client ${i}`);
  expect(() => open(60, "late")).toThrow("50 proteome searches are waiting");
});

test("a search with too many matches stops with an explanation", async () => {
  const { searches, release, reach } = stagedSearches(2);
  const { id } = searches.open(makeRequest("H"), 0);
  release(3);
  await reach(id, "failed");
  expect(searches.get(id).failure).toContain("more than 2 matches. Choose a more specific pattern");
});

test("reads results that are no longer in memory from their files, and removes the oldest", async () => {
  const { searches, started, release, reach } = stagedSearches(4, new SearchFiles(dataDirectory, 3));
  const ids: string[] = [];
  for (const expression of ["I", "K", "L", "N"]) {
    const { id } = searches.open(makeRequest(expression), 0);
    ids.push(id);
    release(3);
    await reach(id, "finished");
    expect(searches.get(id).table().rows).toHaveLength(3);
    await Bun.sleep(5);
  }
  expect(searches.get(ids[1]).table().rows).toHaveLength(3);
  expect(() => searches.get(ids[0])).toThrow("No proteome search has this identifier");
  expect(started).toEqual(["I", "K", "L", "N"]);
});

test("runs a search again whose result was altered, and ignores an altered request", async () => {
  const first = stagedSearches();
  const [one, two] = ["P", "Q"].map((expression) => first.searches.open(makeRequest(expression), 0).id);
  first.release(6);
  for (const id of [one, two]) await first.reach(id, "finished");
  const directory = join(dataDirectory, "proteome-searches");
  writeFileSync(join(directory, `${one}.rows`), "altered");
  writeFileSync(join(directory, `${two}.json`), "{");
  const { searches, started, release, reach } = stagedSearches();
  release(3);
  await reach(one, "finished");
  expect(searches.get(one).table().rows).toHaveLength(3);
  expect(started).toEqual(["P"]);
  expect(() => searches.get(two)).toThrow("No proteome search has this identifier");
});

test("refuses an invalid search and names the field", () => {
  const { searches } = stagedSearches();
  const refusal = (request: SearchRequest): unknown => {
    try {
      return searches.open(request, 0);
    } catch (error) {
      const { code, message } = error as Problem;
      return { code, message };
    }
  };
  expect(refusal(makeRequest("M", "10090"))).toEqual({
    code: "invalid_request",
    message: expect.stringContaining('organism: no protein of "10090" has a family'),
  });
  expect(refusal(makeRequest("M", "yeast"))).toEqual({
    code: "invalid_request",
    message: expect.stringContaining("Use the taxon, scientific name or mnemonic"),
  });
  expect(searches.open(makeRequest("M", "homo sapiens"), 0).state).toBe("running");
  removeFamilies(corpus.path);
  expect(refusal(makeRequest("M"))).toEqual({
    code: "conflict",
    message: "No family of corpus some has been computed. Run labd proteome build on the server.",
  });
});
