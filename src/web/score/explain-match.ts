import type { MatchScore } from "../../scoring/index.ts";
import { keptShare } from "../../scoring/table/match-values.ts";
import { findVerdict, KEPT_FRACTION } from "../../scoring/table/verdict.ts";
import { pluralize } from "../format.tsx";
import { decimal, type NumberedMatch, overallP, percent, formatPValue } from "./result.ts";

type Contributions = NonNullable<MatchScore["contributions"]>;

interface Part {
  name: string;
  help: string;
  /** The meaning where it counts against the match, if that is another. */
  against?: string;
}

/** Names of the parts of z; the bars add up to z. */
export const TERMS: Readonly<Record<keyof Contributions, Part>> = {
  conservation: {
    name: "Conservation",
    help: "Homologs keep the match more than its surroundings explain, and rarely lose it. The same for every match without homologs.",
  },
  order: {
    name: "Disorder of the match",
    help: "Predicted. Most motifs lie in disordered regions, where partners can reach them.",
  },
  chainOrder: {
    name: "Folded rest of the protein",
    help: "Predicted for the whole protein. A disordered match is stronger evidence in a folded protein.",
  },
  burial: {
    name: "Burial",
    help: "A hydrophobic segment nearby counts against the match: it may be in a membrane or a core.",
  },
  terminusProximity: {
    name: "End of the protein",
    help: "Motifs are more frequent near the ends of proteins.",
  },
  abundance: {
    name: "Number of matches",
    help: "Matches of this pattern in the protein, compared with the number expected by chance.",
  },
  pattern: {
    name: "Pattern",
    help: "Random matches of this pattern lie less where motifs do than those of other patterns. Matches of a pattern rich in proline, for example, are mostly in disordered regions, so that this counts against it. The same for all matches of a pattern.",
  },
  domain: {
    name: "Known domain",
    help: "The match lies in a folded domain, by imported features. Partners rarely reach a motif there.",
  },
  topology: {
    name: "Known topology",
    help: "The match lies in a signal or transit peptide, in a membrane segment, or on the other side of the membrane than the partner of its class, by imported features.",
  },
  compartment: {
    name: "Known compartment",
    help: "The protein lies only where the partner of the class is not, by imported features.",
  },
  phosphosite: {
    name: "Known phosphosite",
    help: "The class needs a phosphorylated residue, and this one is a known phosphosite, by imported features.",
    against:
      "The class needs a phosphorylated residue. Other residues of the protein are known phosphosites, this one is not.",
  },
  classModel: {
    name: "Known instances",
    help: "Similarity to the imported instances of the class: residues within and beside the match, and the weight of the other evidence in this class.",
  },
};

/** The meaning of a part of z. */
export const helpOf = (term: keyof Contributions, value: number): string =>
  (value < 0 ? TERMS[term].against : undefined) ?? TERMS[term].help;

/** The parts of z of a match; kinds of evidence that say nothing are absent. */
export const partsOf = (contributions: Contributions): [keyof Contributions, number][] =>
  Object.entries(contributions) as [keyof Contributions, number][];

/** Parts of z that a sentence names. */
const NAMED = 2;

/** Sentences about numbers that seem to contradict each other, with those of the match. */
export const explainMatch = (match: NumberedMatch): string[] => [
  ...explainNoEvidence(match),
  ...explainBound(match),
  ...explainParalogs(match),
];

/** A conserved match without evidence. */
function explainNoEvidence(match: NumberedMatch): string[] {
  const { conservationLevel, pValue, pValueIs, overallPValue, z, contributions } = match;
  const isConserved = conservationLevel === "conserved" || conservationLevel === "weakly conserved";
  if (!isConserved || findVerdict(match) !== "no evidence" || overallPValue === null || !contributions)
    return [];
  const against = partsOf(contributions)
    .filter(([term, value]) => term !== "conservation" && value <= -0.005)
    .toSorted(([, a], [, b]) => a - b)
    .slice(0, NAMED)
    .map(([term, value]) => `${TERMS[term].name.toLowerCase()} ${decimal(value)}`);
  const reason =
    against.length > 0
      ? `other evidence counts against it (${against.join(", ")})`
      : `conservation adds only ${decimal(contributions.conservation)} to z`;
  const share =
    overallP(match).is === "at least" ? `at least ${percent(overallPValue)}` : percent(overallPValue);
  return [
    `${conservationLevel === "conserved" ? "Conserved" : "Weakly conserved"} (P of conservation ${formatPValue({ p: pValue, is: pValueIs })}), but no evidence: ${reason}, so that ${share} of random matches reach its z of ${decimal(z)}.`,
  ];
}

/** z above the mean of all random matches, but not above the median of those with which it is compared. */
function explainBound({ z, overallPValue, pattern: { randomMatches } }: NumberedMatch): string[] {
  if (z === null || z <= 0 || overallPValue === null || overallPValue < 0.5 || !randomMatches) return [];
  const half = randomMatches.z[randomMatches.shares.indexOf(0.5)];
  if (half === undefined) return [];
  return [
    `z is above 0, the mean of all random matches, but half of those with which this match is compared (in proteins with as many homologs and as much order) reach ${decimal(half)}, and ${decimal(z)} is less.`,
  ];
}

/** A match that orthologs keep, but that few homologs keep because paralogs fill the list. */
function explainParalogs(match: NumberedMatch): string[] {
  const { score, orthologs, paralogs } = match;
  if (score === null || !orthologs || !paralogs || orthologs.homologs < 2) return [];
  const isKept = (of: Parameters<typeof keptShare>[0]): boolean => (keptShare(of) ?? 1) >= KEPT_FRACTION;
  if (!isKept(orthologs) || isKept(paralogs) || isKept(match)) return [];
  const count = ({ kept, homologs, score: cs }: typeof orthologs, name: string): string =>
    `${kept} of ${pluralize(homologs, name)} (CS\u00A0${decimal(cs)})`;
  return [
    `Few homologs keep it (CS\u00A0${decimal(score)}) because paralogs fill the list: it is in place in ${count(orthologs, "ortholog")}, but only in ${count(paralogs, "paralog")}.`,
  ];
}
