import type { Column } from "./column.ts";
import { P_VALUE_KINDS } from "./match-values.ts";
import { findVerdict, STANDING_OUT, standsOut, VERDICTS } from "./verdict.ts";

/** Columns that tables append, because the order of the others is that of earlier versions. */
export const ADDED_COLUMNS: readonly Column[] = [
  {
    name: "conservation",
    title: "Conservation",
    description: "Conservation alone, in words.",
    type: "text",
    choices: [
      "conserved",
      "weakly conserved",
      "conserved like its surroundings",
      "not conserved",
      "insufficient data",
    ],
    json: "conservationLevel",
    required: true,
    of: "match",
    value: ({ conservationLevel }) => conservationLevel,
  },
  {
    name: "nearby",
    title: "Nearby in homologs",
    description: "Homologs that have the motif only nearby, within ten residues; kept does not count them.",
    type: "count",
    json: "nearby",
    of: "match",
    value: ({ nearby }) => nearby,
  },
  {
    name: "q_is",
    title: "q is",
    description: "Whether q is an estimate, or a bound because it follows from P values that are bounds.",
    type: "text",
    choices: P_VALUE_KINDS,
    json: "qIs",
    of: "ranking",
    value: ({ qIs }) => qIs,
  },
  {
    name: "stands_out",
    title: "Stands out",
    description: "The level of q at which the match stands out among all matches of the ranking.",
    type: "text",
    choices: STANDING_OUT,
    json: "standsOut",
    of: "ranking",
    value: standsOut,
  },
  {
    name: "label",
    title: "Verdict",
    description: "Earlier name of verdict.",
    type: "text",
    choices: Object.keys(VERDICTS),
    json: "label",
    replacedBy: "verdict",
    of: "ranking",
    value: findVerdict,
  },
  {
    name: "probability",
    title: "Probability",
    description:
      "Probability of a true motif by z, if a share of 0.005 of the matches of a motif are true motifs.",
    type: "fraction",
    json: "probability",
    of: "match",
    value: ({ probability }) => probability,
  },
];
