import { requestJson, get, ApiError, send } from "../request.ts";
import type { Job } from "../score/job.ts";
import { jobPath } from "../score/job.ts";
import { rank, type Verdict } from "../score/result.ts";
import { type Batch, type Item, keepBatch } from "./batch.ts";

/** What became of one job of a batch. */
export type Outcome =
  | { kind: "unsent" }
  | { kind: "going"; state: "queued" | "running" }
  | { kind: "done"; lines: Line[]; text: string }
  | { kind: "failed"; message: string };

/** One motif in one protein: its best match, and how many there are. */
export interface Line {
  motif: string;
  matches: number;
  /** Null where there is no match. */
  best: {
    /** Over all patterns of the job, from 1. */
    number: number;
    start: number;
    text: string;
    verdict: Verdict;
    score: number | null;
    expected: number | null;
    z: number | null;
    p: number | null;
  } | null;
}

const NOT_SENT: Outcome = { kind: "failed", message: "Not sent." };

/** Submissions, and looks at jobs, that are under way at a time. */
const SENDERS = 3;
const LOOKERS = 6;
/** Milliseconds between looks where nothing has ended, and after a refusal that will pass. */
const PATIENCE = 800;
const RETRY = 3000;

/** Sends the jobs of a batch that are not sent, and watches those that are, until all have ended. */
export class BatchRun {
  readonly outcomes: Outcome[];
  /** Why sending waits, where it does. */
  waiting: string | null = null;
  /** Whether a reload goes on where this is now. */
  kept = true;
  private over = false;
  private next = 0;

  constructor(
    readonly batch: Batch,
    private readonly changed: () => void,
  ) {
    this.outcomes = batch.items.map(({ job, query }): Outcome => {
      if (job !== null) return { kind: "going", state: "queued" };
      return query === null ? NOT_SENT : { kind: "unsent" };
    });
  }

  start(): void {
    for (let i = 0; i < SENDERS; i++) void this.sendAll();
    void this.watch();
  }

  /** Leaves the jobs to themselves. */
  stop(): void {
    this.over = true;
  }

  /** Calls off what has not ended. */
  async cancel(): Promise<void> {
    this.stop();
    for (const [i, item] of this.batch.items.entries()) {
      const { job } = item;
      const { kind } = this.outcomes[i];
      if (kind === "unsent") {
        item.query = null;
        this.set(i, NOT_SENT);
      }
      if (kind !== "going" || job === null) continue;
      try {
        await requestJson("DELETE", jobPath(job));
        this.set(i, { kind: "failed", message: "Cancelled." });
      } catch {
        // It has ended in the meantime.
      }
    }
    this.kept = keepBatch(this.batch);
  }

  private set(i: number, outcome: Outcome): void {
    this.outcomes[i] = outcome;
    this.changed();
  }

  private async sendAll(): Promise<void> {
    const { items } = this.batch;
    while (!this.over && this.next < items.length) {
      const i = this.next++;
      if (items[i].job === null && items[i].query !== null) await this.sendOne(i, items[i]);
    }
  }

  /** Until the server takes it or refuses it for good. */
  private async sendOne(i: number, item: Item): Promise<void> {
    const { patterns, motifClasses } = this.batch.groups[item.group];
    const body = {
      identifier: item.name,
      ...item.query,
      scoringModel: this.batch.model,
      patterns,
      motifClasses,
    };
    while (!this.over) {
      try {
        const { id } = await requestJson<Job>("POST", "/api/scoring/jobs", { body });
        item.job = id;
        item.query = null;
        this.waiting = null;
        this.kept = keepBatch(this.batch);
        return this.set(i, { kind: "going", state: "queued" });
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        // The queue is full, or the server stops or is away: it will pass.
        if (error.status !== 0 && error.status < 429)
          return this.set(i, { kind: "failed", message: error.message });
        this.waiting = error.message;
        this.changed();
        await sleep(error.retryAfter === null ? RETRY : error.retryAfter * 1000);
      }
    }
  }

  private async watch(): Promise<void> {
    for (;;) {
      const { items } = this.batch;
      const open = this.outcomes.flatMap(({ kind }, i) =>
        kind === "going" && items[i].job !== null ? i : [],
      );
      const isUnsent = this.outcomes.some(({ kind }) => kind === "unsent");
      if (this.over || (open.length === 0 && !isUnsent)) return;
      // Jobs of one client are begun in their order.
      const ended = await Promise.all(open.slice(0, LOOKERS).map((i) => this.look(i, items[i].job!)));
      if (!ended.includes(true)) await sleep(PATIENCE);
    }
  }

  /** @returns whether it has ended */
  private async look(i: number, id: string): Promise<boolean> {
    try {
      const job = await get<Job>(jobPath(id));
      if (job.ended === null) {
        const state = job.state === "running" ? "running" : "queued";
        const before = this.outcomes[i];
        if (before.kind !== "going" || before.state !== state) this.set(i, { kind: "going", state });
        return false;
      }
      if (job.state !== "finished") {
        this.set(i, { kind: "failed", message: job.failure ?? `The job is ${job.state}.` });
        return true;
      }
      const answer = await send("GET", `${jobPath(id)}/result`, {
        query: { format: "tsv" },
        headers: { Accept: "*/*" },
      });
      const text = await answer.text();
      this.set(i, { kind: "done", lines: linesOf(text), text });
      return true;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 0 || error.status >= 429) return false;
      this.set(i, { kind: "failed", message: error.message });
      return true;
    }
  }
}

const sleep = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

/** The rows of a job's table by motif, each with its best match. */
export function linesOf(table: string): Line[] {
  const [head, ...rows] = table.trimEnd().split("\n");
  const names = head.split("\t");
  const lines = new Map<string, Line>();
  let number = 0;
  for (const row of rows) {
    const cells = row.split("\t");
    const cell = (name: string): string => cells[names.indexOf(name)] ?? "";
    const value = (name: string): number | null => (cell(name) === "" ? null : Number(cell(name)));
    const line = lines.get(cell("pattern")) ?? { motif: cell("pattern"), matches: 0, best: null };
    lines.set(line.motif, line);
    if (cell("verdict") === "no match") continue;
    number++;
    line.matches++;
    const found = {
      number,
      start: Number(cell("start")),
      text: cell("match"),
      verdict: cell("verdict") as Verdict,
      score: value("cs"),
      expected: value("expected"),
      z: value("z"),
      p: value("p"),
    };
    if (!line.best || rank(found) < rank(line.best)) line.best = found;
  }
  return [...lines.values()];
}
