import { useMemo } from "preact/hooks";
import type { Scan, ScanMatch } from "../../scoring/index.ts";
import { isDisordered } from "../../scoring/table/match-values.ts";
import { listPlaces, numberPlaces, type Place } from "../../scoring/table/places.ts";
import { findVerdict, type MatchVerdict, STRICT_Q } from "../../scoring/table/verdict.ts";
import { useLoaded } from "../components/loaded.tsx";
import { formatCount, listFirst } from "../format.tsx";
import { call } from "../request.ts";
import type { MatchView } from "./match-view.ts";
import { countVerdicts } from "./result.ts";

/** A scan, as `GET /api/scoring/jobs/{id}/scan` returns it. */
export type { Scan, ScanMatch };

/** @throws ApiError */
export const readScan = (id: string, signal?: AbortSignal): Promise<Scan> =>
  call("GET /api/scoring/jobs/:id/scan", { params: { id }, signal });

/** The region of a match in words; null if it is unknown. */
export function findRegion(match: ScanMatch): string | null {
  const value = isDisordered(match);
  return value === null ? null : value ? "disordered" : "ordered";
}

/** All places, and those of the matches that pass the filters. @param findProtein the protein of a match, if they are of several */
export function usePlaces<Row extends ScanMatch>(
  matches: readonly Row[],
  { rows }: Pick<MatchView<Row>, "rows">,
  findProtein?: (match: Row) => number,
): { all: Place<Row>[]; places: Place<Row>[] } {
  const numbers = useMemo(() => numberPlaces(matches, findProtein), [matches]);
  const all = useMemo(() => listPlaces(matches, numbers), [matches, numbers]);
  return { all, places: useMemo(() => listPlaces(rows, numbers), [rows, numbers]) };
}

/** The name of a motif class, and its identifier where that is another one. */
export interface ClassName {
  name: string;
  id: string;
}

/** The names of motif classes; identifiers alone before the classes are loaded, and for expressions. */
export function useClassNames(): (motif: string) => ClassName {
  const { value } = useLoaded("classes", (signal) => call("GET /api/scoring/motif-classes", { signal }));
  return useMemo(() => {
    const known = new Map(
      value?.results.flatMap((one) => [one.name, ...one.aliases].map((name) => [name, one])),
    );
    return (motif) => {
      const { name = motif, title, aliases = [] } = known.get(motif) ?? {};
      return title ? { name: title, id: name } : { name, id: aliases[0] ?? "" };
    };
  }, [value]);
}

/** Matches that a sentence names. */
const NAMED = 3;

/** What is most likely in a protein: how many matches are known or likely functional, and how many of the others stand out. */
export function scanAnswer(matches: readonly ScanMatch[], tested: number): string {
  if (tested === 0) return "No match has a P value.";
  const standing = matches.filter(
    (match) => match.q != null && match.q <= STRICT_Q && findVerdict(match) !== "known instance",
  ).length;
  const sentence = countVerdicts(matches);
  const others = matches.filter((match) => findVerdict(match) !== "known instance").length;
  if (matches.length === 1 || others === 0) return sentence;
  return `${sentence.slice(0, -1)}, ${standing === 0 ? "none" : formatCount(standing)} ${standing > 1 ? "stand" : "stands"} out.`;
}

/** Places whose best match has a verdict, by name: `MDM2-SWIB at 19–26, SUMO at 385–388 and 3 more`; empty without any. */
export function namePlaces<Row extends ScanMatch>(
  places: readonly Place<Row>[],
  verdict: MatchVerdict,
  nameOf: (match: Row) => string,
): string {
  const found = places.map(({ best }) => best).filter((match) => findVerdict(match) === verdict);
  const names = found.map((match) => `${nameOf(match)} at ${match.start}–${match.end}`);
  return listFirst(names, NAMED);
}
