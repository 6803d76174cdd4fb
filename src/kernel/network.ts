import { MODULE } from "./module.ts";

/** Exports of assembly/network.ts. */
interface Exports {
  memory: WebAssembly.Memory;
  dense(...numbers: number[]): void;
  embed(...numbers: number[]): void;
  sigmoid(...numbers: number[]): void;
  addPositive(...numbers: number[]): void;
  gatedMeans(...numbers: number[]): void;
}

/** Sizes of a network. */
export interface NetworkShape {
  /** Residues seen by the first layer; odd. */
  span: number;
  /** Values per residue between layers; a multiple of 8. */
  width: number;
  blocks: number;
  /** Results per residue, each 0..1; at most 8. */
  outputs: number;
}

const PAGE = 65_536;
const FLOAT = 4;
/** Codes with weights: the standard residues and one for all others. */
const CODES = 21;
/** Rows of a place of the first layer's table; the last is the padding, all zero. */
const TABLE_ROWS = 32;
const PADDING = TABLE_ROWS - 1;
/** Outputs of a dense layer are computed eight at a time, rows four at a time. */
const LANES = 8;
const ROWS = 4;

/** Number of weights of a network of this shape. */
export function weightCount({ span, width, blocks, outputs }: NetworkShape): number {
  const block = (width + 1) * 4 * width + (2 * width + 1) * width + (3 * width + 1) * width;
  return width + span * CODES * width + blocks * block + (width + 1) * outputs;
}

/**
 * A small recurrent network over residues: a convolution of the sequence, then blocks of gated running means in
 * both directions and a convolution of three residues, each added to its input (after minimal gated units, Feng
 * et al. 2024, arXiv:2410.01201). Results are the same to the bit on every processor.
 */
export class Network {
  readonly #shape: NetworkShape;
  readonly #exports: Exports;
  readonly #table: number;
  readonly #layers: number[];
  readonly #free: number;

  /** @param weights in the order of weightCount: biases before weights, a row of outputs per input. */
  constructor(shape: NetworkShape, weights: Float32Array) {
    if (weights.length !== weightCount(shape)) throw new RangeError("the weights do not fit the shape");
    const module = new WebAssembly.Module(Uint8Array.fromBase64(MODULE));
    this.#exports = new WebAssembly.Instance(module).exports as unknown as Exports;
    this.#shape = shape;
    const { span, width, blocks, outputs } = shape;
    let at = 1024;
    let read = 0;
    const place = (floats: number): number => {
      const address = at;
      at += floats * FLOAT;
      this.#reserve(at);
      return address;
    };
    const copy = (to: number, floats: number): void => {
      this.#floats.set(weights.subarray(read, read + floats), to / FLOAT);
      read += floats;
    };
    this.#table = place((1 + span * TABLE_ROWS) * width);
    copy(this.#table, width);
    for (let k = 0; k < span; k++) {
      const first = this.#table + (1 + k * TABLE_ROWS) * width * FLOAT;
      copy(first, CODES * width);
      for (let code = CODES; code < PADDING; code++) {
        const other = (first + (CODES - 1) * width * FLOAT) / FLOAT;
        this.#floats.copyWithin(first / FLOAT + code * width, other, other + width);
      }
    }
    const layers = Array.from({ length: blocks }, () => [
      [width, 4 * width],
      [2 * width, width],
      [3 * width, width],
    ]).flat();
    this.#layers = layers.map(([ins, outs]) => {
      const address = place((ins! + 1) * outs!);
      copy(address, (ins! + 1) * outs!);
      return address;
    });
    const last = place((width + 1) * LANES);
    for (let k = 0; k <= width; k++) copy(last + k * LANES * FLOAT, outputs);
    this.#layers.push(last);
    this.#free = at;
  }

  get #floats(): Float32Array {
    return new Float32Array(this.#exports.memory.buffer);
  }

  #reserve(bytes: number): void {
    const missing = bytes - this.#exports.memory.buffer.byteLength;
    if (missing > 0) this.#exports.memory.grow(Math.ceil(missing / PAGE));
  }

  /** Results for each residue code: one array per output. */
  predict(residues: Uint8Array): Float32Array[] {
    const { span, width, blocks, outputs } = this.#shape;
    const { dense, embed, sigmoid, addPositive, gatedMeans } = this.#exports;
    const count = residues.length;
    const rows = Math.ceil(count / ROWS) * ROWS;
    const row = width * FLOAT;
    const x = this.#free + row;
    const y = x + (rows + 1) * row;
    const gates = y + rows * row;
    const h = gates + 4 * rows * row;
    const codes = h + 2 * rows * row;
    const margin = span >> 1;
    this.#reserve(codes + rows + span);
    new Uint8Array(this.#exports.memory.buffer)
      .fill(0, this.#free, y)
      .fill(PADDING, codes, codes + rows + span);
    new Uint8Array(this.#exports.memory.buffer).set(residues, codes + margin);
    const floats = this.#floats;
    for (let i = 0; i < count; i++)
      floats.copyWithin((y + i * row) / FLOAT, this.#table / FLOAT, this.#table / FLOAT + width);
    embed(codes, span, this.#table + row, width, y, count);
    addPositive(x, y, count * width);
    for (let block = 0; block < blocks; block++) {
      const [gate, out, convolution] = this.#layers.slice(3 * block);
      dense(x, width, width, gate!, 4 * width, gates, rows);
      gatedMeans(gates, width, h, count);
      dense(h, 2 * width, 2 * width, out!, width, y, rows);
      addPositive(x, y, count * width);
      dense(x - row, width, 3 * width, convolution!, width, y, rows);
      addPositive(x, y, count * width);
    }
    dense(x, width, width, this.#layers.at(-1)!, LANES, y, rows);
    sigmoid(y, rows * LANES);
    const results = this.#floats.subarray(y / FLOAT, y / FLOAT + rows * LANES);
    return Array.from({ length: outputs }, (_, k) =>
      Float32Array.from({ length: count }, (__, i) => results[i * LANES + k]!),
    );
  }
}
