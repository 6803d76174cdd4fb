import { openData, openScoringOf } from "../app/data-directory.ts";
import type { Call, Verb } from "../command-line.ts";
import { METHOD, METHODS, type Options, SCORING_MODELS, type ScoringModel } from "../motif/index.ts";
import { Problem } from "../problem.ts";
import { PRINTERS, type PrinterName, type Scored, type Scoring } from "../scoring/index.ts";
import { progressBar, progressLine } from "./progress.ts";
import { openOutput, type ScoreOutput, standardOutput } from "./score-output.ts";

const FORMATS = Object.keys(PRINTERS) as PrinterName[];
/** Where the queries come from: one of these is given. */
const SOURCES = ["--fasta", "--alignment", "--batch"] as const;
/** Versions of the method that this program has, the default first. */
const VERSIONS = [METHOD, ...METHODS.filter((version) => version !== METHOD)];

const HELP = "See labd score --help.";

export const score: Verb = {
  name: "score",
  summary: "Score motif matches in sequences against the corpus in use, without a server.",
  flags: [
    { name: "--fasta", value: "FILE", sentence: "Sequences to score; - reads standard input." },
    {
      name: "--alignment",
      value: "FILE",
      sentence:
        "Aligned FASTA to score instead of a search for homologs: its first row is the query. - reads standard input.",
    },
    {
      name: "--batch",
      value: "FILE",
      sentence:
        "Tab-separated query (accession of the corpus, or a sequence) and pattern (expression, or name of a motif class); - reads standard input.",
    },
    { name: "--pattern", value: "P", sentence: "A regular expression over residues; may be repeated." },
    { name: "--elm", value: "NAME", sentence: "A motif class by name or ELM identifier; may be repeated." },
    {
      name: "--model",
      value: "MODEL",
      sentence: `${SCORING_MODELS.join(" or ")}; the first is the default.`,
    },
    {
      name: "--method",
      value: "VERSION",
      sentence: "Version of the method; the newest is the default.",
    },
    {
      name: "--exhaustive",
      sentence:
        "Compare queries with every protein, also those that the prefilter leaves out: slower, and exact.",
    },
    {
      name: "--format",
      value: "FORMAT",
      sentence: `${FORMATS.join(", ")}; the first is the default. JSON is one object a line.`,
    },
    {
      name: "--output",
      value: "FILE",
      sentence: "File to write to instead of standard output; it must not be there yet.",
    },
    {
      name: "--resume",
      sentence: "Go on with an --output that was cut off: queries whose results it has are not scored again.",
    },
  ],
  settings: ["data_dir", "max_query_length", "workers"],
  example:
    "labd corpus add --sample\nlabd score --fasta p53.fasta --pattern 'F...W..[LIV]' --elm LIG_PCNA_PIPBox_1\nlabd score --batch pairs.tsv --format gff3\nlabd score --batch pairs.tsv --output scores.tsv --resume",
  async run(call) {
    const source = sourceOf(call);
    const scoringModel = chosen("--model", call.value("--model"), SCORING_MODELS);
    const format = chosen("--format", call.value("--format"), FORMATS);
    const method = chosen("--method", call.value("--method"), VERSIONS);
    const options = { method, exhaustive: call.has("--exhaustive") };
    const { config } = call.configuration();
    const text = await textOf(call.value(source)!);
    const path = call.value("--output");
    if (call.has("--resume") && path === undefined)
      throw new Problem("usage", `--resume needs --output FILE. ${HELP}`);
    const opened = await openData(config);
    try {
      const scoring = await openScoringOf(opened, config);
      const asked = [source, call.values("--pattern"), call.values("--elm"), scoringModel, options, format];
      const request = new Bun.CryptoHasher("sha256")
        .update(JSON.stringify([...asked, scoring.corpora.basis()]))
        .update(text)
        .digest("hex");
      const output = path === undefined ? standardOutput() : openOutput(path, request, call.has("--resume"));
      const how = { scoringModel, options, workers: config.workers, skip: output.done };
      await print(scored(scoring, source, text, call, how), format, output);
    } finally {
      opened.close();
    }
    return 0;
  },
};

function sourceOf(call: Call): (typeof SOURCES)[number] {
  const given = SOURCES.filter((flag) => call.value(flag) !== undefined);
  if (given.length === 0) {
    throw new Problem("usage", `labd score needs --fasta FILE, --alignment FILE or --batch FILE. ${HELP}`);
  }
  if (given.length > 1) throw new Problem("usage", `${given.join(" and ")} exclude each other. ${HELP}`);
  const patterns = [...call.values("--pattern"), ...call.values("--elm")].length;
  if (given[0] === "--batch" && patterns > 0) {
    throw new Problem(
      "usage",
      `--batch has its patterns in the file; --pattern and --elm go without it. ${HELP}`,
    );
  }
  if (given[0] !== "--batch" && patterns === 0) {
    throw new Problem("usage", `labd score needs a --pattern or an --elm. ${HELP}`);
  }
  return given[0];
}

/** What the call asks for, query by query as it is done; progress is shown on the way. */
async function* scored(
  scoring: Scoring,
  source: (typeof SOURCES)[number],
  text: Uint8Array,
  call: Call,
  how: { scoringModel: ScoringModel; options: Partial<Options>; workers: number; skip: number },
): AsyncGenerator<Scored> {
  const { workers, ...wanted } = how;
  const progress = progressLine();
  const report = (done: number, total: number, stage: string, fraction: number): void =>
    progress.show(progressBar(done, total, stage, fraction));
  const patterns = { regularExpression: call.values("--pattern"), elmIdentifierName: call.values("--elm") };
  const results =
    source === "--fasta"
      ? scoring.scoreParallel({ fasta: text, ...patterns, ...wanted, report }, workers)
      : source === "--alignment"
        ? [scoring.scoreAlignment({ alignment: text, ...patterns, ...wanted })].slice(how.skip)
        : scoring.scoreBatch({ table: text, ...wanted, workers, report });
  for await (const result of results) {
    progress.clear();
    yield result;
  }
}

async function print(
  results: AsyncIterable<Scored>,
  format: PrinterName,
  output: ScoreOutput,
): Promise<void> {
  const printer = PRINTERS[format];
  let { done } = output;
  if (output.isNew && printer.head !== "") await output.write(printer.head, 0);
  const warned = new Set<string>();
  for await (const result of results) {
    await output.write(printer.print(result), ++done);
    for (const warning of result.prediction.warnings) {
      if (!warned.has(warning)) process.stderr.write(`labd: ${result.accession}: ${warning}\n`);
      warned.add(warning);
    }
  }
  if (printer.tail !== "") await output.write(printer.tail, done);
  output.finish();
}

function chosen<T extends string>(flag: string, value: string | undefined, choices: readonly T[]): T {
  const found = value === undefined ? choices[0] : choices.find((choice) => choice === value);
  if (found === undefined) throw new Problem("usage", `${flag}: expected ${choices.join(" or ")}.`);
  return found;
}

async function textOf(file: string): Promise<Uint8Array> {
  if (file === "-") return Bun.stdin.bytes();
  const handle = Bun.file(file);
  if (!(await handle.exists())) throw new Problem("not_found", `There is no file ${file}.`);
  return handle.bytes();
}
