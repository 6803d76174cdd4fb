import { ACCEPT, type Automaton, BRANCH, END, LOOK, type Program, SET, START } from "./automaton.ts";
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
  const sight: LookaroundTable = [];
  for (const { program, behind } of automaton.looks) sight.push(holds(program, residues, behind, sight));
  return sight;
}

/** Whether the program leads from each position to acceptance, reading forwards, or backwards where it looks behind. */
function holds(program: Program, residues: Uint8Array, behind: boolean, sight: LookaroundTable): Uint8Array {
  const length = residues.length;
  const { size, op, first, second, mask, entry } = program;
  const result = new Uint8Array(length + 1);
  let here = new Uint8Array(size);
  let beyond = new Uint8Array(size);
  for (let step = length; step >= 0; step--) {
    const position = behind ? length - step : step;
    const residue = step === length ? -1 : residues[behind ? position - 1 : position];
    for (let node = 0; node < size; node++) {
      let value = 0;
      if (op[node] === SET) value = residue >= 0 && (mask[node] >>> residue) & 1 ? beyond[first[node]] : 0;
      else if (op[node] === BRANCH) value = here[first[node]] | here[second[node]];
      else if (op[node] === ACCEPT) value = 1;
      else if (permits(op[node], second[node], position, length, sight)) value = here[first[node]];
      here[node] = value;
    }
    result[position] = here[entry];
    [here, beyond] = [beyond, here];
  }
  return result;
}

/** Whether an assertion holds between the residues position - 1 and position. */
function permits(
  op: number,
  look: number,
  position: number,
  length: number,
  sight: LookaroundTable,
): boolean {
  if (op === START) return position === 0;
  if (op === END) return position === length;
  return sight[look][position] === (op === LOOK ? 1 : 0);
}

/**
 * All matches, overlapping ones included, as `re.finditer('(?=(…))')` of Python gives them: for each start the one
 * match that a backtracking matcher would find first; empty matches are dropped. Order of start.
 *
 * From the last position to the first, each node gets the end of the match that it leads to: a branch takes over its
 * preferred alternative's if that has one. One number per node and no walking, so time is sequence × nodes
 * for any pattern, whatever the lengths of the matches.
 */
export function findMatches(automaton: Automaton, residues: Uint8Array, sight: LookaroundTable): Match[] {
  const length = residues.length;
  const { size, op, first, second, mask, entry } = automaton.program;
  const matches: Match[] = [];
  let here = new Int32Array(size);
  let beyond = new Int32Array(size).fill(-1);
  for (let position = length; position >= 0; position--) {
    const letter = position < length ? 1 << residues[position] : 0;
    for (let node = 0; node < size; node++) {
      const kind = op[node];
      if (kind === SET) {
        here[node] = (mask[node] & letter) !== 0 ? beyond[first[node]] : -1;
      } else if (kind === BRANCH) {
        const end = here[first[node]];
        here[node] = end >= 0 ? end : here[second[node]];
      } else if (kind === ACCEPT) {
        here[node] = position;
      } else {
        here[node] = permits(kind, second[node], position, length, sight) ? here[first[node]] : -1;
      }
    }
    if (here[entry] > position) matches.push({ start: position, end: here[entry] });
    [here, beyond] = [beyond, here];
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
  sight: LookaroundTable,
): Int32Array | null {
  const { size, op, first, second, mask, entry } = automaton.program;
  const alive = new Uint8Array((end - start + 1) * size);
  for (let position = end; position >= start; position--) {
    const here = (position - start) * size;
    for (let node = 0; node < size; node++) {
      let value = 0;
      if (op[node] === SET) {
        if (position < end && (mask[node] >>> residues[position]) & 1)
          value = alive[here + size + first[node]];
      } else if (op[node] === BRANCH) {
        value = alive[here + first[node]] | alive[here + second[node]];
      } else if (op[node] === ACCEPT) {
        value = position === end ? 1 : 0;
      } else if (permits(op[node], second[node], position, residues.length, sight)) {
        value = alive[here + first[node]];
      }
      alive[here + node] = value;
    }
  }
  if (alive[entry] === 0) return null;
  const path = new Int32Array(end - start);
  let position = start;
  let node = entry;
  while (op[node] !== ACCEPT) {
    if (op[node] === SET) path[position++ - start] = mask[node];
    const here = (position - start) * size;
    node = op[node] === BRANCH && alive[here + first[node]] === 0 ? second[node] : first[node];
  }
  return path;
}

/** The moving parts of a simulation, kept between calls so that the inner loop allocates nothing. */
export interface Simulation {
  automaton: Automaton;
  /**
   * Nodes visited so far. Beyond MAX_MATCHING_STEPS nothing matches any more: what was asked since then has no
   * answer, and callers must look here before they trust one.
   */
  steps: number;
  /** SET nodes that may consume the residue here, and those behind it. */
  here: Int32Array;
  beyond: Int32Array;
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
    here: new Int32Array(size),
    beyond: new Int32Array(size),
    stack: new Int32Array(2 * size + 1),
    reached: new Int32Array(size),
    round: 0,
  };
}

/** What `reach` answers when acceptance was reached. */
const ACCEPTED = -1;

/** Adds the SET nodes that a node leads to without consuming to a list of `count`; the new count, or ACCEPTED. */
function reach(
  simulation: Simulation,
  list: Int32Array,
  count: number,
  node: number,
  position: number,
  residues: Uint8Array,
  sight: LookaroundTable,
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
    } else if (permits(kind, second[top], position, residues.length, sight)) {
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
  sight: LookaroundTable,
): boolean {
  const { entry, known } = simulation.automaton.program;
  return simulate(simulation, residues, from, to, sight, entry, known, true);
}

/** Whether the pattern matches anywhere within the residues [from, to), an empty match included. */
export function matchesWithin(
  simulation: Simulation,
  residues: Uint8Array,
  from: number,
  to: number,
  sight: LookaroundTable,
): boolean {
  const { entry, mask } = simulation.automaton.program;
  return simulate(simulation, residues, from, to, sight, entry, mask, false);
}

function simulate(
  simulation: Simulation,
  residues: Uint8Array,
  from: number,
  to: number,
  sight: LookaroundTable,
  entry: number,
  mask: Int32Array,
  whole: boolean,
): boolean {
  const { first } = simulation.automaton.program;
  simulation.round++;
  let count = reach(simulation, simulation.here, 0, entry, from, residues, sight, !whole || from === to);
  for (let position = from; position < to && count !== ACCEPTED; position++) {
    if ((whole && count === 0) || simulation.steps > MAX_MATCHING_STEPS) return false;
    const { here, beyond } = simulation;
    const letter = 1 << residues[position];
    const mayAccept = !whole || position + 1 === to;
    simulation.round++;
    let reached = 0;
    for (let i = 0; i < count && reached !== ACCEPTED; i++) {
      if ((mask[here[i]] & letter) === 0) continue;
      reached = reach(simulation, beyond, reached, first[here[i]], position + 1, residues, sight, mayAccept);
    }
    simulation.steps += count;
    if (!whole && reached !== ACCEPTED) {
      reached = reach(simulation, beyond, reached, entry, position + 1, residues, sight, mayAccept);
    }
    simulation.here = beyond;
    simulation.beyond = here;
    count = reached;
  }
  return count === ACCEPTED;
}
