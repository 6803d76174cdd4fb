import { type Static, Type } from "typebox";
import { rankRows } from "../../motif/index.ts";
import { nullable } from "../../platform/schema.ts";
import {
  caveats,
  count,
  list,
  object,
  ProteinOfQuery,
  ProvenanceSchema,
  text,
} from "../prediction/prediction.ts";
import { fullProvenance } from "../prediction/provenance.ts";
import type { AnnotatedReport } from "../features/annotation.ts";
import { queryName } from "../table/match-row.ts";
import { MATCH_TABLES } from "../table/match-tables.ts";
import { joinProvenance, type Provenance, withView } from "../table/provenance.ts";
import type { TablePart } from "../table/rows.ts";
import { type TableView, viewRows } from "../table/view.ts";
import { countTested, rankScan, type ScanMatch, scanMatch, ScanMatchSchema, scanWarnings } from "./scan.ts";

const JointProteinSchema = object(
  {
    job: nullable(text("The job that scanned it.", { format: "uuid" })),
    identifier: text("The client's name for the query."),
    protein: ProteinOfQuery,
    method: text("Version of the method."),
    queryLength: count("Residues of the query."),
    homologs: count("Number of homologs."),
    matches: count("Number of matches."),
    warnings: list(text("A caveat."), caveats("its scan")),
  },
  "A scanned protein.",
);

type JointMatch = ScanMatch & { of: number };

export const JointScanSchema = object(
  {
    provenance: Type.Optional(ProvenanceSchema),
    tested: count("Number of matches with a P value in all proteins, over which q-values are computed."),
    proteins: list(JointProteinSchema, "Proteins in the order of the request."),
    matches: list(
      Type.Unsafe<JointMatch>(ScanMatchSchema),
      "Those that the filters leave, by verdict and z, the best first, unless ordered otherwise.",
    ),
  },
  "The matches of several jobs in one order.",
  "JointScan",
);
export type JointScanObject = Static<typeof JointScanSchema>;

/** Scans of several proteins in one order, with q-values over all their matches. Of a prediction only its matches are kept. */
export class JointScan {
  readonly #proteins: JointScanObject["proteins"] = [];
  readonly #matches: JointMatch[] = [];
  readonly #provenance: Provenance[] = [];

  add(job: string | null, report: AnnotatedReport): void {
    const { identifier, protein, provenance, prediction } = report;
    const { method, queryLength, homologs } = prediction;
    if (provenance) this.#provenance.push(fullProvenance(provenance, prediction));
    const { rows } = rankScan(report);
    const of = this.#proteins.length;
    this.#proteins.push({
      job,
      identifier,
      protein: protein ?? null,
      method,
      queryLength,
      homologs: homologs.length,
      matches: rows.length,
      warnings: scanWarnings(prediction),
    });
    for (const match of rows) this.#matches.push(Object.assign({ of }, match));
  }

  /** The provenance of all scans; undefined if that of none is known. */
  provenance(view: TableView): Provenance | undefined {
    return this.#provenance.length === 0 ? undefined : withView(joinProvenance(this.#provenance), view);
  }

  /** The matches of all proteins by verdict and z. */
  #ranked(): JointMatch[] {
    return rankRows(this.#matches, (match) => match);
  }

  /** The scans as one object of JSON. */
  object(view: TableView): JointScanObject {
    const ranked = this.#ranked();
    const matches = viewRows(MATCH_TABLES.scan, ranked, view).map((row) =>
      Object.assign({ of: row.of }, scanMatch(row)),
    );
    const provenance = this.provenance(view);
    return {
      ...(provenance && { provenance }),
      tested: countTested(ranked),
      proteins: this.#proteins,
      matches,
    };
  }

  /** The rows of the scans, for tables. */
  part(view: TableView): TablePart {
    return {
      rows: viewRows(MATCH_TABLES.scan, this.#ranked(), view),
      sequences: this.#proteins.map(({ identifier, queryLength }) => ({
        name: queryName(identifier),
        length: queryLength,
      })),
    };
  }
}
