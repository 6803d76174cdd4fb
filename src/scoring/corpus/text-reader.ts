import { Problem } from "../../problem.ts";

/** Reads the text of a file as it arrives. */
export interface TextReader {
  /** @throws Problem invalid_request that names the line */
  write(text: string): void;
  /** @throws Problem invalid_request if something is missing */
  end(): void;
}

/** Characters of a line. */
const MAX_LINE = 1_000_000;

/** @param line text of the line, which the message quotes */
export function lineProblem(number: number, reason: string, line = ""): Problem {
  const quoted =
    line === "" ? "" : ` The line: ${JSON.stringify(line.length > 120 ? `${line.slice(0, 120)}…` : line)}`;
  return new Problem("invalid_request", `line ${number}: ${reason}${quoted}`);
}

/** Passes on complete lines, without line ends. */
export class LineReader implements TextReader {
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
