import {
  type AlignedText,
  DEFAULTS,
  type Options,
  predictFromAlignment,
  readHeader,
  type ScoringModel,
  SequenceError,
} from "../../motif/index.ts";
import { Problem } from "../../problem.ts";
import { readPatterns } from "../api/handlers.ts";
import type { MotifClasses } from "../corpus/motif-classes.ts";
import type { Scored } from "./score.ts";

/** Patterns to be scored on an alignment that the user brings, instead of a search for homologs. */
export interface AlignmentRequest {
  /** Aligned FASTA: equally long rows of letters, `-` and `.`; the first is the query. */
  alignment: string | Uint8Array;
  regularExpression: readonly string[];
  elmIdentifierName: readonly string[];
  scoringModel: ScoringModel;
  /** What differs from the defaults of the method. */
  options?: Partial<Options>;
}

/**
 * Scores the query of an alignment on the rows below it, on this thread.
 * @throws Problem invalid_request naming line, or row and character; invalid_pattern, unknown_motif_class
 */
export function scoreAlignment(
  { alignment, regularExpression, elmIdentifierName, scoringModel, options }: AlignmentRequest,
  { classes, maxQueryLength }: { classes: MotifClasses; maxQueryLength: number },
): Scored {
  const patterns = readPatterns(regularExpression, elmIdentifierName, classes);
  const rows = readAlignedFasta(alignment);
  const [{ name, description = "", letters }] = rows;
  const length = letters.replace(/[^A-Za-z]/g, "").length;
  if (length > maxQueryLength) {
    throw new Problem(
      "invalid_request",
      `${name}: ${length} residues; at most ${maxQueryLength} are scored.`,
    );
  }
  try {
    const prediction = predictFromAlignment(
      { rows, patterns, model: scoringModel },
      { ...DEFAULTS, ...options },
    );
    return { accession: name, description, prediction };
  } catch (error) {
    if (!(error instanceof SequenceError)) throw error;
    throw new Problem("invalid_request", error.message, { cause: error });
  }
}

/**
 * Rows of aligned FASTA as they are; blank lines and lines that begin with `;` are skipped. What a row may hold is for
 * the alignment's reader to say.
 * @throws Problem invalid_request naming the line
 */
export function readAlignedFasta(bytes: string | Uint8Array): AlignedText[] {
  const rows: { name: string; description: string; parts: string[] }[] = [];
  for (const [i, line] of textOf(bytes)
    .split(/\r\n|\r|\n/)
    .entries()) {
    if (line.trim() === "" || line.startsWith(";")) continue;
    if (line.startsWith(">")) {
      const { accession, description } = readHeader(line.slice(1));
      if (accession === "") throw refused(i, "the header has no identifier");
      rows.push({ name: accession, description, parts: [] });
      continue;
    }
    const row = rows.at(-1);
    if (!row) throw refused(i, "residues stand before the first header, which begins with >");
    row.parts.push(line.trim());
  }
  if (rows.length === 0) {
    throw new Problem("invalid_request", "There is no alignment. Expected aligned FASTA, first the query.");
  }
  return rows.map(({ name, description, parts }) => ({ name, description, letters: parts.join("") }));
}

const refused = (line: number, reason: string): Problem =>
  new Problem("invalid_request", `Alignment line ${line + 1}: ${reason}.`);

function textOf(bytes: string | Uint8Array): string {
  if (typeof bytes === "string") return bytes;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new Problem("invalid_request", "The alignment is not UTF-8 text.", { cause });
  }
}
