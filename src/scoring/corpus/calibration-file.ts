import { readFileSync, rmSync, statSync } from "node:fs";
import { basename } from "node:path";
import { type Calibration, METHOD } from "../../motif/index.ts";
import { Problem } from "../../problem.ts";

/** Path of a corpus's calibration, which belongs to that content and method version. */
export function calibrationPath(corpusPath: string): string {
  return corpusPath.replace(/(\.labc)?$/, `.${METHOD}.null`);
}

/** Files of another format are ignored: their numbers mean something else. */
const FORMAT = 2;

/** A line of JSON, and its SHA-256 on the second line. */
export function calibrationText(calibration: Calibration, corpusHash: string): string {
  const body = JSON.stringify({ format: FORMAT, method: METHOD, corpus: corpusHash, calibration });
  return `${body}\n${sha256Of(body)}\n`;
}

function sha256Of(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}

/** Changes whenever the file does; "" without one. */
export function calibrationStamp(corpusPath: string): string {
  const stat = statSync(calibrationPath(corpusPath), { throwIfNoEntry: false });
  return stat ? `${stat.mtimeMs} ${stat.size}` : "";
}

export interface ReadCalibration {
  calibration: Calibration;
  /** SHA-256 of the first line. */
  hash: string;
  /** SHA-256 of the corpus, and the method version. */
  corpus: string;
  method: string;
}

/** Null for another format. @param where names the text in errors. @throws Problem bad_corpus if it was altered */
export function readCalibrationText(text: string, where: string): ReadCalibration | null {
  const [body, hash] = text.split("\n");
  if (sha256Of(body) !== hash) {
    throw new Problem("bad_corpus", `${where} was altered. Run labd corpus calibrate again, or delete it.`);
  }
  const { format, ...rest } = JSON.parse(body) as Omit<ReadCalibration, "hash"> & { format: number };
  return format === FORMAT ? { ...rest, hash } : null;
}

/** The calibration of a corpus; null without one. @throws Problem bad_corpus if it was altered */
export function readCalibration(corpusPath: string): ReadCalibration | null {
  const text = calibrationFileText(corpusPath);
  return text === null ? null : readCalibrationText(text, `corpora/${basename(calibrationPath(corpusPath))}`);
}

/** The file's text; null without one. */
export function calibrationFileText(corpusPath: string): string | null {
  const path = calibrationPath(corpusPath);
  return statSync(path, { throwIfNoEntry: false }) ? readFileSync(path, "utf8") : null;
}

export function removeCalibration(corpusPath: string): void {
  rmSync(calibrationPath(corpusPath), { force: true });
}

/** Removes an altered calibration, so that the corpus can be opened and calibrated again. */
export function dropAltered(corpusPath: string): void {
  try {
    readCalibration(corpusPath);
  } catch {
    removeCalibration(corpusPath);
  }
}
