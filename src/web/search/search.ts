import type { Found } from "../../inventory/api/route-search.ts";
import type { ProteinObject } from "../../scoring/index.ts";
import { href } from "../address.ts";
import { MAX_QUERY_LENGTH } from "../components/search-form.tsx";
import { formatCount } from "../format.tsx";
import { pagePath } from "../inventory/declaration.ts";
import { type Answer, call } from "../request.ts";

export type { Found };
export type Result = Found["groups"][number]["results"][number];

interface Proteins {
  total: number;
  results: ProteinObject[];
}

/** The results of both services; undefined for one that does not answer, or not to this caller. */
export interface FoundAnywhere {
  records: Found | undefined;
  proteins: Proteins | undefined;
  classes: Answer<"GET /api/scoring/motif-classes"> | undefined;
}

interface SearchOptions {
  /** Results of each list. */
  limit: number;
  /** Segment of the list to search. */
  list?: string | null;
  withDeleted?: boolean;
}

/** Asks the inventory for records and people, and the scoring service for proteins and motif classes. @throws ApiError of both */
export async function searchAnywhere(
  text: string,
  { limit, list = null, withDeleted = false }: SearchOptions,
  signal: AbortSignal,
): Promise<FoundAnywhere> {
  const q = text.trim().slice(0, MAX_QUERY_LENGTH);
  const [records, proteins, classes] = await Promise.allSettled([
    call("GET /api/v2/search/", {
      query: { q, limit, list: list ?? undefined, deleted: withDeleted ? "all" : undefined },
      signal,
    }),
    list === null
      ? call("GET /api/scoring/proteins", { query: { query: q, limit: Math.min(limit, 10) }, signal })
      : undefined,
    list === null && q !== ""
      ? call("GET /api/scoring/motif-classes", { query: { query: q, limit: Math.min(limit, 10) }, signal })
      : undefined,
  ]);
  if (records.status === "rejected" && (proteins.status === "rejected" || list !== null))
    throw records.reason;
  return {
    records: records.status === "fulfilled" ? records.value : undefined,
    proteins: proteins.status === "fulfilled" ? proteins.value : undefined,
    classes: classes.status === "fulfilled" ? classes.value : undefined,
  };
}

/** The page of a record or a person. */
export const recordHref = (list: string, id: string): string => href(pagePath(list, id));

/** `37`, or `500+` of more. */
export const formatTotal = ({ total, more }: { total: number; more: boolean }): string =>
  `${formatCount(total)}${more ? "+" : ""}`;

/** The only record with the barcode or id that was typed or scanned. */
export function exactRecord({ groups }: Found): { list: string; result: Result } | undefined {
  const exact = groups.flatMap(({ list, results }) =>
    results.filter((result) => result.exact).map((result) => ({ list, result })),
  );
  return exact.length === 1 ? exact[0] : undefined;
}
