import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import {
  CORPUS_VERSION,
  CorpusBuilder,
  CorpusError,
  type FastaEntry,
  FastaReader,
  looksLikeNucleotides,
  openCorpus,
  packCorpus,
  type PackedCorpus,
} from "../../motif/index.ts";
import { Problem } from "../../problem.ts";
import { writeDurably } from "../../platform/durable-file.ts";
import { readAsFasta } from "./corpus-source.ts";
import type { FastaSource } from "./fasta-stream.ts";

/** Bytes of FASTA per segment, hence the work that a kill can cost. */
const SEGMENT_BYTES = 32 * 1024 * 1024;
const SEGMENT_ENDING = ".begun";

export interface PackingRequest {
  name: string;
  bytes: FastaSource;
  /** Directory for the segments of an unfinished corpus. */
  directory: string;
  /** Called with the numbers so far, after every chunk. */
  report?: ((sequences: number, residues: number) => void) | undefined;
  /** Called with a sentence if earlier work is continued or discarded. */
  tell?: ((sentence: string) => void) | undefined;
  segmentBytes?: number | undefined;
}

export interface Packed extends PackedCorpus {
  sequences: number;
  residues: number;
  /** SHA-256 of the FASTA. */
  source: string;
}

/** The end of a segment in the input. Stored as the segment's name, so that both reach the disk together or not at all. */
interface SegmentEnd {
  /** Number of bytes read, and their SHA-256. */
  read: number;
  digest: string;
  /** Incomplete record at the end of those bytes, in base64, and the line of its header. */
  rest: string;
  line: number;
}

/** Sequences that look like nucleotides before the input is rejected. */
const NUCLEOTIDE_SAMPLE = 100;

const sha256 = (): Bun.CryptoHasher => new Bun.CryptoHasher("sha256");

/** SHA-256 of the FASTA. */
export async function hashSource(bytes: FastaSource): Promise<string> {
  const hasher = sha256();
  for await (const chunk of readAsFasta(bytes)) hasher.update(chunk);
  return hasher.digest("hex");
}

const segmentPath = (directory: string, name: string, n: number): string =>
  join(directory, `${sha256().update(name).digest("hex").slice(0, 16)}.${n}${SEGMENT_ENDING}`);

function listSegments(directory: string, name: string): string[] {
  const paths: string[] = [];
  for (let n = 0; ; n++) {
    const path = segmentPath(directory, name, n);
    if (!existsSync(path)) return paths;
    paths.push(path);
  }
}

export function dropSegments(directory: string, name: string): void {
  // Last one first: a kill in between must not leave a gap.
  for (const path of listSegments(directory, name).reverse()) rmSync(path);
}

/**
 * Packs proteins as a stream. After every SEGMENT_BYTES a segment is stored, which is a corpus itself; repeating an interrupted
 * call with the same name and input continues behind the last segment. The caller drops the segments once the corpus is on disk.
 * @throws FastaError, CorpusError; Problem conflict if standard input differs from the interrupted one
 */
export async function packFasta(request: PackingRequest): Promise<Packed> {
  const { name, bytes, directory, tell } = request;
  const packed = await new Packing(request).run();
  if (packed) return packed;
  dropSegments(directory, name);
  if (bytes instanceof ReadableStream) {
    throw new Problem(
      "conflict",
      `corpus ${name}: the input differs from that of the interrupted attempt, which was discarded. Run the command again.`,
    );
  }
  tell?.("The file differs from that of the interrupted attempt: starting again.");
  return (await new Packing(request).run())!;
}

class Packing {
  readonly #builder: CorpusBuilder;
  readonly #segments: string[];
  /** End of the last segment of an interrupted attempt. */
  readonly #resumed: SegmentEnd | null;
  readonly #hasher = sha256();
  #reader = new FastaReader();
  #read = 0;
  #sinceSegment = 0;
  /** Records that are in no segment yet. */
  #held: FastaEntry[] = [];
  /** Last chunks, which contain at least the incomplete record. */
  readonly #tail: Uint8Array[] = [];
  #tailBytes = 0;
  #nucleotides = 0;
  #hasProteins: boolean;

  constructor(private readonly request: PackingRequest) {
    this.#builder = new CorpusBuilder(request.name);
    this.#segments = listSegments(request.directory, request.name);
    this.#resumed = restore(this.#segments, this.#builder);
    this.#hasProteins = this.#builder.sequenceCount > 0;
  }

  /** Null if the input is not that of the interrupted attempt. */
  async run(): Promise<Packed | null> {
    const { bytes, segmentBytes = SEGMENT_BYTES } = this.request;
    for await (const chunk of readAsFasta(bytes)) {
      const rest =
        this.#resumed && this.#read < this.#resumed.read ? this.#skip(chunk, this.#resumed) : chunk;
      if (rest === null) return null;
      this.#hasher.update(rest);
      this.#read += rest.length;
      this.#sinceSegment += rest.length;
      if (rest.length > 0) this.#feed(rest);
      if (this.#sinceSegment >= segmentBytes && this.#held.length > 0) this.#storeSegment();
    }
    if (this.#resumed && this.#read < this.#resumed.read) return null;
    for (const entry of this.#reader.finish()) this.#add(entry);
    if (!this.#hasProteins && this.#nucleotides > 0) this.#rejectNucleotides();
    const { sequenceCount: sequences, residueCount: residues } = this.#builder;
    this.request.report?.(sequences, residues);
    return { ...this.#builder.finish(), sequences, residues, source: this.#hasher.digest("hex") };
  }

  /** The part of a chunk behind the resumed segments; null if the bytes before differ from theirs. */
  #skip(chunk: Uint8Array, end: SegmentEnd): Uint8Array | null {
    const known = chunk.subarray(0, end.read - this.#read);
    this.#hasher.update(known);
    this.#read += known.length;
    if (this.#read === end.read) {
      if (this.#hasher.copy().digest("hex") !== end.digest) return null;
      const count = this.#builder.sequenceCount.toLocaleString("en");
      this.request.tell?.(`Continuing after the ${count} sequences that were packed before.`);
      this.#reader = new FastaReader(end.line);
      this.#feed(Buffer.from(end.rest, "base64"));
    }
    return chunk.subarray(known.length);
  }

  #feed(chunk: Uint8Array): void {
    for (const entry of this.#reader.feed(chunk)) {
      this.#add(entry);
      this.#held.push(entry);
    }
    this.#tail.push(chunk);
    this.#tailBytes += chunk.length;
    while (this.#tail.length > 1 && this.#tailBytes - this.#tail[0].length >= this.#reader.pending.bytes)
      this.#tailBytes -= this.#tail.shift()!.length;
    this.request.report?.(this.#builder.sequenceCount, this.#builder.residueCount);
  }

  #add(entry: FastaEntry): void {
    if (!this.#hasProteins) {
      if (!looksLikeNucleotides(entry.residues)) this.#hasProteins = true;
      else if (++this.#nucleotides === NUCLEOTIDE_SAMPLE) this.#rejectNucleotides();
    }
    this.#builder.add(entry);
  }

  #rejectNucleotides(): never {
    const { directory, name } = this.request;
    dropSegments(directory, name);
    throw new Problem(
      "invalid_request",
      `${name}: the sequences look like DNA or RNA. A corpus contains proteins: translate them first.`,
    );
  }

  #storeSegment(): void {
    const { bytes: open, line } = this.#reader.pending;
    const rest = Buffer.concat(this.#tail).subarray(this.#tailBytes - open);
    const end: SegmentEnd = {
      read: this.#read,
      digest: this.#hasher.copy().digest("hex"),
      rest: rest.toString("base64"),
      line,
    };
    const path = segmentPath(this.request.directory, this.request.name, this.#segments.length);
    writeDurably(path, [packCorpus(JSON.stringify(end), this.#held)]);
    this.#segments.push(path);
    this.#held = [];
    this.#sinceSegment = 0;
  }
}

/** Adds the stored segments and returns the end of the last. Damaged segments, and those behind them, are dropped. */
function restore(paths: string[], builder: CorpusBuilder): SegmentEnd | null {
  let end: SegmentEnd | null = null;
  for (const [n, path] of paths.entries()) {
    try {
      const segment = openCorpus(readFileSync(path));
      segment.verify();
      if (segment.version !== CORPUS_VERSION) throw new CorpusError("packed by an earlier version of labd");
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
