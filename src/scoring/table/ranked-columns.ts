import { type MatchScore, type RankedMatch } from "../../motif/index.ts";
import type { MatchNotes } from "../features/annotation.ts";
import { printDecimal } from "./result-rows.ts";

/** What rows of scans and of proteome searches share. */
type RankedRow = Pick<RankedMatch, "q" | "label" | "disorder"> &
  Pick<MatchScore, "start" | "end" | "text" | "overallPValue" | "z" | "verdict" | "kept" | "homologs">;

/** A column of TSV, and its cell in a row. */
export type Column<Row> = readonly [name: string, cell: (row: Row) => string];

const CELLS = {
  start: ({ start }) => String(start),
  end: ({ end }) => String(end),
  match: ({ text }) => text,
  overall_p: ({ overallPValue }) => printDecimal(overallPValue),
  q: ({ q }) => printDecimal(q),
  label: ({ label }) => label ?? "",
  z: ({ z }) => printDecimal(z),
  verdict: ({ verdict }) => verdict,
  kept: ({ kept }) => String(kept),
  homologs: ({ homologs }) => String(homologs),
  disorder: ({ disorder }) => printDecimal(disorder),
} as const satisfies Record<string, (row: RankedRow) => string>;

export const rankedColumns = (...names: (keyof typeof CELLS)[]): Column<RankedRow>[] =>
  names.map((name) => [name, CELLS[name]]);

/** What a match is near to or in, for filters. */
export interface PlaceFilter {
  domain?: "inside" | "outside" | undefined;
  /** Most residues to a phosphosite. */
  phosphosite?: number | undefined;
  /** true: only known instances; false: only others. */
  known?: boolean | undefined;
}

export function passesPlaces(notes: PlaceNotes | null, { domain, phosphosite, known }: PlaceFilter): boolean {
  const { instances = [], domains = [], phosphosite: distance = null } = notes ?? {};
  return (
    (domain === undefined || domains.length > 0 === (domain === "inside")) &&
    (phosphosite === undefined || (distance !== null && distance <= phosphosite)) &&
    (known === undefined || instances.some(({ logic }) => logic === "true positive") === known)
  );
}

type PlaceNotes = Pick<MatchNotes, "instances" | "domains" | "phosphosite">;

/** What is known in a domain or near a phosphosite. */
export const placeColumns: readonly Column<{ notes?: PlaceNotes | null }>[] = [
  ["domains", ({ notes }) => notes?.domains.join(", ") ?? ""],
  ["phosphosite_distance", ({ notes }) => String(notes?.phosphosite ?? "")],
];
