import type { Log } from "../../platform/log.ts";
import { Problem } from "../../problem.ts";
import { type Report, type StoredTask, taskHasEnded, type TaskKind } from "../../tasks/task.ts";
import type { Tasks } from "../../tasks/tasks.ts";
import { resultsInOrder } from "../jobs/task-results.ts";
import type { Corpora } from "../corpus/corpus.ts";
import type { BackgroundQueue } from "../jobs/background.ts";
import { buildFamilies, type BuildProgress } from "./build.ts";
import type { BuildPlan, PlanReport, PlanTask } from "./plan.ts";
import type { ProteinSelection } from "./protein-selection.ts";

export const BUILD_STATES = ["queued", "running", "finished", "failed", "cancelled"] as const;

/** The kinds of data that builds compute. */
interface BuildRequest {
  /** SHA-256 of the corpus. */
  corpus: string;
  organism: string | null;
  /** Names, one per line; null for all proteins. */
  proteins: string | null;
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

/** A build of the server. Times are milliseconds since 1970-01-01 UTC. */
export interface Build {
  id: string;
  /** SHA-256 and name of the corpus. */
  corpus: string;
  corpus_name: string;
  organism: string | null;
  /** Number of the names; null for all proteins. */
  proteins: number | null;
  /** The user who started it; labd for a build that nobody asked for. */
  username: string;
  state: (typeof BUILD_STATES)[number];
  submitted: number;
  ended: number | null;
  /** Families stored by a finished build, and how many of them were carried over. */
  stored: number | null;
  carried: number | null;
  failure: string | null;
  /** Families of the running build, once it is planned: missing at its start, and stored or computed so far. */
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
  tasks: Tasks;
  log: Log;
  corpora: Corpora;
  background: BackgroundQueue;
}

type BuildTask = StoredTask<BuildRequest>;

/** Milliseconds between looks at the corpus in use, which a command may have changed, or may change again at once. */
const FOLLOW_INTERVAL = 60_000;
/** Seconds of one processor for builds that nobody asked for: Swiss-Prot takes 70,000. */
const MAX_SECONDS = 1_000_000;
/** Who starts builds that nobody asked for. */
const OWN_NAME = "labd";
/** Ended builds that are kept. */
const KEPT = 50;

/** Computes families on idle workers of the server, one build after the other. */
export class ProteomeBuilds {
  readonly #options: BuildOptions;
  readonly #kind: TaskKind<BuildRequest>;
  #closed = false;
  /** Hash of the corpus in use that `follow` has seen. */
  #followed = "";
  #timer: Timer | undefined;

  constructor(options: BuildOptions) {
    this.#options = options;
    this.#kind = {
      name: "family-build",
      title: "Families of",
      readers: "owner",
      whileRunning: "wait",
      keep: { inAll: KEPT },
      path: (id) => `/api/admin/proteome/builds/${id}`,
      audit: {
        start: "proteome.build",
        cancel: "proteome.cancel",
        subject: "proteome-build",
        detail: ({ subject, request }) => {
          const { organism } = request as BuildRequest;
          return { corpus: subject, ...(organism !== null && { organism }) };
        },
      },
      run: (task, report) => this.#run(task, report),
    };
    options.tasks.register(this.#kind);
  }

  /** Follows the corpus in use. */
  open(): void {
    this.#timer = setInterval(() => void this.follow(), FOLLOW_INTERVAL);
    this.#timer.unref();
  }

  close(): void {
    this.#closed = true;
    clearInterval(this.#timer);
  }

  /** Newest first. */
  list(): Build[] {
    return this.#tasks().map(describe);
  }

  /** @throws Problem not_found */
  find(id: string): Build {
    return describe(this.#options.tasks.find<BuildRequest>(id, [this.#kind.name]));
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
    const request = { corpus: hash, organism: selection.organism ?? null, proteins: names };
    const shared = new Bun.CryptoHasher("sha256").update(JSON.stringify(request)).digest("hex");
    const { tasks } = this.#options;
    if (tasks.sharing(this.#kind, shared).some(({ state }) => !taskHasEnded(state)))
      throw new Problem("conflict", "The same build is already queued or running.");
    const { id } = tasks.start(this.#kind, { subject: name, client: `user ${username}`, request, shared });
    return this.find(id);
  }

  /** Stored families are kept. @throws Problem not_found; conflict if it has ended */
  async cancel(id: string): Promise<Build> {
    await this.#options.tasks.cancel(id, [this.#kind.name]);
    return this.find(id);
  }

  /** The build of a corpus that runs, or else waits next; null without one. */
  ongoing(corpus: string): Build | null {
    return this.list().findLast((build) => build.corpus === corpus && !taskHasEnded(build.state)) ?? null;
  }

  /**
   * Brings the families of the corpus in use up to date, once: those of the proteins for which the corpus before had builds,
   * or else of all. A corpus with a build of its own is left alone, also if that was cancelled.
   */
  async follow(): Promise<void> {
    const { corpora, log } = this.#options;
    const active = corpora.active();
    if (this.#closed || !active || active.hash === this.#followed) return;
    this.#followed = active.hash;
    const builds = this.#tasks();
    if (builds.some(({ request }) => request.corpus === active.hash)) return;
    const finished = builds.filter(({ state }) => state === "finished").toReversed();
    const last = finished.at(-1)?.request.corpus;
    const selections = new Map<string, { selection: BuildSelection; by: string }>(
      finished
        .filter(({ request }) => request.corpus === last)
        .map(({ request: { organism, proteins }, client }) => [
          `${organism} ${proteins}`,
          {
            selection: { organism: organism ?? undefined, proteins: proteins?.split("\n") },
            by: parseUsername(client),
          },
        ]),
    );
    if (selections.size === 0) selections.set("", { selection: {}, by: OWN_NAME });
    for (const { selection, by } of selections.values()) {
      try {
        const { missing, seconds } = await this.estimate(selection);
        if (missing > 0 && seconds <= MAX_SECONDS) await this.start(selection, by);
        else if (missing > 0) log.info("proteome not built", { corpus: active.name, seconds });
      } catch (error) {
        log.problem("proteome build", { corpus: active.name, cause: String(error) });
      }
    }
  }

  async #run({ id, request }: BuildTask, report: Report) {
    const { background, log } = this.#options;
    const { signal } = report;
    const { corpus, organism, proteins } = request;
    const plan = await this.#plan(corpus, {
      organism: organism ?? undefined,
      names: proteins ?? undefined,
    });
    signal.throwIfAborted();
    const started = performance.now();
    const show = (progress: BuildProgress): void => {
      report.at(progress.proteins / Math.max(1, plan.missing.length));
      report.show(computeProgress(progress, plan, started));
    };
    report.say("Computing the families.");
    show({ proteins: 0, carried: 0, spent: 0, left: 0 });
    const { proteins: stored, carried } = await buildFamilies(
      plan,
      (tasks) => background.run(tasks, signal),
      show,
    );
    log.info("proteome built", { build: id, families: stored, carried });
    return { message: `${stored} families were stored.`, result: { stored, carried } };
  }

  #tasks(): BuildTask[] {
    return this.#options.tasks.list([this.#kind.name], Number.MAX_SAFE_INTEGER) as BuildTask[];
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
}

const parseUsername = (client: string): string => client.replace(/^user /, "");

function describe({ id, request, subject, client, created, ended, ...task }: BuildTask): Build {
  const { corpus, organism, proteins } = request;
  const state = task.state as Build["state"];
  const { stored = null, carried = null } = (ended === null ? {} : (task.result ?? {})) as Partial<Build>;
  return {
    id,
    corpus,
    corpus_name: subject,
    organism,
    proteins: proteins === null ? null : proteins.split("\n").length,
    username: parseUsername(client),
    state,
    submitted: created,
    ended,
    stored,
    carried,
    failure: state === "failed" ? task.message : null,
    progress: state === "running" ? (task.result as Build["progress"]) : null,
  };
}

function computeProgress(
  { proteins, carried, spent, left }: BuildProgress,
  { missing }: BuildPlan,
  started: number,
): Build["progress"] {
  const elapsed = (performance.now() - started) / 1000;
  return {
    missing: missing.length,
    done: proteins,
    carried,
    seconds_left: spent > 0 ? Math.round((elapsed * left) / spent) : null,
  };
}
