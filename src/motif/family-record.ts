import { GAP } from "./alphabet.ts";
import { residueFrequencies } from "./abundance.ts";
import type { DisorderPrediction } from "./disorder/disorder.ts";
import { type Family, measureHomolog } from "./divergence.ts";
import type { Row } from "./msa.ts";
import type { Tree } from "./tree.ts";
import { treeWeights } from "./weight.ts";

/**
 * A family in few bytes, from which it is read back to the bit. Residues come from the corpus, weights from the tree, and
 * whatever is measured on rows from the rows. In order: number of homologs; index and edit path of each; parent and
 * branch length of each node of the tree; order and disorder of each residue of the query. Whole numbers are LEB128.
 */
export function encodeFamily(family: Family, indexes: readonly number[]): Uint8Array {
  const writer = new Writer();
  writer.varint(indexes.length);
  for (const [i, index] of indexes.entries()) {
    writer.varint(index);
    writePath(writer, family.homologs[i].row);
  }
  const { parent, length } = family.tree;
  // The root has no parent; every other node a higher one.
  for (let node = 0; node < parent.length - 1; node++) writer.varint(parent[node] - node);
  for (let node = 0; node < parent.length - 1; node++) writer.float(length[node]);
  writePrediction(writer, family.prediction);
  return writer.finish();
}

/** @param readResidues the corpus's sequences, by index. */
export function decodeFamily(
  record: Uint8Array,
  query: Uint8Array,
  readResidues: (index: number) => Uint8Array,
): { family: Family; indexes: number[] } {
  const reader = new Reader(record);
  const count = reader.varint();
  const indexes: number[] = [];
  const rows: Row[] = [];
  for (let i = 0; i < count; i++) {
    const index = reader.varint();
    indexes.push(index);
    rows.push(readPath(reader, readResidues(index), query.length));
  }
  const tree = readTree(reader, count + 1);
  const weights = treeWeights(tree);
  const homologs = rows.map((row, i) =>
    Object.assign(measureHomolog(query, row), { weight: weights[i + 1] }),
  );
  const prediction = readPrediction(reader, query.length);
  return { family: { query, homologs, tree, composition: residueFrequencies(query), prediction }, indexes };
}

/**
 * The record in another corpus that has the same homologs.
 * @param length residues of the query
 * @param indexOf index there of the sequence that has this index here
 */
export function moveFamily(
  record: Uint8Array,
  length: number,
  indexOf: (index: number) => number,
): Uint8Array {
  const reader = new Reader(record);
  const writer = new Writer();
  const count = reader.varint();
  writer.varint(count);
  for (let i = 0; i < count; i++) {
    writer.varint(indexOf(reader.varint()));
    writer.copy(reader.skipPath(length));
  }
  writer.copy(reader.readRemaining());
  return writer.finish();
}

/** Operations of an edit path: aligned pairs, gaps in the homolog, residues inserted in it. */
const PAIRS = 0;
const GAPS = 1;
const INSERTIONS = 2;
const OPERATIONS = 3;

/** Runs of operations, until all columns and then all counted residues are used. */
function writePath(writer: Writer, { anchored, before }: Row): void {
  let residue = 0;
  let [operation, run] = [PAIRS, 0];
  const add = (kind: number, times: number): void => {
    if (kind !== operation) {
      if (run > 0) writer.varint(run * OPERATIONS + operation);
      [operation, run] = [kind, 0];
    }
    run += times;
  };
  for (let column = 0; column < anchored.length; column++) {
    if (before[column] > residue) add(INSERTIONS, before[column] - residue);
    residue = before[column];
    add(anchored[column] === GAP ? GAPS : PAIRS, 1);
    if (anchored[column] !== GAP) residue++;
  }
  add(OPERATIONS, 0);
  writer.varint(before[anchored.length] - residue);
}

function readPath(reader: Reader, residues: Uint8Array, length: number): Row {
  const anchored = new Uint8Array(length).fill(GAP);
  const before = new Int32Array(length + 1);
  let residue = 0;
  for (let column = 0; column < length;) {
    const value = reader.varint();
    const run = Math.floor(value / OPERATIONS);
    const operation = value % OPERATIONS;
    if (operation === INSERTIONS) {
      residue += run;
      continue;
    }
    for (const end = column + run; column < end; column++) {
      before[column] = residue;
      if (operation === PAIRS) anchored[column] = residues[residue++];
    }
  }
  before[length] = residue + reader.varint();
  return { residues, anchored, before };
}

function readTree(reader: Reader, leaves: number): Tree {
  const nodes = leaves < 2 ? leaves : leaves === 2 ? 3 : 2 * leaves - 2;
  const parent = new Int32Array(nodes).fill(-1);
  const length = new Float64Array(nodes);
  for (let node = 0; node < nodes - 1; node++) parent[node] = node + reader.varint();
  for (let node = 0; node < nodes - 1; node++) length[node] = reader.float();
  return { leaves, parent, length };
}

/** Predictions have six decimals: 20 bits each. */
const DECIMALS = 1e6;
const BITS = 20;
/** Disorder is only shown, in hundredths. */
const SHOWN = 100;

function writePrediction(writer: Writer, { order, disorder }: DisorderPrediction): void {
  for (let i = 0; i < order.length; i += 2) {
    const [one, two] = [order[i], order[i + 1] ?? 0].map((value) => Math.round(value * DECIMALS));
    writer.bytes(5, two * 2 ** BITS + one);
  }
  for (const value of disorder) writer.bytes(1, Math.round(value * SHOWN));
}

function readPrediction(reader: Reader, length: number): DisorderPrediction {
  const order = new Float32Array(length);
  for (let i = 0; i < length; i += 2) {
    const both = reader.bytes(5);
    order[i] = (both % 2 ** BITS) / DECIMALS;
    if (i + 1 < length) order[i + 1] = Math.floor(both / 2 ** BITS) / DECIMALS;
  }
  const disorder = Float32Array.from({ length }, () => reader.bytes(1) / SHOWN);
  return { order, disorder };
}

class Writer {
  #bytes = new Uint8Array(4096);
  #view = new DataView(this.#bytes.buffer);
  #length = 0;

  varint(value: number): void {
    this.#reserve(5);
    for (; value >= 128; value >>>= 7) this.#bytes[this.#length++] = (value & 127) | 128;
    this.#bytes[this.#length++] = value;
  }

  float(value: number): void {
    this.#reserve(8);
    this.#view.setFloat64(this.#length, value, true);
    this.#length += 8;
  }

  /** A whole number in `count` bytes, the lowest first. */
  bytes(count: number, value: number): void {
    this.#reserve(count);
    for (let i = 0; i < count; i++, value = Math.floor(value / 256))
      this.#bytes[this.#length++] = value % 256;
  }

  copy(bytes: Uint8Array): void {
    this.#reserve(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  finish(): Uint8Array {
    return this.#bytes.slice(0, this.#length);
  }

  #reserve(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    const grown = new Uint8Array(2 * (this.#bytes.length + count));
    grown.set(this.#bytes);
    this.#bytes = grown;
    this.#view = new DataView(grown.buffer);
  }
}

class Reader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  varint(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.#bytes[this.#at++];
      value |= (byte & 127) << shift;
      if (byte < 128) return value >>> 0;
    }
  }

  float(): number {
    this.#at += 8;
    return this.#view.getFloat64(this.#at - 8, true);
  }

  /** The bytes of an edit path. */
  skipPath(length: number): Uint8Array {
    const from = this.#at;
    for (let column = 0; column < length;) {
      const value = this.varint();
      if (value % OPERATIONS !== INSERTIONS) column += Math.floor(value / OPERATIONS);
    }
    this.varint();
    return this.#bytes.subarray(from, this.#at);
  }

  readRemaining(): Uint8Array {
    return this.#bytes.subarray(this.#at);
  }

  bytes(count: number): number {
    let value = 0;
    for (let i = count - 1; i >= 0; i--) value = value * 256 + this.#bytes[this.#at + i];
    this.#at += count;
    return value;
  }
}
