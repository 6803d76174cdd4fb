import { SCORING_MODELS, type ScoringModel } from "../motif/index.ts";
import { Problem } from "../problem.ts";
import {
  CLASS_TYPE_NAMES,
  type ClassType,
  JointScan,
  SCAN_FORM_NAMES,
  SCAN_FORMS,
  type ScanFilter,
  type ScanFormName,
  type Scored,
} from "../scoring/index.ts";
import type { Call, Command } from "./command.ts";
import { MATCH_FILTERS, maxQOf, placeFilterOf, warnWithoutFeatures } from "./filter-flags.ts";
import { namedBytes } from "./named-file.ts";
import { printScored, readText, sha256 } from "./print-scored.ts";
import { progressBar, progressLine } from "./progress.ts";
import { outputOf } from "./score-output.ts";
import { withScoring } from "./with-data.ts";

const HELP = "See labd scan --help.";

export const scan: Command = {
  name: "scan",
  summary: "Scan proteins for all motif classes and rank the matches, without a server.",
  flags: {
    "--fasta FILE": "Proteins to scan, plain or compressed with gzip or zstd; - reads standard input.",
    "--elm TABLE":
      "ELM's table of motif classes, to test instead of the imported or built-in ones. It is not imported.",
    "--classes NAMES": "Test only these motif classes, separated by commas.",
    "--type TYPES": `Print only matches of these types, separated by commas: ${CLASS_TYPE_NAMES.join(", ")}.`,
    ...MATCH_FILTERS,
    "--joint":
      "Rank the matches of all proteins together, with q-values over all of them; printed at the end.",
    [`--model ${SCORING_MODELS.join("|")}`]: "Scoring model; the first is the default.",
    [`--format ${["tsv", ...SCAN_FORM_NAMES.filter((name) => name !== "tsv")].join("|")}`]:
      "Output format; the first is the default. JSON is one object per line.",
    "--output FILE": "File to write instead of standard output; it must not exist.",
    "--resume": "Continue an interrupted --output file; proteins with results in it are not scanned again.",
  },
  settings: ["data_dir", "workers"],
  example:
    "labd corpus add --sample\nlabd scan --fasta p53.fasta\nlabd scan --fasta p53.fasta --type DEG,DOC --disordered\nlabd scan --fasta proteome.fasta.gz --elm elm_classes.tsv --max-q 0.2 --output scan.tsv --resume\n" +
    "Homologs are searched once per protein. Matches are printed best first: by overall_p, then z. q is the expected\n" +
    "fraction of random matches among a match and those above it (Benjamini and Hochberg, over all matches of the\n" +
    "protein). The label follows q: likely functional up to 0.05, possible up to 0.2. Filters do not change q; testing\n" +
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
    const filter = filterOf(call);
    const format = (call.value("--format") ?? "tsv") as ScanFormName;
    const scoringModel = (call.value("--model") as ScoringModel | undefined) ?? SCORING_MODELS[0];
    const fasta = await readText(file);
    const table = call.has("--elm") ? await namedBytes(call.value("--elm")!) : null;
    await withScoring(call, async (scoring, _, { workers }) => {
      const questions = scoring.readScan({ fasta, table, names: listOf(call, "--classes") });
      warnWithoutFeatures(call, scoring);
      const version = scoring.corpora.scoringVersion();
      const identity = [
        "scan",
        questions[0].patterns,
        scoringModel,
        format,
        filter,
        version,
        scoring.features.version(),
        call.has("--joint"),
      ];
      const output = outputOf(call, sha256(JSON.stringify(identity), fasta));
      const progress = progressLine(call.streams.stderr);
      const results = scoring.scoreQuestions(questions, {
        scoringModel,
        workers,
        skip: output.done,
        report: (...at) => progress.show(progressBar(...at)),
      });
      const { head, print } = SCAN_FORMS[format];
      const annotated = scoring.annotator();
      const joint = new JointScan();
      const printer = call.has("--joint")
        ? {
            head: "",
            print(scored: Scored) {
              joint.add(null, annotated(scored));
              return "";
            },
            tail: () => joint.print(format, filter),
          }
        : { head, print: (scored: Scored) => print(annotated(scored), filter), tail: () => "" };
      await printScored(call, results, printer, output, progress.clear);
    });
  },
};

const listOf = (call: Call, flag: string): string[] =>
  (call.value(flag) ?? "").split(",").flatMap((name) => name.trim() || []);

function filterOf(call: Call): ScanFilter {
  const types = listOf(call, "--type");
  const unknown = types.find((type) => !(CLASS_TYPE_NAMES as readonly string[]).includes(type));
  if (unknown !== undefined || (call.has("--type") && types.length === 0))
    throw new Problem(
      "usage",
      `--type: expected ${CLASS_TYPE_NAMES.join(", ")}, separated by commas; "${call.value("--type")}" was given. ${HELP}`,
    );
  const maxQ = maxQOf(call, HELP);
  return {
    ...(types.length > 0 ? { types: types as ClassType[] } : {}),
    ...(call.has("--disordered") ? { disordered: true } : {}),
    ...(maxQ === undefined ? {} : { maxQ }),
    ...placeFilterOf(call, HELP),
  };
}
