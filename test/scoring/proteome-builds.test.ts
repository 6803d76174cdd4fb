import { afterEach, expect, setDefaultTimeout, test } from "bun:test";
import { familyRecords } from "../../src/motif/index.ts";
import { openScoring, type Scoring } from "../../src/scoring/index.ts";
import { listFamilies, readFamilies } from "../../src/scoring/corpus/families-file.ts";
import { planBuild } from "../../src/scoring/proteome/plan.ts";
import { PROTEOME } from "./proteome-stage.ts";
import { ended, openScoringAlone, P53, type ScoringAlone } from "./scoring-harness.ts";
import { waitFor } from "../wait.ts";

setDefaultTimeout(60_000);

let alone: ScoringAlone;
afterEach(() => alone.close());

/** A service with a corpus of 24 proteins. */
async function open(workers: number): Promise<Scoring> {
  alone = await openScoringAlone({ workers });
  await alone.scoring.corpora.add({ name: "some", bytes: PROTEOME });
  return alone.scoring;
}
/** Proteins with families in files. */
const stored = ({ corpora }: Scoring): number[] =>
  listFamilies(corpora.active()!)
    .flatMap(({ proteins }) => proteins)
    .toSorted((a, b) => a - b);
const HUMAN = [0, 3, 6, 9, 12, 15, 18, 21];

test("computes the families of a direct build on idle workers", async () => {
  const { builds, corpora } = await open(2);
  const estimate = await builds.estimate({ organism: "9606" });
  expect(estimate).toMatchObject({ missing: 8, existing: 0, carry_over: 0 });
  expect(estimate.seconds).toBeGreaterThan(0);
  expect(estimate.bytes).toBeGreaterThan(8 * 300 * 5);
  const { id, state } = await builds.start({ organism: "9606" }, "ada");
  expect(state).toBe("running");
  await expect(builds.start({ organism: "9606" }, "bob")).rejects.toThrow("already queued or running");
  await waitFor(() => builds.find(id).state !== "running");
  expect(builds.find(id)).toMatchObject({ state: "finished", stored: 8, carried: 0, username: "ada" });
  const corpus = corpora.open();
  const [{ path }] = listFamilies(corpora.active()!);
  const found = readFamilies(path, corpus.hash);
  for (const { protein, record } of familyRecords(corpus, HUMAN))
    expect(found.get(protein)!.record).toEqual(record);
  expect(await builds.estimate({ organism: "9606" })).toMatchObject({ missing: 0, existing: 8, seconds: 0 });
});

test("runs builds one after the other, and cancels waiting and running ones", async () => {
  const { builds } = await open(1);
  const all = await builds.start({}, "ada");
  const next = await builds.start({ proteins: ["GENE1", "GENE2"] }, "ada");
  const last = await builds.start({ organism: "9606" }, "ada");
  expect(builds.list().map(({ state }) => state)).toEqual(["queued", "queued", "running"]);
  expect((await builds.cancel(last.id)).state).toBe("cancelled");
  expect((await builds.cancel(all.id)).state).toBe("cancelled");
  await expect(builds.cancel(all.id)).rejects.toThrow("already ended: it is cancelled");
  await waitFor(() => builds.find(next.id).state === "finished");
  expect(builds.find(next.id)).toMatchObject({ proteins: 2, stored: expect.any(Number) });
  expect(builds.find(last.id).state).toBe("cancelled");
});

test("continues an interrupted build after a restart, without stored families", async () => {
  const { builds } = await open(1);
  const { id } = await builds.start({}, "ada");
  await waitFor(() => (builds.find(id).progress?.done ?? 0) > 0);
  await alone.scoring.close();
  const before = stored(alone.scoring);
  expect(before.length).toBeGreaterThan(0);
  expect(before.length).toBeLessThan(24);
  const second = await openScoring({ ...alone.settings, workers: 1 });
  await waitFor(() => second.builds.find(id).state === "finished");
  expect(second.builds.find(id).stored).toBe(24 - before.length);
  expect(stored(second)).toEqual(Array.from({ length: 24 }, (_, i) => i));
  await second.close();
});

test("scores a job while a build has the only worker", async () => {
  const { builds } = await open(1);
  const { id } = await builds.start({}, "ada");
  await waitFor(() => builds.find(id).progress !== null);
  const { json } = await alone.ask("POST", "/jobs", { body: { querySequence: P53, patterns: ["P..P"] } });
  expect((await ended(alone, json.id)).state).toBe("finished");
  expect(builds.find(id).state).toBe("running");
  await builds.cancel(id);
});

test("repeats the builds of the corpus before for the next one", async () => {
  const { builds, corpora } = await open(1);
  const first = await builds.start({ organism: "9606" }, "ada");
  await waitFor(() => builds.find(first.id).state === "finished");
  await builds.follow();
  expect(builds.list()).toHaveLength(1);
  const extra = ">sp|X1|X1_HUMAN OX=9606\nMKTAYIAKQRQISFVKSHFSRQLEERLGLIEVQAPILSRVGDGTQDNLSGAEKAVQVKVK\n";
  await corpora.add({ name: "next", bytes: PROTEOME + extra });
  corpora.use("next");
  expect(await builds.estimate({ organism: "9606" })).toMatchObject({ missing: 9, carry_over: 8 });
  await builds.follow();
  const [second] = builds.list();
  expect(second).toMatchObject({ corpus_name: "next", organism: "9606", username: "ada" });
  await waitFor(() => builds.find(second.id).state === "finished");
  expect(builds.find(second.id)).toMatchObject({ stored: 9, carried: 8 });
  await builds.follow();
  await corpora.add({ name: "other", bytes: PROTEOME.replaceAll("sp|", "sp|X").replaceAll("A", "G") });
  corpora.use("other");
  await builds.follow();
  const [third, ...others] = builds.list();
  expect(third).toMatchObject({ corpus_name: "other", organism: "9606" });
  expect(others).toHaveLength(2);
});

test("builds the families of a first corpus without being asked, unless that was cancelled", async () => {
  const { builds, corpora } = await open(1);
  const { hash } = corpora.active()!;
  expect(builds.ongoing(hash)).toBeNull();
  await builds.follow();
  const [all] = builds.list();
  expect(all).toMatchObject({ corpus_name: "some", organism: null, proteins: null, username: "labd" });
  expect(builds.ongoing(hash)!.id).toBe(all.id);
  await waitFor(async () => (await alone.ask("GET", "/proteome")).json.building?.done > 0);
  const { json } = await alone.ask("GET", "/proteome");
  expect(json.building).toMatchObject({ missing: 24, secondsLeft: expect.any(Number) });
  await builds.cancel(all.id);
  expect(builds.ongoing(hash)).toBeNull();
  await alone.scoring.close();
  const second = await openScoring({ ...alone.settings, workers: 1 });
  await second.builds.follow();
  expect(second.builds.list()).toHaveLength(1);
  await second.close();
});

test("plans the proteins of the most studied species first", async () => {
  const { corpora } = await open(0);
  const corpus = corpora.active()!;
  const { missing, lengths } = planBuild({ corpus, selection: {}, others: [] });
  const opened = corpora.open();
  const organisms = missing.map((index) => opened.identity(index).organism);
  expect(organisms).toEqual([
    ...Array.from({ length: 8 }, () => "Homo sapiens"),
    ...Array.from({ length: 16 }, () => expect.not.stringMatching("Homo sapiens")),
  ]);
  expect(lengths).toEqual(missing.map((index) => opened.offsets[index + 1] - opened.offsets[index]));
});

test("refuses unknown organisms, proteins and corpora", async () => {
  const { builds } = await open(0);
  for (const [selection, message] of [
    [{ organism: "yeast" }, 'no protein of corpus some is of "yeast"'],
    [{ proteins: ["GENE1", "NOGENE"] }, 'line 2 "NOGENE"'],
    [{ corpus: "other" }, "no corpus has this name or hash"],
  ] as const)
    await expect(builds.start(selection, "ada")).rejects.toThrow(message);
  expect(builds.list()).toEqual([]);
});
