import { NotFound, WorkFailed } from "./errors.ts";
import type { Match } from "./generated.ts";
import { MATCH_TYPES } from "./generated.ts";
import { FIRST_PAUSE, LONGEST_PAUSE, Progress, type ProgressOption } from "./progress.ts";
import { type Sender, toTexts, type Value } from "./send.ts";

/** A motif class by name, or a regular expression over residues; or several. */
export type Motifs = string | readonly string[];

/** Options of scoring. */
export interface ScoreOptions {
  /** A sequence in one-letter codes; the protein is then its name. */
  sequence?: string;
  progress?: ProgressOption;
  /** Further fields of a job (docs/scoring-api.md, "Submit"): `alignment`, `homologs`, `variant`, `prior` and others. */
  [field: string]: unknown;
}

/** Filters and the order of matches. */
export interface MatchFilters {
  /** Such as `likely functional`. */
  verdict?: string | readonly string[];
  /** At most this q-value. */
  max_q?: number;
  motif?: string | readonly string[];
  type?: string | readonly string[];
  species?: string | readonly string[];
  region?: "disordered" | "ordered";
  kept?: string | readonly string[];
  best_of_group?: boolean;
  /** A column; `-` before it reverses. */
  order?: string;
  [filter: string]: Value | undefined;
}

/** A protein of the corpus. */
export interface Protein {
  accession: string;
  entryName: string | null;
  name: string | null;
  gene: string | null;
  organism: string | null;
  /** NCBI's taxon. */
  taxon: number | null;
  /** In residues. */
  length: number;
}

interface Work {
  id: string;
  state: string;
  stage?: string | null;
  fraction?: number | null;
  place?: number | null;
  searched?: number;
  total?: number;
  failure?: string | null;
  message?: string;
}

/** Finished work. */
export class Result {
  readonly id: string;
  /** Address of its page. */
  readonly url: string;
  /** State, protein, motifs and more, as the server gave them last. */
  readonly info: Readonly<Record<string, unknown>>;
  /** All matches. */
  readonly matches: readonly Match[];
  readonly #sender: Sender;
  readonly #path: string;

  /** @internal */
  constructor(sender: Sender, work: Work, kind: Kind, matches: readonly Match[]) {
    this.id = work.id;
    this.url = `${sender.url}/${kind.page}/${work.id}`;
    this.info = work as unknown as Readonly<Record<string, unknown>>;
    this.matches = matches;
    this.#sender = sender;
    this.#path = matchesPath(work, kind);
  }

  /** Matches that pass filters. */
  select(filters: MatchFilters): Promise<Match[]> {
    return readMatches(this.#sender, this.#path, filters);
  }

  /** The matches as text: `tsv`, `gff3`, `bed` or `json`. */
  async text(format = "tsv", filters: MatchFilters = {}): Promise<string> {
    const query = { ...join(filters), format };
    return (await this.#sender.request("GET", this.#path, { query, headers: { Accept: "*/*" } })).text();
  }
}

/** Paths of a kind of work below `/api/scoring/`. */
interface Kind {
  path: string;
  table: string;
  page: string;
}

const SCORING = "/api/scoring/";
const SCORE: Kind = { path: "jobs", table: "result", page: "score" };
const SCAN: Kind = { ...SCORE, table: "scan" };
const SEARCH: Kind = { path: "proteome/searches", table: "matches", page: "proteome" };
const BATCH: Kind = { path: "batches", table: "matches", page: "batch" };

const STAGES = ["start", "homologs", "tree", "scores"];
const EXPRESSION = /[.[\](){}|^$*+?]/;
const SEQUENCE = /^(>[^]*|[A-Za-z*\s]{40,})$/;

const matchesPath = ({ id }: Work, { path, table }: Kind): string => `${SCORING}${path}/${id}/${table}`;

const join = (filters: MatchFilters) =>
  Object.fromEntries(
    Object.entries(filters).map(([name, value]) => [
      name,
      value === undefined ? undefined : toTexts(value).join(),
    ]),
  );

/** Rows of a table of matches. */
async function readMatches(sender: Sender, path: string, filters: MatchFilters = {}): Promise<Match[]> {
  const query = { ...join(filters), format: "tsv" };
  const text = await (await sender.request("GET", path, { query, headers: { Accept: "*/*" } })).text();
  const [head = "", ...lines] = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  const names = head.split("\t");
  return lines.map((line) => {
    const cells = line.split("\t");
    return Object.fromEntries(names.map((name, at) => [name, readCell(name, cells[at])])) as unknown as Match;
  });
}

function readCell(name: string, cell = ""): string | number | boolean | null {
  const type = MATCH_TYPES[name];
  if (cell === "") return null;
  if (type === "boolean") return cell === "yes";
  return type === "number" ? Number(cell) : cell;
}

/** Scoring of motifs. */
export class Scoring {
  readonly #sender: Sender;

  /** @internal */
  constructor(sender: Sender) {
    this.#sender = sender;
  }

  /**
   * Scores the conservation of motifs in a protein, and waits for the result.
   * @param protein accession, entry name or gene (`TP53 mouse`) of a protein of the corpus, or its sequence: a FASTA
   * record, or at least 40 one-letter codes
   * @throws InvalidRequest for a pattern or sequence without meaning; WorkFailed
   */
  async score(protein: string, motifs: Motifs, options: ScoreOptions = {}): Promise<Result> {
    return this.#run(
      SCORE,
      { ...toQuery(protein, options), ...(await this.#classify(motifs)) },
      protein,
      options,
    );
  }

  /** Looks for all motif classes in a protein, and ranks all matches together, with q-values. */
  scan(protein: string, options: ScoreOptions = {}): Promise<Result> {
    return this.#run(SCAN, { ...toQuery(protein, options), allMotifClasses: true }, protein, options);
  }

  /**
   * Searches all proteins whose families are stored for a motif.
   * @param options `organism`: taxon of NCBI, scientific name, or mnemonic of UniProt (`human`)
   */
  async proteome(motif: string, options: ScoreOptions & { organism?: string } = {}): Promise<Result> {
    const { motifClasses, patterns } = await this.#classify(motif);
    const query = motifClasses ? { motifClass: motif } : { pattern: patterns![0] };
    return this.#run(SEARCH, { ...further(options), ...query }, motif, options);
  }

  /** Scores motifs in many proteins, up to 20,000: accessions, entry names or genes, or sequences by name. */
  async batch(
    proteins: readonly string[] | Readonly<Record<string, string>>,
    motifs: Motifs,
    options: ScoreOptions = {},
  ): Promise<Result> {
    const given = Array.isArray(proteins)
      ? proteins.map((accession: string) => ({ accession }))
      : Object.entries(proteins).map(([identifier, querySequence]) => ({ identifier, querySequence }));
    const request = { proteins: given, ...further(options), ...(await this.#classify(motifs)) };
    return this.#run(BATCH, request, `${given.length} proteins`, options);
  }

  /** Proteins of the corpus by accession, entry name, gene, words of the name, and species. */
  async proteins(query: string, limit = 10): Promise<Protein[]> {
    return (
      await this.#sender.json<{ results: Protein[] }>("GET", `${SCORING}proteins`, {
        query: { query, limit },
      })
    ).results;
  }

  /** Fields of a request: a text without special characters may name a class. */
  async #classify(motifs: Motifs): Promise<{ patterns?: string[]; motifClasses?: string[] }> {
    const patterns: string[] = [];
    const motifClasses: string[] = [];
    for (const motif of typeof motifs === "string" ? [motifs] : motifs)
      ((await this.#isClass(motif)) ? motifClasses : patterns).push(motif);
    return {
      ...(patterns.length > 0 ? { patterns } : {}),
      ...(motifClasses.length > 0 ? { motifClasses } : {}),
    };
  }

  async #isClass(motif: string): Promise<boolean> {
    if (EXPRESSION.test(motif)) return false;
    try {
      await this.#sender.request("GET", `${SCORING}motif-classes/${encodeURIComponent(motif)}`);
      return true;
    } catch (error) {
      if (!(error instanceof NotFound)) throw error;
      // A name rather than residues: the server says which names are similar.
      return !/^[A-Z]+$/.test(motif);
    }
  }

  async #run(kind: Kind, json: object, title: string, { progress }: ScoreOptions): Promise<Result> {
    const path = `${SCORING}${kind.path}`;
    let work = await this.#sender.json<Work>("POST", path, { json, isRepeatable: true });
    const bar = new Progress(title, progress ?? this.#sender.progress);
    for (let pause = FIRST_PAUSE; ["queued", "running", "waiting"].includes(work.state);) {
      bar.at(...describe(work));
      await new Promise((done) => setTimeout(done, pause));
      pause = Math.min(pause * 1.3, LONGEST_PAUSE);
      work = await this.#sender.json<Work>("GET", `${path}/${work.id}`);
    }
    bar.end(work.state);
    if (work.state !== "finished")
      throw new WorkFailed(work.failure ?? work.message ?? `The work is ${work.state}.`, work.state);
    return new Result(this.#sender, work, kind, await readMatches(this.#sender, matchesPath(work, kind)));
  }
}

/** Fields of a request: undefined ones are left out of JSON. */
const further = (options: ScoreOptions): Record<string, unknown> => ({
  ...options,
  sequence: undefined,
  progress: undefined,
});

function toQuery(protein: string, options: ScoreOptions): Record<string, unknown> {
  const { sequence } = options;
  if (sequence !== undefined) return { ...further(options), querySequence: sequence, identifier: protein };
  return {
    ...further(options),
    ...(SEQUENCE.test(protein) ? { querySequence: protein } : { accession: protein }),
  };
}

/** Completed fraction, and what happens. */
function describe({ state, place, searched, total, stage, fraction, message }: Work): [number, string] {
  if (state === "queued") return [0, place ? `place ${place} in the queue` : "queued"];
  if (searched !== undefined) return [searched / Math.max(1, total ?? 1), `${searched} of ${total} proteins`];
  const at = STAGES.indexOf(stage ?? "");
  if (at >= 0) return [(at + (fraction ?? 0)) / STAGES.length, stage!];
  return [fraction ?? 0, message ?? ""];
}
