import { useMemo } from "preact/hooks";
import type { JointScanObject } from "../../scoring/index.ts";
import { type Loadable, useLoaded } from "../components/loaded.tsx";
import { type Answer, call } from "../request.ts";
import type { Feature } from "./features.ts";
import { listMatches, type NumberedMatch, type Result, readResult } from "./result.ts";

/** A protein of the corpus with what is known about it, as `GET /api/scoring/proteins/{accession}` returns it. */
export type Protein = Answer<"GET /api/scoring/proteins/:accession">;
/** A job of the caller that scored it. */
export type ProteinJob = Protein["results"][number];

/** A scored match of a protein, and the job that scored it. */
export type ProteinMatch = JointScanObject["matches"][number] & {
  job: string;
  /** Identifies the match on the page. */
  key: string;
};

/** Matches without repetitions, the best first, and those of each job. */
interface ScoredMatches {
  matches: readonly ProteinMatch[];
  byJob: ReadonlyMap<string, readonly ProteinMatch[]>;
}

/** A match with its homologs, and the result that it belongs to without its other matches. */
interface MatchInResult {
  /** Key of the match. */
  of: string;
  result: Result;
  match: NumberedMatch;
}

/** @throws ApiError */
export const readProtein = (accession: string, signal: AbortSignal): Promise<Protein> =>
  call("GET /api/scoring/proteins/:accession", { params: { accession }, signal });

/** The finished jobs of the unchanged protein with different results, those with homologs of the corpus first. */
export const scoredJobs = ({ results }: Protein): ProteinJob[] =>
  results
    .filter(({ state, variant, isRepeated }) => state === "finished" && variant === null && !isRepeated)
    .toSorted((a, b) => Number(a.hasOwnAlignment) - Number(b.hasOwnAlignment));

/** All matches of some jobs; one that several jobs scored is that of the first job. @throws ApiError */
async function readMatches(jobs: readonly ProteinJob[], signal: AbortSignal): Promise<ScoredMatches> {
  const ids = jobs.map(({ id }) => id);
  const scan = await call("GET /api/scoring/scans", { query: { jobs: ids }, signal });
  const all = scan.matches.map((match): ProteinMatch => {
    const job = scan.proteins[match.of].job!;
    return Object.assign({ job, key: `${job}.${match.number}` }, match);
  });
  const first = new Map<string, ProteinMatch>();
  for (const match of all.toSorted((a, b) => a.of - b.of)) {
    const place = `${match.motif} ${match.start} ${match.end}`;
    if (!first.has(place)) first.set(place, match);
  }
  const kept = new Set(first.values());
  return { matches: all.filter((match) => kept.has(match)), byJob: Map.groupBy(all, ({ job }) => job) };
}

/** @throws ApiError */
async function readMatch(
  { job, number, key, notes }: ProteinMatch,
  signal: AbortSignal,
): Promise<MatchInResult> {
  const result = await readResult(job, signal, number);
  const [match] = listMatches(result);
  return { of: key, result, match: Object.assign(match, { number, notes }) };
}

const NONE: ScoredMatches = { matches: [], byJob: new Map() };

/**
 * The matches of all results of a protein, and the one with a key, else the best, in its result. Values are undefined
 * until they are loaded.
 */
export function useScored(of: Protein, key: string | null) {
  const jobs = useMemo(() => scoredJobs(of), [of]);
  const loaded: Loadable<ScoredMatches> = useLoaded(jobs.map(({ id }) => id).join(), async (signal) =>
    jobs.length === 0 ? NONE : readMatches(jobs, signal),
  );
  const { matches, byJob } = loaded.value ?? {};
  const selected = matches?.find((match) => match.key === key) ?? matches?.[0];
  const inResult = useLoaded(selected?.key ?? null, (signal) => readMatch(selected!, signal));
  // Until the match is loaded, the value is the one before it.
  const shown = inResult.value?.of === selected?.key ? inResult.value : undefined;
  return {
    jobs,
    matches,
    byJob,
    selected,
    shown,
    error: loaded.error ?? inResult.error,
    reload: loaded.reload,
  };
}

/** Motifs that are known in the protein. */
export const knownMotifs = ({ features }: Pick<Protein, "features">): Feature[] =>
  features.filter(({ group, logic }) => group === "motif" && logic === "true positive");
