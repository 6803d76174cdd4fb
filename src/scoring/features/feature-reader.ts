import { lineProblem } from "../corpus/text-reader.ts";
import { MAX_PER_PROTEIN } from "../corpus/uniprot-entry.ts";
import type { Feature } from "./feature.ts";

/** Features that a file lists together for one protein. */
export interface FeatureRecord {
  /** Names of the protein in the order in which they are tried: accessions, entry name, secondary accessions. */
  names: readonly string[];
  features: Feature[];
  /** Facts in the file about the sequence to which the positions belong. */
  sequence?: SequenceCheck | undefined;
}

export interface SequenceCheck {
  residues?: string;
  /** MD5 in lower-case hexadecimal. */
  md5?: string;
  length?: number;
}

export type Emit = (record: FeatureRecord) => void;

/** True for the accession of a protein that the corpus lacks; called for each of its lines. */
export type Skip = (accession: string) => boolean;

/** A line of a table, as a feature of a protein. */
export interface FeatureRow {
  names: readonly string[];
  features: readonly Feature[];
  sequence?: SequenceCheck | undefined;
}

/** Joins rows that follow each other and belong to one protein. */
export class RowJoiner {
  #open: FeatureRecord | undefined;

  constructor(private readonly emit: Emit) {}

  add({ names, features, sequence }: FeatureRow): void {
    const open = this.#open;
    if (open && open.names[0] === names[0] && open.features.length < MAX_PER_PROTEIN) {
      open.features.push(...features);
      return;
    }
    this.end();
    this.#open = { names, features: [...features], sequence };
  }

  end(): void {
    if (this.#open) this.emit(this.#open);
    this.#open = undefined;
  }
}

/** First and last residue, from 1. */
export interface Span {
  start: number;
  end: number;
}

const WHOLE = /^\d{1,9}$/;

/** @throws Problem that names the line */
export function readSpan(from: string, to: string, number: number, line: string): Span {
  const [start, end] = [Number(from), Number(to)];
  if (!WHOLE.test(from) || !WHOLE.test(to) || start < 1)
    throw lineProblem(
      number,
      `start and end: expected whole numbers from 1; ${JSON.stringify(from.slice(0, 20))} and ${JSON.stringify(to.slice(0, 20))} were given.`,
      line,
    );
  if (end < start) throw lineProblem(number, `the end ${end} is before the start ${start}.`, line);
  return { start, end };
}
