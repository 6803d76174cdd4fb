import { statSync } from "node:fs";
import { METHOD, type ProteomeMatch } from "../../motif/index.ts";
import { Problem } from "../../problem.ts";
import { corpusPath } from "../corpus/corpus.ts";
import { familiesPath } from "../corpus/families-file.ts";
import { openedCorpus } from "../corpus/corpus.ts";
import { familiesOverview, organismWithFamilies } from "./overview.ts";
import { selectProteins } from "./protein-selection.ts";
import { type ProteomePart, type ProteomeRequest, searchFamilies } from "./search.ts";
import { type AcceptedSearch, SearchFiles, type SearchRequest } from "./search-files.ts";
import { patternName } from "../table/match-row.ts";
import { type ProteomeTable, makeTable } from "./table.ts";

export const SEARCH_STATES = ["queued", "running", "finished", "failed", "cancelled"] as const;
export type SearchState = (typeof SEARCH_STATES)[number];

/** The computation of all equal searches. */
export interface ProteomeSearch extends Readonly<AcceptedSearch> {
  readonly id: string;
  readonly state: SearchState;
  /** Proteins to search, 0 until it runs. */
  readonly total: number;
  /** The matches found so far, ranked; ranks and q-values change until the search is finished. */
  table(): ProteomeTable;
}

/** The progress of a search. */
export interface SearchProgress {
  state: SearchState;
  failure: string | null;
  /** Place in the queue, 1 for the next; null unless it waits. */
  place: number | null;
  searched: number;
  total: number;
}

interface SearchesOptions {
  dataDirectory: string;
  /** Threads of a search. */
  workers: number;
  /** Matches of a search, and of all results in memory. */
  maxRows?: number;
  files?: SearchFiles;
  /** Finds the matches; tests replace it. */
  find?: (request: ProteomeRequest) => AsyncGenerator<ProteomePart>;
}

/** Some 200 MB; the human proteome has 150,000 matches of [ST]P. */
const MAX_ROWS = 200_000;
/** Searches in memory. */
const MAX_KEPT = 100;
/** Searches that may wait, in all and of one client. */
const MAX_QUEUED = 50;
const MAX_QUEUED_PER_CLIENT = 10;

/**
 * Searches of a server, one at a time, in the order of their submission. Equal requests share a search, whose result is kept
 * in memory and in a file while there is room. A search that a stopped process has left is run again.
 */
export class ProteomeSearches {
  /** Searches in memory, the most recently used last. */
  readonly #kept = new Map<string, Search>();
  readonly #queue: Search[] = [];
  #running: Search | undefined;
  readonly #files: SearchFiles;
  readonly #maxRows: number;

  constructor(private readonly options: SearchesOptions) {
    this.#files = options.files ?? new SearchFiles(options.dataDirectory);
    this.#maxRows = options.maxRows ?? MAX_ROWS;
    for (const id of this.#files.unfinished()) this.#enqueue(id, this.#files.request(id)!);
  }

  /** Id of the computation that equal requests share. @throws Problem invalid_request, conflict without families */
  identify(request: SearchRequest): string {
    const path = this.#corpusFile(request);
    const id = makeId(request, path);
    if (!this.#find(id)) requireFamilies(request, path);
    return id;
  }

  /** Removes a search that nobody wants any more, with its result. */
  drop(id: string): void {
    this.#stop(id);
    this.#files.remove(id);
    if (this.#kept.get(id) !== this.#running) this.#kept.delete(id);
  }

  /** Ends a search that waits or runs. @returns whether it did */
  #stop(id: string): boolean {
    const search = this.#kept.get(id);
    if (!search?.cancel()) return false;
    const index = this.#queue.indexOf(search);
    if (index >= 0) this.#queue.splice(index, 1);
    return true;
  }

  /**
   * Accepts a search, unless an equal one is waiting, running or finished: then it is that one.
   * @throws Problem invalid_request, conflict without families, busy
   */
  open(request: SearchRequest, now: number, client = ""): ProteomeSearch {
    const path = this.#corpusFile(request);
    const id = makeId(request, path);
    const known = this.#find(id);
    if (known && known.state !== "failed" && known.state !== "cancelled") return known;
    requireFamilies(request, path);
    this.#requirePlace(client);
    const accepted = { request, submitted: now, failure: null };
    this.#files.accept(id, accepted);
    return this.#enqueue(id, accepted, client);
  }

  /** @throws Problem busy */
  #requirePlace(client: string): void {
    const own = this.#queue.filter((search) => search.client === client).length;
    const isFull = this.#queue.length >= MAX_QUEUED;
    if (!isFull && own < MAX_QUEUED_PER_CLIENT) return;
    const waiting = isFull
      ? `${MAX_QUEUED} proteome searches`
      : `${MAX_QUEUED_PER_CLIENT} of your proteome searches`;
    throw new Problem("busy", `${waiting} are waiting. Try again later.`, {
      headers: { "Retry-After": "60" },
    });
  }

  get isBusy(): boolean {
    return this.#running !== undefined || this.#queue.length > 0;
  }

  /** @throws Problem not_found */
  get(id: string): ProteomeSearch {
    const search = this.#find(id);
    if (!search)
      throw new Problem(
        "not_found",
        "No proteome search has this identifier. It may have expired: start it again.",
      );
    return search;
  }

  /** The progress of a search. @throws Problem not_found */
  progress(id: string): SearchProgress {
    const { state, failure, searched, total } = this.get(id) as Search;
    return { state, failure, place: this.place(id), searched, total };
  }

  /** The search's place in the queue, 1 for the next; null unless it waits. */
  place(id: string): number | null {
    const index = this.#queue.findIndex((search) => search.id === id);
    return index < 0 ? null : index + 1;
  }

  /** @throws Problem not_found, conflict if it has ended otherwise */
  cancel(id: string): ProteomeSearch {
    const search = this.get(id) as Search;
    if (search.state === "cancelled") return search;
    if (!this.#stop(id)) throw new Problem("conflict", `The search has ended: it is ${search.state}.`);
    this.#files.remove(id);
    return search;
  }

  #find(id: string): Search | undefined {
    const search = this.#kept.get(id) ?? this.#restore(id);
    if (!search) return undefined;
    this.#kept.delete(id);
    this.#kept.set(id, search);
    this.#evict();
    return search;
  }

  /** A search that is only in files. Without a result, because the disk was full, it is run again. */
  #restore(id: string): Search | undefined {
    const accepted = this.#files.request(id);
    if (!accepted) return undefined;
    const table = this.#files.result(id);
    if (!table && accepted.failure === null) return this.#enqueue(id, accepted);
    const search = new Search(id, accepted, this.#corpusFile(accepted.request));
    if (table) search.restore(table);
    else search.state = "failed";
    return search;
  }

  #enqueue(id: string, accepted: AcceptedSearch, client = ""): Search {
    const search = new Search(id, accepted, this.#corpusFile(accepted.request));
    search.client = client;
    this.#kept.set(id, search);
    this.#queue.push(search);
    this.#next();
    return search;
  }

  #next(): void {
    if (this.#running) return;
    const search = this.#queue.shift();
    if (!search) return;
    this.#running = search;
    void search
      .run(this.options.find ?? searchFamilies, this.options, this.#maxRows)
      .then(() => this.#store(search))
      .finally(() => {
        this.#running = undefined;
        this.#evict();
        this.#next();
      });
  }

  #store(search: Search): void {
    try {
      if (search.state === "finished") this.#files.finish(search.id, search.table());
      if (search.state === "failed") this.#files.accept(search.id, search);
    } catch {
      // On a full disk the result stays in memory.
    }
  }

  /** Drops searches that have ended from memory, the least recently used first; the last one stays. */
  #evict(): void {
    const newestFirst = [...this.#kept.values()].reverse();
    let rows = 0;
    for (const [i, search] of newestFirst.entries()) {
      rows += search.rows;
      const hasEnded = search.state !== "queued" && search.state !== "running";
      if (hasEnded && i > 0 && (rows > this.#maxRows || i >= MAX_KEPT)) this.#kept.delete(search.id);
    }
  }

  #corpusFile({ corpus: { hash } }: SearchRequest): string {
    return corpusPath(this.options.dataDirectory, hash);
  }
}

/** Refuses a search that would find nothing to search. @throws Problem conflict, invalid_request */
function requireFamilies({ corpus: { name, hash }, organism }: SearchRequest, path: string): void {
  const corpus = { path, hash };
  if (familiesOverview(corpus).proteins === 0)
    throw new Problem(
      "conflict",
      `No family of corpus ${name} has been computed. Run labd proteome build on the server.`,
    );
  if (organism === null || organismWithFamilies(corpus, organism)) return;
  try {
    selectProteins(openedCorpus(path), { organism });
  } catch (error) {
    if (!(error instanceof Problem) || error.code !== "not_found") throw error;
    throw organismProblem(error.message.replace(/^organism: /, ""));
  }
  throw organismProblem(
    `no protein of "${organism}" has a family. Run labd proteome build --organism "${organism}" on the server.`,
  );
}

const organismProblem = (message: string): Problem =>
  new Problem("invalid_request", `organism: ${message}`, { fields: { organism: [message] } });

/** An id that is equal for equal requests to the same families. */
function makeId(request: SearchRequest, path: string): string {
  const { corpus, pattern, model, prior, organism, accessions, features, classModel } = request;
  const families = statSync(familiesPath(path), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const identity = [
    corpus.hash,
    METHOD,
    families,
    pattern,
    model,
    organism,
    ...(prior === undefined ? [] : [prior]),
    ...(features ? [features] : []),
    ...(classModel ? [classModel.hash] : []),
    ...(accessions ? [accessions] : []),
  ];
  return new Bun.CryptoHasher("sha256").update(JSON.stringify(identity)).digest("hex");
}

/** Share of the time that a running search may spend on tables of its matches. */
const TABLE_SHARE = 0.1;

class Search implements ProteomeSearch {
  state: SearchState = "queued";
  total = 0;
  /** The client who started it, as a key; empty after a restart. */
  client = "";
  failure: string | null;
  readonly request: SearchRequest;
  readonly submitted: number;
  #part: Omit<ProteomePart, "matches"> = { searched: 0, total: 0, missing: 0 };
  #matches: ProteomeMatch[] = [];
  #table: ProteomeTable | null = null;
  #isCurrent = false;
  /** Earliest time at which the table is made again. */
  #nextTable = 0;
  #stop = Promise.withResolvers<null>();

  constructor(
    readonly id: string,
    { request, submitted, failure }: AcceptedSearch,
    readonly path: string,
  ) {
    this.request = request;
    this.submitted = submitted;
    this.failure = failure;
  }

  /** Proteins that were searched by this process. */
  get searched(): number {
    return this.#part.searched;
  }

  get rows(): number {
    return this.#table?.rows.length ?? this.#matches.length;
  }

  /** Takes the result of an earlier process, whose version may not have stored rank and motif. */
  restore(table: ProteomeTable): void {
    const motif = patternName(this.request.pattern);
    for (const [i, row] of table.rows.entries()) Object.assign(row, { rank: i + 1, motif });
    this.#table = table;
    this.#isCurrent = true;
    this.total = table.searched;
    this.state = "finished";
  }

  cancel(): boolean {
    if (this.state !== "queued" && this.state !== "running") return false;
    this.state = "cancelled";
    this.#matches = [];
    this.#table = null;
    this.#isCurrent = false;
    this.#stop.resolve(null);
    return true;
  }

  async run(
    find: (request: ProteomeRequest) => AsyncGenerator<ProteomePart>,
    { workers, dataDirectory }: Pick<SearchesOptions, "workers" | "dataDirectory">,
    maxRows: number,
  ): Promise<void> {
    this.state = "running";
    const { corpus, pattern, model, prior, organism, accessions } = this.request;
    const selection = { organism: organism ?? undefined, names: accessions?.join("\n") };
    const { features, classModel } = this.request;
    const parts = find({
      corpus: { ...corpus, path: this.path },
      pattern,
      model,
      prior,
      selection,
      features: features && { ...features, dataDirectory },
      classModel,
      workers,
    });
    try {
      while (this.state === "running") {
        const next = await Promise.race([parts.next(), this.#stop.promise]);
        if (next === null) break;
        if (next.done) this.#finish();
        else this.#add(next.value, maxRows);
      }
    } catch (error) {
      if (this.state === "running") this.#fail(Problem.from(error));
    } finally {
      await parts.return(undefined);
    }
  }

  #add({ matches, ...counts }: ProteomePart, maxRows: number): void {
    for (const match of matches) this.#matches.push(match);
    this.#part = counts;
    this.total = counts.total;
    this.#isCurrent = false;
    if (this.#matches.length > maxRows)
      throw new Problem(
        "too_expensive",
        `pattern: more than ${maxRows.toLocaleString("en")} matches. Choose a more specific pattern or an organism, or run labd proteome search.`,
      );
  }

  #finish(): void {
    this.#nextTable = 0;
    this.table();
    this.#matches = [];
    this.state = "finished";
  }

  #fail({ message }: Problem): void {
    this.state = "failed";
    this.failure = message;
    this.#matches = [];
    this.#table = null;
  }

  // An arrow function, since the table is passed on without its search.
  readonly table = (): ProteomeTable => {
    const now = performance.now();
    if (this.#matches.length === 0 && !this.#table) return { ...this.#part, matching: 0, rows: [] };
    if (this.#table && (this.#isCurrent || now < this.#nextTable)) return this.#table;
    this.#table = makeTable({ corpus: this, pattern: this.request.pattern }, this.#matches, this.#part);
    this.#isCurrent = true;
    this.#nextTable = now + (performance.now() - now) / TABLE_SHARE;
    return this.#table;
  };
}
