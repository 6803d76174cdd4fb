import { alignLocal, encode, partnersOf } from "../../motif/index.ts";
import { Problem } from "../../problem.ts";
import type { StructureModel } from "./model-schemas.ts";
import { MODEL, type ModelChain, type ModelFile } from "./model-file.ts";

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
  const found = alignChains(query, chains);
  const aligned = chains.map((chain, i) => counted(query, chain, found[i]));
  const best = aligned.reduce((first, one) => (one.identical > first.identical ? one : first));
  const { chain, pairs, identical } = best;
  const identity = identical / Math.max(1, best.compared);
  if (best.compared < MIN_RESIDUES || identity < MIN_IDENTITY)
    throw new Problem(
      "invalid_request",
      `no chain is this protein. The most similar, ${chainName(chain)}, has ${identical} identical of ${best.compared} aligned residues; at least ${MIN_RESIDUES} residues and ${100 * MIN_IDENTITY} % identity are needed.`,
      MODEL,
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
    missing: findSpans(positions.filter((i) => at(i) === undefined)),
  };
}

const chainName = ({ id }: ModelChain): string => (id === "" ? "the only one" : `chain ${id}`);

interface AlignedChain {
  chain: ModelChain;
  /** Per residue of the query the place of its residue in the chain; -1 without one. */
  pairs: Int32Array;
  /** Pairs of known residues, and identical ones. */
  compared: number;
  identical: number;
}

const chainLetters = ({ residues }: ModelChain): string => residues.map(({ letter }) => letter).join("");

function counted(query: string, chain: ModelChain, pairs: Int32Array): AlignedChain {
  let [compared, identical] = [0, 0];
  pairs.forEach((place, i) => {
    const letter = place < 0 ? "X" : chain.residues[place].letter;
    if (letter === "X" || query[i] === "X") return;
    compared++;
    if (letter === query[i]) identical++;
  });
  return { chain, pairs, compared, identical };
}

/** The pairs of each chain; equal chains are aligned once. @throws Problem too_expensive */
function alignChains(query: string, chains: readonly ModelChain[]): Int32Array[] {
  const all = chains.map(chainLetters);
  // Most models are of the whole query, or of a stretch of it.
  const others = [...new Set(all)].filter((letters) => !query.includes(letters));
  const length = others.reduce((sum, letters) => sum + letters.length, 0);
  if (query.length * length > MAX_PAIRS)
    throw new Problem(
      "too_expensive",
      `chains of ${length} residues are too many to be aligned with ${query.length} residues. Keep only the chain of the protein.`,
      MODEL,
    );
  const aligned = alignLocal(encode(query), others.map(encode)).map(partnersOf);
  return all.map((letters) => {
    const start = query.indexOf(letters);
    return (
      aligned[others.indexOf(letters)] ??
      Int32Array.from(query, (_, i) => (i >= start && i < start + letters.length ? i - start : -1))
    );
  });
}

function findSpans(places: readonly number[]): StructureModel["missing"] {
  const spans: StructureModel["missing"] = [];
  for (const place of places) {
    const last = spans.at(-1);
    if (last?.end === place) last.end = place + 1;
    else spans.push({ start: place + 1, end: place + 1 });
  }
  return spans;
}
