import { residueFrequencies } from "./abundance.ts";
import { GAP, STANDARD } from "./alphabet.ts";
import { type DisorderPrediction, predictDisorder } from "./disorder/disorder.ts";
import { distances } from "./distance.ts";
import type { Row } from "./msa.ts";
import { IDENTITY_FLANK, IDENTITY_PRIOR, type Options } from "./options.ts";
import { neighbourJoining, type Tree } from "./tree.ts";
import { treeWeights } from "./weight.ts";

const RESIDUES = STANDARD.length;

/** A homolog with the properties of its row that scoring needs. */
export interface AlignedHomolog {
  row: Row;
  /** Identical fraction of the aligned pairs of standard residues, 0..1. */
  identity: number;
  /** Fraction of the query's residues aligned to a residue, 0..1. */
  coverage: number;
  /**
   * First and last aligned residue of the query, 0-based. Beyond them the homolog is missing; gaps between
   * them are losses.
   */
  first: number;
  last: number;
  /** `identical[p]` is the number of identical residues before column p; L + 1 entries. */
  identical: Int32Array;
  /** Tree weight (weight.ts). */
  weight: number;
}

/** Query, homologs and their tree; the same for all patterns of a job. */
export interface Family {
  query: Uint8Array;
  homologs: AlignedHomolog[];
  /** Leaf 0 is the query, leaf i is homolog i − 1. */
  tree: Tree;
  /** Residue frequencies of the query. */
  composition: Float64Array;
  /** Disorder and order of the query. */
  prediction: DisorderPrediction;
}

/** Properties of an aligned row; the weight is 0 until `buildFamily` sets it. */
export function measureHomolog(query: Uint8Array, row: Row): AlignedHomolog {
  const length = query.length;
  const identical = new Int32Array(length + 1);
  let first = -1;
  let last = -1;
  let covered = 0;
  let pairs = 0;
  for (let column = 0; column < length; column++) {
    const residue = row.anchored[column];
    let same = 0;
    if (residue !== GAP) {
      if (first < 0) first = column;
      last = column;
      covered++;
      if (residue < RESIDUES && query[column] < RESIDUES) {
        pairs++;
        if (residue === query[column]) same = 1;
      }
    }
    identical[column + 1] = identical[column] + same;
  }
  return {
    row,
    identity: pairs > 0 ? identical[length] / pairs : 0,
    coverage: length > 0 ? covered / length : 0,
    first,
    last,
    identical,
    weight: 0,
  };
}

/** True if a homolog has the coverage and the identity. */
export function passesThresholds({ identity, coverage }: AlignedHomolog, options: Options): boolean {
  return (
    identity >= options.minIdentity && identity <= options.maxIdentity && coverage >= options.minCoverage
  );
}

/** Computes distances, tree and weights. */
export function buildFamily(query: Uint8Array, homologs: readonly AlignedHomolog[]): Family {
  const rows = [query, ...homologs.map(({ row }) => row.anchored)];
  const tree = neighbourJoining(distances(rows), rows.length);
  const weights = treeWeights(tree);
  return {
    query,
    homologs: homologs.map((homolog, i) => ({ ...homolog, weight: weights[i + 1] })),
    tree,
    composition: residueFrequencies(query),
    prediction: predictDisorder(query),
  };
}

/**
 * Local identity around the columns [start, end), 0..1: over the IDENTITY_FLANK columns on each side between
 * the homolog's first and last aligned residue, with the global identity as IDENTITY_PRIOR pseudocounts.
 */
export function localIdentity(homolog: AlignedHomolog, start: number, end: number): number {
  const { identical, first, last } = homolog;
  const length = identical.length - 1;
  const from = Math.max(0, start - IDENTITY_FLANK);
  const to = Math.min(length, end + IDENTITY_FLANK);
  const same = identical[to] - identical[from] - (identical[end] - identical[start]);
  const columns = overlap(first, last, from, to) - overlap(first, last, start, end);
  const global = identical[length] / Math.max(overlap(first, last, 0, length), 1);
  return (same + IDENTITY_PRIOR * global) / (columns + IDENTITY_PRIOR);
}

/** Number of columns of [from, to) between the first and the last aligned residue. */
export function overlap(first: number, last: number, from: number, to: number): number {
  return first < 0 ? 0 : Math.max(0, Math.min(to, last + 1) - Math.max(from, first));
}
