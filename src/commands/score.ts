import { openData, openScoringOf } from "../app/data-directory.ts";
import type { Call, Command } from "./command-line.ts";
import { METHOD, METHODS, type Options, SCORING_MODELS, type ScoringModel } from "../motif/index.ts";
import { Problem } from "../problem.ts";
import {
  beginningOf,
  decompressed,
  PRINTERS,
  type NamedQuestion,
  type PrinterName,
  type Scored,
  type Scoring,
  type Shard,
  type ShardBeginning,
} from "../scoring/index.ts";
import { VERSION } from "../version.ts";
import { namedFile } from "./named-file.ts";
import { progressBar, progressLine } from "./progress.ts";
import { isComplete, openOutput, type ScoreOutput, standardOutput } from "./score-output.ts";
import { beginningLine, endLine, openShard } from "./shard-file.ts";

const FORMATS = Object.keys(PRINTERS) as PrinterName[];
/** Where the queries come from: one of these is given. */
const SOURCES = ["--fasta", "--alignment", "--batch"] as const;
/** Versions of the method that this program has, the default first. */
const VERSIONS = [METHOD, ...METHODS.filter((version) => version !== METHOD)];

const HELP = "See labd score --help.";

export const score: Command = {
  name: "score",
  summary: "Score motif matches in sequences against the corpus in use, without a server.",
  flags: [
    {
      name: "--fasta",
      value: "FILE",
      sentence: "Sequences to score, also compressed with gzip or zstd; - reads standard input.",
    },
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
    {
      name: "--shard",
      value: "I/N",
      sentence:
        "Score the I-th of N parts, counted from 1, that take about as long; labd merge puts their outputs together.",
    },
  ],
  settings: ["data_dir", "max_query_length", "workers"],
  example:
    "labd corpus add --sample\nlabd score --fasta p53.fasta --pattern 'F...W..[LIV]' --elm LIG_PCNA_PIPBox_1\nlabd score --batch pairs.tsv --format gff3\nlabd score --batch pairs.tsv --output scores.tsv --resume\nlabd score --batch pairs.tsv --shard 2/8 --output scores.2.tsv --resume",
  async run(call) {
    const source = sourceOf(call);
    const shard = shardOf(call, source);
    const scoringModel = chosen("--model", call.value("--model"), SCORING_MODELS);
    const format = chosen("--format", call.value("--format"), FORMATS);
    const method = chosen("--method", call.value("--method"), VERSIONS);
    const options = { method, exhaustive: call.has("--exhaustive") };
    const { config } = call.configuration();
    const text = await textOf(call.value(source)!);
    const path = call.value("--output");
    const resume = call.has("--resume");
    if (resume && path === undefined) throw new Problem("usage", `--resume needs --output FILE. ${HELP}`);
    const opened = await openData(config);
    try {
      const scoring = await openScoringOf(opened, config);
      const how: Answered = { scoringModel, options, workers: config.workers };
      const patterns = {
        regularExpression: call.values("--pattern"),
        elmIdentifierName: call.values("--elm"),
      };
      if (source === "--alignment") {
        const asked = [source, patterns, scoringModel, options, format, scoring.corpora.scoringVersion()];
        const request = sha256(JSON.stringify(asked), text);
        const output = path === undefined ? standardOutput() : openOutput(path, request, resume);
        const results = [scoring.scoreAlignment({ alignment: text, ...patterns, ...how })].slice(output.done);
        await print(results, format, output);
        return 0;
      }
      const questions =
        source === "--fasta" ? scoring.readSequences({ fasta: text, ...patterns }) : scoring.readBatch(text);
      const { corpus, method: calibration } = scoring.corpora.scoringVersion();
      const beginning = beginningOf(questions, shard ?? { shard: 1, of: 1 }, {
        labd: VERSION,
        format,
        model: scoringModel,
        options: JSON.stringify(options),
        corpus,
        calibration,
      });
      if (shard && path !== undefined && resume && isDone(path, beginning)) {
        process.stderr.write(`labd: ${path} is complete: nothing to do.\n`);
        return 0;
      }
      const request = sha256(JSON.stringify(beginning));
      const output = path === undefined ? standardOutput() : openOutput(path, request, resume);
      const { first } = beginning;
      const own = questions.slice(first, first + beginning.questions);
      await print(answers(scoring, own, { ...how, skip: output.done }), format, output, shard && beginning);
    } finally {
      opened.close();
    }
    return 0;
  },
};

const sha256 = (...parts: (string | Uint8Array)[]): string =>
  parts.reduce((hash, part) => hash.update(part), new Bun.CryptoHasher("sha256")).digest("hex");

const MOST_SHARDS = 1_000_000;

function shardOf(call: Call, source: (typeof SOURCES)[number]): Shard | null {
  const given = call.value("--shard");
  if (given === undefined) return null;
  if (source === "--alignment")
    throw new Problem("usage", `--shard: an alignment is one query, which has no parts. ${HELP}`);
  const [, shard, of] = (/^(\d{1,7})\/(\d{1,7})$/.exec(given) ?? []).map(Number);
  if (of === undefined || shard < 1 || shard > of || of > MOST_SHARDS) {
    throw new Problem(
      "usage",
      `--shard: expected I/N such as 2/8, I from 1 to N, N at most ${MOST_SHARDS}; "${given}" was given. ${HELP}`,
    );
  }
  return { shard, of };
}

/** Whether the file is this very shard, whole. @throws Problem conflict where it is another */
function isDone(path: string, beginning: ShardBeginning): boolean {
  if (!isComplete(path)) return false;
  const there = openShard(path);
  if (there.sha256 === null) return false;
  if (Bun.deepEquals(there.beginning, beginning)) return true;
  throw new Problem(
    "conflict",
    `${path} is shard ${there.beginning.shard} of ${there.beginning.of} of another run: choose another --output, or remove it.`,
  );
}

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

type Answered = { scoringModel: ScoringModel; options: Partial<Options>; workers: number };

/** The questions' results as they come; progress is shown on the way. */
async function* answers(
  scoring: Scoring,
  questions: readonly NamedQuestion[],
  how: Answered & { skip: number },
): AsyncGenerator<Scored> {
  const progress = progressLine();
  const report = (done: number, total: number, stage: string, fraction: number): void =>
    progress.show(progressBar(done, total, stage, fraction));
  for await (const result of scoring.scoreQuestions(questions, { ...how, report })) {
    progress.clear();
    yield result;
  }
}

async function print(
  results: AsyncIterable<Scored> | Iterable<Scored>,
  format: PrinterName,
  output: ScoreOutput,
  beginning: ShardBeginning | null = null,
): Promise<void> {
  const { head, print: printed, tail } = PRINTERS[format];
  let { done } = output;
  const start = head + (beginning ? beginningLine(format, beginning) : "");
  if (output.isNew && start !== "") await output.write(start, 0);
  const warned = new Set<string>();
  for await (const result of results) {
    await output.write(printed(result), ++done);
    for (const warning of result.prediction.warnings) {
      if (!warned.has(warning)) process.stderr.write(`labd: ${result.accession}: ${warning}\n`);
      warned.add(warning);
    }
  }
  const end = beginning ? endLine(format, { end: beginning.shard, sha256: output.digest() }) : "";
  await output.finish(end + tail);
}

function chosen<T extends string>(flag: string, value: string | undefined, choices: readonly T[]): T {
  const found = value === undefined ? choices[0] : choices.find((choice) => choice === value);
  if (found === undefined) throw new Problem("usage", `${flag}: expected ${choices.join(" or ")}.`);
  return found;
}

/** Text in UTF-8, whatever it was compressed with. @throws Problem that names the file */
async function textOf(file: string): Promise<Uint8Array> {
  try {
    return Buffer.concat(await Array.fromAsync(decompressed(namedFile(file))));
  } catch (error) {
    throw inFile(file, error);
  }
}

/** Says in which file something is wrong. */
function inFile(file: string, error: unknown): unknown {
  if (file === "-" || !(error instanceof Problem) || error.code !== "invalid_request") return error;
  return new Problem(error.code, `${file}: ${error.message}`, { cause: error });
}
