import { ACCEPT, type Automaton, BRANCH, END, LOOKAROUND, type Program, SET, START } from "./automaton.ts";
import { MAX_MATCHING_STEPS } from "./options.ts";

/** Positions are 0-based; `end` is exclusive. */
export interface Match {
  start: number;
  end: number;
}

/** One byte per lookaround and position 0..n: whether the lookaround holds there. Depends only on the sequence. */
export type LookaroundTable = Uint8Array[];

export function lookaroundTable(automaton: Automaton, residues: Uint8Array): LookaroundTable {
  const table: LookaroundTable = [];
  for (const { program, lookbehind } of automaton.lookarounds) {
    table.push(Uint8Array.from(matchEnds(program, residues, lookbehind, table), (end) => (end >= 0 ? 1 : 0)));
  }
  return table;
}

/**
 * For each position the end of the preferred match that starts there, -1 without one. `lookbehind` reads
 * backwards, so that a match ends at the position. Evaluates each node once per position: time is sequence ×
 * nodes.
 */
function matchEnds(
  program: Program,
  residues: Uint8Array,
  lookbehind: boolean,
  lookarounds: LookaroundTable,
): Int32Array {
  const length = residues.length;
  const { size, op, first, second, mask, entry } = program;
  const ends = new Int32Array(length + 1);
  let current = new Int32Array(size);
  let next = new Int32Array(size).fill(-1);
  for (let step = length; step >= 0; step--) {
    const position = lookbehind ? length - step : step;
    const letter = step === length ? 0 : 1 << residues[lookbehind ? position - 1 : position];
    for (let node = 0; node < size; node++) {
      const kind = op[node];
      if (kind === SET) {
        current[node] = (mask[node] & letter) !== 0 ? next[first[node]] : -1;
      } else if (kind === BRANCH) {
        const end = current[first[node]];
        current[node] = end >= 0 ? end : current[second[node]];
      } else if (kind === ACCEPT) {
        current[node] = position;
      } else {
        const holds = assertionHolds(kind, second[node], position, length, lookarounds);
        current[node] = holds ? current[first[node]] : -1;
      }
    }
    ends[position] = current[entry];
    [current, next] = [next, current];
  }
  return ends;
}

/** True if an assertion holds before the residue at `position`. */
function assertionHolds(
  op: number,
  index: number,
  position: number,
  length: number,
  lookarounds: LookaroundTable,
): boolean {
  if (op === START) return position === 0;
  if (op === END) return position === length;
  return lookarounds[index][position] === (op === LOOKAROUND ? 1 : 0);
}

/**
 * All matches, overlapping ones included, as Python's `re.finditer('(?=(…))')` gives them: for each start the
 * preferred match. Empty matches are dropped.
 */
export function findMatches(
  automaton: Automaton,
  residues: Uint8Array,
  lookarounds: LookaroundTable,
): Match[] {
  const matches: Match[] = [];
  for (const [start, end] of matchEnds(automaton.program, residues, false, lookarounds).entries()) {
    if (end > start) matches.push({ start, end });
  }
  return matches;
}

/**
 * Residues admitted at each position of a match, as masks (bit c for code c), along the preferred path that
 * ends at `end`; null if there is no such path. Memory is match length × nodes.
 */
export function findMatchPath(
  automaton: Automaton,
  residues: Uint8Array,
  match: Match,
  lookarounds: LookaroundTable,
): Int32Array | null {
  const { mask } = automaton.program;
  return findPathNodes(automaton, residues, match, lookarounds)?.map((node) => mask[node]) ?? null;
}

/** The SET node that consumes each residue of a match along the same path; null likewise. */
export function findPathNodes(
  automaton: Automaton,
  residues: Uint8Array,
  { start, end }: Match,
  lookarounds: LookaroundTable,
): Int32Array | null {
  const { size, op, first, second, mask, entry } = automaton.program;
  const reachesEnd = new Uint8Array((end - start + 1) * size);
  for (let position = end; position >= start; position--) {
    const current = (position - start) * size;
    for (let node = 0; node < size; node++) {
      let value = 0;
      if (op[node] === SET) {
        if (position < end && (mask[node] >>> residues[position]) & 1)
          value = reachesEnd[current + size + first[node]];
      } else if (op[node] === BRANCH) {
        value = reachesEnd[current + first[node]] | reachesEnd[current + second[node]];
      } else if (op[node] === ACCEPT) {
        value = position === end ? 1 : 0;
      } else if (assertionHolds(op[node], second[node], position, residues.length, lookarounds)) {
        value = reachesEnd[current + first[node]];
      }
      reachesEnd[current + node] = value;
    }
  }
  if (reachesEnd[entry] === 0) return null;
  const path = new Int32Array(end - start);
  let position = start;
  let node = entry;
  while (op[node] !== ACCEPT) {
    if (op[node] === SET) path[position++ - start] = node;
    const current = (position - start) * size;
    node = op[node] === BRANCH && reachesEnd[current + first[node]] === 0 ? second[node] : first[node];
  }
  return path;
}

/** Buffers of a simulation, reused between calls. */
export interface Simulation {
  automaton: Automaton;
  /** Nodes visited so far. Beyond MAX_MATCHING_STEPS nothing matches: check this before using a result. */
  steps: number;
  /** SET nodes that can consume the residue at the current position and at the next. */
  current: Int32Array;
  next: Int32Array;
  stack: Int32Array;
  /** Round in which each node was last reached. */
  reached: Int32Array;
  round: number;
}

export function openSimulation(automaton: Automaton): Simulation {
  const size = automaton.program.size;
  return {
    automaton,
    steps: 0,
    current: new Int32Array(size),
    next: new Int32Array(size),
    stack: new Int32Array(2 * size + 1),
    reached: new Int32Array(size),
    round: 0,
  };
}

/** Returned by `addReachable` once the accepting node is reached. */
const ACCEPTING_STATE = -1;

/** The residues [from, to) of a sequence with its lookaround table. */
interface Segment {
  residues: Uint8Array;
  from: number;
  to: number;
  lookarounds: LookaroundTable;
}

/** Adds the SET nodes reachable from `node` without consuming to a list of `count`; the new count, or ACCEPTING_STATE. */
function addReachable(
  simulation: Simulation,
  { residues, lookarounds }: Segment,
  list: Int32Array,
  count: number,
  [node, position, mayAccept]: [node: number, position: number, mayAccept: boolean],
): number {
  const { op, first, second } = simulation.automaton.program;
  const { stack, reached, round } = simulation;
  let depth = 0;
  stack[depth++] = node;
  while (depth > 0) {
    const top = stack[--depth];
    if (reached[top] === round) continue;
    reached[top] = round;
    simulation.steps++;
    const kind = op[top];
    if (kind === SET) {
      list[count++] = top;
    } else if (kind === BRANCH) {
      stack[depth++] = second[top];
      stack[depth++] = first[top];
    } else if (kind === ACCEPT) {
      if (mayAccept) return ACCEPTING_STATE;
    } else if (assertionHolds(kind, second[top], position, residues.length, lookarounds)) {
      stack[depth++] = first[top];
    }
  }
  return count;
}

/** True if the residues [from, to) match as a whole. Unknown letters match only `.`: they are not known to be retained. */
export function matchesExactly(
  simulation: Simulation,
  residues: Uint8Array,
  from: number,
  to: number,
  lookarounds: LookaroundTable,
): boolean {
  return simulate(simulation, { residues, from, to, lookarounds }, true);
}

/** True if the pattern matches anywhere within the residues [from, to), an empty match included. */
export function matchesWithin(
  simulation: Simulation,
  residues: Uint8Array,
  from: number,
  to: number,
  lookarounds: LookaroundTable,
): boolean {
  return simulate(simulation, { residues, from, to, lookarounds }, false);
}

function simulate(simulation: Simulation, segment: Segment, whole: boolean): boolean {
  const { first, entry, known, mask: all } = simulation.automaton.program;
  const mask = whole ? known : all;
  const { residues, from, to } = segment;
  simulation.round++;
  let count = addReachable(simulation, segment, simulation.current, 0, [entry, from, !whole || from === to]);
  for (let position = from; position < to && count !== ACCEPTING_STATE; position++) {
    if ((whole && count === 0) || simulation.steps > MAX_MATCHING_STEPS) return false;
    const { current, next } = simulation;
    const letter = 1 << residues[position];
    const mayAccept = !whole || position + 1 === to;
    simulation.round++;
    let reached = 0;
    for (let i = 0; i < count && reached !== ACCEPTING_STATE; i++) {
      if ((mask[current[i]] & letter) === 0) continue;
      const target = first[current[i]];
      reached = addReachable(simulation, segment, next, reached, [target, position + 1, mayAccept]);
    }
    simulation.steps += count;
    if (!whole && reached !== ACCEPTING_STATE) {
      reached = addReachable(simulation, segment, next, reached, [entry, position + 1, mayAccept]);
    }
    simulation.current = next;
    simulation.next = current;
    count = reached;
  }
  return count === ACCEPTING_STATE;
}
