import { type Static, type TSchema, Type } from "typebox";
import { type Prediction, rankMatches } from "../../motif/index.ts";
import { nullable } from "../../platform/schema.ts";
import {
  caveats,
  ContributionsSchema,
  CorpusSchema,
  count,
  fraction,
  list,
  object,
  ProteinOfQuery,
  ProvenanceSchema,
  text,
} from "../prediction/prediction.ts";
import { findClassType } from "../corpus/motif-classes.ts";
import type { AnnotatedReport } from "../features/annotation.ts";
import { matchObject } from "../table/column.ts";
import { isMatch, type MatchRow, patternName, queryName } from "../table/match-row.ts";
import { MATCH_TABLES } from "../table/match-tables.ts";
import { withView } from "../table/provenance.ts";
import { resultRows, type TablePart } from "../table/rows.ts";
import { type TableView, viewRows } from "../table/view.ts";
import { NotesSchema } from "../features/feature-schemas.ts";
import { matchProperties } from "./table-schemas.ts";

/** The matches of a prediction for many motif classes, as one ranked list. */

const { scan: SCAN_TABLE } = MATCH_TABLES;

/** A match with its number in the result. */
export type ScanMatch = MatchRow & { number: number };

/** A match in scans of one protein or several; the types of its members are those of rows. */
export const ScanMatchSchema = object(
  {
    of: Type.Optional(count("Of several jobs: index of the protein, from 0.")),
    ...matchProperties(SCAN_TABLE),
    contributions: Type.Optional(ContributionsSchema),
    notes: nullable(NotesSchema),
  } as Record<string, TSchema>,
  "A match; group and isBest refer to matches of its protein.",
  "ScanMatch",
);

export const ScanSchema = object(
  {
    identifier: text("The client's name for the query."),
    protein: ProteinOfQuery,
    provenance: Type.Optional(ProvenanceSchema),
    method: text("Version of the method."),
    queryLength: count("Residues of the query."),
    corpus: nullable(CorpusSchema),
    homologs: count("Number of homologs."),
    classes: count("Number of motifs tested."),
    tested: count("Number of matches with a P value, over which q-values are computed."),
    query: Type.Optional(text("Residues of the query.")),
    disorder: list(fraction("Disorder."), "Predicted disorder of each residue of the query."),
    order: Type.Optional(list(fraction("Order."), "As in the result.")),
    conservation: Type.Optional(list(nullable(fraction("Conservation.")), "As in the result.")),
    matches: list(
      Type.Unsafe<ScanMatch>(ScanMatchSchema),
      "Those that the filters leave, by verdict and z, the best first, unless ordered otherwise.",
    ),
    warnings: list(text("A caveat."), caveats("the scan")),
  },
  "All matches of a job in one order.",
  "Scan",
);
export type Scan = Static<typeof ScanSchema>;

/** All matches with a place in one order, and the number of those that were tested, over which q-values are. */
export interface Ranking {
  tested: number;
  rows: readonly ScanMatch[];
}

/** The matches of a prediction by verdict and z. */
export function rankScan(report: AnnotatedReport): Ranking {
  const rows = resultRows(report, findClassType).filter(isMatch);
  const ranked = rankMatches(report.prediction).map(({ number, rank, q, qIs, group, isBest }) =>
    Object.assign({}, rows[number - 1], { number, rank, q, qIs, group, isBest }),
  );
  return { tested: countTested(ranked), rows: ranked };
}

export const countTested = (rows: readonly MatchRow[]): number => rows.filter(({ q }) => q != null).length;

export const ALL: TableView = { values: {} };

/** A scan as JSON; filters leave q-values unchanged. */
export function makeScan(report: AnnotatedReport, view: TableView = ALL): Scan {
  const { identifier, protein, provenance, prediction } = report;
  const { method, model, queryLength, corpus, homologs, patterns, alignment } = prediction;
  const { tested, rows } = rankScan(report);
  return {
    identifier,
    protein: protein ?? null,
    ...(provenance && { provenance: withView({ ...provenance, model }, view) }),
    method,
    queryLength,
    corpus,
    homologs: homologs.length,
    classes: patterns.length,
    tested,
    query: alignment?.query,
    disorder: alignment?.disorder ?? [],
    order: alignment?.order,
    conservation: alignment?.conservation,
    matches: viewRows(SCAN_TABLE, rows, view).map(scanMatch),
    warnings: scanWarnings(prediction),
  };
}

/** The warnings of a prediction, then those of its patterns with their names. */
export const scanWarnings = ({ warnings, patterns }: Prediction): string[] => [
  ...warnings,
  ...patterns.flatMap((pattern) => pattern.warnings.map((warning) => `${patternName(pattern)}: ${warning}`)),
];

export const scanMatch = (row: ScanMatch): ScanMatch =>
  Object.assign(matchObject(SCAN_TABLE.columns, row), {
    ...(row.contributions && { contributions: row.contributions }),
    notes: row.notes ?? null,
  }) as ScanMatch;

/** The rows of a scan, for tables. */
export const scanPart = (report: AnnotatedReport, view: TableView): TablePart => ({
  rows: viewRows(SCAN_TABLE, rankScan(report).rows, view),
  sequences: listSequences(report),
});

/** The rows of a result, for tables. */
export const resultPart = (report: AnnotatedReport, view: TableView = ALL): TablePart => ({
  rows: viewRows(MATCH_TABLES.result, resultRows(report, findClassType), view),
  sequences: listSequences(report),
});

const listSequences = ({ identifier, prediction }: AnnotatedReport): TablePart["sequences"] => [
  { name: queryName(identifier), length: prediction.queryLength },
];
