import type { AnnotatedReport } from "../features/annotation.ts";
import type { PredictionReport } from "../prediction/prediction.ts";
import { tableProvenance } from "../prediction/provenance.ts";
import { patternName } from "../table/match-row.ts";
import { printComments } from "../table/provenance.ts";
import { describeMatch, oneLine, rowNames } from "./result-alignment.ts";

/**
 * Files that Jalview (Waterhouse AM et al. (2009) Bioinformatics 25:1189) loads onto an alignment of the result
 * (jalview.org/help/html/features/featuresFormat.html, annotationsFormat.html). They name its first row, the query.
 */

/** Types of features, with their colours. */
const COLOURS = {
  "known instance": "7e22ce",
  "likely functional": "15803d",
  possible: "d97706",
  "no evidence": "9ca3af",
  "not scored": "d1d5db",
};

/** Jalview's file of features: the matches by verdict, and the known instances at them. */
export function printJalviewFeatures(report: AnnotatedReport): string {
  const [name] = rowNames(report);
  const types = new Set<string>();
  const print = (type: string, { start, end }: { start: number; end: number }, text: string): string => {
    types.add(type);
    return [oneLine(text).replaceAll("\t", " "), name, -1, start, end, type].join("\t");
  };
  const matches = report.prediction.patterns.flatMap((pattern) =>
    pattern.matches.map((match) =>
      print(match.verdict, match, `${patternName(pattern)} ${match.text}, ${describeMatch(match)}`),
    ),
  );
  const known = new Map(
    (report.notes ?? []).flatMap((notes) => notes.instances).map((instance) => [instance.id, instance]),
  );
  const instances = Array.from(known.values(), (instance) =>
    print("known instance", instance, `${instance.name} ${instance.id}, ${instance.logic}`),
  );
  const colours = Object.entries(COLOURS).filter(([type]) => types.has(type));
  const lines = [
    ...colours.map((colour) => colour.join("\t")),
    "STARTGROUP\tlabd",
    ...matches,
    ...instances,
    "ENDGROUP\tlabd",
  ];
  return printComments(tableProvenance(report)) + joinLines(lines);
}

const joinLines = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join("");

/** A graph of Jalview, with a value for each residue; no line without values. */
const graph = (kind: string, label: string, about: string, values: readonly (number | null)[]): string[] =>
  values.length === 0
    ? []
    : [[kind, label, about, values.map((value) => value?.toFixed(3) ?? "").join("|")].join("\t")];

/** Jalview's file of annotations: conservation, predicted disorder and predicted pLDDT of each residue of the query. */
export function printJalviewAnnotations(report: PredictionReport): string {
  const { conservation = [], disorder = [], order = [] } = report.prediction.alignment ?? {};
  const lines = [
    `SEQUENCE_REF\t${rowNames(report)[0]}\t1`,
    ...graph(
      "BAR_GRAPH",
      "Identity",
      "Weighted share of homologs with the residue of the query",
      conservation,
    ),
    ...graph("LINE_GRAPH", "Disorder", "Predicted disorder", disorder),
    ...graph("LINE_GRAPH", "pLDDT", "Predicted pLDDT, as a fraction", order),
    ...(disorder.length === 0 ? [] : ["GRAPHLINE\tDisorder\t0.5\tdisordered\t7e22ce"]),
    ...(order.length === 0 ? [] : ["GRAPHLINE\tpLDDT\t0.7\tfolded\t15803d"]),
  ];
  return `JALVIEW_ANNOTATION\n${printComments(tableProvenance(report))}${joinLines(lines)}`;
}
