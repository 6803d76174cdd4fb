import { setTimeout as sleep } from "node:timers/promises";
import type { HomologChoice, PatternRequest, ScoringModel } from "../../motif/index.ts";
import type { RepeatableRequest } from "../../platform/idempotency-key.ts";
import type { Log } from "../../platform/log.ts";
import type { Database } from "../../platform/sqlite.ts";
import { pluralize } from "../../platform/words.ts";
import { getWriteLock } from "../../platform/write-lock.ts";
import { Problem } from "../../problem.ts";
import { type Outcome, type Report, type StoredTask, type TaskKind } from "../../tasks/task.ts";
import type { Tasks } from "../../tasks/tasks.ts";
import { AnonymousStorage } from "../jobs/anonymous-storage.ts";
import { type EvidenceChoice, readEvidenceChoice } from "../jobs/job.ts";
import type { ScoringVersion } from "../corpus/corpus.ts";
import type { JobRunner } from "../jobs/handlers.ts";
import type { JobStore } from "../jobs/store.ts";
import { type BatchCounts, type BatchItem, BatchItems, type NewItem } from "./batch-items.ts";

/** Settings that all jobs of a batch share. */
export interface BatchRequest extends EvidenceChoice {
  model: ScoringModel;
  homologs?: HomologChoice | undefined;
  /** Patterns of one job each. */
  groups: PatternRequest[][];
  /** Remarks on the input, such as lines that were skipped. */
  warnings: string[];
}

export interface NewBatch extends BatchRequest {
  items: NewItem[];
}

/** A batch as its readers see it. */
export interface Batch extends StoredTask<BatchRequest> {
  counts: BatchCounts;
}

interface BatchesOptions {
  database: Database;
  log: Log;
  tasks: Tasks;
  store: JobStore;
  runner: Pick<JobRunner, "wake" | "cancel">;
  /** Milliseconds for which an ended batch is kept; null keeps it forever. */
  retention: number | null;
}

/** Jobs of a batch that may wait or run at once: the client's other jobs find room in the queue. */
const WINDOW = 500;
/** Jobs submitted in one transaction. */
const CHUNK = 100;
/** Jobs of a batch, and unfinished batches of a client. */
export const MAX_ITEMS = 20_000;
const MAX_UNFINISHED = 20;
const KEPT_OF_CLIENT = 1000;
const KEPT_IN_ALL = 20_000;
/** Milliseconds between looks at the jobs of a batch: at least, and if nothing is known to have changed. */
const MIN_PAUSE = 100;
const MAX_PAUSE = 2000;
/** Milliseconds after an error of the database. */
const RETRY = 5000;
/** Part of this thread's time that such looks may take. */
const MAX_LOAD = 0.1;

/**
 * Many proteins with the same or other patterns each: the server submits their jobs as the queue has room, also after a
 * restart. Jobs of a batch are ordinary jobs of its client and owner.
 */
export class Batches {
  readonly kind: TaskKind<BatchRequest>;
  readonly #items: BatchItems;
  #change = Promise.withResolvers<void>();

  constructor(private readonly options: BatchesOptions) {
    this.#items = new BatchItems(options.database);
    this.kind = {
      name: "batch",
      title: "Scoring",
      readers: "link",
      whileRunning: "run",
      keep: { perClient: KEPT_OF_CLIENT, inAll: KEPT_IN_ALL, milliseconds: options.retention },
      path: (id) => `/api/scoring/batches/${id}`,
      run: (task, report) => this.#run(task, report),
      cancelled: (task) => this.#cancelJobs(task),
    };
    options.tasks.register(this.kind);
  }

  /** Ends the jobs of cancelled batches that a killed process left. */
  open(): void {
    for (const task of this.#items.listLeftovers())
      this.#cancelJobs(task).catch((error: unknown) =>
        this.options.log.problem("batch", { cause: String(error) }),
      );
  }

  /**
   * Stores a batch, whose jobs follow. @param owner key of the owner; null for the account of the client
   * @throws Problem invalid_request, busy, quota_exceeded
   */
  start(
    { items, ...request }: NewBatch,
    client: string,
    owner: string | null,
    repeatable: RepeatableRequest | null = null,
  ): Batch {
    if (items.length === 0) throw new Problem("invalid_request", "The batch has no protein to score.");
    if (items.length > MAX_ITEMS)
      throw new Problem(
        "invalid_request",
        `The batch has ${pluralize(items.length, "job")}; at most ${MAX_ITEMS} are accepted. Divide it.`,
      );
    this.#requireRoom(items, client);
    const { tasks } = this.options;
    const proteins = pluralize(new Set(items.map(({ name }) => name)).size, "protein");
    const motifs = new Set(request.groups.flat().map(({ name, expression }) => name ?? expression));
    const { id } = tasks.start(this.kind, {
      subject: `${proteins}, ${pluralize(motifs.size, "motif")}`,
      client,
      owner,
      repeatable,
      request,
      inTransaction: ({ rid }) => this.#items.insert(rid, items),
    });
    return this.find(id);
  }

  /** @throws Problem busy, quota_exceeded */
  #requireRoom(items: readonly NewItem[], client: string): void {
    const { database } = this.options;
    const waiting = this.#items.countWaiting(client);
    if (waiting.batches >= MAX_UNFINISHED)
      throw new Problem("busy", `${MAX_UNFINISHED} of your batches have not ended. Try again later.`, {
        headers: { "Retry-After": "60" },
      });
    const bytes = items.reduce((sum, { query }) => sum + (query?.length ?? 0), waiting.bytes);
    const exceeded = new AnonymousStorage(database).problem("jobs", client, bytes);
    if (exceeded) throw exceeded;
  }

  /** The batch that the client has submitted with this request; null if there is none. @throws Problem key_reused */
  findRepeated(client: string, request: RepeatableRequest | null): Batch | null {
    const id = this.options.tasks.findRepeated(this.kind, client, request);
    return id === null ? null : this.find(id);
  }

  /** @throws Problem not_found */
  find(id: string): Batch {
    const task = this.options.tasks.find<BatchRequest>(id, [this.kind.name]);
    return { ...task, counts: this.#items.count(task.rid) };
  }

  /** Corpora and methods of its results. @throws Problem not_found */
  versions(id: string): ScoringVersion[] {
    return this.#items.versions(this.options.tasks.find(id, [this.kind.name]).rid);
  }

  /** Its jobs in their order. @throws Problem not_found */
  items(id: string, offset: number, limit: number): BatchItem[] {
    return this.#items.list(this.options.tasks.find(id, [this.kind.name]).rid, offset, limit);
  }

  /** Cancels a batch and its jobs. @throws Problem not_found, conflict if it has ended */
  async cancel(id: string): Promise<Batch> {
    await this.options.tasks.cancel(id, [this.kind.name]);
    return this.find(id);
  }

  /** A job has ended: there may be room for others. */
  jobChanged(): void {
    this.#change.resolve();
    this.#change = Promise.withResolvers();
  }

  /** Submits jobs until all have ended. An error of the database, such as a full disk, must not end the batch. */
  async #run(task: StoredTask<BatchRequest>, report: Report): Promise<Outcome> {
    const { signal } = report;
    for (;;) {
      try {
        await this.#writable();
        this.#items.adopt(task);
        return await this.#follow(task, report);
      } catch (error) {
        signal.throwIfAborted();
        this.options.log.problem("batch", { task: task.id, cause: String(error) });
        report.say(`${Problem.from(error).message} The other jobs wait.`);
        await sleep(RETRY, undefined, { signal });
      }
    }
  }

  async #follow(task: StoredTask<BatchRequest>, report: Report): Promise<Outcome> {
    const { signal } = report;
    for (;;) {
      const changed = this.#change.promise;
      const begun = performance.now();
      const counts = this.#items.count(task.rid);
      const pause = Math.max(MIN_PAUSE, (performance.now() - begun) / MAX_LOAD);
      const active = counts.queued + counts.running;
      report.show(counts);
      report.at((counts.finished + counts.failed) / counts.total);
      if (active + counts.waiting === 0) return describeOutcome(counts);
      const room = counts.waiting > 0 ? WINDOW - active : 0;
      const obstacle = room > 0 ? await this.#submit(task, Math.min(room, CHUNK)) : null;
      signal.throwIfAborted();
      report.say(obstacle ?? formatProgress(counts));
      if (room > 0 && obstacle === null) continue;
      await sleep(pause, undefined, { signal });
      await Promise.race([changed, sleep(MAX_PAUSE, undefined, { signal })]);
    }
  }

  /** Submits the next jobs. @returns why some of them must wait; null if none must */
  async #submit(task: StoredTask<BatchRequest>, count: number): Promise<string | null> {
    const { store, runner } = this.options;
    const { model, homologs, groups } = task.request;
    const evidence = readEvidenceChoice(task.request);
    const { owner, client } = task;
    const next = this.#items.next(task.rid, count);
    const results = await Promise.allSettled(
      next.map(({ position, name, query, patterns }) =>
        store.insert(
          { identifier: name, query, model, patterns: groups[patterns], homologs, ...evidence },
          client,
          this.#items.itemKey(task.id, position),
          owner === client ? null : owner,
        ),
      ),
    );
    await this.#writable();
    store.change(() => {
      for (const [i, result] of results.entries())
        if (result.status === "fulfilled") this.#items.setJob(next[i].rid, result.value);
    });
    runner.wake();
    const refused = results.find((result) => result.status === "rejected");
    return refused ? `${Problem.from(refused.reason).message} The other jobs wait.` : null;
  }

  async #cancelJobs({ rid }: Pick<StoredTask, "rid">): Promise<void> {
    const { runner, store } = this.options;
    await this.#writable();
    store.change(() => this.#items.dropWaiting(rid, "Cancelled."));
    for (const job of this.#items.unfinishedJobs(rid)) {
      await this.#writable();
      try {
        runner.cancel(job);
      } catch (error) {
        // The batch has ended meanwhile.
        if (!(error instanceof Problem) || error.code !== "conflict") throw error;
      }
      // Other requests are answered meanwhile.
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  /** Waits, however long, while another writer is at work. */
  async #writable(): Promise<void> {
    for (
      let free = getWriteLock(this.options.database).free();
      free;
      free = getWriteLock(this.options.database).free()
    )
      await free.catch(() => {});
  }
}

const formatProgress = ({ finished, total, failed }: BatchCounts): string =>
  `${finished} of ${pluralize(total, "job")} scored${failed > 0 ? `, ${failed} failed` : ""}.`;

function describeOutcome(counts: BatchCounts): Outcome {
  const { finished, failed } = counts;
  return {
    message: `${pluralize(finished, "job")} scored${failed > 0 ? `, ${failed} failed` : ""}.`,
    result: counts,
  };
}
