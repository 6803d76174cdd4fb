import { ACCEPT, type Automaton, BRANCH, END, LOOKAROUND, type Program, SET, START } from "./automaton.ts";
import { MAX_MATCHING_STEPS } from "./options.ts";

/** Positions count from 0; `end` is behind the last residue. */
export interface Match {
  start: number;
  end: number;
}

/**
 * Where each look of an automaton holds: per look one byte per position 0..n of the sequence.
 * It depends on the sequence alone, so callers keep it per sequence.
 */
export type LookaroundTable = Uint8Array[];

export function lookaroundTable(automaton: Automaton, residues: Uint8Array): LookaroundTable {
  const lookarounds: LookaroundTable = [];
  for (const { program, behind } of automaton.lookarounds)
    lookarounds.push(evaluate(program, residues, behind, lookarounds));
  return lookarounds;
}

/** Whether the program leads from each position to acceptance, reading forwards, or backwards where it looks behind. */
function evaluate(
  program: Program,
  residues: Uint8Array,
  behind: boolean,
  lookarounds: LookaroundTable,
): Uint8Array {
  const length = residues.length;
  const { size, op, first, second, mask, entry } = program;
  const result = new Uint8Array(length + 1);
  let current = new Uint8Array(size);
  let next = new Uint8Array(size);
  for (let step = length; step >= 0; step--) {
    const position = behind ? length - step : step;
    const residue = step === length ? -1 : residues[behind ? position - 1 : position];
    for (let node = 0; node < size; node++) {
      let value = 0;
      if (op[node] === SET) value = residue >= 0 && (mask[node] >>> residue) & 1 ? next[first[node]] : 0;
      else if (op[node] === BRANCH) value = current[first[node]] | current[second[node]];
      else if (op[node] === ACCEPT) value = 1;
      else if (assertionHolds(op[node], second[node], position, length, lookarounds))
        value = current[first[node]];
      current[node] = value;
    }
    result[position] = current[entry];
    [current, next] = [next, current];
  }
  return result;
}

/** Whether an assertion holds between the residues position - 1 and position. */
function assertionHolds(
  op: number,
  look: number,
  position: number,
  length: number,
  lookarounds: LookaroundTable,
): boolean {
  if (op === START) return position === 0;
  if (op === END) return position === length;
  return lookarounds[look][position] === (op === LOOKAROUND ? 1 : 0);
}

/**
 * All matches, overlapping ones included, as `re.finditer('(?=(…))')` of Python gives them: for each start the one
 * match that a backtracking matcher would find first; empty matches are dropped. Order of start.
 *
 * From the last position to the first, each node gets the end of the match that it leads to: a branch takes over its
 * preferred alternative's if that has one. One number per node and no walking, so time is sequence × nodes
 * for any pattern, whatever the lengths of the matches.
 */
export function findMatches(
  automaton: Automaton,
  residues: Uint8Array,
  lookarounds: LookaroundTable,
): Match[] {
  const length = residues.length;
  const { size, op, first, second, mask, entry } = automaton.program;
  const matches: Match[] = [];
  let current = new Int32Array(size);
  let next = new Int32Array(size).fill(-1);
  for (let position = length; position >= 0; position--) {
    const letter = position < length ? 1 << residues[position] : 0;
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
        current[node] = assertionHolds(kind, second[node], position, length, lookarounds)
          ? current[first[node]]
          : -1;
      }
    }
    if (current[entry] > position) matches.push({ start: position, end: current[entry] });
    [current, next] = [next, current];
  }
  return matches.reverse();
}

/**
 * The residues admitted at each position of a match, as masks (bit c for code c), along the first path, in the order of
 * preference, that ends exactly at `end`; null where there is none. Memory is match length × nodes.
 */
export function pathOfMatch(
  automaton: Automaton,
  residues: Uint8Array,
  { start, end }: Match,
  lookarounds: LookaroundTable,
): Int32Array | null {
  const { size, op, first, second, mask, entry } = automaton.program;
  const alive = new Uint8Array((end - start + 1) * size);
  for (let position = end; position >= start; position--) {
    const current = (position - start) * size;
    for (let node = 0; node < size; node++) {
      let value = 0;
      if (op[node] === SET) {
        if (position < end && (mask[node] >>> residues[position]) & 1)
          value = alive[current + size + first[node]];
      } else if (op[node] === BRANCH) {
        value = alive[current + first[node]] | alive[current + second[node]];
      } else if (op[node] === ACCEPT) {
        value = position === end ? 1 : 0;
      } else if (assertionHolds(op[node], second[node], position, residues.length, lookarounds)) {
        value = alive[current + first[node]];
      }
      alive[current + node] = value;
    }
  }
  if (alive[entry] === 0) return null;
  const path = new Int32Array(end - start);
  let position = start;
  let node = entry;
  while (op[node] !== ACCEPT) {
    if (op[node] === SET) path[position++ - start] = mask[node];
    const current = (position - start) * size;
    node = op[node] === BRANCH && alive[current + first[node]] === 0 ? second[node] : first[node];
  }
  return path;
}

/** The moving parts of a simulation, kept between calls so that the inner loop allocates nothing. */
export interface Simulation {
  automaton: Automaton;
  /**
   * Nodes visited so far. Beyond MAX_MATCHING_STEPS nothing matches any more: what was asked since then has no
   * answer, and callers must look current before they trust one.
   */
  steps: number;
  /** SET nodes that may consume the residue current, and those behind it. */
  current: Int32Array;
  next: Int32Array;
  stack: Int32Array;
  /** The round in which a node was last reached. */
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

/** What `reach` answers when acceptance was reached. */
const ACCEPTED = -1;

/** Adds the SET nodes that a node leads to without consuming to a list of `count`; the new count, or ACCEPTED. */
function addReachable(
  simulation: Simulation,
  list: Int32Array,
  count: number,
  node: number,
  position: number,
  residues: Uint8Array,
  lookarounds: LookaroundTable,
  mayAccept: boolean,
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
      if (mayAccept) return ACCEPTED;
    } else if (assertionHolds(kind, second[top], position, residues.length, lookarounds)) {
      stack[depth++] = first[top];
    }
  }
  return count;
}

/**
 * Whether the residues [from, to) match as a whole. Unknown letters match `.` only: what is not known to be kept
 * is not counted as kept.
 */
export function matchesExactly(
  simulation: Simulation,
  residues: Uint8Array,
  from: number,
  to: number,
  lookarounds: LookaroundTable,
): boolean {
  const { entry, known } = simulation.automaton.program;
  return simulate(simulation, residues, from, to, lookarounds, entry, known, true);
}

/** Whether the pattern matches anywhere within the residues [from, to), an empty match included. */
export function matchesWithin(
  simulation: Simulation,
  residues: Uint8Array,
  from: number,
  to: number,
  lookarounds: LookaroundTable,
): boolean {
  const { entry, mask } = simulation.automaton.program;
  return simulate(simulation, residues, from, to, lookarounds, entry, mask, false);
}

function simulate(
  simulation: Simulation,
  residues: Uint8Array,
  from: number,
  to: number,
  lookarounds: LookaroundTable,
  entry: number,
  mask: Int32Array,
  whole: boolean,
): boolean {
  const { first } = simulation.automaton.program;
  simulation.round++;
  let count = addReachable(
    simulation,
    simulation.current,
    0,
    entry,
    from,
    residues,
    lookarounds,
    !whole || from === to,
  );
  for (let position = from; position < to && count !== ACCEPTED; position++) {
    if ((whole && count === 0) || simulation.steps > MAX_MATCHING_STEPS) return false;
    const { current, next } = simulation;
    const letter = 1 << residues[position];
    const mayAccept = !whole || position + 1 === to;
    simulation.round++;
    let reached = 0;
    for (let i = 0; i < count && reached !== ACCEPTED; i++) {
      if ((mask[current[i]] & letter) === 0) continue;
      reached = addReachable(
        simulation,
        next,
        reached,
        first[current[i]],
        position + 1,
        residues,
        lookarounds,
        mayAccept,
      );
    }
    simulation.steps += count;
    if (!whole && reached !== ACCEPTED) {
      reached = addReachable(
        simulation,
        next,
        reached,
        entry,
        position + 1,
        residues,
        lookarounds,
        mayAccept,
      );
    }
    simulation.current = next;
    simulation.next = current;
    count = reached;
  }
  return count === ACCEPTED;
}
