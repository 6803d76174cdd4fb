import { ApiError, get, requestJson, send } from "../request.ts";
import { type Job, jobPath, submitJob } from "../score/job.ts";
import type { ProteinNames } from "../score/protein-identity.tsx";
import { type Conservation, type PValue, rank, type Verdict } from "../score/result.ts";
import { type Batch, type Item, storeBatch } from "./batch.ts";

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

const NOT_SENT: Outcome = { kind: "failed", message: "Not sent." };

/** Concurrent submissions and status requests. */
const SENDERS = 3;
const POLLED_JOBS = 6;
/** Milliseconds between status requests, and after a temporary error. */
const PAUSE = 800;
const RETRY = 3000;

const isTemporary = ({ status }: ApiError): boolean => status === 0 || status >= 429;
const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Submits the jobs of a batch and follows them until all have ended. */
export class BatchRun {
  readonly outcomes: Outcome[];
  /** Why submission waits, if it does. */
  waiting: string | null = null;
  /** Whether a reload continues from here. */
  isStored = true;
  #isStopped = false;
  /** Jobs whose submission waits. */
  readonly #delayed = new Set<Item>();
  #next = 0;

  constructor(
    readonly batch: Batch,
    private readonly onChange: () => void,
  ) {
    this.outcomes = batch.items.map(({ job, query }): Outcome => {
      if (job !== null) return { kind: "active", state: "queued" };
      return query === null ? NOT_SENT : { kind: "unsent" };
    });
  }

  start(): void {
    for (let i = 0; i < SENDERS; i++) void this.#submitAll();
    void this.#follow();
  }

  /** Stops submitting and following; jobs go on. */
  stop(): void {
    this.#isStopped = true;
  }

  /** Cancels all jobs that have not ended. */
  async cancel(): Promise<void> {
    this.stop();
    for (const [i, item] of this.batch.items.entries()) {
      const { kind } = this.outcomes[i];
      if (kind === "unsent") {
        item.query = null;
        this.#set(i, NOT_SENT);
      } else if (kind === "active" && item.job !== null) {
        // It may have ended in the meantime.
        await requestJson("DELETE", jobPath(item.job)).then(
          () => this.#set(i, { kind: "failed", message: "Cancelled." }),
          () => undefined,
        );
      }
    }
    this.isStored = storeBatch(this.batch);
  }

  #set(i: number, outcome: Outcome): void {
    this.outcomes[i] = outcome;
    this.onChange();
  }

  async #submitAll(): Promise<void> {
    const { items } = this.batch;
    while (!this.#isStopped && this.#next < items.length) {
      const i = this.#next++;
      if (items[i].job === null && items[i].query !== null) await this.#submit(i, items[i]);
    }
  }

  /** Submits one job; tries again while the queue is full or the server does not answer. */
  async #submit(i: number, item: Item): Promise<void> {
    const { groups, model } = this.batch;
    const body = { identifier: item.name, ...item.query, scoringModel: model, ...groups[item.group] };
    while (!this.#isStopped) {
      try {
        item.job = (await submitJob(body)).id;
        item.query = null;
        this.#delayed.delete(item);
        if (this.#delayed.size === 0) this.waiting = null;
        this.isStored = storeBatch(this.batch);
        return this.#set(i, { kind: "active", state: "queued" });
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        if (!isTemporary(error)) return this.#set(i, { kind: "failed", message: error.message });
        this.waiting = error.message;
        this.#delayed.add(item);
        this.onChange();
        await sleep(error.retryAfter === null ? RETRY : error.retryAfter * 1000);
      }
    }
  }

  async #follow(): Promise<void> {
    const { items } = this.batch;
    for (;;) {
      const active = this.outcomes.flatMap(({ kind }, i) => (kind === "active" && items[i].job ? i : []));
      const isUnsent = this.outcomes.some(({ kind }) => kind === "unsent");
      if (this.#isStopped || (active.length === 0 && !isUnsent)) return;
      // The server starts the jobs of one client in their order.
      const ended = await Promise.all(active.slice(0, POLLED_JOBS).map((i) => this.#check(i, items[i].job!)));
      if (!ended.includes(true)) await sleep(PAUSE);
    }
  }

  /** @returns whether the job has ended */
  async #check(i: number, id: string): Promise<boolean> {
    try {
      const { state, ended, failure } = await get<Job>(jobPath(id));
      if (ended === null) {
        const now = state === "running" ? "running" : "queued";
        const before = this.outcomes[i];
        if (before.kind !== "active" || before.state !== now) this.#set(i, { kind: "active", state: now });
        return false;
      }
      if (state === "finished") {
        const options = { query: { format: "tsv" }, headers: { Accept: "*/*" } };
        const table = await (await send("GET", `${jobPath(id)}/result`, options)).text();
        this.#set(i, { kind: "done", summaries: summarize(table), names: namesIn(table), table });
      } else this.#set(i, { kind: "failed", message: failure ?? `The job is ${state}.` });
      return true;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (isTemporary(error)) return false;
      this.#set(i, { kind: "failed", message: error.message });
      return true;
    }
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
