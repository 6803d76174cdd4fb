import { useFollowed } from "../components/follow.ts";
import { type Answer, call } from "../request.ts";
import { type Key, readStored, writeStored } from "../stored.ts";
import type { Entry } from "./protein-input.ts";

/** A job, as `GET /api/scoring/jobs/{id}` returns it. */
export type Job = Answer<"GET /api/scoring/jobs/:id">;
/** The modes of counting retention in a homolog. */
export type Model = NonNullable<Job["scoringModel"]>;

/** Patterns, and named motifs, in one job at most; SOAP takes fewer. */
export const MAX_PER_JOB = 1000;
export const MAX_PER_SOAP_JOB = 5;

export const jobPath = (id: string): string => `/api/scoring/jobs/${encodeURIComponent(id)}`;

/** Starts a job for a protein: these motif classes, or all. @throws ApiError */
export function startJob(
  { name, sequence }: Entry,
  classes: readonly string[],
  evidence: object = {},
): Promise<Job> {
  const protein =
    sequence === null ? { accession: name } : { identifier: name || "protein", querySequence: sequence };
  const motifs = classes.length > 0 ? { motifClasses: classes } : { allMotifClasses: true };
  return submitJob({ ...protein, ...motifs, ...evidence });
}

let first: Promise<void> | undefined;
let hasCookie = false;

/** Submits a job. The first one goes alone: its response brings the cookie by which the browser owns them all. */
export function submitJob(body: object): Promise<Job> {
  if (first) return first.then(() => submitJob(body));
  const sent = call("POST /api/scoring/jobs", { body });
  if (hasCookie) return sent;
  first = sent
    .then(() => void (hasCookie = true))
    .catch(() => {})
    .finally(() => (first = undefined));
  return sent;
}

export const readJob = (id: string, signal?: AbortSignal): Promise<Job> =>
  call("GET /api/scoring/jobs/:id", { params: { id }, signal });

export const cancelJob = (id: string): Promise<Job> =>
  call("DELETE /api/scoring/jobs/:id", { params: { id } });

/** A job, followed until it ends. */
export function useJob(id: string): { job: Job | null; error: unknown } {
  const { value: job, error } = useFollowed<Job>(id, {
    load: (signal) => readJob(id, signal),
    events: `${jobPath(id)}/events`,
    hasEnded: ({ ended }) => ended !== null,
  });
  return { job, error };
}

/** Proteins that the page scans at once; `labd scan` takes any number. */
export const MAX_SCANS = 50;

/** Characters; more would fill the storage. */
const MAX_DRAFT = 2_000_000;

/** Text entered in this tab and not submitted yet. */
const storedDraft = (key: Key) => ({
  read: (): string => readStored(key, ""),
  keep: (text: string): void => void writeStored(key, text === "" || text.length > MAX_DRAFT ? null : text),
});

/** Proteins and an alignment entered in this tab. */
export const proteinDraft = storedDraft("protein");
export const alignmentDraft = storedDraft("alignment");
