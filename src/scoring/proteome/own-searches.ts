import { setTimeout as sleep } from "node:timers/promises";
import { pluralize } from "../../platform/words.ts";
import { Problem } from "../../problem.ts";
import type { Outcome, Report, StoredTask, TaskKind } from "../../tasks/task.ts";
import type { Tasks } from "../../tasks/tasks.ts";
import type { SearchRequest } from "./search-files.ts";
import type { SearchProgress } from "./searches.ts";

/** Searches that are remembered of one client, and of all. The oldest are removed. */
const MAX_PER_CLIENT = 200;
const MAX_IN_ALL = 20_000;
/** Milliseconds between looks at a computation. */
const POLL = 500;

/** Computations that equal searches share. */
export interface Computations {
  /** @throws Problem not_found */
  progress(id: string): Promise<SearchProgress>;
  /** Starts a computation, unless an equal one waits, runs or is finished. @throws Problem busy, conflict */
  open(request: SearchRequest, task: StoredTask): Promise<unknown>;
  /** Ends a computation, unless it has ended. */
  stop(id: string): Promise<unknown>;
  /** Removes a computation with its result. */
  drop(id: string): Promise<unknown>;
}

/** A search of one caller. */
export interface OwnSearch {
  id: string;
  /** Identifies the computation that equal searches share. */
  computation: string;
  /** Key of the owner. */
  owner: string;
  isCancelled: boolean;
}

/** Searches of callers as tasks: equal ones share a computation, but not their identifier and their end. */
export class OwnSearches {
  readonly #kind: TaskKind<SearchRequest>;

  constructor(
    private readonly tasks: Tasks,
    private readonly computations: Computations,
  ) {
    this.#kind = {
      name: "proteome-search",
      title: "Searching",
      readers: "link",
      whileRunning: "run",
      keep: { perClient: MAX_PER_CLIENT, inAll: MAX_IN_ALL },
      path: (id) => `/api/scoring/proteome/searches/${id}`,
      run: (task, report) => this.#follow(task, report),
      cancelled: ({ shared }) => this.#stopUnwanted(shared!),
      removed: (searches) => this.#dropUnused(searches),
    };
    tasks.register(this.#kind);
  }

  /**
   * Records a search, unless the owner has started an equal one.
   * @param key key of the owner; null for the account of the client
   */
  add(computation: string, request: SearchRequest, client: string, key: string | null): OwnSearch {
    const known = this.tasks
      .sharing(this.#kind, computation)
      .find(({ owner, state }) => owner === (key ?? client) && state !== "cancelled" && state !== "failed");
    if (known) return show(known);
    const { pattern, organism } = request;
    const subject = [pattern.name ?? pattern.expression, organism].filter(Boolean).join(" in ");
    return this.find(
      this.tasks.start(this.#kind, { subject, client, owner: key, request, shared: computation }).id,
    );
  }

  /** Finds a search. Searches that former versions started have the identifier of their computation, and no owner. */
  find(id: string): OwnSearch {
    try {
      return show(this.tasks.find(id, [this.#kind.name]));
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== "not_found") throw error;
      return { id, computation: id, owner: "", isCancelled: false };
    }
  }

  /** Ends a search; its computation only if nobody else waits for it. @throws Problem conflict if it has ended */
  async cancel({ id }: OwnSearch): Promise<OwnSearch> {
    return show(await this.tasks.cancel(id, [this.#kind.name]));
  }

  /** Removes a search that was refused. */
  remove(id: string): Promise<void> {
    return this.tasks.remove(id);
  }

  /** True if all searches that need a computation were cancelled. */
  isAbandoned(computation: string): boolean {
    const searches = this.tasks.sharing(this.#kind, computation);
    return searches.length > 0 && searches.every(({ state }) => state === "cancelled");
  }

  /** Starts the computation if a stopped process has left none, and waits for its end. */
  async #follow(task: StoredTask<SearchRequest>, report: Report): Promise<Outcome> {
    const { signal } = report;
    await this.computations.open(task.request, task);
    for (;;) {
      const { state, failure, place, searched, total } = await this.computations.progress(task.shared!);
      signal.throwIfAborted();
      if (state === "failed" || state === "cancelled")
        throw new Problem("job_failed", failure ?? `The search was ${state}.`);
      if (state === "finished") return { message: `${pluralize(total, "protein")} searched.` };
      report.say(
        place === null
          ? `${searched} of ${pluralize(total, "protein")} searched.`
          : `Place ${place} in the queue.`,
      );
      if (total > 0) report.at(searched / total);
      await sleep(POLL, undefined, { signal });
    }
  }

  async #stopUnwanted(computation: string): Promise<void> {
    const isWanted = this.tasks.sharing(this.#kind, computation).some(({ state }) => state !== "cancelled");
    if (!isWanted) await this.computations.stop(computation);
  }

  #dropUnused(removed: readonly StoredTask[]): void {
    for (const computation of new Set(removed.map(({ shared }) => shared!)))
      if (this.tasks.sharing(this.#kind, computation).length === 0)
        void this.computations.drop(computation).catch(() => {});
  }
}

const show = ({ id, shared, owner, state }: StoredTask): OwnSearch => ({
  id,
  computation: shared!,
  owner,
  isCancelled: state === "cancelled",
});
