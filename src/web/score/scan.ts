import type { ClassType, Scan, ScanMatch } from "../../scoring/index.ts";
import { CLASS_TYPES, isDisordered } from "../../scoring/table/match-values.ts";
import { STRICT_Q } from "../../scoring/table/verdict.ts";
import { formatCount } from "../format.tsx";
import { call } from "../request.ts";
import { countVerdicts } from "./result.ts";

/** A scan, as `GET /api/scoring/jobs/{id}/scan` returns it. */
export type { Scan, ScanMatch };

/** @throws ApiError */
export const readScan = (id: string, signal?: AbortSignal): Promise<Scan> =>
  call("GET /api/scoring/jobs/:id/scan", { params: { id }, signal });

/** Types of motif classes in the order of pages. */
const LANES: Readonly<Record<ClassType | "other", string>> = {
  DEG: "Degrons",
  DOC: "Docking",
  LIG: "Ligands",
  MOD: "Modification",
  TRG: "Targeting",
  CLV: "Cleavage",
  other: "Other",
};
export type Type = keyof typeof LANES;
export const TYPE_ORDER = Object.keys(LANES) as Type[];
export const TYPES = Object.fromEntries(
  TYPE_ORDER.map((type) => [
    type,
    { name: type === "other" ? "Other" : CLASS_TYPES[type], lane: LANES[type] },
  ]),
) as Readonly<Record<Type, { name: string; lane: string }>>;
export const findType = ({ type }: Pick<ScanMatch, "type">): Type => type ?? "other";

/** The region of a match in words; null if it is unknown. */
export function findRegion(match: ScanMatch): string | null {
  const value = isDisordered(match);
  return value === null ? null : value ? "disordered" : "ordered";
}

/** The scan in two sentences. */
export function scanAnswer({ matches, tested }: Pick<Scan, "matches" | "tested">): string {
  if (tested === 0) return "No match has a P value.";
  const standing = matches.filter(({ q }) => q != null && q <= STRICT_Q).length;
  const subject = standing === 0 ? "None stands" : standing === 1 ? "1 stands" : `${standing} stand`;
  const against = tested === 1 ? "" : ` against all ${formatCount(tested)} tests`;
  return `${countVerdicts(matches)} ${subject} out${against} (q ≤ ${STRICT_Q}).`;
}
