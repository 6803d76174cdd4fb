import { Problem } from "../problem.ts";
import { decompressed, type Scored } from "../scoring/index.ts";
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

/** Writes results as they arrive, and each of their warnings once. `shown`: before anything is written. */
export async function printScored(
  call: Call,
  results: AsyncIterable<Scored> | Iterable<Scored>,
  { head, print, tail }: ScoredPrinter,
  output: ScoreOutput,
  shown: () => void = () => {},
): Promise<void> {
  let { done } = output;
  if (output.isNew && head !== "") await output.write(head, 0);
  const warned = new Set<string>();
  for await (const result of results) {
    shown();
    await output.write(print(result), ++done);
    for (const warning of result.prediction.warnings) {
      if (!warned.has(warning)) call.warn(`${result.accession}: ${warning}`);
      warned.add(warning);
    }
  }
  await output.finish(tail(output.digest()));
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
