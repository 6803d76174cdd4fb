import { ApiError, call, get, send } from "../request.ts";
import { type Job, jobPath } from "../score/job.ts";
import type { ProteinNames } from "../score/protein-identity.tsx";
import { type Conservation, type PValue, rank, type Verdict } from "../score/result.ts";
import type { Item } from "./batch.ts";

/** The state of one job of a batch. */
export type Outcome =
  | { kind: "unsent" }
  | { kind: "active"; state: "queued" | "running" }
  | { kind: "done"; summaries: Summary[]; names: ProteinNames | null; table: string }
  | { kind: "failed"; message: string };

/** One motif in one protein: its best match, and the number of matches. */
export interface Summary {
  motif: string;
  matches: number;
  /** Null without matches. */
  best: {
    /** Over all patterns of the job, from 1. */
    number: number;
    start: number;
    text: string;
    verdict: Verdict;
    overallPValue: number | null;
    overallPValueIs: PValue["is"];
    conservation: Conservation;
    kept: number;
    homologs: number;
    score: number | null;
    expected: number | null;
    z: number | null;
  } | null;
}

/** Tables and states that are requested at once. */
const REQUESTS = 6;
/** Milliseconds between requests, and after a temporary error. */
const PAUSE = 800;
const RETRY = 3000;

const isTemporary = (error: unknown): error is ApiError =>
  error instanceof ApiError && (error.status === 0 || error.status >= 429);
const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Reads jobs from a position on, those that come next. @throws ApiError */
export type ReadItems = (from: number, known: readonly Item[]) => Promise<Item[]>;

/** Reads jobs of a batch of the server. */
export const readItemsOf =
  (id: string): ReadItems =>
  async (offset) =>
    (await call("GET /api/scoring/batches/:id/items", { params: { id }, query: { offset } })).items;

/** Reads the jobs themselves, for a batch that the server does not have. */
export const readJobs: ReadItems = (from, known) =>
  Promise.all(known.slice(from, from + REQUESTS).map(readJob));

async function readJob(item: Item): Promise<Item> {
  if (hasEnded(item.state)) return item;
  try {
    const { state, failure } = await get<Job>(jobPath(item.job!));
    return { ...item, state, failure };
  } catch (error) {
    if (isTemporary(error)) throw error;
    return { ...item, state: "failed", failure: (error as Error).message };
  }
}

const hasEnded = (state: Item["state"]): boolean => !["waiting", "queued", "running"].includes(state);

/** Follows the jobs of a batch until all have ended, and reads their results. */
export class BatchRun {
  readonly outcomes: Outcome[];
  #isStopped = false;

  /** @param items what is known of the jobs; `onChange` is called when more is known */
  constructor(
    readonly items: Item[],
    private readonly read: ReadItems,
    private readonly onChange: () => void,
  ) {
    this.outcomes = items.map(() => ({ kind: "unsent" }));
  }

  /** Stops following; jobs go on. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Follows all jobs to their ends. */
  async start(): Promise<void> {
    while (!this.#isStopped) {
      const next = this.outcomes.findIndex(({ kind }) => kind === "unsent" || kind === "active");
      if (next < 0) return;
      let wait = PAUSE;
      try {
        const found = await this.read(next, this.items);
        for (const item of found) this.items[item.position] = item;
        if (await this.#takeAll(found)) wait = 0;
      } catch (error) {
        if (!isTemporary(error)) throw error;
        wait = error.retryAfter === null ? RETRY : error.retryAfter * 1000;
      }
      await sleep(wait);
    }
  }

  /** @returns whether a job has ended */
  async #takeAll(items: readonly Item[]): Promise<boolean> {
    const ended = items.filter(({ state, position }) => hasEnded(state) && !this.#isKnown(position));
    for (const item of items)
      if (item.state === "running" || item.state === "queued")
        this.outcomes[item.position] = { kind: "active", state: item.state };
    this.onChange();
    const queue = [...ended];
    const work = async (): Promise<void> => {
      for (let item = queue.shift(); item && !this.#isStopped; item = queue.shift()) {
        this.outcomes[item.position] = await outcomeOf(item);
        this.onChange();
      }
    };
    await Promise.all(Array.from({ length: REQUESTS }, work));
    return ended.length > 0;
  }

  #isKnown(position: number): boolean {
    const { kind } = this.outcomes[position];
    return kind === "done" || kind === "failed";
  }
}

/** The result of a job that has ended. @throws ApiError if the server does not respond */
async function outcomeOf({ job, state, failure }: Item): Promise<Outcome> {
  if (state !== "finished" || job === null)
    return { kind: "failed", message: failure ?? `The job is ${state}.` };
  try {
    const options = { query: { format: "tsv" }, headers: { Accept: "*/*" } };
    const table = await (await send("GET", `${jobPath(job)}/result`, options)).text();
    return { kind: "done", summaries: summarize(table), names: namesIn(table), table };
  } catch (error) {
    if (isTemporary(error)) throw error;
    return { kind: "failed", message: (error as Error).message };
  }
}

/** The names of the protein of a job's table; null if the corpus does not have it. */
export function namesIn(table: string): ProteinNames | null {
  const [head, first = ""] = table.split("\n", 2).map((line) => line.split("\t"));
  const cell = (name: string): string => first[head.indexOf(name)] ?? "";
  const accession = cell("accession");
  if (accession === "") return null;
  return { accession, gene: cell("gene") || null, name: cell("name"), organism: cell("organism") || null };
}

/** A job's table by motif, each with its best match. */
export function summarize(table: string): Summary[] {
  const [head, ...rows] = table.trimEnd().split("\n");
  const names = head.split("\t");
  const summaries = new Map<string, Summary>();
  let number = 0;
  for (const row of rows) {
    const cells = row.split("\t");
    const cell = (name: string): string => cells[names.indexOf(name)] ?? "";
    const value = (name: string): number | null => (cell(name) === "" ? null : Number(cell(name)));
    const summary = summaries.get(cell("pattern")) ?? { motif: cell("pattern"), matches: 0, best: null };
    summaries.set(summary.motif, summary);
    if (cell("verdict") === "no match") continue;
    number++;
    summary.matches++;
    const match = {
      number,
      start: Number(cell("start")),
      text: cell("match"),
      verdict: (cell("overall_verdict") || "not scored") as Verdict,
      overallPValue: value("overall_p"),
      // Tables of jobs that were stored before lack it.
      overallPValueIs: (cell("overall_p_is") || null) as PValue["is"],
      conservation: cell("verdict") as Conservation,
      kept: Number(cell("kept")),
      homologs: Number(cell("homologs")),
      score: value("cs"),
      expected: value("expected"),
      z: value("z"),
    };
    if (!summary.best || rank(match) < rank(summary.best)) summary.best = match;
  }
  return [...summaries.values()];
}
