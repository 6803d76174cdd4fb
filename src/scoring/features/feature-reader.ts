import { Problem } from "../../problem.ts";
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

/** Reads the text of a file as it arrives. */
export interface FeatureReader {
  /** @throws Problem invalid_request that names the line */
  write(text: string): void;
  /** @throws Problem invalid_request if something is missing */
  end(): void;
}

export type Emit = (record: FeatureRecord) => void;

/** Features of one protein; longer lists are a mistake, or an attack. */
export const MAX_PER_PROTEIN = 200_000;
/** Characters of a line. */
const MAX_LINE = 1_000_000;

/** @param line text of the line, which the message quotes */
export function lineProblem(number: number, reason: string, line = ""): Problem {
  const quoted =
    line === "" ? "" : ` The line: ${JSON.stringify(line.length > 120 ? `${line.slice(0, 120)}…` : line)}`;
  return new Problem("invalid_request", `line ${number}: ${reason}${quoted}`);
}

/** Passes on complete lines, without line ends. */
export class LineReader implements FeatureReader {
  #rest = "";
  #number = 0;

  constructor(
    private readonly line: (line: string, number: number) => void,
    private readonly finish: (lines: number) => void = () => {},
  ) {}

  write(text: string): void {
    const all = this.#rest + text;
    let from = 0;
    for (let to = all.indexOf("\n"); to >= 0; to = all.indexOf("\n", from)) {
      this.#pass(all.slice(from, all.charCodeAt(to - 1) === 13 && to > from ? to - 1 : to));
      from = to + 1;
    }
    this.#rest = all.slice(from);
    if (this.#rest.length > MAX_LINE) this.#pass(this.#rest);
  }

  end(): void {
    if (this.#rest !== "") this.#pass(this.#rest.replace(/\r$/, ""));
    this.finish(this.#number);
  }

  #pass(line: string): void {
    this.#number++;
    if (line.length > MAX_LINE)
      throw lineProblem(this.#number, `more than ${MAX_LINE.toLocaleString("en")} characters.`);
    this.line(line, this.#number);
  }
}

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

const WHOLE = /^\d{1,9}$/;

/** First and last residue, from 1. @throws Problem that names the line */
export function readSpan(
  from: string,
  to: string,
  number: number,
  line: string,
): { start: number; end: number } {
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

/**
 * A position of UniProt: `15`, `<1`, `>393`, `?28`; null where it is unknown. @throws Problem that names the line
 */
export function readPosition(text: string, number: number, line: string): number | null {
  const [, digits] = /^[<>?]?(\d{0,9})$/.exec(text) ?? [];
  if (digits === undefined)
    throw lineProblem(number, `${JSON.stringify(text.slice(0, 20))} is no position.`, line);
  return digits === "" ? null : Number(digits);
}
