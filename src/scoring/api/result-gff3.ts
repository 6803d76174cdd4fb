import type { MatchScore, PatternScores } from "../../motif/index.ts";
import type { PredictionReport } from "../contract/prediction.ts";
import { patternName, printDecimal, queryName } from "./result-rows.ts";

/**
 * A prediction as features of the query in GFF3 (Sequence Ontology, "Generic Feature Format Version 3", 1.26): one
 * feature per match, of the type `polypeptide_motif` (SO:0001067); the score is the conservation score.
 */

/** The directive that a file begins with. */
export const GFF3_HEADER = "##gff-version 3\n";

/** The features of one query without the first line, so that several queries can stand in one file. */
export function printFeatures(report: PredictionReport): string {
  const { identifier, prediction } = report;
  const sequence = escapeSequence(queryName(identifier));
  const region =
    prediction.queryLength > 0 ? `##sequence-region ${sequence} 1 ${prediction.queryLength}\n` : "";
  const source = escapeAttribute(prediction.method);
  const features = prediction.patterns.flatMap((pattern) =>
    pattern.matches.map((match) => {
      const attributes = attributesOf(pattern, match);
      return [
        sequence,
        source,
        "polypeptide_motif",
        match.start,
        match.end,
        printDecimal(match.score) || ".",
        ".",
        ".",
        attributes,
      ].join("\t");
    }),
  );
  return region + features.map((line) => `${line}\n`).join("");
}

/** A whole GFF3 file. */
export const printGff3 = (report: PredictionReport): string => GFF3_HEADER + printFeatures(report);

/**
 * Reserved attributes begin with a capital letter, our own with a small one, as the specification asks. There is no ID:
 * nothing refers to a match, and lines with one ID would be one feature. What does not exist is left out.
 */
function attributesOf(pattern: PatternScores, match: MatchScore): string {
  const attributes: [string, string][] = [
    ["Name", patternName(pattern)],
    ["Note", pattern.explanation],
    ["expression", pattern.expression],
    ["matched", match.text],
    ["verdict", match.verdict],
    ["homologs", String(match.homologs)],
    ["effective_homologs", printDecimal(match.effectiveHomologs)],
    ["expected", printDecimal(match.expected)],
    ["z", printDecimal(match.z)],
    ["p", printDecimal(match.pValue)],
    ["p_is", match.pValueIs ?? ""],
  ];
  return attributes
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `${name}=${escapeAttribute(value)}`)
    .join(";");
}

/** Column 1: everything but `[a-zA-Z0-9.:^*$@!+_?-|]` is escaped, so that no name begins with `>` or holds a space. */
const escapeSequence = (text: string): string =>
  text.toWellFormed().replace(/[^a-zA-Z0-9.:^*$@!+_?|-]/gu, percent);

/** Column 9: tab, line ends, controls, `%` and what divides attributes. */
const escapeAttribute = (text: string): string =>
  // oxlint-disable-next-line no-control-regex -- control characters are to be escaped
  text.toWellFormed().replace(/[\u0000-\u001F\u007F%;=&,]/g, percent);

/** The character's bytes in UTF-8, each as `%XX` (RFC 3986, section 2.1). */
function percent(character: string): string {
  return [...new TextEncoder().encode(character)]
    .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`)
    .join("");
}
