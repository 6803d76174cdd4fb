import { readFileSync, rmSync, statSync } from "node:fs";
import { basename } from "node:path";
import { type Calibration, METHOD } from "../../motif/index.ts";
import { Problem } from "../../problem.ts";

/** Where the null of a corpus is, from where the corpus is: it belongs to that content and that version of the method. */
export function calibrationPath(corpusPath: string): string {
  return corpusPath.replace(/(\.labc)?$/, `.${METHOD}.null`);
}

/** Files of another format are left aside, as if there were none: their numbers mean something else. */
const FORMAT = 2;

/** The file's text: one line of JSON, and the SHA-256 of it. */
export function calibrationText(calibration: Calibration, corpusHash: string): string {
  const body = JSON.stringify({ format: FORMAT, method: METHOD, corpus: corpusHash, calibration });
  return `${body}\n${sha256Of(body)}\n`;
}

function sha256Of(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("hex");
}

/** Tells the states of a corpus's null apart: "" where there is none. */
export function calibrationStamp(corpusPath: string): string {
  const stat = statSync(calibrationPath(corpusPath), { throwIfNoEntry: false });
  return stat ? `${stat.mtimeMs} ${stat.size}` : "";
}

/** What the text of such a file says; null where its format is another. */
export interface ReadCalibration {
  calibration: Calibration;
  /** SHA-256 of the text's first line. */
  hash: string;
  /** The content that it belongs to, and the version of the method. */
  corpus: string;
  method: string;
}

/** @param where what the text is, for the error. @throws Problem bad_corpus where it was altered */
export function readCalibrationText(text: string, where: string): ReadCalibration | null {
  const [body, hash] = text.split("\n");
  if (sha256Of(body) !== hash) {
    throw new Problem(
      "bad_corpus",
      `${where} was altered. Make it anew with labd corpus calibrate, or delete it.`,
    );
  }
  const { format, ...rest } = JSON.parse(body) as Omit<ReadCalibration, "hash"> & { format: number };
  return format === FORMAT ? { ...rest, hash } : null;
}

/**
 * The null of a corpus, with the hash of its content; null where none was made.
 * @throws Problem bad_corpus where it was altered
 */
export function readCalibration(corpusPath: string): ReadCalibration | null {
  const path = calibrationPath(corpusPath);
  if (!statSync(path, { throwIfNoEntry: false })) return null;
  return readCalibrationText(readFileSync(path, "utf8"), `corpora/${basename(path)}`);
}

/** The file of a corpus's null as it is; null where none was made. */
export function calibrationFileText(corpusPath: string): string | null {
  const path = calibrationPath(corpusPath);
  return statSync(path, { throwIfNoEntry: false }) ? readFileSync(path, "utf8") : null;
}

/** Takes the null of a corpus away, where there is one: the built-in one serves again. */
export function removeCalibration(corpusPath: string): void {
  rmSync(calibrationPath(corpusPath), { force: true });
}

/** Takes a null away that was altered, so that the corpus can be opened and another be made. */
export function dropAltered(corpusPath: string): void {
  try {
    readCalibration(corpusPath);
  } catch {
    removeCalibration(corpusPath);
  }
}
