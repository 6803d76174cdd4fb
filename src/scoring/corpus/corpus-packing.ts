import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import {
  CorpusBuilder,
  CorpusError,
  type FastaEntry,
  fastaReader,
  looksLikeNucleotides,
  openCorpus,
  packCorpus,
  type PackedCorpus,
} from "../../motif/index.ts";
import { Problem } from "../../problem.ts";
import { writeDurably } from "./durable-file.ts";
import { decompressed, type FastaSource } from "./fasta-stream.ts";

/** Bytes of FASTA after which what was packed is set down: so much is done again after a kill, and less is not worth a file. */
const SEGMENT_BYTES = 32 * 1024 * 1024;
/** Ending of what is set down. */
const BEGUN = ".begun";

export interface PackingRequest {
  name: string;
  bytes: FastaSource;
  /** Where work that was cut off is set down, and found again. */
  directory: string;
  /** Called with the numbers so far, after every piece that was read. */
  report?: ((sequences: number, residues: number) => void) | undefined;
  /** Called with a sentence where not everything begins at the beginning. */
  tell?: ((sentence: string) => void) | undefined;
  segmentBytes?: number | undefined;
}

export interface Packed extends PackedCorpus {
  sequences: number;
  residues: number;
  /** SHA-256 of the FASTA, decompressed. */
  source: string;
}

/** Where in its input a segment ends. It is the segment's name, so that both reach the disk together or not at all. */
interface SegmentEnd {
  /** Bytes that were read, and the SHA-256 of them. */
  read: number;
  digest: string;
  /** The last of those bytes in base64: a record that is not complete. Its header is on this line. */
  rest: string;
  line: number;
}

/** So many sequences tell whether a file holds nucleotides. */
const TELLING = 100;

const sha256 = (): Bun.CryptoHasher => new Bun.CryptoHasher("sha256");

/** SHA-256 of a FASTA, decompressed. */
export async function digestOf(bytes: FastaSource): Promise<string> {
  const hasher = sha256();
  for await (const piece of decompressed(bytes)) hasher.update(piece);
  return hasher.digest("hex");
}

const segmentPath = (directory: string, name: string, n: number): string =>
  join(directory, `${sha256().update(name).digest("hex").slice(0, 16)}.${n}${BEGUN}`);

/** What packing of this name has set down, in order. */
function segmentsOf(directory: string, name: string): string[] {
  const paths: string[] = [];
  for (let n = 0; ; n++) {
    const path = segmentPath(directory, name, n);
    if (!existsSync(path)) return paths;
    paths.push(path);
  }
}

export function dropSegments(directory: string, name: string): void {
  // The last one first: a kill in between leaves a beginning, not a gap.
  for (const path of segmentsOf(directory, name).reverse()) rmSync(path);
}

/**
 * Packs FASTA as a stream, and sets down what is packed from time to time, as corpora of their own. Where an earlier
 * attempt of the same name was cut off, its input is only read up to where that was, and has to be the same up to there.
 * What was set down is the caller's to drop once the corpus is on the disk.
 * @throws FastaError, CorpusError; Problem conflict where standard input is not what was begun
 */
export async function packFasta(request: PackingRequest): Promise<Packed> {
  const { name, bytes, directory, report, tell, segmentBytes = SEGMENT_BYTES } = request;
  const builder = new CorpusBuilder(name);
  const paths = segmentsOf(directory, name);
  const end = restore(paths, builder);
  const hasher = sha256();
  let read = 0;
  let reader = fastaReader();
  let held: FastaEntry[] = [];
  /** What was fed last: at least all of the record that is not complete. */
  const tail: Uint8Array[] = [];
  let tailBytes = 0;
  let since = 0;
  /** The first sequences, as long as all of them look like nucleotides. */
  let nucleotides = 0;
  let hasProteins = builder.sequenceCount > 0;

  const refuseNucleotides = (): never => {
    dropSegments(directory, name);
    throw new Problem(
      "invalid_request",
      `${name}: the sequences look like DNA or RNA. A corpus is of proteins: translate them first.`,
    );
  };
  const look = (entry: FastaEntry): void => {
    if (hasProteins) return;
    if (!looksLikeNucleotides(entry.residues)) hasProteins = true;
    else if (++nucleotides === TELLING) refuseNucleotides();
  };
  const feed = (piece: Uint8Array): void => {
    for (const entry of reader.feed(piece)) {
      look(entry);
      builder.add(entry);
      held.push(entry);
    }
    tail.push(piece);
    tailBytes += piece.length;
    while (tail.length > 1 && tailBytes - tail[0].length >= reader.pending.bytes)
      tailBytes -= tail.shift()!.length;
    report?.(builder.sequenceCount, builder.residueCount);
  };
  const setDown = (): void => {
    const { bytes: open, line } = reader.pending;
    const rest = Buffer.concat(tail)
      .subarray(tailBytes - open)
      .toString("base64");
    const at: SegmentEnd = { read, digest: hasher.copy().digest("hex"), rest, line };
    const path = segmentPath(directory, name, paths.length);
    writeDurably(path, [packCorpus(JSON.stringify(at), held, sha256)]);
    paths.push(path);
    held = [];
    since = 0;
  };

  for await (const whole of decompressed(bytes)) {
    let piece = whole;
    if (end && read < end.read) {
      const known = piece.subarray(0, end.read - read);
      hasher.update(known);
      read += known.length;
      if (read < end.read) continue;
      if (hasher.copy().digest("hex") !== end.digest) return begin(request);
      tell?.(
        `Going on behind the ${builder.sequenceCount.toLocaleString("en")} sequences that were packed before.`,
      );
      reader = fastaReader(end.line);
      feed(Buffer.from(end.rest, "base64"));
      piece = piece.subarray(known.length);
    }
    hasher.update(piece);
    read += piece.length;
    since += piece.length;
    feed(piece);
    if (since >= segmentBytes && held.length > 0) setDown();
  }
  if (end && read < end.read) return begin(request);
  for (const entry of reader.finish()) {
    look(entry);
    builder.add(entry);
  }
  if (!hasProteins && nucleotides > 0) refuseNucleotides();
  report?.(builder.sequenceCount, builder.residueCount);
  const { sequenceCount: sequences, residueCount: residues } = builder;
  return { ...builder.finish(sha256), sequences, residues, source: hasher.digest("hex") };
}

/** Begins anew where the input is not that of what was set down. */
async function begin(request: PackingRequest): Promise<Packed> {
  const { name, bytes, directory, tell } = request;
  dropSegments(directory, name);
  if (bytes instanceof ReadableStream) {
    throw new Problem(
      "conflict",
      `corpus ${name}: the input is not the one with which it was begun before. What was begun is dropped: give the same command again.`,
    );
  }
  tell?.("The file is not the one with which this corpus was begun before: beginning anew.");
  return packFasta(request);
}

/** Adds what was set down; gives where it ends. Segments that are damaged, and those behind them, are dropped. */
function restore(paths: string[], builder: CorpusBuilder): SegmentEnd | null {
  let end: SegmentEnd | null = null;
  for (const [n, path] of paths.entries()) {
    try {
      const segment = openCorpus(readFileSync(path));
      segment.verify(sha256);
      builder.addAll(segment);
      end = JSON.parse(segment.name) as SegmentEnd;
    } catch (error) {
      if (!(error instanceof CorpusError)) throw error;
      for (const damaged of paths.splice(n)) rmSync(damaged);
      break;
    }
  }
  return end;
}
