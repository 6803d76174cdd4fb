import {
  type Calibration,
  computeCalibration,
  type Draw,
  drawnProteins,
  ENOUGH_DRAWS,
  METHOD,
  MIN_DRAWS,
  NULL_BINS,
  type PatternRequest,
} from "../../motif/index.ts";
import { Problem } from "../../problem.ts";
import {
  calibrationPath,
  calibrationText,
  dropRejected,
  removeCalibrations,
} from "../corpus/calibration-file.ts";
import { type CorpusInfo, openCorpusFile } from "../corpus/corpus.ts";
import type { CorpusSource } from "../jobs/worker-messages.ts";
import { resultsInOrder } from "../jobs/task-results.ts";
import { writeDurably } from "../../platform/durable-file.ts";

/** Random matches of patterns to draw from proteins of the corpus. */
export interface DrawTask extends CorpusSource {
  ticket: number;
  proteins: number[];
  patterns: PatternRequest[];
  seed: number;
  corpusPath: string;
}

/** The response to a DrawTask: random matches of each protein. */
export interface DrawnReport {
  ticket: number;
  kind: "drawn";
  drawn: Draw[][];
}

export interface CalibrationRequest {
  corpus: CorpusInfo;
  /** Motif classes whose matches are drawn. */
  patterns: readonly PatternRequest[];
  /** Threads; the result does not depend on their number. */
  workers: number;
  /** Determines which proteins and matches are drawn; 1 by default. */
  seed?: number;
  /** Maximum number of proteins whose homologs are searched. */
  maxProteins?: number;
  report?: (proteins: number, maxProteins: number, matches: number) => void;
  /** Called before the calibration is put into use. */
  record?: () => void;
}

/** Proteins per task: they share a pass over the corpus. */
const CHUNK = 16;

/** Takes a minute or two on two processors with half a million proteins. */
const MAX_PROTEINS = 640;

/**
 * Calibrates P values with random matches in the corpus's own proteins, and stores the null distribution beside the corpus
 * for later jobs. Draws proteins until every bin has enough matches, or `maxProteins` are reached.
 * @throws Problem bad_corpus; invalid_request for fewer than MIN_DRAWS matches
 */
export async function calibrateCorpus({
  corpus: info,
  patterns,
  workers,
  seed = 1,
  maxProteins = MAX_PROTEINS,
  report,
  record,
}: CalibrationRequest): Promise<Calibration> {
  dropRejected(info.path);
  const proteins = drawnProteins(openCorpusFile(info.path), seed).slice(0, maxProteins);
  const chunks = Array.from({ length: Math.ceil(proteins.length / CHUNK) }, (_, k) =>
    Array.from(proteins.subarray(k * CHUNK, (k + 1) * CHUNK)),
  );
  const drawn: Draw[][] = [];
  const perBin = new Int32Array(NULL_BINS);
  const tasks = chunks.map((chunk, ticket): DrawTask => ({
    ticket,
    proteins: chunk,
    corpusPath: info.path,
    patterns: [...patterns],
    seed,
  }));
  for await (const { drawn: chunk } of resultsInOrder<DrawnReport>(tasks, workers)) {
    drawn.push(...chunk);
    for (const { bin } of chunk.flat()) perBin[bin]++;
    report?.(
      drawn.length,
      proteins.length,
      perBin.reduce((sum, count) => sum + count, 0),
    );
    if (perBin.every((count) => count >= ENOUGH_DRAWS)) break;
  }
  const calibration = computeCalibration(seed, drawn);
  if (calibration.matches < MIN_DRAWS) {
    throw new Problem(
      "invalid_request",
      `corpus ${info.name}: ${calibration.matches} random matches in ${calibration.proteins} proteins are too few for a calibration. The built-in one stays in use.`,
    );
  }
  const text = calibrationText(calibration, info.hash);
  record?.();
  writeDurably(calibrationPath(info.path), [new TextEncoder().encode(text)]);
  removeCalibrations(info.path, METHOD);
  return calibration;
}
