import { type Column, findColumn } from "./column.ts";
import { COLUMNS } from "./columns.ts";
import type { Filter } from "./filters.ts";

/** A table of matches: its columns in order, and the names that they had before there was one registry. */
export interface MatchTable {
  name: string;
  columns: readonly Column[];
  /** Names in TSV and XLSX that differ from those of the columns. */
  heads: Readonly<Record<string, string>>;
  gff3: Gff3Table;
  filters: readonly Filter[];
  /** The order unless another one is asked for. */
  order: string;
}

/** The order by verdict, then by z. */
export const EVIDENCE = "evidence";

/** A table as features of GFF3. */
interface Gff3Table {
  /** The column that names the sequence of a feature. */
  sequence: string;
  /** The column of the score of a feature. */
  score: string;
  /** Columns of the first attributes, separated by spaces; the others follow in the order of the table. */
  first: string;
  /** Names of attributes that differ from those of the columns. `name` would be mistaken for that of the feature. */
  names: Readonly<Record<string, string>>;
}

/** A table as it is declared; names of columns are separated by spaces. */
interface Declared extends Pick<MatchTable, "heads" | "gff3" | "order"> {
  /** Columns of earlier versions, in their order. All other columns follow, so that a new one needs no change here. */
  first: string;
  /** Columns that its rows do not have. */
  without: string;
  /** True if its matches have ranks and q-values. */
  isRanked: boolean;
}

const ONLY_BATCH = "matches problem";
/** Searches of a corpus do not keep the relation of homologs. */
const BY_RELATION = "kept_in_orthologs orthologs kept_in_paralogs paralogs";

const TABLES = {
  /** The matches of results, by evidence within each query; not ranked, so that results can follow each other. */
  result: {
    first:
      "query motif start end match homologs effective_homologs cs expected z p verdict kept overall_p " +
      "overall_verdict p_is overall_p_is accession gene name organism known_instance also_annotated_in",
    without: ONLY_BATCH,
    isRanked: false,
    order: EVIDENCE,
    heads: { motif: "pattern" },
    gff3: {
      sequence: "query",
      score: "cs",
      first:
        "motif explanation expression match verdict homologs kept effective_homologs expected z p p_is " +
        "overall_verdict overall_p overall_p_is",
      names: { motif: "Name", explanation: "Note", match: "matched", name: "protein_name" },
    },
  },
  /** The ranked matches of one or several proteins. */
  scan: {
    first:
      "query motif type start end match overall_p q label z verdict kept homologs disorder group best_of_group " +
      "known_instance also_annotated_in domains phosphosite_distance accession gene name organism",
    without: ONLY_BATCH,
    isRanked: true,
    order: EVIDENCE,
    heads: { motif: "class" },
    gff3: { sequence: "query", score: "q", first: "", names: { motif: "Name", name: "protein_name" } },
  },
  /** The ranked matches of a motif in the proteins of a corpus. */
  proteome: {
    first:
      "accession entry gene name organism start end match overall_p q label z cs expected p verdict kept homologs " +
      "effective_homologs disorder known_instance domains phosphosite_distance",
    without: `query number expression explanation type group best_of_group also_annotated_in ${BY_RELATION} ${ONLY_BATCH}`,
    isRanked: true,
    // Over many proteins z ranks better than P (docs/quality.md).
    order: "-z",
    heads: { accession: "protein" },
    gff3: {
      sequence: "accession",
      score: "q",
      first: "motif name",
      names: { motif: "Name", name: "Note" },
    },
  },
  /** The best match of each motif in each protein of a batch. */
  batch: {
    first:
      "query gene name organism motif verdict overall_verdict overall_p overall_p_is z start match kept homologs cs " +
      "expected matches problem",
    without: "",
    isRanked: false,
    order: EVIDENCE,
    heads: {},
    gff3: { sequence: "query", score: "cs", first: "", names: { motif: "Name", name: "protein_name" } },
  },
} as const satisfies Record<string, Declared>;

export type MatchTableName = keyof typeof TABLES;

const namesIn = (text: string): string[] => text.split(" ").filter((name) => name !== "");

function defineTable(name: string, declared: Declared, columns: readonly Column[]): MatchTable {
  const { first, without, isRanked, order, heads, gff3 } = declared;
  const placed = namesIn(first).map((column) => findColumn(column, columns));
  const missing = new Set(namesIn(without));
  const others = columns.filter(
    (column) =>
      !placed.includes(column) && !missing.has(column.name) && (isRanked || column.of !== "ranking"),
  );
  const all = [...placed, ...others];
  return {
    name,
    columns: all,
    heads,
    gff3,
    filters: all.flatMap(({ filter }) => filter ?? []),
    order,
  };
}

/** Makes the tables of a list of columns; a test adds one. */
export const makeTables = (columns: readonly Column[]): Record<MatchTableName, MatchTable> =>
  Object.fromEntries(
    Object.entries(TABLES).map(([name, declared]) => [name, defineTable(name, declared, columns)]),
  ) as Record<MatchTableName, MatchTable>;

export const MATCH_TABLES = makeTables(COLUMNS);
