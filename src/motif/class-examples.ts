import { average } from "./disorder/disorder.ts";
import { type Automaton, BRANCH, ACCEPT, SET } from "./automaton.ts";
import { findMatches, findPathNodes, lookaroundTable } from "./automaton-matches.ts";
import { type ClassExample, NULL_SHARES } from "./class-learning.ts";
import { alignWindow } from "./class-model.ts";
import type { Corpus } from "./corpus.ts";
import type { Family } from "./divergence.ts";
import { computeContributions, computeEvidence } from "./evidence.ts";
import { decodeFamily } from "./family-record.ts";
import { DEFAULTS } from "./options.ts";
import { randomMatches } from "./p-value.ts";
import type { Pattern } from "./pattern.ts";
import { type ScoringModel, SCORING_MODELS } from "./prediction.ts";
import { openMotif } from "./retention.ts";
import { readResidues } from "./search.ts";

/** A match of a class in a protein of a corpus, before it is known whether it is an instance. */
export interface ClassMatch extends Pick<ClassExample, "window" | "contributions" | "thresholds"> {
  /** Index of the protein in the corpus. */
  protein: number;
  /** First and last residue, from 1. */
  start: number;
  end: number;
}

/** Columns of a pattern with more are left out. */
const MAX_COLUMNS = 60;

/** SET nodes of an automaton, in the order of a match along them. */
export function listColumns({ program }: Automaton): number[] {
  const { op, first, second, entry, size } = program;
  const before = countSets(size, (node, reach) => {
    if (node === entry) reach(node, 0);
    if (op[node] === ACCEPT) return;
    reach(first[node], op[node] === SET ? 1 : 0, node);
    if (op[node] === BRANCH) reach(second[node], 0, node);
  });
  const after = countSets(size, (node, reach) => {
    if (op[node] === ACCEPT) return reach(node, 0);
    reach(node, op[node] === SET ? 1 : 0, first[node]);
    if (op[node] === BRANCH) reach(node, 0, second[node]);
  });
  return [...before.keys()]
    .filter((node) => op[node] === SET)
    .sort((a, b) => after[b] - after[a] || before[a] - before[b] || a - b)
    .slice(0, MAX_COLUMNS);
}

/** Fewest SET nodes on the way from one end of the automaton to each node. */
function countSets(
  size: number,
  visit: (node: number, reach: (to: number, sets: number, from?: number) => void) => void,
): Float64Array {
  const fewest = new Float64Array(size).fill(Infinity);
  let isChanged = true;
  const reach = (to: number, sets: number, from?: number): void => {
    const count = sets + (from === undefined ? 0 : fewest[from]);
    if (count >= fewest[to]) return;
    fewest[to] = count;
    isChanged = true;
  };
  while (isChanged) {
    isChanged = false;
    for (let node = size - 1; node >= 0; node--) visit(node, reach);
  }
  return fewest;
}

/** Matches of a pattern in the query of a family, with the contributions by both scoring models. */
export function findClassMatches(
  family: Family,
  { automaton }: Pattern,
  columns: readonly number[],
): Omit<ClassMatch, "protein">[] {
  const { query, homologs, prediction } = family;
  const lookarounds = lookaroundTable(automaton, query);
  const found = findMatches(automaton, query, lookarounds);
  if (found.length === 0) return [];
  const motifs = SCORING_MODELS.map((model) => openMotif(automaton, model));
  const surroundings = {
    homologs: homologs.length,
    chainOrder: average(prediction.order),
    anchors: automaton.anchors,
  };
  const thresholds = byModel((model) => {
    const { shares, z } = randomMatches(model, surroundings);
    return NULL_SHARES.map((share) => z[shares.indexOf(share)]);
  });
  return found.flatMap((match) => {
    if (match.end - match.start > DEFAULTS.maxMatchLength) return [];
    const nodes = findPathNodes(automaton, query, match, lookarounds);
    if (!nodes) return [];
    const path = nodes.map((node) => automaton.program.mask[node]);
    const terms = motifs.map((motif) => computeEvidence(motif, family, match, path, found.length).terms);
    if (terms.includes(null)) return [];
    return [
      {
        start: match.start + 1,
        end: match.end,
        window: alignWindow(columns, query, match, nodes),
        contributions: byModel((_, i) => computeContributions(terms[i]!)),
        thresholds,
      },
    ];
  });
}

const byModel = <Value>(value: (model: ScoringModel, index: number) => Value): Record<ScoringModel, Value> =>
  Object.fromEntries(SCORING_MODELS.map((model, i) => [model, value(model, i)])) as Record<
    ScoringModel,
    Value
  >;

/** Matches of a pattern in a protein with a stored family; and the homologs of the protein, as indexes in the corpus. */
export function classMatchesIn(
  record: Uint8Array,
  protein: number,
  corpus: Corpus,
  pattern: Pattern,
): { matches: ClassMatch[]; homologs: number[] } {
  const query = readResidues(corpus, protein);
  const { family, indexes } = decodeFamily(record, query, (index) => readResidues(corpus, index));
  const matches = findClassMatches(family, pattern, listColumns(pattern.automaton));
  return { matches: matches.map((match) => Object.assign(match, { protein })), homologs: indexes };
}
