import type { Options, PatternRequest, ScoringModel } from "../../motif/index.ts";
import { removeControls } from "./print-tsv.ts";
import type { TableView } from "./view.ts";

/** A query with all that scoring it again takes, and members of the provenance that other queries do not share. */
export interface RecordedQuery extends Partial<Omit<Provenance, "queries">> {
  name: string;
  description?: string | undefined;
  /** MD5 of the residues. */
  md5: string;
  sequence: string;
}

/** A pattern; one without a name is an expression. */
export type RecordedPattern = Pick<PatternRequest, "expression" | "dialect"> & { name?: string };

/**
 * What results depend on. The members have the same names in all formats. Documents leave out method, model and corpus,
 * which are fields of theirs.
 */
export interface Provenance {
  /** Version of labd that wrote the file. */
  labd: string;
  /** Day of the scoring in UTC, such as 2026-11-28. */
  date: string;
  /** Version of the method: equal versions give equal numbers. */
  method?: string | undefined;
  model?: ScoringModel | undefined;
  corpus?: string | undefined;
  corpus_sha256?: string | undefined;
  corpus_proteins?: number | undefined;
  /** SHA-256 of the rows of an alignment from the user, which was scored instead of a search. */
  alignment_sha256?: string | undefined;
  /** Substitutions in the query that were scored with the homologs of the unchanged one. */
  variant?: string | undefined;
  /** Options that differ from those of the method. */
  options?: Partial<Options> | undefined;
  /** SHA-256 of imported features that count as evidence; each query has its own. */
  features_sha256?: string | undefined;
  /** Hashes of class models by the name of the class, or the expression. */
  class_models?: Readonly<Record<string, string>> | undefined;
  /** Evidence that was left out: features, class models. */
  ignored?: readonly string[] | undefined;
  /** Organism of a proteome search; absent for all proteins. */
  organism?: string | undefined;
  /** Filters and order of the rows of a table. */
  filters?: TableView["values"] | undefined;
  order?: string | undefined;
  /** Patterns of all queries. */
  patterns?: RecordedPattern[] | undefined;
  /** Number of queries that are too many to be listed, and SHA-256 of all. */
  queries_count?: number | undefined;
  queries_sha256?: string | undefined;
  queries?: RecordedQuery[] | undefined;
}

/** Sheet of workbooks that has it. */
export const PROVENANCE_SHEET = "Provenance";

/** Members whose value is a text. */
const TEXTS: ReadonlySet<string> = new Set<keyof Provenance>([
  "labd",
  "date",
  "method",
  "model",
  "corpus",
  "corpus_sha256",
  "alignment_sha256",
  "variant",
  "features_sha256",
  "organism",
  "order",
  "queries_sha256",
]);

/** Names and values as text, for formats that have nothing else. */
export const listProvenance = (provenance: Partial<Provenance>): [name: string, value: string][] =>
  Object.entries(provenance)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, typeof value === "string" ? value : JSON.stringify(value)]);

/** The provenance that names and values as text tell; unknown names are left out. @throws SyntaxError for a value that was altered */
export const parseProvenance = (pairs: Iterable<readonly [name: string, value: string]>): Provenance =>
  Object.fromEntries(
    [...pairs].map(([name, value]) => [name, TEXTS.has(name) ? value : (JSON.parse(value) as unknown)]),
  ) as unknown as Provenance;

/** Comment lines for the beginning of a table: `# corpus: swissprot`. */
export const printComments = (provenance: Provenance | undefined): string =>
  provenance === undefined
    ? ""
    : listProvenance(provenance)
        .map(([name, value]) => `# ${name}: ${removeControls(value)}\n`)
        .join("");

/** The provenance of several results; members in which they differ are those of each query. */
export function joinProvenance(all: readonly Provenance[]): Provenance {
  const isCommon = (name: string): boolean =>
    new Set(all.map((one) => JSON.stringify(one[name as keyof Provenance]))).size === 1;
  const pick = (one: Provenance, take: (name: string) => boolean): Provenance =>
    Object.fromEntries(
      Object.entries(one).filter(([name]) => name !== "queries" && take(name)),
    ) as unknown as Provenance;
  const queries = all.flatMap(({ queries = [], ...one }) =>
    queries.map((query) => ({ ...pick(one, (name) => !isCommon(name)), ...query })),
  );
  return { ...pick(all[0], isCommon), queries };
}

/** Provenance with the filters and the order of a table. */
export function withView(provenance: Provenance, { values, order }: TableView): Provenance {
  const { patterns, queries, queries_count, queries_sha256, ...first } = provenance;
  const filters = Object.values(values).some((value) => value !== undefined) ? values : undefined;
  return { ...first, filters, order, patterns, queries_count, queries_sha256, queries };
}
