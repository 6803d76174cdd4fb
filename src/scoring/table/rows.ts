import { compareEvidence } from "../../motif/match-order.ts";
import { matchDisorder } from "../../motif/match-disorder.ts";
import type { PredictionReport } from "../prediction/prediction.ts";
import type { ClassType } from "../corpus/motif-classes.ts";
import type { MatchNotes } from "../features/annotation.ts";
import { isMatch, type MatchRow, patternName, type TableRow } from "./match-row.ts";

/** Rows of a file, and the sequences that they are in. */
export interface TablePart {
  rows: readonly TableRow[];
  /** Sequences that are described also without a match. */
  sequences: readonly { name: string; length: number }[];
}

/** The best match of each motif, with the number of its matches; rows without a match stay. */
export function bestRows<Row extends TableRow>(rows: readonly Row[]): Row[] {
  const byMotif = Map.groupBy(rows, ({ motif }) => motif);
  return [...byMotif.values()].map((own) => {
    const [first] = own.flatMap((row) => (isMatch(row) ? row : [])).toSorted(compareEvidence);
    return first === undefined ? own[0] : Object.assign({}, first, { matches: own.length });
  });
}

type Report = PredictionReport & { notes?: readonly MatchNotes[] | undefined };

/**
 * The matches of a prediction in the order of its patterns, and a row for each pattern without a match.
 * @param findType type of a motif class by its name
 */
export function resultRows(
  { identifier, protein, prediction, notes }: Report,
  findType: (name: string) => ClassType | null,
): TableRow[] {
  const disorder = prediction.alignment?.disorder;
  let number = 0;
  return prediction.patterns.flatMap((pattern): TableRow[] => {
    const { name, expression, explanation, matches } = pattern;
    const asked = {
      query: identifier,
      protein: protein ?? null,
      motif: patternName(pattern),
      type: name === null ? null : findType(name),
      expression,
      explanation,
      method: prediction.method,
    };
    if (matches.length === 0) return [{ ...asked, missing: "no match" }];
    return matches.map(({ atHomologs: _atHomologs, history: _history, ...match }): MatchRow => {
      const of = {
        number: ++number,
        disorder: matchDisorder(disorder, match),
        notes: notes ? (notes[number - 1] ?? null) : null,
      };
      return Object.assign({}, asked, match, of);
    });
  });
}
