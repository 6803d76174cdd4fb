import type { NetworkShape } from "../../src/kernel/network.ts";

type Rows = number[][];

const sigmoid = (x: number): number => 1 / (1 + Math.exp(-x));
const positive = (x: number): number => Math.max(0, x);

/** Biases, then a row of outputs per input. */
interface Layer {
  biases: number[];
  rows: Rows;
}

/** Reads layers in the order of weightCount. */
function layerReader(weights: Float32Array): (inputs: number, outputs: number) => Layer {
  let at = 0;
  const take = (count: number): number[] => [...weights.subarray(at, (at += count))];
  return (inputs, outputs) => ({
    biases: take(outputs),
    rows: Array.from({ length: inputs }, () => take(outputs)),
  });
}

const apply = ({ biases, rows }: Layer, inputs: number[]): number[] =>
  biases.map((bias, o) => bias + inputs.reduce((sum, input, k) => sum + input * rows[k]![o]!, 0));

/** Gated running means of columns `from` to `from + width` of the gates and of the values, from the first row on. */
function runningMeans(gates: Rows, from: number, width: number): Rows {
  let mean = Array<number>(width).fill(0);
  return gates.map((row) => {
    const values = row.slice(row.length / 2);
    mean = mean.map((old, k) => {
      const keep = sigmoid(row[from + k]!);
      return keep * old + (1 - keep) * values[from + k]!;
    });
    return mean;
  });
}

/** Computes like src/kernel/network.ts, with ordinary loops in double precision: one row of outputs per residue. */
export function predictPlainly(shape: NetworkShape, weights: Float32Array, residues: Uint8Array): Rows {
  const { span, width, blocks, outputs } = shape;
  const read = layerReader(weights);
  const add = (x: Rows, y: Rows): Rows =>
    x.map((row, i) => row.map((value, k) => value + positive(y[i]![k]!)));
  const zeros = Array<number>(width).fill(0);

  const first = read(span * 21, width);
  const hotInputs = (i: number): number[] =>
    Array.from({ length: span * 21 }, (_, k) => {
      const code = residues[i + Math.floor(k / 21) - (span - 1) / 2];
      return code !== undefined && Math.min(code, 20) === k % 21 ? 1 : 0;
    });
  let x = Array.from(residues, (_, i) => apply(first, hotInputs(i)).map(positive));

  for (let block = 0; block < blocks; block++) {
    const [gate, out, convolution] = [read(width, 4 * width), read(2 * width, width), read(3 * width, width)];
    const gates = x.map((row) => apply(gate, row));
    const ahead = runningMeans(gates, 0, width);
    const back = runningMeans(gates.toReversed(), width, width).reverse();
    x = add(
      x,
      x.map((_, i) => apply(out, [...ahead[i]!, ...back[i]!])),
    );
    x = add(
      x,
      x.map((row, i) => apply(convolution, [...(x[i - 1] ?? zeros), ...row, ...(x[i + 1] ?? zeros)])),
    );
  }
  const last = read(width, outputs);
  return x.map((row) => apply(last, row).map(sigmoid));
}
