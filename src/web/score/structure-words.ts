import type { StructureModel } from "../../scoring/index.ts";
import { listFirst } from "../format.tsx";

export interface Place {
  start: number;
  end: number;
}

/** Names that a sentence lists. */
const MAX_LISTED = 12;

/** Rounded down, so that 100 % means all. */
const identical = (identity: number): string => `${Math.floor(1000 * identity) / 10}\u00A0%`;

const spanText = ({ start, end }: Place): string => (start === end ? `${start}` : `${start}–${end}`);

/** Describes the model and its differences from the query, in sentences. */
export function describeModel(model: StructureModel): string[] {
  const { chain, chains, identity, residues, mismatches, missing, isPrediction } = model;
  const covered = residues.filter((number) => number !== null).length;
  const of = chains.length > 1 ? ` of ${chains.length} chains` : "";
  return [
    isPrediction
      ? "Predicted structure: its B factors are pLDDT, which have a track at the top of the page."
      : "Experimental structure: its B factors are not pLDDT.",
    `${chain === "" ? "The chain" : `Chain ${chain}${of}`} has ${covered} of ${residues.length} residues, ${identical(identity)} identical.`,
    mismatches.length === 0
      ? "No residue differs."
      : `Residues that differ: ${listFirst(mismatches, MAX_LISTED)}.`,
    missing.length === 0
      ? "No residue is missing."
      : `Without coordinates: ${listFirst(missing.map(spanText), MAX_LISTED)}.`,
  ];
}

/** Describes the place of a match in the model, in a sentence. */
export function describeMatch({ residues, pLddt }: StructureModel, { start, end }: Place): string {
  const numbers = residues.slice(start - 1, end);
  const present = numbers.filter((number) => number !== null);
  if (present.length === 0) return `The match ${start}–${end} is not in the model.`;
  const part =
    present.length < numbers.length
      ? `${present.length} of its ${numbers.length} residues`
      : "all its residues";
  const values = (pLddt ?? []).slice(start - 1, end).flatMap((value) => value ?? []);
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const confidence =
    values.length === 0 ? "" : ` Its mean pLDDT is ${Math.round(mean)}: ${describeConfidence(mean)}.`;
  return `The match ${start}–${end}: ${part} are in the model, with the numbers ${present[0]} to ${present.at(-1)}.${confidence}`;
}

const describeConfidence = (value: number): string =>
  value >= 90
    ? "the structure is very likely right"
    : value >= 70
      ? "the backbone is likely right"
      : value >= 50
        ? "the structure is uncertain"
        : "the region is probably disordered";
