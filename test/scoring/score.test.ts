import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import proteins from "../../src/sample/proteins.fasta" with { type: "text" };
import type { Scoring } from "../../src/scoring/index.ts";
import { scoreParallel } from "../../src/scoring/batch/score-parallel.ts";
import { openScoringAlone, P53, scoreDirectly, type ScoringAlone } from "./scoring-harness.ts";
import { runPending, waitFor } from "../wait.ts";

// A busy machine takes its time.
setDefaultTimeout(300_000);

/** Scoring without jobs: the pairs of a table, and an alignment of the user's. */

let alone: ScoringAlone;
let scoring: Scoring;

beforeAll(async () => {
  alone = await openScoringAlone({ maxQueryLength: 400, corpus: true });
  ({ scoring } = alone);
});
afterAll(() => alone.close());

const P53_RECORD = `>P04637\n${P53}`;
const model = { scoringModel: "continuous" as const };
const batch = (table: string) =>
  Array.fromAsync(scoring.scoreQuestions(scoring.readBatch(table).questions, model));

describe("a batch", () => {
  test("scores each query of a batch as if alone", async () => {
    const progress: number[] = [];
    const table = `P04637\tF...W..[VIL]\n${P53.toLowerCase()}\tP..P\n# a remark\n\nP04637\tLIG_PCNA_PIPBox_1\r\nP04637\tP..P\n`;
    const report = (done: number, total: number): void => void progress.push(done, total);
    const scored = await Array.fromAsync(
      scoring.scoreQuestions(scoring.readBatch(table).questions, { ...model, report }),
    );
    expect(scored.map(({ accession }) => accession)).toEqual(["P04637", P53.toLowerCase()]);
    expect(new Set(progress)).toEqual(new Set([0, 1, 2]));
    const [single] = scoreDirectly(scoring, {
      fasta: P53_RECORD,
      patterns: ["F...W..[VIL]", "P..P"],
      motifClasses: ["LIG_PCNA_PIPBox_1"],
      ...model,
    });
    const [own, pxxp, named] = single.prediction.patterns;
    expect(scored[0].prediction.patterns).toEqual([own, named, pxxp]);
    expect(scored[1].prediction.patterns).toEqual([pxxp]);
    expect(scored[1].prediction.homologs).toEqual(single.prediction.homologs);
    expect(own.matches[0].score).toBeGreaterThan(0.5);
  });

  test("a batch warns about excluded hits like a single job", async () => {
    const fragment = P53.slice(0, 100);
    const scored = await batch(`P04637\tP..P\n${fragment}\tP..P\n`);
    const [single] = scoreDirectly(scoring, {
      fasta: `>f\n${fragment}`,
      patterns: ["P..P"],
      motifClasses: [],
      ...model,
    });
    expect(scored[1].prediction).toEqual(single.prediction);
    expect(single.prediction.warnings.join()).toMatch(/hits? left out: more than 3 times the query's length/);
    expect(scored[0].prediction.warnings.join()).not.toContain("left out");
  });

  test("a batch may have a header line with column names", async () => {
    const [{ accession, prediction }] = await batch("n\tPattern\tQUERY\n1\tP..P\tP04637\n");
    expect([accession, prediction.patterns[0].expression]).toEqual(["P04637", "P..P"]);
  });

  test("a valid expression is a pattern even if a class has that name", async () => {
    const [{ prediction }] = await batch("P04637\tITAM\n");
    expect(prediction.patterns[0]).toMatchObject({ expression: "ITAM", name: null });
  });

  test.each<[string, string, string]>([
    ["", "invalid_request", "no row"],
    ["query\tpattern\n", "", ""],
    ["P04637\tP..P\nP04637\n", "invalid_request", "Batch line 2 (“P04637”), pattern: empty"],
    ["\tP..P\n", "invalid_request", "Batch line 1 (“P..P”), query: empty"],
    [
      "query\tpattern\nQ9_NONE\tP..P\n",
      "invalid_request",
      "Batch line 2 (“Q9_NONE P..P”), query: the corpus in use has no protein",
    ],
    ["hello world\tP..P\n", "invalid_request", "nor a sequence: character 1: these look like words"],
    [
      "P04637\tP((P\n",
      "invalid_pattern",
      "Batch line 1 (“P04637 P((P”), pattern: as an expression, character",
    ],
    ["P04637\tLIG_PCNA_PIPBox_7\n", "invalid_pattern", "Similar names: LIG_PCNA_PIPBox_"],
    [
      `${"A".repeat(401)}\tP\n`,
      "invalid_request",
      `Batch line 1 (“${"A".repeat(60)}…”), query: 401 residues; at most 400`,
    ],
  ])("rejects %p before any work", async (table, code, words) => {
    if (code === "") return expect(await batch(table)).toEqual([]);
    expect(() => scoring.readBatch(table)).toThrow(
      expect.objectContaining({ code, message: expect.stringContaining(words) }),
    );
  });

  test("names every invalid line with its text, and skips invalid lines on request", async () => {
    const table =
      "P04637\tPxxP\nP04637\tP..P\nTP53 \u001b[31m\nhello world\tP..P\nP04637\tLIG_PCNA_PIPBox_1\n";
    expect(() => scoring.readBatch(table)).toThrow(
      expect.objectContaining({
        code: "invalid_request",
        message: expect.stringMatching(
          /^3 of 5 batch lines are invalid\.\nBatch line 1 \(“P04637 PxxP”\), pattern: as an expression, character 2: .* Did you mean P\.\.P\?\nBatch line 3 \(“TP53  \[31m”\), pattern: empty.*\nBatch line 4 \(“hello world P\.\.P”\), query: neither .*$/,
        ),
      }),
    );
    const { questions, skipped } = scoring.readBatch(table, { skipInvalid: true });
    expect(questions.map(({ name, patterns }) => [name, patterns.length])).toEqual([["P04637", 2]]);
    expect(skipped.map((message) => message.slice(0, 12))).toEqual([
      "Batch line 1",
      "Batch line 3",
      "Batch line 4",
    ]);
    const many = "P04637\tx\n".repeat(30);
    expect(() => scoring.readBatch(many)).toThrow(
      /^30 of 30 batch lines[^]*\nBatch line 20 [^]*\n10 more\.$/,
    );
  });

  test("a list has one accession or gene on each line, scored for the same patterns", () => {
    const patterns = scoring.readPatterns({ patterns: ["P..P"], motifClasses: ["LIG_PCNA_PIPBox_1"] });
    const list = `# genes\nP04637\n\nP46527\r\n${P53}\n`;
    const { questions, skipped, ambiguous } = scoring.readBatch(list, { patterns });
    expect(questions.map(({ name, patterns }) => [name, patterns.length])).toEqual([
      ["P04637", 2],
      ["P46527", 2],
      [P53, 2],
    ]);
    expect([skipped, ambiguous]).toEqual([[], []]);
    // Nothing is lost, and no symbol is taken for a peptide.
    const unknown = scoring.readBatch("P04637\nNOSUCH1\nKRASX\n", { patterns, skipInvalid: true });
    expect(unknown.questions.length).toBe(1);
    expect(unknown.skipped).toEqual([
      expect.stringContaining(
        "Batch line 2 (“NOSUCH1”), query: the corpus in use has no protein with this accession",
      ),
      expect.stringContaining(
        "Batch line 3 (“KRASX”), query: the corpus in use has no protein with this accession",
      ),
    ]);
    expect(() => scoring.readBatch("P04637\tP..P\n", { patterns })).toThrow(
      /^Batch line 1 \(“P04637 P\.\.P”\) has a pattern/,
    );
  });

  test("rejects bytes that are not UTF-8", () => {
    expect(() => scoring.readBatch(new Uint8Array([0x41, 0xff]))).toThrow(/UTF-8/);
  });
});

test("reads FASTA with comments, numbers, blocks, stop codons and small letters", () => {
  const patterns = { patterns: ["P..P"], motifClasses: [] };
  const fasta = "; made by hand\n>a one\r\n  1 meepqsdpsv epplsqetfs\r\n 21 dl*wkllp*\r\n;end\n>b\nMKu\n\n";
  expect(scoring.readSequences({ fasta, ...patterns })).toMatchObject([
    { name: "a", description: "one", sequence: "MEEPQSDPSVEPPLSQETFSDLXWKLLP" },
    { name: "b", description: "", sequence: "MKU" },
  ]);
});

test("several threads score sequences like one thread, in the same order", async () => {
  const records = proteins.split("\n>").filter((record) => record.length < 400);
  const fasta = records
    .slice(0, 5)
    .map((record) => `>${record.replace(/^>/, "")}\n`)
    .join("");
  const request = { fasta, patterns: ["P..P"], motifClasses: ["PIP-box"], ...model };
  const reports = new Set<string>();
  const report = (done: number, total: number): void => void reports.add(`${done} of ${total}`);
  const onThreads = (fasta: string, workers: number, skip = 0) =>
    Array.fromAsync(
      scoring.scoreQuestions(scoring.readSequences({ ...request, fasta }), {
        ...model,
        workers,
        skip,
        report,
      }),
    );
  const alone = scoreDirectly(scoring, request);
  const single = scoreDirectly(scoring, { ...request, fasta: P53_RECORD });
  for (const workers of [1, 3]) {
    const scored = await onThreads(fasta, workers);
    expect(scored.length).toBe(5);
    expect(scored).toEqual(alone);
    for (const words of reports) expect(words).toMatch(/^\d of 5$/);
    // One query has all threads to itself.
    expect(await onThreads(P53_RECORD, workers)).toEqual(single);
    reports.clear();
  }
  expect(await onThreads(fasta, 1, 4)).toEqual(alone.slice(4));
}, 300_000);

test("options of the method apply to every way of scoring", async () => {
  const options = { maxHomologs: 3 };
  const wanted = { patterns: ["F...W..[VIL]"], motifClasses: [], ...model, options };
  const alignment = `>q\n${P53}\n${Array.from({ length: 5 }, (_, i) => `>h${i}\n${P53.replace("W", "AFYLI"[i])}\n`).join("")}`;
  const scored = [
    ...scoreDirectly(scoring, { fasta: P53_RECORD, ...wanted }),
    ...(await Array.fromAsync(
      scoring.scoreQuestions(scoring.readBatch("P04637\tP..P\n").questions, {
        ...model,
        options,
        workers: 2,
      }),
    )),
    scoring.scoreAlignment({ alignment, ...wanted }),
  ];
  expect(scored.map(({ prediction }) => prediction.homologs.length)).toEqual([3, 3, 3]);
});

test.each([
  [{ fasta: "" }, "invalid_request", "no sequence"],
  [{ fasta: ">a\nM1" }, "invalid_request", "FASTA line 2, character 2: the digit 1 stands within letters"],
  [
    { fasta: ">a\r\nMK\r\n>b\r\nhello world\r\n" },
    "invalid_request",
    "FASTA line 4, character 1: these look",
  ],
  [{ fasta: ">a\nMK\nhello world protein 123" }, "invalid_request", "line 3, character 21: the number 123"],
  [{ fasta: "\nMK" }, "invalid_request", "FASTA line 2: expected a header that starts with >"],
  [{ fasta: ">a\n\n>b\nMK" }, "invalid_request", "FASTA line 1: the record has no residues"],
  [{ fasta: ">a\nMK\n> \nMK" }, "invalid_request", "FASTA line 3: the header has no identifier"],
  [{ fasta: `>a\nM\n>long\n${"A".repeat(401)}` }, "invalid_request", "long: 401 residues"],
  [{ patterns: ["A", "("] }, "invalid_pattern", "patterns[1]: character"],
  [{ motifClasses: ["NO"] }, "unknown_motif_class", "motifClasses[0]: No motif class"],
])("readSequences rejects %p", (request, code, words) => {
  const base = { fasta: ">a\nM", patterns: ["A"], motifClasses: [] };
  expect(() => scoring.readSequences({ ...base, ...request })).toThrow(
    expect.objectContaining({ code, message: expect.stringContaining(words) }),
  );
});

describe("threads", () => {
  const questions = Array.from({ length: 50 }, () => ({ sequence: "MKLT", patterns: [] }));
  const options = { model: "continuous" as const, corpusPath: null, workers: 2 };

  test("reports worker threads that exit or fail", async () => {
    const odd = join(alone.directory, "odd-scorer.ts");
    for (const [body, words] of [
      ["process.exit(3)", "exited before"],
      ["throw new Error('broken')", "broken"],
      ["postMessage({ ticket: data.ticket, kind: 'failed', reason: 'Too large.', cause: '' })", "Too large."],
      ["postMessage({ ticket: data.ticket, kind: 'failed', reason: null, cause: 'a defect' })", "a defect"],
    ]) {
      writeFileSync(odd, `self.addEventListener("message", ({ data }) => { ${body}; });`);
      const answers = scoreParallel(questions, {
        ...options,
        workerUrl: `${pathToFileURL(odd)}?${words.length}`,
      });
      await expect(Array.fromAsync(answers)).rejects.toThrow(words);
    }
  });

  test("worker threads do not run far ahead of a slow reader, and end with it", async () => {
    let stages = 0;
    const answers = scoreParallel(questions, { ...options, report: () => void stages++ });
    await answers.next();
    // As far as it goes: until no further stage begins.
    let early = -1;
    await waitFor(async () => {
      const before = stages;
      await Bun.sleep(50);
      early = stages;
      return early === before;
    });
    // Three stages each: with all fifty it would be more than a hundred.
    expect(early).toBeLessThan(100);
    await answers.return(undefined);
    await runPending();
    expect(stages).toBe(early);
  });
});

describe("an alignment", () => {
  const ALIGNMENT = `>sp|Q1|TEST_HUMAN A query OS=Homo sapiens
MKLTF-DLWK
LLPE
>h1 first
MKVTFSDLWRLLPE
>h2

MKITF.ELWKLLPD
>h3
MRLSF-DLW-ILAE
>h4
MKLTFADLWKLLPE
`;
  const wanted = { patterns: ["F.{1,3}W..L"], motifClasses: [], ...model };

  test("an alignment is scored on its rows, with the query as the first", () => {
    const { accession, description, prediction } = scoring.scoreAlignment({
      alignment: ALIGNMENT,
      ...wanted,
    });
    expect([accession, description]).toEqual(["Q1", "A query"]);
    expect(prediction).toMatchObject({ queryLength: 13, corpus: null });
    expect(prediction.homologs.map((homolog) => homolog.accession)).toEqual(["h1", "h2", "h3", "h4"]);
    const [match] = prediction.patterns[0].matches;
    expect([match.start, match.end, match.text]).toEqual([5, 11, "FDLWKLL"]);
    expect(match.atHomologs.map(({ residues }) => residues)).toEqual([
      "FsDLWRLL",
      "FELWKLL",
      "FDLW-IL",
      "FaDLWKLL",
    ]);
  });

  test.each([
    ["", "no alignment"],
    ["MK\n", "line 1: expected a header"],
    ["> \nMK\n", "line 1: the header has no identifier"],
    [">a\nMK\n>b\nMKL\n", "Row 2 of the alignment has 3 columns"],
    [">a\nMK\n>b\nM1\n", "Character 2 of row 2"],
    [`>a\n${"A".repeat(401)}\n`, "a: 401 residues"],
  ])("rejects %p", (alignment, words) => {
    expect(() => scoring.scoreAlignment({ alignment, ...wanted })).toThrow(
      expect.objectContaining({ code: "invalid_request", message: expect.stringContaining(words) }),
    );
  });
});
