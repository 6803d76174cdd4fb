import { SCORING_MODELS, type ScoringModel } from "../motif/index.ts";
import { Problem } from "../problem.ts";
import {
  JointScan,
  MATCH_TABLES,
  SCAN_FORMATS,
  type ScanFormatName,
  makeScan,
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
  readEvidence,
  splitList,
  readView,
  viewFlags,
  warnWithoutFeatures,
} from "./filter-flags.ts";
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
  flags: {
    "--fasta FILE": "Proteins to scan, plain or compressed with gzip or zstd; - reads standard input.",
    "--elm TABLE":
      "ELM's table of motif classes, to test instead of the imported or built-in classes. The table is not imported.",
    "--classes NAMES": "Test only these motif classes, separated by commas.",
    ...EVIDENCE_FLAGS,
    ...viewFlags(TABLE),
    "--joint":
      "Rank the matches of all proteins together, with q-values over all of them; printed at the end.",
    [`--model ${SCORING_MODELS.join("|")}`]: "Scoring model; the first is the default.",
    [`--format ${FORMATS.join("|")}`]:
      "Output format; the first is the default. JSON is one object per line.",
    "--output FILE": "File to write instead of standard output; it must not exist.",
    "--resume": "Continue an interrupted --output file; proteins with results in it are not scanned again.",
  },
  settings: ["data_dir", "workers"],
  flagNames: { motifClasses: "--classes" },
  example:
    "labd corpus add --sample\nlabd scan --fasta p53.fasta\nlabd scan --fasta p53.fasta --type DEG,DOC --disordered\nlabd scan --fasta proteome.fasta.gz --elm elm_classes.tsv --max-q 0.2 --output scan.tsv --resume\n" +
    "Homologs are searched once per protein. Matches are printed by z, the highest first. q is the expected\n" +
    "fraction of random matches among a match and those above it (Benjamini and Hochberg, over all matches of the\n" +
    "protein); stands_out says whether it is at most 0.05 or 0.2. q does not change the verdict, which follows\n" +
    "overall_p, and label is an earlier name of verdict. Filters do not change q; testing\n" +
    "fewer classes with --classes does. Matches that overlap by half of the shorter one have the same group. The types\n" +
    "are CLV cleavage, DEG degron, DOC docking, LIG ligand, MOD modification, TRG targeting.",
  async run(call) {
    const file = call.value("--fasta");
    if (file === undefined) throw new Problem("usage", `labd scan needs --fasta FILE. ${HELP}`);
    if (call.has("--resume") && !call.has("--output"))
      throw new Problem("usage", `--resume needs --output FILE. ${HELP}`);
    if (call.has("--resume") && call.has("--joint"))
      throw new Problem(
        "usage",
        `--joint needs the matches of all proteins: --resume does not go with it. ${HELP}`,
      );
    const view = readView(call, TABLE, HELP);
    const format = (call.value("--format") ?? "tsv") as ScanFormatName;
    if (isWorkbook(format)) refuseParts(call, HELP);
    const scoringModel = (call.value("--model") as ScoringModel | undefined) ?? SCORING_MODELS[0];
    const fasta = await readText(file);
    const table = call.has("--elm") ? await namedBytes(call.value("--elm")!) : null;
    await withScoring(call, async (scoring, _, { workers }) => {
      const names = splitList(call.value("--classes") ?? "");
      const questions = scoring.knowledge.addTo(
        scoring.readScan({ fasta, table, names }),
        readEvidence(call),
      );
      warnWithoutFeatures(call, scoring, TABLE, view);
      const version = scoring.corpora.scoringVersion();
      const identity = [
        "scan",
        questions[0].patterns,
        scoringModel,
        format,
        view.values,
        version,
        scoring.features.version(),
        readEvidence(call),
        call.has("--joint"),
        ...(view.order === undefined ? [] : [view.order]),
      ];
      const output = chooseOutput(call, sha256(JSON.stringify(identity), fasta));
      const progress = progressLine(call.streams.stderr);
      const results = scoring.scoreQuestions(questions, {
        scoringModel,
        workers,
        skip: output.done,
        report: (...at) => progress.show(progressBar(...at)),
      });
      await printScans(call, scoring, { results, format, view, output, shown: progress.clear });
    });
  },
};

interface ScanPrinting extends Printing {
  format: ScanFormatName;
  view: TableView;
}

/** Prints each scan as it arrives, or all in one order at the end. */
function printScans(call: Call, scoring: Scoring, printing: ScanPrinting): Promise<void> {
  const { results, format, view, output, shown } = printing;
  const annotated = scoring.annotator();
  const joint = call.has("--joint") ? new JointScan() : null;
  if (isWorkbook(format)) {
    const toPart = (scored: Scored) => {
      if (!joint) return scanPart(annotated(scored), view);
      joint.add(null, annotated(scored));
      return { rows: [], sequences: [] };
    };
    const last = () => (joint ? [joint.part(view)] : []);
    return printWorkbook(call, TABLE, { results, toPart, last, output, shown });
  }
  const { head, printPart } = textPrinter(format);
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

/** The head of a text format, and its printer of parts; JSON has neither. */
function textPrinter(name: ScanFormatName) {
  const format: TableFormat | undefined = name === "json" ? undefined : TABLE_FORMATS[name];
  if (!format || "isWorkbook" in format) return { head: "", printPart: null };
  return { head: format.head(TABLE), printPart: (part: TablePart) => format.print(TABLE, part) };
}
