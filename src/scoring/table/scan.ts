import { type Static, Type } from "typebox";
import { DISORDERED, rankMatches, type RankedMatch } from "../../motif/index.ts";
import { nullable, oneOf } from "../../platform/schema.ts";
import {
  caveats,
  choice,
  CorpusSchema,
  count,
  fraction,
  list,
  number,
  object,
  PREDICTION_CHOICES,
  PROTEIN_OF_QUERY,
  ProteinSchema,
  text,
} from "../prediction/prediction.ts";
import { CLASS_TYPE_NAMES, CLASS_TYPES, type ClassType, classTypeOf } from "../corpus/motif-classes.ts";
import type { AnnotatedReport, MatchNotes } from "../features/annotation.ts";
import { NotesSchema } from "../features/feature-schemas.ts";
import {
  type Column,
  passesPlaces,
  placeColumns,
  type PlaceFilter,
  rankedColumns,
} from "./ranked-columns.ts";
import { escapeSequence, featureLine, GFF3_HEADER, proteinAttributes, regionLine } from "./result-gff3.ts";
import {
  NOTE_CELLS,
  NOTE_NAMES,
  patternName,
  printTsv,
  PROTEIN_COLUMNS,
  proteinCells,
  queryName,
} from "./result-rows.ts";

/** The matches of a prediction for many motif classes, as one ranked list. */

export const SCAN_MATCH = {
  number: count("Number of the match over all motifs of the result, from 1."),
  motif: text("Name of the motif class, or the expression."),
  type: nullable(
    oneOf<ClassType>(
      CLASS_TYPE_NAMES,
      `Type of the motif class: ${CLASS_TYPE_NAMES.map((name) => `${name}, ${CLASS_TYPES[name]}`).join("; ")}.`,
    ),
  ),
  start: count("First residue, from 1."),
  end: count("Last residue."),
  text: text("The matched residues."),
  overallPValue: nullable(fraction("As in the result.")),
  overallPValueIs: nullable(choice("PValueKind", "As in the result.")),
  q: nullable(fraction("Expected fraction of random matches among this one and those above it.")),
  label: nullable(
    choice("OverallVerdict", "likely functional: q at most 0.05; possible: q at most 0.2; else no evidence."),
  ),
  z: nullable(number("As in the result.")),
  verdict: choice("Verdict", "Conservation alone, as in the result."),
  kept: count("Homologs that keep the match."),
  homologs: count("Homologs that reach the match."),
  disorder: nullable(fraction("Mean predicted disorder of the match.")),
  isDisordered: nullable(Type.Boolean({ description: `Whether the mean disorder exceeds ${DISORDERED}.` })),
  group: count("Matches that overlap by half of the shorter one have the same number, from 1."),
  isBest: Type.Boolean({ description: "Whether it is the best match of its group." }),
  notes: nullable(NotesSchema),
};
const ScanMatchSchema = object(SCAN_MATCH, "A match.");
export type ScanMatch = Static<typeof ScanMatchSchema>;

export const ScanSchema = object(
  {
    identifier: text("The client's name for the query."),
    protein: nullable(ProteinSchema, { description: PROTEIN_OF_QUERY }),
    method: text("Version of the method."),
    queryLength: count("Residues of the query."),
    corpus: nullable(CorpusSchema),
    homologs: count("Number of homologs."),
    classes: count("Number of motifs tested."),
    tested: count("Number of matches with a P value, over which q-values are computed."),
    disorder: list(fraction("Disorder."), "Predicted disorder of each residue of the query."),
    matches: list(ScanMatchSchema, "Best first; those that the filters leave."),
    warnings: list(text("A caveat."), caveats("the scan")),
  },
  "All matches of a job in one order.",
  "Scan",
);
export type Scan = Static<typeof ScanSchema>;

/** What matches can be filtered by; `other` are expressions and classes of unknown type. */
export const FILTER_TYPES = [...CLASS_TYPE_NAMES, "other"] as const;
export const FILTER_DOMAINS = ["inside", "outside"] as const;
export const FILTER_LABELS = [...PREDICTION_CHOICES.OverallVerdict, "not scored"] as const;

/** Limits the listed matches; q-values are those of all matches. */
export interface ScanFilter extends PlaceFilter {
  types?: readonly (typeof FILTER_TYPES)[number][] | undefined;
  labels?: readonly (typeof FILTER_LABELS)[number][] | undefined;
  /** true: only the best match of each group. */
  best?: boolean | undefined;
  /** true: only in disordered regions; false: only others. */
  disordered?: boolean | undefined;
  maxQ?: number | undefined;
}

export function scanOf(
  { identifier, protein, prediction, notes }: AnnotatedReport,
  filter: ScanFilter = {},
): Scan {
  const { method, queryLength, corpus, homologs, patterns, alignment, warnings } = prediction;
  const matches = rankMatches(prediction).map((row) => scanMatch(row, notes?.[row.number - 1] ?? null));
  return {
    identifier,
    protein: protein ?? null,
    method,
    queryLength,
    corpus,
    homologs: homologs.length,
    classes: patterns.length,
    tested: matches.filter(({ q }) => q !== null).length,
    disorder: alignment?.disorder ?? [],
    matches: matches.filter((match) => passes(match, filter)),
    warnings: [
      ...warnings,
      ...patterns.flatMap((pattern) =>
        pattern.warnings.map((warning) => `${patternName(pattern)}: ${warning}`),
      ),
    ],
  };
}

function scanMatch(row: RankedMatch, notes: MatchNotes | null): ScanMatch {
  const { number, pattern, match, q, label, group, isBest, disorder } = row;
  const { start, end, overallPValue = null, overallPValueIs = null, z = null } = match;
  const { verdict, kept, homologs } = match;
  return {
    number,
    motif: patternName(pattern),
    type: pattern.name === null ? null : classTypeOf(pattern.name),
    start,
    end,
    text: match.text,
    overallPValue,
    overallPValueIs,
    q,
    label,
    z,
    verdict,
    kept,
    homologs,
    disorder,
    isDisordered: disorder === null ? null : disorder > DISORDERED,
    group,
    isBest,
    notes,
  };
}

export const passes = (match: ScanMatch, filter: ScanFilter): boolean =>
  passesChoices(match, filter) && passesPlaces(match.notes, filter);

const passesChoices = (match: ScanMatch, { types, labels, best, disordered, maxQ }: ScanFilter): boolean =>
  (types === undefined || types.includes(match.type ?? "other")) &&
  (labels === undefined || labels.includes(match.label ?? "not scored")) &&
  (best !== true || match.isBest) &&
  (disordered === undefined || match.isDisordered === disordered) &&
  (maxQ === undefined || (match.q !== null && match.q <= maxQ));

const COLUMNS: readonly Column<ScanMatch>[] = [
  ["class", ({ motif }) => motif],
  ["type", ({ type }) => type ?? ""],
  ...rankedColumns("start", "end", "match", "overall_p", "q", "label", "z", "verdict"),
  ...rankedColumns("kept", "homologs", "disorder"),
  ["group", ({ group }) => String(group)],
  ["best_of_group", ({ isBest }) => (isBest ? "yes" : "no")],
  ...NOTE_NAMES.map((name): Column<ScanMatch> => [
    name,
    ({ notes }) => (notes ? NOTE_CELLS[name](notes) : ""),
  ]),
  ...placeColumns,
];

/** One row per match, without the header; a protein without matches has none. */
const printScanRows = (report: AnnotatedReport, filter: ScanFilter): string =>
  printTsv(scanOf(report, filter).matches.map((match) => scanRow(report, match)));

type Named = Pick<AnnotatedReport, "identifier" | "protein">;

/** The cells of a match. */
export const scanRow = ({ identifier, protein }: Named, match: ScanMatch): string[] =>
  [queryName(identifier)].concat(
    COLUMNS.map(([, cell]) => cell(match)),
    proteinCells(protein),
  );

/** One feature per match; the score is the q-value. */
function printScanFeatures(report: AnnotatedReport, filter: ScanFilter): string {
  const { method, queryLength, matches } = scanOf(report, filter);
  const features = matches.map((match) => scanFeature(report, match, method));
  return regionLine(escapeSequence(queryName(report.identifier)), queryLength) + features.join("");
}

/** A match as a feature of GFF3. */
export function scanFeature({ identifier, protein }: Named, match: ScanMatch, source: string): string {
  const sequence = escapeSequence(queryName(identifier));
  const attributes = COLUMNS.filter(([name]) => name !== "start" && name !== "end").map(
    ([name, cell]): readonly [string, string] => [name === "class" ? "Name" : name, cell(match)],
  );
  const { start, end, q: score } = match;
  return featureLine({ sequence, source, start, end, score }, attributes.concat(proteinAttributes(protein)));
}

/** A format of scans, for the JSON service and the command line: the text of one scan follows the head, or another scan. */
interface ScanForm {
  contentType: string;
  extension: string;
  sentence: string;
  head: string;
  print(report: AnnotatedReport, filter: ScanFilter): string;
}

export const SCAN_FORMS = {
  json: {
    contentType: "application/json",
    extension: "json",
    sentence: "The scan.",
    head: "",
    print: (report, filter) => `${JSON.stringify(scanOf(report, filter))}\n`,
  },
  tsv: {
    contentType: "text/tab-separated-values; charset=utf-8",
    extension: "tsv",
    sentence: "One row per match.",
    head: printTsv([["query", ...COLUMNS.map(([name]) => name), ...PROTEIN_COLUMNS]]),
    print: printScanRows,
  },
  gff3: {
    contentType: "text/x-gff3; charset=utf-8",
    extension: "gff3",
    sentence: "The matches as features of the query; the score is q.",
    head: GFF3_HEADER,
    print: printScanFeatures,
  },
} as const satisfies Record<string, ScanForm>;

export type ScanFormName = keyof typeof SCAN_FORMS;
export const SCAN_FORM_NAMES = Object.keys(SCAN_FORMS) as ScanFormName[];
