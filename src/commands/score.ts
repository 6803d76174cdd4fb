import type { Config } from "../config.ts";
import { type HomologChoice, type Options, SCORING_MODELS, type ScoringModel } from "../motif/index.ts";
import { Problem } from "../problem.ts";
import {
  type CorpusInfo,
  type EvidenceChoice,
  fullProvenance,
  shardHeader,
  type NamedQuestion,
  MATCH_TABLES,
  SCORE_FORMATS,
  type ScoreFormatName,
  type Scored,
  scoredPart,
  type Scoring,
  seriesPrinter,
  type Shard,
  type ShardBeginning,
  TABLE_FORMATS,
  type TableView,
  withView,
} from "../scoring/index.ts";
import { VERSION } from "../version.ts";
import type { Call, Command } from "./command.ts";
import {
  EVIDENCE_FLAGS,
  isLimited,
  readOptions,
  readView,
  viewFlags,
  warnWithoutFeatures,
} from "./filter-flags.ts";
import {
  chooseCorpus,
  describeRun,
  type Like,
  LIKE_FLAGS,
  likeEvidence,
  likeModel,
  likePatterns,
  likeQuestions,
  likeView,
  readLike,
  readOperands,
  reportDifferences,
} from "./like.ts";
import { chooseFormat, proteinTable, TABLE_TEXT } from "./match-table.ts";
import { progressBar, progressLine } from "./progress.ts";
import {
  isWorkbook,
  type Printing,
  printScored,
  printWorkbook,
  readText,
  refuseParts,
  sha256,
} from "./print-scored.ts";
import { isComplete, chooseOutput } from "./score-output.ts";
import { beginningLine, endLine, openShard } from "./shard-file.ts";
import { parseShard } from "./shard-flag.ts";
import { checkVariantFlags, printVariants, VARIANT_FLAGS, withVariants } from "./variant-flag.ts";
import { withScoring } from "./with-data.ts";

/** Sources of queries, of which exactly one is given. */
const SOURCES = ["--fasta", "--alignment", "--batch"] as const;
/** Proteins in the command line itself. */
const PROTEINS = "PROTEIN";
type Source = (typeof SOURCES)[number] | typeof PROTEINS;
const HELP = "See labd score --help.";
const TABLE = MATCH_TABLES.result;

export const score: Command = {
  name: "score",
  summary: "Score motif matches in sequences against the active corpus, without a server.",
  operands: "[PROTEIN]…",
  flags: {
    "--fasta FILE": "Sequences to score, plain or compressed with gzip or zstd; - reads standard input.",
    "--alignment FILE":
      "An alignment to score on instead of searching homologs, as aligned FASTA, A3M, Clustal or Stockholm; its first row is the query. - reads standard input.",
    "--query NAME": "Identifier of the row of --alignment that is the query.",
    "--batch FILE":
      "Tab-separated query (accession, gene or entry name in the corpus, or a sequence) and pattern (expression, or name of a motif class); with --pattern or --elm, a list with one query on each line. - reads standard input.",
    ...LIKE_FLAGS,
    "--skip-invalid": "Score the valid lines of --batch, and list the others on standard error.",
    "--pattern P": "A regular expression over residues; may be repeated.",
    "--elm NAME": "A motif class by name or ELM identifier; may be repeated.",
    [`--model ${SCORING_MODELS.join("|")}`]: "Scoring model; the first is the default.",
    "--exhaustive":
      "Compare queries with every protein, also with proteins that the prefilter excludes: slower but exact.",
    "--organism NAME":
      "Only homologs of this organism, by scientific name, NCBI's number or UniProt's mnemonic; may be repeated.",
    "--leave-out ACCESSION": "A protein that is no homolog; may be repeated.",
    "--min-identity 25-100": "Minimum identity of a homolog in percent; by default 25.",
    "--max-identity 25-100": "Maximum identity of a homolog in percent; by default 100.",
    "--max-homologs 1-100": "Number of homologs; by default 100.",
    ...EVIDENCE_FLAGS,
    ...VARIANT_FLAGS,
    ...viewFlags(TABLE),
    [`--format ${[...SCORE_FORMATS, TABLE_TEXT].join("|")}`]:
      "Output format; a table on terminals, otherwise the first is the default. JSON is one object per line.",
    "--output FILE": "File to write instead of standard output; it must not exist.",
    "--resume": "Continue an interrupted --output file; queries with results in it are not scored again.",
    "--shard I/N":
      "Score part I of N (from 1), each with about the same amount of work; labd merge joins their outputs.",
  },
  settings: ["data_dir", "workers"],
  flagNames: {
    patterns: "--pattern",
    motifClasses: "--elm",
    alignmentQuery: "--query",
    organisms: "--organism",
    leaveOut: "--leave-out",
    minIdentity: "--min-identity",
  },
  example:
    "labd corpus add --sample\nlabd score TP53 --pattern 'F...W..[LIV]'\nlabd score --fasta p53.fasta --pattern 'F...W..[LIV]' --elm LIG_PCNA_PIPBox_1\nlabd score --batch pairs.tsv --format gff3\nlabd score --batch genes.txt --elm LIG_SH3_1 --skip-invalid\nlabd score --batch pairs.tsv --output scores.tsv --resume\nlabd score --batch pairs.tsv --shard 2/8 --output scores.2.tsv --resume\n" +
    "PROTEIN is an accession, entry name or gene of the corpus, with a species where needed ('TP53 mouse'), or a sequence.\n" +
    "Matches of a query are printed by verdict, then by z. verdict is all evidence in words (by overall_p);\n" +
    "conservation is conservation alone (cs, expected, p). overall_verdict is the earlier name of verdict. kept counts\n" +
    "homologs with the match in place, nearby those that have it only within ten residues. With fewer than three\n" +
    "homologs, z is mostly context.",
  async run(call) {
    const like = await readLike(call);
    const source = chooseSource(call, like);
    if (source === "--alignment" && call.has("--shard"))
      throw new Problem("usage", `--shard: an alignment has one query and cannot be divided. ${HELP}`);
    const shard = parseShard(call, HELP);
    if (call.has("--resume") && !call.has("--output"))
      throw new Problem("usage", `--resume needs --output FILE. ${HELP}`);
    const request = readRequest(call, like);
    checkVariantFlags(call, isLimited(request.view), HELP);
    if (isWorkbook(request.format)) refuseParts(call, HELP);
    const isTable = request.format === TABLE_TEXT || request.format in TABLE_FORMATS;
    if (shard && request.format === TABLE_TEXT)
      throw new Problem("usage", `--format table is not for --shard. ${HELP}`);
    if (isLimited(request.view) && (shard || !isTable))
      throw new Problem(
        "usage",
        `Filters of matches and --order are for tables, and not for --shard. Choose another --format. ${HELP}`,
      );
    const isFile = source !== "--like" && source !== PROTEINS;
    const text = isFile ? await readText(call.value(source)!) : Buffer.from(call.operands.join("\n"));
    return withScoring(call, (scoring, _, config) =>
      source === "--alignment"
        ? scoreAlignment(call, scoring, { ...request, text })
        : scoreQueries(call, scoring, config, { ...request, text, shard }),
    );
  },
};

interface Request {
  like: Like | null;
  view: TableView;
  evidence: EvidenceChoice;
  scoringModel: ScoringModel;
  options: Partial<Options>;
  format: ScoreFormatName | typeof TABLE_TEXT;
  input: { patterns: string[]; motifClasses: string[] };
}

function readRequest(call: Call, like: Like | null): Request {
  return {
    like,
    view: likeView(readView(call, TABLE, HELP), like),
    evidence: likeEvidence(call, like),
    scoringModel: likeModel(call, like),
    format: chooseFormat<ScoreFormatName>(call, SCORE_FORMATS[0]),
    options: {
      exhaustive: call.has("--exhaustive"),
      ...readOptions(call, like?.provenance.options),
      ...readChoice(call),
    },
    input: { patterns: [...call.values("--pattern")], motifClasses: [...call.values("--elm")] },
  };
}

const hasPatterns = ({ patterns, motifClasses }: Request["input"]): boolean =>
  patterns.length + motifClasses.length > 0;

/** What an output depends on if it does not have all rows in their order. */
const identifyView = (view: TableView): TableView[] => (isLimited(view) ? [view] : []);

/** The flags that choose homologs; absent ones are left out. */
function readChoice(call: Call): HomologChoice {
  const fraction = (flag: string): number | undefined => {
    const percent = call.number(flag);
    return percent === undefined ? undefined : percent / 100;
  };
  const choice = {
    organisms: call.has("--organism") ? call.values("--organism") : undefined,
    leaveOut: call.has("--leave-out") ? call.values("--leave-out") : undefined,
    minIdentity: fraction("--min-identity"),
    maxIdentity: fraction("--max-identity"),
    maxHomologs: call.number("--max-homologs"),
  };
  return Object.fromEntries(Object.entries(choice).filter(([, value]) => value !== undefined));
}

async function scoreAlignment(
  call: Call,
  scoring: Scoring,
  { text, scoringModel, options, evidence, format, input, view, like }: Request & { text: Uint8Array },
): Promise<number> {
  warnWithoutFeatures(call, scoring, TABLE, view);
  const version = scoring.corpora.scoringVersion();
  const identity = [
    "--alignment",
    call.value("--query"),
    input,
    scoringModel,
    options,
    format,
    version,
    evidence,
    scoring.features.version(),
    ...identifyView(view),
  ];
  const output = chooseOutput(call, sha256(JSON.stringify(identity), text));
  const query = call.value("--query");
  const recorded = hasPatterns(input) ? undefined : likePatterns(like);
  const request = { alignment: text, query, ...input, recorded, scoringModel, options };
  const result = scoring.scoreAlignment(request, evidence);
  const provenance = withView(fullProvenance(result.provenance!, result.prediction), view);
  await printAll(call, scoring, { results: [result].slice(output.done), format, view, output, provenance });
  return reportDifferences(call, like, provenance);
}

/** Prints results with known features of their matches. */
function printAll(
  call: Call,
  scoring: Scoring,
  {
    results,
    format,
    view,
    corpus,
    ...printing
  }: Printing & Pick<Request, "format" | "view"> & { corpus?: CorpusInfo | null },
): Promise<void> {
  const { output, shown, provenance } = printing;
  const annotated = scoring.annotator(corpus);
  const withNotes = (scored: Scored): Scored => {
    const { notes } = annotated(scored);
    return notes ? { ...scored, notes } : scored;
  };
  if (isWorkbook(format)) {
    const toPart = (scored: Scored) => scoredPart(withNotes(scored), view);
    return printWorkbook(call, TABLE, { results, toPart, ...printing });
  }
  if (format === TABLE_TEXT) {
    const print = (scored: Scored) => proteinTable(call, scored, scoredPart(withNotes(scored), view).rows);
    return printScored(call, results, { head: "", print, tail: () => "" }, output, shown);
  }
  const { head, print, tail } = seriesPrinter(format, view, provenance);
  const printer = { head, print: (scored: Scored) => print(withNotes(scored)), tail: () => tail };
  return printScored(call, results, printer, output, shown);
}

/** The queries of a file, or those of --like. Patterns of flags come before those of --like. */
function readQuestions(
  call: Call,
  scoring: Scoring,
  { text, input, like }: Pick<Request, "input" | "like"> & { text: Uint8Array },
  corpus: CorpusInfo | null,
): readonly NamedQuestion[] {
  const patterns = hasPatterns(input) ? scoring.readPatterns(input) : likePatterns(like);
  if (call.operands.length > 0) return readOperands(call, scoring, patterns ?? [], corpus);
  if (call.has("--fasta")) return scoring.readSequences({ fasta: text, ...input, recorded: patterns });
  if (like && !call.has("--batch")) return likeQuestions(like, patterns);
  const how = { patterns, skipInvalid: call.has("--skip-invalid") };
  const { questions, skipped, ambiguous } = scoring.readBatch(text, how, corpus);
  for (const message of [...ambiguous, ...skipped]) call.warn(message);
  if (skipped.length > 0) call.warn(`Lines skipped because they are invalid: ${skipped.length}.`);
  return questions;
}

async function scoreQueries(
  call: Call,
  scoring: Scoring,
  { workers }: Config,
  given: Request & { text: Uint8Array; shard: Shard | null },
): Promise<number> {
  const { shard, scoringModel, options, evidence, format, view, like } = given;
  warnWithoutFeatures(call, scoring, TABLE, view);
  const used = chooseCorpus(call, scoring, like);
  const read = scoring.knowledge.addTo(readQuestions(call, scoring, given, used), evidence);
  const questions = withVariants(call, read);
  const { corpus, method } = scoring.corpora.scoringVersion(used ?? undefined);
  const run = { options, questions, evidence };
  const provenance = describeRun(scoring, run, { model: scoringModel, corpus: used, view });
  const beginning = shardHeader(questions, shard ?? { shard: 1, of: 1 }, {
    labd: VERSION,
    format,
    model: scoringModel,
    options: JSON.stringify(options),
    corpus,
    method,
  });
  const path = call.value("--output");
  if (shard && path !== undefined && call.has("--resume") && isDone(path, beginning)) {
    call.warn(`${path} is complete: nothing to do.`);
    return 0;
  }
  const features = shard ? "" : scoring.features.version();
  const output = chooseOutput(
    call,
    sha256(JSON.stringify(beginning), features, ...identifyView(view).map((each) => JSON.stringify(each))),
  );
  const own = questions.slice(beginning.first, beginning.first + beginning.questions);
  const progress = progressLine(call.streams.stderr);
  const results = scoring.scoreQuestions(own, {
    scoringModel,
    options,
    evidence,
    corpus: used,
    workers,
    skip: output.done,
    report: (...at) => progress.show(progressBar(...at)),
  });
  if (!shard) {
    const printing = { results, format, view, output, shown: progress.clear, provenance };
    if (call.has("--variant")) await printVariants(call, scoring, { ...printing, corpus: used });
    else await printAll(call, scoring, { ...printing, corpus: used });
    return reportDifferences(call, like, provenance);
  }
  const series = format as ScoreFormatName;
  const { head, print, tail } = seriesPrinter(series);
  const printer = {
    head: head + beginningLine(series, { ...beginning, provenance }),
    // Without features, since machines that compute shards may have other features.
    print,
    tail: (digest: string) => endLine(series, { end: shard.shard, sha256: digest }) + tail,
  };
  await printScored(call, results, printer, output, progress.clear);
  return reportDifferences(call, like, provenance);
}

/** True if the file is exactly this shard, complete. @throws Problem conflict where it is another shard */
function isDone(path: string, beginning: ShardBeginning): boolean {
  if (!isComplete(path)) return false;
  const found = openShard(path);
  if (found.sha256 === null) return false;
  const { provenance: _, ...known } = found.beginning;
  if (Bun.deepEquals(known, beginning)) return true;
  throw new Problem(
    "conflict",
    `${path} is shard ${found.beginning.shard} of ${found.beginning.of} of another run. Choose another --output, or remove it.`,
  );
}

function givenSources(call: Call): Source[] {
  const flags = SOURCES.filter((flag) => call.has(flag));
  return call.operands.length > 0 ? [PROTEINS, ...flags] : flags;
}

function chooseSource(call: Call, like: Like | null): Source | "--like" {
  const given = givenSources(call);
  if (given.length === 0 && like) return "--like";
  if (given.length === 0)
    throw new Problem(
      "usage",
      `labd score needs --fasta FILE, --alignment FILE, --batch FILE, --like FILE or proteins. ${HELP}`,
    );
  if (given.length > 1) throw new Problem("usage", `${given.join(" and ")} cannot be combined. ${HELP}`);
  if (given[0] === "--alignment" && Object.keys(readChoice(call)).length > 0)
    throw new Problem(
      "usage",
      `With --alignment the homologs are the rows of the file. Remove others from it. ${HELP}`,
    );
  const arePatternsKnown = call.has("--pattern") || call.has("--elm") || likePatterns(like) !== undefined;
  if (given[0] !== "--alignment" && call.has("--query"))
    throw new Problem("usage", `--query needs --alignment FILE. ${HELP}`);
  if (given[0] !== "--batch" && call.has("--skip-invalid"))
    throw new Problem("usage", `--skip-invalid needs --batch FILE. ${HELP}`);
  if (given[0] !== "--batch" && !arePatternsKnown)
    throw new Problem("usage", `labd score needs --pattern or --elm. ${HELP}`);
  return given[0];
}
