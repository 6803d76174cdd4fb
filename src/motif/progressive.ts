import { GAP } from "./alphabet.ts";
import { distances } from "./distance.ts";
import { guideTree } from "./guide-tree.ts";
import type { Row } from "./msa.ts";
import { PROFILE_BAND } from "./options.ts";
import { alignProfiles, type Band, type ProfileAlignment, makeProfile } from "./profile.ts";

/** Maximum cells, of one byte each, of a widened band. */
const MAX_CELLS = 50_000_000;

/** Aligned sequences: for each member the ascending columns of its residues. */
interface Group {
  members: number[];
  columns: Int32Array[];
  length: number;
}

interface SequenceData {
  /** Residue codes; number 0 is the query. */
  sequences: readonly Uint8Array[];
  distances: Float64Array;
  /** For each residue the query's residue aligned to it in the pairwise alignment; -1 without one. */
  anchors: readonly Int32Array[];
}

/**
 * Realigns homologs from pairwise alignments with the query: progressively along a guide tree (Feng &
 * Doolittle, J. Mol. Evol. 1987, 25:351), as profiles. Returns query-anchored rows in the same order.
 *
 * Profiles are aligned within PROFILE_BAND columns of the pairwise alignments; if the path touches the edge,
 * in wider bands. Deterministic. Time grows with homologs × residues × band.
 */
export function alignProgressively(
  query: Uint8Array,
  rows: readonly Row[],
  band: number = PROFILE_BAND,
): Row[] {
  if (rows.length < 2 || query.length === 0) return [...rows];
  const anchored = [query, ...rows.map((row) => row.anchored)];
  const data: SequenceData = {
    sequences: [query, ...rows.map(({ residues }) => residues)],
    distances: distances(anchored),
    anchors: [Int32Array.from(query.keys()), ...rows.map(findAnchors)],
  };
  const groups = data.sequences.map((sequence, number): Group => ({
    members: [number],
    columns: [Int32Array.from(sequence.keys())],
    length: sequence.length,
  }));
  for (const [left, right] of guideTree(data.distances, anchored.length)) {
    groups.push(join(groups[left], groups[right], data, band));
  }
  return anchoredRows(groups.at(-1)!, data.sequences);
}

function findAnchors({ residues, anchored, before }: Row): Int32Array {
  const anchors = new Int32Array(residues.length).fill(-1);
  for (let p = 0; p < anchored.length; p++) if (anchored[p] !== GAP) anchors[before[p]] = p;
  return anchors;
}

function join(a: Group, b: Group, data: SequenceData, band: number): Group {
  const [profileA, profileB] = [a, b].map(({ members, columns, length }) =>
    makeProfile(
      members.map((k) => data.sequences[k]),
      columns,
      length,
    ),
  );
  const centre = bandCentre(a, b, data);
  let joined: ProfileAlignment;
  let width = band;
  do {
    joined = alignProfiles(profileA, profileB, bandAround(centre, b.length, width));
    width *= 4;
  } while (joined.touchesBand && width < 4 * b.length && 2 * width * a.length <= MAX_CELLS);
  const { first, second, length } = joined;
  return {
    members: [...a.members, ...b.members],
    columns: [
      ...a.columns.map((residueColumns) => residueColumns.map((column) => first[column])),
      ...b.columns.map((residueColumns) => residueColumns.map((column) => second[column])),
    ],
    length,
  };
}

/**
 * For each prefix of group a (0..length) the approximate length of the corresponding prefix of b,
 * interpolated between residues of the two closest members that are aligned to the same residue of the query.
 */
function bandCentre(a: Group, b: Group, { distances: matrix, anchors }: SequenceData): Float64Array {
  const size = anchors.length;
  let [x, y] = [0, 0];
  let minDistance = Infinity;
  for (let i = 0; i < a.members.length; i++) {
    for (let j = 0; j < b.members.length; j++) {
      const distance = matrix[a.members[i] * size + b.members[j]];
      if (distance < minDistance) [minDistance, x, y] = [distance, i, j];
    }
  }
  const [ofA, ofB] = [anchors[a.members[x]], anchors[b.members[y]]];
  const centre = new Float64Array(a.length + 1);
  let last = 0;
  const set = (at: number, value: number): void => {
    const step = (value - centre[last]) / (at - last);
    for (let k = last + 1; k < at; k++) centre[k] = centre[last] + step * (k - last);
    centre[at] = value;
    last = at;
  };
  let j = 0;
  for (let i = 0; i < ofA.length; i++) {
    if (ofA[i] < 0) continue;
    while (j < ofB.length && ofB[j] < ofA[i]) j++;
    if (j < ofB.length && ofB[j] === ofA[i]) set(a.columns[x][i] + 1, b.columns[y][j] + 1);
  }
  if (last < a.length) set(a.length, b.length);
  return centre;
}

/** Band of `width` columns around the centre in both directions. */
function bandAround(centre: Float64Array, columns: number, width: number): Band {
  const rows = centre.length - 1;
  const low = new Int32Array(rows + 1);
  const high = new Int32Array(rows + 1);
  for (let i = 0; i <= rows; i++) {
    const before = Math.floor(centre[Math.max(0, i - width)]);
    const after = Math.ceil(centre[Math.min(rows, i + width)]);
    low[i] = Math.max(0, Math.min(before, Math.floor(centre[i]) - width));
    high[i] = Math.min(columns, Math.max(after, Math.ceil(centre[i]) + width));
  }
  low[0] = 0;
  high[rows] = columns;
  return { low, high };
}

function anchoredRows({ members, columns }: Group, sequences: readonly Uint8Array[]): Row[] {
  const columnsByNumber = new Map(members.map((number, k) => [number, columns[k]]));
  const queryColumns = columnsByNumber.get(0)!;
  return sequences.slice(1).map((residues, k) => {
    const homologColumns = columnsByNumber.get(k + 1)!;
    const anchored = new Uint8Array(queryColumns.length).fill(GAP);
    const before = new Int32Array(queryColumns.length + 1);
    let i = 0;
    for (let p = 0; p < queryColumns.length; p++) {
      while (i < homologColumns.length && homologColumns[i] < queryColumns[p]) i++;
      before[p] = i;
      if (i < homologColumns.length && homologColumns[i] === queryColumns[p]) anchored[p] = residues[i++];
    }
    before[queryColumns.length] = i;
    return { residues, anchored, before };
  });
}
