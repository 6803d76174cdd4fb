import { alignLocal, encode, GAP } from "../../motif/index.ts";
import { Problem } from "../../problem.ts";
import type { StructureModel } from "../api/model-schemas.ts";
import type { ModelChain, ModelFile } from "./model-file.ts";

/** A chain of less is another protein. */
const MIN_IDENTITY = 0.9;
const MIN_RESIDUES = 10;
/** Pairs of residues to compare, which takes a tenth of a second. */
const MAX_PAIRS = 40_000_000;

type Mapped = Pick<
  StructureModel,
  "chain" | "chains" | "identity" | "residues" | "pLddt" | "mismatches" | "missing"
>;

/** Aligns the chain that is the query with it. @throws Problem invalid_request for a model of another protein */
export function mapModel(query: string, { chains, isPrediction }: ModelFile): Mapped {
  const aligned = chains.map((chain) => alignChain(query, chain));
  const best = aligned.reduce((first, one) => (one.identical > first.identical ? one : first));
  const { chain, pairs, identical } = best;
  const identity = identical / Math.max(1, best.compared);
  if (best.compared < MIN_RESIDUES || identity < MIN_IDENTITY)
    throw new Problem(
      "invalid_request",
      `model: no chain is this protein. The most similar, ${nameOf(chain)}, has ${identical} identical of ${best.compared} aligned residues; at least ${MIN_RESIDUES} residues and ${100 * MIN_IDENTITY} % identity are needed.`,
    );
  const at = (i: number) => (pairs[i] < 0 ? undefined : chain.residues[pairs[i]]);
  const positions = Array.from(query, (_, i) => i);
  return {
    chain: chain.id,
    chains: chains.map(({ id }) => id),
    identity: Math.round(identity * 1e4) / 1e4,
    residues: positions.map((i) => at(i)?.number ?? null),
    pLddt: isPrediction ? positions.map((i) => at(i)?.bFactor ?? null) : null,
    mismatches: positions.flatMap((i) => {
      const letter = at(i)?.letter ?? query[i];
      return letter === query[i] || letter === "X" || query[i] === "X" ? [] : `${query[i]}${i + 1}${letter}`;
    }),
    missing: spansOf(positions.filter((i) => at(i) === undefined)),
  };
}

const nameOf = ({ id }: ModelChain): string => (id === "" ? "the only one" : `chain ${id}`);

interface AlignedChain {
  chain: ModelChain;
  /** Per residue of the query the place of its residue in the chain; -1 without one. */
  pairs: Int32Array;
  /** Pairs of known residues, and identical ones. */
  compared: number;
  identical: number;
}

function alignChain(query: string, chain: ModelChain): AlignedChain {
  const letters = chain.residues.map(({ letter }) => letter).join("");
  const pairs = pairsOf(query, letters);
  let [compared, identical] = [0, 0];
  pairs.forEach((place, i) => {
    if (place < 0 || letters[place] === "X" || query[i] === "X") return;
    compared++;
    if (letters[place] === query[i]) identical++;
  });
  return { chain, pairs, compared, identical };
}

function pairsOf(query: string, letters: string): Int32Array {
  const pairs = new Int32Array(query.length).fill(-1);
  // Most models are of the whole query, or of a stretch of it.
  const start = query.indexOf(letters);
  if (start >= 0) return pairs.map((_, i) => (i >= start && i < start + letters.length ? i - start : -1));
  if (query.length * letters.length > MAX_PAIRS)
    throw new Problem(
      "too_expensive",
      `model: a chain of ${letters.length} residues is too long to be aligned with ${query.length} residues.`,
    );
  const [{ row }] = alignLocal(encode(query), [encode(letters)]);
  return pairs.map((_, i) => (row.anchored[i] === GAP ? -1 : row.before[i]));
}

function spansOf(places: readonly number[]): StructureModel["missing"] {
  const spans: StructureModel["missing"] = [];
  for (const place of places) {
    const last = spans.at(-1);
    if (last?.end === place) last.end = place + 1;
    else spans.push({ start: place + 1, end: place + 1 });
  }
  return spans;
}
