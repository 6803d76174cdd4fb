import {
  type Calibration,
  calibrationOf,
  type Draw,
  drawnProteins,
  ENOUGH_DRAWS,
  LEAST_DRAWS,
  NULL_BINS,
} from "../../motif/index.ts";
import { Problem } from "../../problem.ts";
import { calibrationPath, calibrationText, dropAltered } from "./calibration-file.ts";
import { type CorpusInfo, openCorpusFile } from "./corpus.ts";
import { writeDurably } from "./durable-file.ts";
import type { JobPattern } from "../jobs/job.ts";
import { workerAddress } from "../jobs/worker-entrypoints.ts";
import type { DrawReport, DrawTask } from "../jobs/worker.ts";

export interface CalibrationRequest {
  corpus: CorpusInfo;
  /** Motif classes whose matches are drawn. */
  patterns: readonly JobPattern[];
  /** Threads; the null does not depend on their number. */
  workers: number;
  /** Decides which proteins and matches are drawn; 1 by default. */
  seed?: number;
  /** At most so many proteins are searched for homologs. */
  maxProteins?: number;
  report?: (proteins: number, maxProteins: number, matches: number) => void;
}

/** Proteins that a worker gets at a time: they share a pass over the corpus. */
const CHUNK = 16;

/** A minute or two on two processors with half a million proteins. */
const MAX_PROTEINS = 640;

/**
 * Makes the empirical null of a corpus from random matches in its own proteins, and stores it beside the corpus: jobs that
 * begin later take their P values from it. Proteins are drawn until every bin has enough matches, or there are `maxProteins`.
 * @throws Problem bad_corpus; invalid_request where they are fewer than LEAST_DRAWS
 */
export async function calibrateCorpus({
  corpus: info,
  patterns,
  workers,
  seed = 1,
  maxProteins = MAX_PROTEINS,
  report,
}: CalibrationRequest): Promise<Calibration> {
  dropAltered(info.path);
  const proteins = drawnProteins(openCorpusFile(info.path), seed).slice(0, maxProteins);
  const chunks = Array.from({ length: Math.ceil(proteins.length / CHUNK) }, (_, k) =>
    Array.from(proteins.subarray(k * CHUNK, (k + 1) * CHUNK)),
  );
  const drawn: Draw[][] = [];
  const perBin = new Int32Array(NULL_BINS);
  for await (const chunk of drawInOrder(
    chunks,
    { corpusPath: info.path, patterns: [...patterns], seed },
    workers,
  )) {
    drawn.push(...chunk);
    for (const { bin } of chunk.flat()) perBin[bin]++;
    report?.(
      drawn.length,
      proteins.length,
      perBin.reduce((sum, count) => sum + count, 0),
    );
    if (perBin.every((count) => count >= ENOUGH_DRAWS)) break;
  }
  const calibration = calibrationOf(seed, drawn);
  if (calibration.matches < LEAST_DRAWS) {
    throw new Problem(
      "invalid_request",
      `corpus ${info.name}: ${calibration.matches} random matches in ${calibration.proteins} proteins with enough homologs are too few for a null of its own; the built-in one stays in use.`,
    );
  }
  const text = calibrationText(calibration, info.hash);
  writeDurably(calibrationPath(info.path), [new TextEncoder().encode(text)]);
  return calibration;
}

/** Draws of the chunks in their order, whichever worker is first. */
async function* drawInOrder(
  chunks: readonly number[][],
  task: Omit<DrawTask, "ticket" | "proteins">,
  workers: number,
): AsyncGenerator<Draw[][]> {
  const answers = chunks.map(() => Promise.withResolvers<Draw[][]>());
  for (const { promise } of answers) promise.catch(() => {});
  const seats: Worker[] = [];
  let next = 0;
  const fail = (error: Error): void => {
    for (const { reject } of answers) reject(error);
  };
  const ended = (): void => fail(new Error("a worker ended before its work did"));
  const give = (worker: Worker): void => {
    if (next === chunks.length) return;
    const ticket = next++;
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
    worker.postMessage({ ...task, ticket, proteins: chunks[ticket] } satisfies DrawTask);
  };
  try {
    for (let i = 0; i < Math.min(workers, chunks.length); i++) {
      const worker = new Worker(workerAddress());
      worker.addEventListener("message", ({ data }: MessageEvent<DrawReport>) => {
        if (data.kind === "drawn") answers[data.ticket].resolve(data.drawn);
        else answers[data.ticket].reject(new Error(data.reason ?? data.cause));
        give(worker);
      });
      worker.addEventListener("error", (event) => {
        event.preventDefault();
        fail(new Error(event.message));
      });
      worker.addEventListener("close", ended);
      seats.push(worker);
      give(worker);
    }
    for (const { promise } of answers) yield await promise;
  } finally {
    for (const worker of seats) {
      worker.removeEventListener("close", ended);
      worker.terminate();
    }
  }
}
