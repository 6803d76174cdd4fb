import { type Static } from "typebox";
import { rankByP } from "../../motif/index.ts";
import { nullable } from "../../platform/schema.ts";
import {
  caveats,
  count,
  list,
  object,
  PROTEIN_OF_QUERY,
  ProteinSchema,
  text,
} from "../prediction/prediction.ts";
import type { AnnotatedReport } from "../features/annotation.ts";
import { escapeSequence, regionLine } from "./result-gff3.ts";
import { printTsv, queryName } from "./result-rows.ts";
import {
  passes,
  SCAN_FORMS,
  SCAN_MATCH,
  type ScanFilter,
  type ScanFormName,
  scanFeature,
  scanOf,
  scanRow,
} from "./scan.ts";

const JointProteinSchema = object(
  {
    job: nullable(text("The job that scanned it.", { format: "uuid" })),
    identifier: text("The client's name for the query."),
    protein: nullable(ProteinSchema, { description: PROTEIN_OF_QUERY }),
    method: text("Version of the method."),
    queryLength: count("Residues of the query."),
    homologs: count("Number of homologs."),
    matches: count("Number of matches."),
    warnings: list(text("A caveat."), caveats("its scan")),
  },
  "A scanned protein.",
);

const JointMatchSchema = object(
  { of: count("Index of its protein, from 0."), ...SCAN_MATCH },
  "A match; group and isBest are within its protein.",
);

export const JointScanSchema = object(
  {
    tested: count("Number of matches with a P value in all proteins, over which q-values are computed."),
    proteins: list(JointProteinSchema, "In the order of the request."),
    matches: list(JointMatchSchema, "Best first; those that the filters leave."),
  },
  "The matches of several jobs in one order.",
  "JointScan",
);
export type JointScanObject = Static<typeof JointScanSchema>;

type JointMatch = JointScanObject["matches"][number];

/** Scans of several proteins in one order, with q-values over all their matches. Of a prediction only its matches are kept. */
export class JointScan {
  readonly #proteins: JointScanObject["proteins"] = [];
  readonly #matches: JointMatch[] = [];

  add(job: string | null, report: AnnotatedReport): void {
    const { identifier, protein, method, queryLength, homologs, matches, warnings } = scanOf(report);
    const of = this.#proteins.length;
    this.#proteins.push({
      job,
      identifier,
      protein,
      method,
      queryLength,
      homologs,
      matches: matches.length,
      warnings,
    });
    for (const match of matches) this.#matches.push(Object.assign({ of }, match));
  }

  print(form: ScanFormName, filter: ScanFilter): string {
    const ranked = rankByP(this.#matches, (match) => match);
    const matches = ranked.filter((match) => passes(match, filter));
    const proteins = this.#proteins;
    if (form === "json") {
      const tested = ranked.filter(({ q }) => q !== null).length;
      return `${JSON.stringify({ tested, proteins, matches } satisfies JointScanObject)}\n`;
    }
    const { head } = SCAN_FORMS[form];
    if (form === "tsv") return head + printTsv(matches.map((match) => scanRow(proteins[match.of], match)));
    const regions = proteins.map(({ identifier, queryLength }) =>
      regionLine(escapeSequence(queryName(identifier)), queryLength),
    );
    const features = matches.map((match) =>
      scanFeature(proteins[match.of], match, proteins[match.of].method),
    );
    return head + regions.join("") + features.join("");
  }
}
