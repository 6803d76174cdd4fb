import type { MatchScore, PatternScores } from "../../motif/index.ts";
import type { AnnotatedReport } from "../features/annotation.ts";
import {
  NOTE_CELLS,
  NOTE_NAMES,
  patternName,
  printDecimal,
  PROTEIN_COLUMNS,
  proteinCells,
  queryName,
} from "./result-rows.ts";

export const GFF3_HEADER = "##gff-version 3\n";

/**
 * One feature per match (GFF3 1.26, Sequence Ontology), of type `polypeptide_motif` (SO:0001067); the score is the
 * conservation score. Without the header line, so that several queries fit into one file.
 */
export function printFeatures({ identifier, protein, prediction, notes }: AnnotatedReport): string {
  const names = proteinAttributes(protein);
  let number = 0;
  const sequence = escapeSequence(queryName(identifier));
  const source = escapeAttribute(prediction.method);
  const features = prediction.patterns.flatMap((pattern) =>
    pattern.matches.map((match) => {
      const { start, end, score } = match;
      const known = notes?.[number++];
      const attributes = known ? NOTE_NAMES.map((name) => [name, NOTE_CELLS[name](known)] as const) : [];
      return featureLine(
        { sequence, source, start, end, score },
        attributesOf(pattern, match).concat(names, attributes),
      );
    }),
  );
  return regionLine(sequence, prediction.queryLength) + features.join("");
}

type Attributes = readonly (readonly [name: string, value: string])[];

/** A match as a feature; `sequence` and `source` are escaped. Empty attributes are omitted. */
export function featureLine(
  place: { sequence: string; source: string; start: number; end: number; score: number | null },
  attributes: Attributes,
): string {
  const { sequence, source, start, end, score } = place;
  const text = attributes
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `${name}=${escapeAttribute(value)}`)
    .join(";");
  const columns = [
    sequence,
    source,
    "polypeptide_motif",
    start,
    end,
    printDecimal(score) || ".",
    ".",
    ".",
    text,
  ];
  return `${columns.join("\t")}\n`;
}

export const printGff3 = (report: AnnotatedReport): string => GFF3_HEADER + printFeatures(report);

/** The extent of a sequence, whose name is escaped. */
export const regionLine = (sequence: string, length: number): string =>
  length > 0 ? `##sequence-region ${sequence} 1 ${length}\n` : "";

/** The query as a protein of the corpus; `name` would be mistaken for that of the feature. */
export const proteinAttributes = (protein: AnnotatedReport["protein"]): Attributes =>
  proteinCells(protein).map((value, i) => [PROTEIN_COLUMNS[i].replace(/^name$/, "protein_name"), value]);

/** Reserved attributes are capitalised, our own are not, as the specification demands. */
const attributesOf = (pattern: PatternScores, match: MatchScore): Attributes => [
  ["Name", patternName(pattern)],
  ["Note", pattern.explanation],
  ["expression", pattern.expression],
  ["matched", match.text],
  ["verdict", match.verdict],
  ["homologs", String(match.homologs)],
  ["kept", printDecimal(match.kept)],
  ["effective_homologs", printDecimal(match.effectiveHomologs)],
  ["expected", printDecimal(match.expected)],
  ["z", printDecimal(match.z)],
  ["p", printDecimal(match.pValue)],
  ["p_is", match.pValueIs ?? ""],
  ["overall_verdict", match.overallVerdict ?? ""],
  ["overall_p", printDecimal(match.overallPValue)],
  ["overall_p_is", match.overallPValueIs ?? ""],
];

/** Column 1: everything but `[a-zA-Z0-9.:^*$@!+_?-|]` is escaped. */
export const escapeSequence = (text: string): string =>
  text.toWellFormed().replace(/[^a-zA-Z0-9.:^*$@!+_?|-]/gu, percent);

/** Column 9: control characters, `%` and the separators of attributes are escaped. */
const escapeAttribute = (text: string): string =>
  // oxlint-disable-next-line no-control-regex -- control characters are to be escaped
  text.toWellFormed().replace(/[\u0000-\u001F\u007F%;=&,]/g, percent);

/** Percent-encoding (RFC 3986, section 2.1). */
function percent(character: string): string {
  return [...new TextEncoder().encode(character)]
    .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`)
    .join("");
}
