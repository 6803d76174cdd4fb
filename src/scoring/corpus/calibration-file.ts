import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { basename, dirname } from "node:path";
import { type Calibration, METHOD } from "../../motif/index.ts";
import { Problem } from "../../problem.ts";
import { writeDurably } from "../../platform/durable-file.ts";

/** Path of a corpus's calibration, which belongs to that content and method version. */
export function calibrationPath(corpusPath: string): string {
  return `${stripExtension(corpusPath)}.${METHOD}.null`;
}

const stripExtension = (corpusPath: string): string => corpusPath.replace(/\.labc$/, "");

/** Files of another format are rejected: their numbers mean something else. */
const FORMAT = 3;

/** The method of a calibration by an earlier version of labd, if the corpus has no other; its numbers are not used. */
export function outdatedMethod(corpusPath: string): string | null {
  return calibrationStamp(corpusPath) === "" ? (methodsBeside(corpusPath).at(-1) ?? null) : null;
}

/** Methods of all calibrations of a corpus. */
function methodsBeside(corpusPath: string): string[] {
  const directory = dirname(corpusPath);
  const stem = `${basename(stripExtension(corpusPath))}.`;
  return (existsSync(directory) ? readdirSync(directory) : []).flatMap((file) =>
    file.startsWith(stem) && file.endsWith(".null") ? [file.slice(stem.length, -".null".length)] : [],
  );
}

/** A line of JSON, and its SHA-256 on the second line. */
export function calibrationText(calibration: Calibration, corpusHash: string): string {
  const body = JSON.stringify({ format: FORMAT, method: METHOD, corpus: corpusHash, calibration });
  return `${body}\n${hashText(body)}\n`;
}

function hashText(text: string): string {
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

/**
 * @param where names the text in errors
 * @throws Problem bad_corpus if it was altered, or made by another version of labd
 */
export function readCalibrationText(text: string, where: string): ReadCalibration {
  const [body, hash] = text.split("\n");
  if (hashText(body) !== hash) {
    throw new Problem("bad_corpus", `${where} was altered. Run labd corpus calibrate again, or delete it.`);
  }
  const { format, ...rest } = JSON.parse(body) as Omit<ReadCalibration, "hash"> & { format: number };
  if (format !== FORMAT || rest.method !== METHOD) {
    throw new Problem(
      "bad_corpus",
      `${where} was made by another version of labd. Run labd corpus calibrate again, or delete it.`,
    );
  }
  return { ...rest, hash };
}

/** The calibration of a corpus; null without one. @throws Problem bad_corpus likewise */
export function readCalibration(corpusPath: string): ReadCalibration | null {
  const text = calibrationFileText(corpusPath);
  return text === null ? null : readCalibrationText(text, `corpora/${basename(calibrationPath(corpusPath))}`);
}

/** Version of the method with a corpus: that of labd, and the hash of the calibration. @throws Problem bad_corpus */
export function readMethod(corpusPath: string): string {
  const own = readCalibration(corpusPath);
  return own ? `${METHOD} ${own.hash}` : METHOD;
}

/** The file's text; null without one. */
export function calibrationFileText(corpusPath: string): string | null {
  const path = calibrationPath(corpusPath);
  return statSync(path, { throwIfNoEntry: false }) ? readFileSync(path, "utf8") : null;
}

/** Copies the calibration of a corpus to a corpus with identical sequences. */
export function copyCalibration(from: string, to: string, corpusHash: string): void {
  dropRejected(from);
  const own = readCalibration(from);
  if (own)
    writeDurably(calibrationPath(to), [
      new TextEncoder().encode(calibrationText(own.calibration, corpusHash)),
    ]);
}

/** Removes the calibrations of a corpus, also those by earlier versions. @param kept method of the one to keep */
export function removeCalibrations(corpusPath: string, kept?: string): void {
  for (const method of methodsBeside(corpusPath))
    if (method !== kept) rmSync(`${stripExtension(corpusPath)}.${method}.null`, { force: true });
}

/** Removes a rejected calibration, so that the corpus can be opened and calibrated again. */
export function dropRejected(corpusPath: string): void {
  try {
    readCalibration(corpusPath);
  } catch {
    removeCalibrations(corpusPath);
  }
}
