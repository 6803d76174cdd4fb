import type { MatchScore, PatternScores, RankedMatch } from "../../motif/index.ts";
import type { ProteinObject } from "../prediction/prediction.ts";
import type { ClassType } from "../corpus/motif-classes.ts";
import type { MatchNotes } from "../features/annotation.ts";
import type { MatchVerdict } from "./verdict.ts";

/** A motif in a protein: the part that every row has, with or without a match. */
export interface QueryPart {
  /** The client's name of the query; undefined in searches of a corpus. */
  query?: string | undefined;
  /** The query as a protein of the corpus. */
  protein?: ProteinObject | null | undefined;
  /** Name of the motif class, or the expression. */
  motif: string;
  type?: ClassType | null | undefined;
  expression?: string | undefined;
  explanation?: PatternScores["explanation"] | undefined;
  /** Version of the method; results of labd-3 may have the hash of a calibration, too. */
  method?: string | undefined;
}

/** Members of a match that stored results of earlier versions may lack. */
type Numbers = Partial<Omit<MatchScore, Always | "verdict" | "atHomologs">>;

type Always = "start" | "end" | "text" | "conservationLevel" | "homologs";

/** Members that only matches of a ranking have. */
type Ranked = Partial<Pick<RankedMatch, "rank" | "q" | "qIs" | "group" | "isBest">>;

/** A match as tables, filters and orders see it. Its members have the names of the JSON service. */
export interface MatchRow
  extends
    QueryPart,
    Numbers,
    Ranked,
    Pick<MatchScore, Always>,
    Partial<Pick<RankedMatch, "number" | "disorder">> {
  /** By all evidence; `known instance` only in rows that were made of others. Read it with `findVerdict`. */
  verdict: MatchVerdict;
  /** Matches of the motif in the protein; the row is the best of them. */
  matches?: number | undefined;
  /** Known features at the match; null if no features are imported. */
  notes?:
    (Pick<MatchNotes, "instances" | "domains" | "phosphosite"> & Partial<MatchNotes>) | null | undefined;
}

/** A motif without a match in a protein, or whose job has no result. */
export interface EmptyRow extends QueryPart {
  missing: "no match" | "failed" | "waiting";
  /** Reason of the failure. */
  problem?: string | undefined;
}

export type TableRow = MatchRow | EmptyRow;

export const isMatch = (row: TableRow): row is MatchRow => !("missing" in row);

/** The motif class of a pattern, else its expression. */
export const patternName = ({ name, expression }: { name: string | null; expression: string }): string =>
  name ?? expression;

/** The name of a query, also without an identifier. */
export const queryName = (identifier: string): string => (identifier === "" ? "query" : identifier);
