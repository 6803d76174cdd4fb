import { type PatternRequest, SCORING_MODELS } from "../motif/index.ts";
import { Problem } from "../problem.ts";
import {
  type CorpusInfo,
  JointScan,
  MATCH_TABLES,
  SCAN_FORMATS,
  type ScanFormatName,
  makeScan,
  type NamedQuestion,
  type Provenance,
  scanPart,
  type Scored,
  type Scoring,
  TABLE_FORMATS,
  type TableFormat,
  type TablePart,
  type TableView,
} from "../scoring/index.ts";
import type { Call, Command } from "./command.ts";
import {
  EVIDENCE_FLAGS,
  isLimited,
  readOptions,
  splitList,
  readView,
  viewFlags,
  warnWithoutFeatures,
} from "./filter-flags.ts";
import {
  chooseCorpus,
  describeRun,
  LIKE_FLAGS,
  likeEvidence,
  type Like,
  likeModel,
  likePatterns,
  likeQuestions,
  likeView,
  readLike,
  readOperands,
  reportDifferences,
} from "./like.ts";
import { chooseFormat, matchTable, proteinTable, TABLE_TEXT } from "./match-table.ts";
import { namedBytes } from "./named-file.ts";
import {
  isWorkbook,
  type Printing,
  printScored,
  printWorkbook,
  readText,
  refuseParts,
  sha256,
} from "./print-scored.ts";
import { progressBar, progressLine } from "./progress.ts";
import { chooseOutput } from "./score-output.ts";
import { checkVariantFlags, printVariants, VARIANT_FLAGS, withVariants } from "./variant-flag.ts";
import { withScoring } from "./with-data.ts";

const HELP = "See labd scan --help.";
const TABLE = MATCH_TABLES.scan;
/** TSV is the default. */
const FORMATS = [...Object.keys(TABLE_FORMATS), ...Object.keys(SCAN_FORMATS)].filter(
  (name, i, names) => names.indexOf(name) === i,
);

export const scan: Command = {
  name: "scan",
  summary: "Scan proteins for all motif classes and rank the matches, without a server.",
  operands: "[PROTEIN]…",
  flags: {
    "--fasta FILE": "Proteins to scan, plain or compressed with gzip or zstd; - reads standard input.",
    ...LIKE_FLAGS,
    "--elm TABLE":
      "ELM's table of motif classes, to test instead of the imported or built-in classes. The table is not imported.",
    "--classes NAMES": "Test only these motif classes, separated by commas.",
    ...EVIDENCE_FLAGS,
    ...VARIANT_FLAGS,
    ...viewFlags(TABLE),
    "--joint":
      "Rank the matches of all proteins together, with q-values over all of them; printed at the end.",
    [`--model ${SCORING_MODELS.join("|")}`]: "Scoring model; the first is the default.",
    [`--format ${[...FORMATS, TABLE_TEXT].join("|")}`]:
      "Output format; a table on terminals, otherwise the first is the default. JSON is one object per line.",
    "--output FILE": "File to write instead of standard output; it must not exist.",
    "--resume": "Continue an interrupted --output file; proteins with results in it are not scanned again.",
  },
  settings: ["data_dir", "workers"],
  flagNames: { motifClasses: "--classes" },
  example:
    "labd corpus add --sample\nlabd scan P04637\nlabd scan --fasta p53.fasta --type DEG,DOC --disordered\nlabd scan --fasta proteome.fasta.gz --elm elm_classes.tsv --max-q 0.2 --output scan.tsv --resume\n" +
    "PROTEIN is an accession, entry name or gene of the corpus, with a species where needed ('TP53 mouse'), or a sequence.\n" +
    "Homologs are searched once per protein. Matches are printed by verdict, then by z. q is the expected\n" +
    "fraction of random matches among a match and those above it (Benjamini and Hochberg, over all matches of the\n" +
    "protein); stands_out says whether it is at most 0.05 or 0.2. q does not change the verdict, which follows\n" +
    "overall_p, and label is an earlier name of verdict. Filters do not change q; testing\n" +
    "fewer classes with --classes does. Matches that overlap by half of the shorter one have the same group. The types\n" +
    "are CLV cleavage, DEG degron, DOC docking, LIG ligand, MOD modification, TRG targeting.",
  async run(call) {
    const like = await readLike(call);
    checkFlags(call, like !== null);
    const view = likeView(readView(call, TABLE, HELP), like);
    checkVariantFlags(call, isLimited(view), HELP);
    const format = chooseFormat<ScanFormatName>(call, "tsv");
    if (isWorkbook(format)) refuseParts(call, HELP);
    const scoringModel = likeModel(call, like);
    const options = readOptions(call, like?.provenance.options);
    const file = call.value("--fasta");
    const fasta = file === undefined ? null : await readText(file);
    const table = call.has("--elm") ? await namedBytes(call.value("--elm")!) : null;
    const evidence = likeEvidence(call, like);
    return withScoring(call, async (scoring, _, { workers }) => {
      const corpus = chooseCorpus(call, scoring, like);
      const names = splitList(call.value("--classes") ?? "");
      const read = readQuestions(call, scoring, { fasta, table, names, like, corpus });
      const questions = withVariants(call, scoring.knowledge.addTo(read, evidence));
      warnWithoutFeatures(call, scoring, TABLE, view);
      const version = scoring.corpora.scoringVersion(corpus ?? undefined);
      const run = { options, questions, evidence };
      const provenance = describeRun(scoring, run, { model: scoringModel, corpus, view });
      const identity = [
        "scan",
        questions[0].patterns,
        scoringModel,
        format,
        view.values,
        version,
        scoring.features.version(),
        evidence,
        call.has("--joint"),
        ...(view.order === undefined ? [] : [view.order]),
        ...(options ? [options] : []),
        ...call.values("--variant"),
      ];
      const output = chooseOutput(
        call,
        sha256(JSON.stringify(identity), fasta ?? like?.file ?? call.operands.join("\n")),
      );
      const progress = progressLine(call.streams.stderr);
      const results = scoring.scoreQuestions(questions, {
        scoringModel,
        evidence,
        ...(options && { options }),
        corpus,
        workers,
        skip: output.done,
        report: (...at) => progress.show(progressBar(...at)),
      });
      const printing = { results, format, view, output, shown: progress.clear, provenance, corpus };
      if (call.has("--variant")) await printVariants(call, scoring, printing);
      else await printScans(call, scoring, printing);
      return reportDifferences(call, like, provenance);
    });
  },
};

/** @throws Problem usage for flags that do not go together */
function checkFlags(call: Call, hasLike: boolean): void {
  const hasFile = call.has("--fasta");
  const isNamed = call.operands.length > 0;
  if (!hasFile && !hasLike && !isNamed)
    throw new Problem("usage", `labd scan needs --fasta FILE, --like FILE or proteins. ${HELP}`);
  if (isNamed && (hasFile || hasLike))
    throw new Problem("usage", `Proteins cannot be combined with --fasta or --like. ${HELP}`);
  if (call.has("--resume") && !call.has("--output"))
    throw new Problem("usage", `--resume needs --output FILE. ${HELP}`);
  if (call.has("--resume") && call.has("--joint"))
    throw new Problem(
      "usage",
      `--joint needs the matches of all proteins: --resume does not go with it. ${HELP}`,
    );
}

/** Proteins of the command line or a file, or those of --like, with the classes to test. */
function readQuestions(
  call: Call,
  scoring: Scoring,
  of: {
    fasta: Uint8Array | null;
    table: Uint8Array | null;
    names: string[];
    like: Like | null;
    corpus: CorpusInfo | null;
  },
): readonly NamedQuestion[] {
  const { fasta, table, names, like, corpus } = of;
  const areChosen = table !== null || names.length > 0;
  const recorded = areChosen ? undefined : likePatterns(like);
  const scanned = (): PatternRequest[] => scoring.readScannedClasses({ table, names });
  if (call.operands.length > 0) return readOperands(call, scoring, scanned(), corpus);
  return fasta
    ? scoring.readSequences({ fasta, patterns: [], motifClasses: [], recorded: recorded ?? scanned() })
    : likeQuestions(like!, areChosen ? scanned() : recorded);
}

interface ScanPrinting extends Printing {
  format: ScanFormatName | typeof TABLE_TEXT;
  view: TableView;
  corpus: CorpusInfo | null;
}

/** Prints each scan as it arrives, or all in one order at the end. */
function printScans(call: Call, scoring: Scoring, printing: ScanPrinting): Promise<void> {
  const { results, format, view, output, shown, provenance, corpus } = printing;
  const annotated = scoring.annotator(corpus);
  const joint = call.has("--joint") ? new JointScan() : null;
  if (isWorkbook(format)) {
    const toPart = (scored: Scored) => {
      if (!joint) return scanPart(annotated(scored), view);
      joint.add(null, annotated(scored));
      return { rows: [], sequences: [] };
    };
    const last = () => (joint ? [joint.part(view)] : []);
    return printWorkbook(call, TABLE, { results, toPart, last, output, shown, provenance });
  }
  if (format === TABLE_TEXT) return printTables(call, printing, annotated, joint);
  const { head, printPart } = textPrinter(format, provenance);
  const print = (scored: Scored): string => {
    if (joint) joint.add(null, annotated(scored));
    else if (printPart) return printPart(scanPart(annotated(scored), view));
    return joint ? "" : `${JSON.stringify(makeScan(annotated(scored), view))}\n`;
  };
  const tail = (): string => {
    if (!joint) return "";
    return printPart ? printPart(joint.part(view)) : `${JSON.stringify(joint.object(view))}\n`;
  };
  return printScored(call, results, { head, print, tail }, output, shown);
}

/** Prints tables for people. */
function printTables(
  call: Call,
  { results, view, output, shown }: ScanPrinting,
  annotated: ReturnType<Scoring["annotator"]>,
  joint: JointScan | null,
): Promise<void> {
  const print = (scored: Scored): string => {
    if (!joint) return proteinTable(call, scored, scanPart(annotated(scored), view).rows);
    joint.add(null, annotated(scored));
    return "";
  };
  const tail = (): string =>
    joint
      ? matchTable(call, joint.part(view).rows, [
          "protein, motif",
          ({ query, motif }) => `${query}, ${motif}`,
        ])
      : "";
  return printScored(call, results, { head: "", print, tail }, output, shown);
}

/** The head of a text format, and its printer of parts; JSON has neither. */
function textPrinter(name: ScanFormatName, provenance: Provenance) {
  const format: TableFormat | undefined = name === "json" ? undefined : TABLE_FORMATS[name];
  if (!format || "isWorkbook" in format) return { head: "", printPart: null };
  return { head: format.head(TABLE, provenance), printPart: (part: TablePart) => format.print(TABLE, part) };
}
