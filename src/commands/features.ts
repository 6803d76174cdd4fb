import { basename } from "node:path";
import { Problem } from "../problem.ts";
import {
  FEATURE_FORMAT_NAMES,
  FEATURE_GROUP_NAMES,
  FEATURE_GROUPS,
  type FeatureFileInfo,
  type FeatureFormatName,
  formatTitle,
  type FeatureGroup,
  FLAGS,
  type Flag,
  type Learning,
  type Scoring,
} from "../scoring/index.ts";
import type { Call, Command } from "./command.ts";
import { namedFile } from "./named-file.ts";
import { progressLine } from "./progress.ts";
import { withScoring } from "./with-data.ts";
import { formatSize, pluralize } from "../platform/words.ts";

const PROGRESS = { "--progress": "Report progress every second, even if the output is not a terminal." };

export const features: Command = {
  name: "features",
  summary: "Import features of proteins: domains, modifications, motif instances.",
  settings: ["data_dir", "workers"],
  example:
    "labd features add elm_instances.tsv\n" +
    "labd features add uniprot_sprot.dat.gz --name uniprot\n" +
    "labd features add domains.bed --group domain\n" +
    "labd features add protein2ipr.dat.gz\n" +
    "FILE may be plain or compressed with gzip or zstd, and of any size; - reads standard input. Features are kept for\n" +
    "the proteins of the corpus in use, found by accession or entry name. Importing a file of the same name again\n" +
    "replaces it. A running server uses the features immediately. Motif classes with enough instances are learned,\n" +
    "and their matches scored with them. Formats:\n" +
    FEATURE_FORMAT_NAMES.map((name) => `${name}: ${formatTitle(name)}`).join("; "),
  actions: {
    add: {
      summary: "Import a file.",
      operands: "FILE",
      flags: {
        "--name TEXT": "Name of the import; by default the file's name.",
        [`--format ${["auto", ...FEATURE_FORMAT_NAMES].join("|")}`]:
          "Format of the file; auto, the default, detects it from the content.",
        [`--group ${FEATURE_GROUP_NAMES.join("|")}`]:
          "Group of all features, for files whose types say too little; by default by type.",
        ...PROGRESS,
      },
      run: add,
    },
    list: {
      summary: "List the imported files.",
      flags: { "--json": "Print JSON.", "--models": "List the classes with instances and their models." },
      run: (call) =>
        withScoring(call, ({ features: files, classModels }) => {
          if (call.has("--models")) return listModels(call, classModels.learning());
          const all = files.list();
          for (const path of files.damaged())
            call.warn(
              `${path} is damaged, or was written by another version of labd, and is not used. Remove it, and import the features again.`,
            );
          if (call.has("--json")) return call.printJson(all);
          return call.print(
            all.map(describe).join("") || "No features are imported. Add some: labd features add FILE\n",
          );
        }),
    },
    show: {
      summary: "Print the features of a protein as JSON.",
      operands: "ACCESSION",
      run: (call) =>
        withScoring(call, ({ features: files }) => {
          const [accession] = call.operands;
          const found = files.findByAccession([accession]).get(accession);
          if (!found) throw new Problem("not_found", `No imported file has features of ${accession}.`);
          return call.printJson(found);
        }),
    },
    learn: {
      summary: "Learn the motif classes again from imported instances.",
      flags: PROGRESS,
      run: learn,
    },
    remove: {
      summary: "Remove an imported file.",
      operands: "NAME",
      flags: PROGRESS,
      run: (call) =>
        withScoring(call, async (scoring, _, { workers }) => {
          const [name] = call.operands;
          scoring.removeFeatures(name);
          await call.print(`Removed ${name}.\n`);
          await learnClasses(call, scoring, workers);
        }),
    },
  },
};

const count = (value: number): string => value.toLocaleString("en");

async function add(call: Call): Promise<void> {
  const [file] = call.operands;
  const format = call.value("--format") ?? "auto";
  const progress = progressLine(call.streams.stderr, call.has("--progress"));
  await withScoring(call, async (scoring, _, { workers }) => {
    const info = await scoring.importFeatures({
      source: namedFile(file),
      name: call.value("--name") ?? (file === "-" ? "stdin" : basename(file)),
      format: format === "auto" ? undefined : (format as FeatureFormatName),
      group: call.value("--group") as FeatureGroup | undefined,
      tell: (found) => call.warn(`${basename(file)}: read as ${formatTitle(found)}.`),
      report: (read, matched, part) =>
        progress.show(
          `${part === null ? "" : `${Math.floor(100 * part)} %, `}${count(read)} features read, ${count(matched)} of them of proteins of the corpus`,
        ),
    });
    progress.clear();
    await call.print(describe(info));
    await learnClasses(call, scoring, workers);
  });
}

function learn(call: Call): Promise<void> {
  return withScoring(call, async (scoring, _, { workers }) => {
    await learnClasses(call, scoring, workers);
    await listModels(call, scoring.classModels.learning());
  });
}

/** Learns the classes, unless there are no instances and no models. */
async function learnClasses(call: Call, { learning }: Scoring, workers: number): Promise<void> {
  const progress = progressLine(call.streams.stderr, call.has("--progress"));
  const { reports } = await learning.learn(workers, (activity, fraction) =>
    progress.show(`${activity}, ${Math.floor(100 * fraction)} %`),
  );
  progress.clear();
  if (reports.length === 0) return;
  const learned = reports.filter(({ reason }) => reason === null).length;
  await call.print(
    `${pluralize(reports.length, "motif class", "motif classes")} with instances, ${learned} of them with a model.\n`,
  );
}

async function listModels(call: Call, learning: Learning | null): Promise<void> {
  const reports = learning?.reports ?? [];
  if (call.has("--json")) return call.printJson(reports);
  const lines = reports.map(({ motifClass, instances, gain, reason }) => {
    const change =
      gain === null
        ? ""
        : `, AUC ${gain.without.toFixed(3)} -> ${gain.with.toFixed(3)} (${gain.low.toFixed(3)} to ${gain.high.toFixed(3)})`;
    return `${motifClass}  ${pluralize(instances, "instance")}${change}${reason === null ? "" : `; no model: ${reason}`}\n`;
  });
  await call.print(lines.join("") || "No motif class has instances.\n");
}

/** An imported file in a few lines. */
function describe(info: FeatureFileInfo): string {
  const {
    name,
    format,
    corpus,
    features: total,
    proteins,
    groups,
    flagged,
    unmatched,
    imported,
    bytes,
  } = info;
  const of = Object.entries(groups).map(
    ([group, number]) => `${FEATURE_GROUPS[group as FeatureGroup]} ${count(number)}`,
  );
  const lines = [
    `${name}  ${formatTitle(format)}, ${pluralize(total, "feature")} of ${pluralize(proteins, "protein")} of ${corpus}, ${new Date(imported).toISOString().slice(0, 10)}, ${formatSize(bytes)}`,
    `  ${of.join(", ")}`,
    ...Object.entries(flagged).map(
      ([flag, number]) => `  not shown: ${count(number)} ${FLAGS[flag as Flag]}`,
    ),
    ...(unmatched.proteins > 0
      ? [
          `  no protein: ${pluralize(unmatched.features, "feature")} of ${pluralize(unmatched.proteins, "identifier")}, such as ${unmatched.examples.slice(0, 5).join(", ")}`,
        ]
      : []),
  ];
  return `${lines.join("\n")}\n`;
}
