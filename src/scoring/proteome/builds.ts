import { auditOf } from "../../accounts/audit.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import type { Database } from "../../platform/sqlite.ts";
import { Problem } from "../../problem.ts";
import { resultsInOrder } from "../batch/task-results.ts";
import type { Corpora } from "../corpus/corpus.ts";
import type { BackgroundQueue } from "../jobs/background.ts";
import { buildFamilies, type BuildProgress } from "./build.ts";
import type { BuildPlan, PlanReport, PlanTask } from "./plan.ts";
import type { ProteinSelection } from "./protein-selection.ts";

export const BUILD_STATES = ["queued", "running", "finished", "failed", "cancelled"] as const;
type BuildState = (typeof BUILD_STATES)[number];

/** A build of the server. Times are milliseconds since 1970-01-01 UTC. */
interface StoredBuild {
  rid: number;
  id: string;
  /** SHA-256 and name of the corpus. */
  corpus: string;
  corpus_name: string;
  organism: string | null;
  /** Names, one per line. */
  proteins: string | null;
  /** Who started it. */
  username: string;
  state: BuildState;
  submitted: number;
  ended: number | null;
  /** Families stored by an ended build, and how many of them were carried over. */
  stored: number | null;
  carried: number | null;
  failure: string | null;
}

/** Size of a build before it starts. Time is that of one processor. */
export interface BuildEstimate {
  missing: number;
  existing: number;
  /** Families of other corpora that may be the same. */
  carry_over: number;
  seconds: number;
  bytes: number;
}

export interface Build extends Omit<StoredBuild, "rid" | "proteins"> {
  /** Number of the names; null for all proteins. */
  proteins: number | null;
  /** Of the running build, once it is planned: families missing at its start, and those that are stored or soon will be. */
  progress: { missing: number; done: number; carried: number; seconds_left: number | null } | null;
}

export interface BuildSelection {
  /** Name or hash; the corpus in use unless given. */
  corpus?: string | undefined;
  organism?: string | undefined;
  /** Accessions, entry names or genes. */
  proteins?: readonly string[] | undefined;
}

interface BuildOptions {
  database: Database;
  clock: Clock;
  log: Log;
  corpora: Corpora;
  background: BackgroundQueue;
}

interface RunningBuild {
  rid: number;
  stop: AbortController;
  done: Promise<void>;
  plan: BuildPlan | null;
  started: number;
  progress: BuildProgress | null;
}

/** Milliseconds between looks at the corpus in use, which a command may have changed. */
const FOLLOW_INTERVAL = 10_000;

/** Ended builds that are kept. */
const KEPT = 50;

/** Computes families on idle workers of the server, one build after the other. */
export class ProteomeBuilds {
  readonly #options: BuildOptions;
  #running: RunningBuild | null = null;
  #closed = false;
  /** Hash of the corpus in use that `follow` has seen. */
  #followed = "";
  #timer: Timer | undefined;

  constructor(options: BuildOptions) {
    this.#options = options;
  }

  /** Continues what was interrupted, and follows the corpus in use. */
  open(): void {
    this.resume();
    void this.follow();
    this.#timer = setInterval(() => void this.follow(), FOLLOW_INTERVAL);
    this.#timer.unref();
  }

  /** Newest first. */
  list(): Build[] {
    return this.#select("TRUE ORDER BY rid DESC").map((row) => this.#describe(row));
  }

  /** @throws Problem not_found */
  find(id: string): Build {
    const [row] = this.#select("id = ?", id);
    if (!row) throw new Problem("not_found", "There is no such build, or it ended long ago.");
    return this.#describe(row);
  }

  /** Estimates a build without starting it. @throws Problem not_found, invalid_request, disk_full */
  async estimate(selection: BuildSelection): Promise<BuildEstimate> {
    const { hash, names } = this.#read(selection);
    const plan = await this.#plan(hash, { organism: selection.organism, names });
    return {
      missing: plan.missing.length,
      existing: plan.existing,
      carry_over: plan.carryOvers.reduce((sum, { proteins }) => sum + proteins.length, 0),
      seconds: plan.seconds,
      bytes: plan.bytes,
    };
  }

  /**
   * Queues a build. @throws Problem not_found, invalid_request, disk_full; conflict if the same one is unfinished
   */
  async start(selection: BuildSelection, username: string): Promise<Build> {
    const { hash, name, names = null } = this.#read(selection);
    await this.estimate(selection);
    const { database, clock } = this.#options;
    const { organism = null } = selection;
    const [same] = this.#select(
      "corpus = ? AND organism IS ? AND proteins IS ? AND ended IS NULL",
      hash,
      organism,
      names,
    );
    if (same) throw new Problem("conflict", "The same build is already queued or running.");
    const id = clock.newId();
    database
      .transaction(() => {
        database
          .query(
            `INSERT INTO proteome_build (id, corpus, corpus_name, organism, proteins, username, state, submitted)
             VALUES (?, ?, ?, ?, ?, ?, 'queued', ?)`,
          )
          .run(id, hash, name, organism, names, username, clock.now());
        database
          .query(
            `DELETE FROM proteome_build WHERE ended IS NOT NULL AND rid <=
             (SELECT rid FROM proteome_build ORDER BY rid DESC LIMIT 1 OFFSET ?)`,
          )
          .run(KEPT);
        this.#record("proteome.build", id, { corpus: name, ...(organism !== null && { organism }) });
      })
      .immediate();
    this.resume();
    return this.find(id);
  }

  /** What is stored stays. @throws Problem not_found; conflict if it has ended */
  async cancel(id: string): Promise<Build> {
    const { state } = this.find(id);
    if (state !== "queued" && state !== "running")
      throw new Problem("conflict", `The build is ${state} already.`);
    const [{ rid }] = this.#select("id = ?", id);
    const { database } = this.#options;
    database
      .transaction(() => {
        this.#end(rid, "cancelled");
        this.#record("proteome.cancel", id, {});
      })
      .immediate();
    if (this.#running?.rid === rid) {
      this.#running.stop.abort(new Error("cancelled"));
      await this.#running.done;
    }
    return this.find(id);
  }

  /** Starts or continues the oldest unfinished build, if none runs. */
  resume(): void {
    if (this.#closed || this.#running) return;
    const [next] = this.#select("ended IS NULL ORDER BY rid LIMIT 1");
    if (!next) return;
    const running: RunningBuild = {
      rid: next.rid,
      stop: new AbortController(),
      done: Promise.resolve(),
      plan: null,
      started: performance.now(),
      progress: null,
    };
    this.#running = running;
    running.done = this.#run(next, running).then(
      () => {
        this.#running = null;
        this.resume();
      },
      (error: unknown) => {
        // The database took no outcome. The next start continues.
        this.#running = null;
        this.#options.log.problem("proteome build", { build: next.id, cause: String(error) });
      },
    );
  }

  /**
   * Repeats the finished builds of the corpus before, if another one is in use and at least half of the families can be
   * carried over to it.
   */
  async follow(): Promise<void> {
    const { corpora, log } = this.#options;
    const active = corpora.active();
    if (this.#closed || !active || active.hash === this.#followed) return;
    this.#followed = active.hash;
    if (this.#select("corpus = ? LIMIT 1", active.hash).length > 0) return;
    const [last] = this.#select("state = 'finished' ORDER BY rid DESC LIMIT 1");
    if (!last) return;
    const finished = this.#select("state = 'finished' AND corpus = ? ORDER BY rid", last.corpus);
    const selections = new Map(
      finished.map((build) => [JSON.stringify([build.organism, build.proteins]), build]),
    );
    for (const { organism, proteins, username } of selections.values()) {
      const selection = { organism: organism ?? undefined, proteins: proteins?.split("\n") };
      try {
        const { missing, carry_over: carried } = await this.estimate(selection);
        if (carried > 0 && 2 * carried >= missing) await this.start(selection, username);
      } catch (error) {
        log.problem("proteome build", { corpus: active.name, cause: String(error) });
      }
    }
  }

  /** Interrupts the running build, which continues at the next start. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    this.#running?.stop.abort(new Error("stopped"));
    await this.#running?.done;
  }

  async #run({ rid, id, corpus, organism, proteins }: StoredBuild, running: RunningBuild): Promise<void> {
    const { database, log, background } = this.#options;
    const { signal } = running.stop;
    try {
      database.query("UPDATE proteome_build SET state = 'running' WHERE rid = ?").run(rid);
      const names = proteins ?? undefined;
      running.plan = await this.#plan(corpus, { organism: organism ?? undefined, names });
      signal.throwIfAborted();
      running.started = performance.now();
      const outcome = await buildFamilies(
        running.plan,
        (tasks) => background.run(tasks, signal),
        (progress) => void (running.progress = progress),
      );
      this.#end(rid, "finished", outcome);
      log.info("proteome built", { build: id, families: outcome.proteins, carried: outcome.carried });
    } catch (error) {
      if (signal.aborted) return;
      const { message } = Problem.from(error);
      log.problem("proteome build", { build: id, cause: String(error) });
      this.#end(rid, "failed", null, message);
    }
  }

  #end(rid: number, state: BuildState, outcome: BuildProgress | null = null, failure: string | null = null) {
    const { database, clock } = this.#options;
    database
      .query(
        "UPDATE proteome_build SET state = ?, ended = ?, stored = ?, carried = ?, failure = ? WHERE rid = ? AND ended IS NULL",
      )
      .run(state, clock.now(), outcome?.proteins ?? null, outcome?.carried ?? null, failure, rid);
  }

  /** Plans in a thread: it reads the whole corpus. */
  async #plan(hash: string, selection: ProteinSelection): Promise<BuildPlan> {
    const { corpora } = this.#options;
    const corpus = corpora.find(hash);
    const task: PlanTask = {
      ticket: 0,
      corpusPath: corpus.path,
      plan: { corpus, selection, others: corpora.list() },
    };
    for await (const { plan } of resultsInOrder<PlanReport>([task], 1)) return plan;
    throw new Error("unreachable");
  }

  #read({ corpus, proteins }: BuildSelection): { hash: string; name: string; names: string | undefined } {
    const { corpora } = this.#options;
    const found = corpus === undefined ? corpora.active() : corpora.find(corpus);
    if (!found) throw new Problem("not_found", "There is no corpus yet. Add one first.");
    return { hash: found.hash, name: found.name, names: proteins?.join("\n") };
  }

  #describe({ rid, proteins, ...build }: StoredBuild): Build {
    const running = this.#running?.rid === rid ? this.#running : null;
    return {
      ...build,
      proteins: proteins === null ? null : proteins.split("\n").length,
      progress: running?.plan ? progressOf(running, running.plan) : null,
    };
  }

  #select(condition: string, ...values: (string | null)[]): StoredBuild[] {
    const { database } = this.#options;
    return database.query(`SELECT * FROM proteome_build WHERE ${condition}`).all(...values) as StoredBuild[];
  }

  #record(action: string, id: string, detail: Record<string, string>): void {
    const { database, clock } = this.#options;
    auditOf(database, clock).record({ action, subject: { kind: "proteome-build", id }, detail });
  }
}

function progressOf({ progress, started }: RunningBuild, { missing }: BuildPlan): Build["progress"] {
  const { proteins, carried, spent, left } = progress ?? { proteins: 0, carried: 0, spent: 0, left: 0 };
  const elapsed = (performance.now() - started) / 1000;
  return {
    missing: missing.length,
    done: proteins,
    carried,
    seconds_left: spent > 0 ? Math.round((elapsed * left) / spent) : null,
  };
}
