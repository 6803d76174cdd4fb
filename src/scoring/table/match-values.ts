import { DISORDER_THRESHOLD } from "../../motif/options.ts";
import { type ChoiceFilter, forMatch } from "./filters.ts";
import type { MatchRow, QueryPart } from "./match-row.ts";

export const P_VALUE_KINDS = ["estimate", "at most", "at least"];
export const CLASS_TYPES = {
  DEG: "Degron",
  DOC: "Docking",
  LIG: "Ligand",
  MOD: "Modification",
  TRG: "Targeting",
  CLV: "Cleavage",
};
export const KEPT_BANDS = {
  "90-100": "90 % and more",
  "50-89": "50 to 89 %",
  "0-49": "Less than 50 %",
  "no homologs": "No homologs",
};

/** A choice of one of two. */
export const choiceOfTwo = (
  filter: Omit<ChoiceFilter, "kind" | "choices" | "readValue">,
  choices: readonly [yes: string, no: string],
  readValue: (row: MatchRow) => boolean | null | undefined,
): ChoiceFilter => ({
  kind: "choice",
  single: "boolean",
  choices: { true: choices[0], false: choices[1] },
  readValue: forMatch((row) => {
    const value = readValue(row);
    return value === null || value === undefined ? null : String(value);
  }),
  ...filter,
});

type Kept = Pick<MatchRow, "kept" | "homologs">;

/** Share of homologs that keep a match in place; null without any. */
export const keptShare = (of: Kept | undefined): number | null =>
  of?.kept === undefined || of.homologs === 0 ? null : of.kept / of.homologs;

export function keptBand({ kept, homologs }: Kept): string | null {
  if (homologs === 0) return "no homologs";
  if (kept === undefined) return null;
  const percent = Math.floor((100 * kept) / homologs);
  return percent >= 90 ? "90-100" : percent >= 50 ? "50-89" : "0-49";
}

/** Commas separate the values of a filter. */
export const readSpecies = ({ protein }: QueryPart): string =>
  protein?.taxon == null ? (protein?.organism ?? "unknown").replaceAll(",", "") : String(protein.taxon);

export const isDisordered = ({ disorder }: Pick<MatchRow, "disorder">): boolean | null =>
  disorder == null ? null : disorder > DISORDER_THRESHOLD;

/** True if a match is a known instance of its motif; null if no features are imported. */
export const isKnown = ({ notes }: Pick<MatchRow, "notes">): boolean | null =>
  notes ? notes.instances.some(({ logic }) => logic === "true positive") : null;

/** `ELMI1`, with the logic if the instance is not a true positive. */
export const instanceName = ({ id, logic }: { id: string; logic?: string }): string =>
  logic === undefined || logic === "true positive" ? id : `${id} (${logic})`;

/** Texts that rows without a match show instead of a verdict. */
export const MISSING = { "no match": "No match", failed: "Failed", waiting: "Waiting" };
