import { Problem } from "../problem.ts";
import {
  decompressed,
  type MatchTable,
  type Provenance,
  type Scored,
  TABLE_FORMATS,
  type TableFormat,
  type TablePart,
  tableWorkbook,
} from "../scoring/index.ts";
import type { Call } from "./command.ts";
import { namedFile } from "./named-file.ts";
import type { ScoreOutput } from "./score-output.ts";

/** A format of results. */
export interface ScoredPrinter {
  head: string;
  print(this: void, scored: Scored): string;
  /** @param digest SHA-256 of the output before it */
  tail(this: void, digest: string): string;
}

type Results = AsyncIterable<Scored> | Iterable<Scored>;

/** Writes results as they arrive, and each of their warnings once. `shown`: before anything is written. */
export async function printScored(
  call: Call,
  results: Results,
  { head, print, tail }: ScoredPrinter,
  output: ScoreOutput,
  shown: () => void = () => {},
): Promise<void> {
  let { done } = output;
  if (output.isNew && head !== "") await output.write(head, 0);
  for await (const result of withWarnings(call, results, shown)) await output.write(print(result), ++done);
  await output.finish(tail(output.digest()));
}

/** Passes results on and prints their warnings, each once. */
async function* withWarnings(call: Call, results: Results, shown: () => void): AsyncGenerator<Scored> {
  const warned = new Set<string>();
  for await (const result of results) {
    shown();
    yield result;
    for (const warning of result.prediction.warnings) {
      if (!warned.has(warning)) call.warn(`${result.accession}: ${warning}`);
      warned.add(warning);
    }
  }
}

const FORMATS: Readonly<Record<string, TableFormat>> = TABLE_FORMATS;

/** True if a format is a workbook, which is written as a whole. */
export const isWorkbook = (format: string): boolean => format in FORMATS && "isWorkbook" in FORMATS[format];

/** @throws Problem usage for flags that need a text to which results can be added */
export function refuseParts(call: Call, help: string): void {
  const flag = ["--resume", "--shard"].find((name) => call.has(name));
  if (flag)
    throw new Problem("usage", `${flag}: a workbook is written as a whole. Choose another --format. ${help}`);
}

/** Results to print; `shown` is called before anything is written. */
export interface Printing {
  results: Results;
  output: ScoreOutput;
  shown?: (() => void) | undefined;
  /** Provenance of all results, for tables. */
  provenance: Provenance;
}

/** Writes results as a workbook. @param toPart the rows of a result; the last call has no result and returns all others */
export async function printWorkbook(
  call: Call,
  table: MatchTable,
  {
    results,
    toPart,
    last = () => [],
    output,
    shown = () => {},
    provenance,
  }: Printing & { toPart: (scored: Scored) => TablePart; last?: (() => TablePart[]) | undefined },
): Promise<void> {
  async function* parts(): AsyncGenerator<TablePart> {
    for await (const result of withWarnings(call, results, shown)) yield toPart(result);
    yield* last();
  }
  for await (const chunk of await tableWorkbook(table, parts(), provenance)) await output.write(chunk, 0);
  await output.finish("");
}

export const sha256 = (...parts: (string | Uint8Array)[]): string =>
  parts.reduce((hash, part) => hash.update(part), new Bun.CryptoHasher("sha256")).digest("hex");

/** UTF-8 text, decompressed. @throws Problem that names the file */
export async function readText(file: string): Promise<Uint8Array> {
  try {
    return Buffer.concat(await Array.fromAsync(decompressed(namedFile(file))));
  } catch (error) {
    if (file === "-" || !(error instanceof Problem) || error.code !== "invalid_request") throw error;
    throw new Problem(error.code, `${file}: ${error.message}`, { cause: error });
  }
}
