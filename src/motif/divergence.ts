import { residueFrequencies } from "./abundance.ts";
import { GAP, STANDARD } from "./alphabet.ts";
import { distances } from "./distance.ts";
import type { Row } from "./msa.ts";
import { IDENTITY_FLANK, IDENTITY_PRIOR, type Options } from "./options.ts";
import { neighbourJoining, type Tree } from "./tree.ts";
import { treeWeights } from "./weight.ts";

const RESIDUES = STANDARD.length;

/** One homolog with what the score asks of its row again and again. */
export interface AlignedHomolog {
  row: Row;
  /** Identical residues per aligned pair of standard residues, 0..1. */
  identity: number;
  /** Part of the query's residues that are aligned to a residue, 0..1. */
  coverage: number;
  /** First and last aligned residue of the query, from 0; beyond them the homolog is missing, within them gaps are loss. */
  first: number;
  last: number;
  /** `identical[p]`: identical residues before column p; L + 1 counts. */
  identical: Int32Array;
  /** Share in the tree: see weight.ts. */
  weight: number;
}

/** What depends on query and homologs alone, once per job. */
export interface Family {
  query: Uint8Array;
  homologs: AlignedHomolog[];
  /** Leaf 0 is the query, leaf i the homolog i − 1. */
  tree: Tree;
  /** Parts of the twenty residues in the query. */
  composition: Float64Array;
}

/** A homolog by its row; its weight is 0 until it stands in a family. */
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

/** Whether an aligned homolog keeps the rules of coverage and identity. */
export function passesThresholds(homolog: AlignedHomolog, options: Options): boolean {
  return homolog.identity >= options.minIdentity && homolog.coverage >= options.minCoverage;
}

/** A family from homologs in order: their distances, tree and weights. */
export function buildFamily(query: Uint8Array, homologs: readonly AlignedHomolog[]): Family {
  const rows = [query, ...homologs.map(({ row }) => row.anchored)];
  const tree = neighbourJoining(distances(rows), rows.length);
  const weights = treeWeights(tree);
  return {
    query,
    homologs: homologs.map((homolog, i) => ({ ...homolog, weight: weights[i + 1] })),
    tree,
    composition: residueFrequencies(query),
  };
}

/**
 * Identity of the surroundings of the columns [start, end): of the FLANK columns on each side that lie between the homolog's
 * first and last aligned residue, with the global identity as IDENTITY_PRIOR further columns. 0..1.
 */
export function localIdentity(homolog: AlignedHomolog, start: number, end: number): number {
  const { identical, first, last } = homolog;
  const length = identical.length - 1;
  const from = Math.max(0, start - IDENTITY_FLANK);
  const to = Math.min(length, end + IDENTITY_FLANK);
  const same = identical[to] - identical[from] - (identical[end] - identical[start]);
  const seen = overlap(first, last, from, to) - overlap(first, last, start, end);
  const global = identical[length] / Math.max(overlap(first, last, 0, length), 1);
  return (same + IDENTITY_PRIOR * global) / (seen + IDENTITY_PRIOR);
}

/** Columns of [from, to) that lie between the first and the last aligned residue. */
export function overlap(first: number, last: number, from: number, to: number): number {
  return first < 0 ? 0 : Math.max(0, Math.min(to, last + 1) - Math.max(from, first));
}
