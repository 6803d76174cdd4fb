import { useEffect, useState } from "preact/hooks";
import { href } from "../address.ts";
import { get } from "../request.ts";

/** How retention in a homolog counts. */
export type Model = "continuous" | "discontinuous";

/** As many patterns, and as many named motifs, as one job takes. */
export const MOST_PER_JOB = 5;

/** A job as `GET /api/scoring/jobs/{id}` shows it. */
export interface Job {
  id: string;
  identifier: string | null;
  state: "queued" | "running" | "finished" | "failed" | "cancelled" | "expired";
  stage: "start" | "homologs" | "tree" | "scores" | null;
  fraction: number | null;
  place: number | null;
  submitted: string;
  started: string | null;
  ended: string | null;
  expires: string | null;
  failure: string | null;
  queryLength: number | null;
  scoringModel: Model | null;
  patterns: { expression: string; name: string | null }[];
}

export const jobPath = (id: string): string => `/api/scoring/jobs/${encodeURIComponent(id)}`;

/** Milliseconds between two looks where no stream of events can be had. */
const POLL = 1500;

/** A job as it is now, told by the server as it changes; `error` where it cannot be had. */
export function useJob(id: string): { job: Job | null; error: unknown } {
  const [job, show] = useState<Job | null>(null);
  const [error, fail] = useState<unknown>(null);
  useEffect(() => {
    let over = false;
    let source: EventSource | undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const look = async (): Promise<Job | undefined> => {
      try {
        const found = await get<Job>(jobPath(id));
        if (over) return undefined;
        show(found);
        return found;
      } catch (problem) {
        if (!over) fail(problem);
        return undefined;
      }
    };
    const poll = (): void => {
      timer = setTimeout(async () => {
        if ((await look())?.ended === null) poll();
      }, POLL);
    };
    const read = ({ data }: MessageEvent<string>): void => {
      const now = JSON.parse(data) as Job;
      show(now);
      if (now.ended !== null) source?.close();
    };
    void look().then((found) => {
      if (over || !found || found.ended !== null) return;
      source = new EventSource(href(`${jobPath(id)}/events`));
      source.addEventListener("state", read);
      source.addEventListener("progress", read);
      source.addEventListener("error", () => {
        // Browsers come back by themselves, but not after a refusal, such as that there are too many streams.
        if (source?.readyState === EventSource.CLOSED) poll();
      });
    });
    return () => {
      over = true;
      source?.close();
      clearTimeout(timer);
    };
  }, [id]);
  return { job, error };
}

const KEPT = "labd.jobs";
const MAX_KEPT = 8;

/** A job that was submitted from this browser. */
export interface RecentJob {
  id: string;
  title: string;
  time: number;
}

/** The last jobs of this browser, newest first. */
export function recentJobs(): RecentJob[] {
  try {
    return JSON.parse(localStorage.getItem(KEPT) ?? "[]") as RecentJob[];
  } catch {
    return [];
  }
}

export function rememberJob(id: string, title: string): void {
  const others = recentJobs().filter((job) => job.id !== id);
  const kept = [{ id, title, time: Date.now() }, ...others].slice(0, MAX_KEPT);
  try {
    localStorage.setItem(KEPT, JSON.stringify(kept));
  } catch {
    // Storage is full or forbidden: the list is a convenience.
  }
}
