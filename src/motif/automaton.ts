import { MAX_PATTERN_NODES } from "./options.ts";
import { ALL_LETTERS, type Node, PatternError, STANDARD_MASK } from "./pattern-tree.ts";

/**
 * Nondeterministic automaton of a pattern (Thompson, Comm. ACM 1968, 11:419). Branches are ordered by
 * preference, as in Python's `re`.
 *
 * Matching in linear time rests on two properties:
 * - An iteration that consumes nothing leaves its repeat (Python's rule), so every cycle of branches consumes
 *   a residue.
 * - Branches lead to lower node numbers, so one pass in ascending order evaluates all nodes at a position.
 */
export interface Program {
  size: number;
  entry: number;
  op: Uint8Array;
  /** Successor; of a branch, the preferred alternative. */
  first: Int32Array;
  /** The other alternative of a branch; the index of a lookaround in `Automaton.lookarounds`. */
  second: Int32Array;
  /** SET: bit c for each matching code c; letters beyond the twenty match `.` and `[^…]`, as in Python. */
  mask: Int32Array;
  /**
   * SET: the same without letters beyond the twenty, except for `.`: an unknown residue is no evidence of
   * retention.
   */
  known: Int32Array;
}

export const ACCEPT = 0;
export const SET = 1;
export const BRANCH = 2;
export const START = 3;
export const END = 4;
export const LOOKAROUND = 5;
const NEGATIVE_LOOKAROUND = 6;

export interface Automaton {
  program: Program;
  /** Lookarounds, inner before outer. Lookbehinds are compiled backwards. */
  lookarounds: { program: Program; lookbehind: boolean }[];
  /** True if the pattern contains `^`, or `$`. */
  anchors: { start: boolean; end: boolean };
  /** True if it contains either. */
  anchored: boolean;
}

interface Builder {
  op: number[];
  first: number[];
  second: number[];
  mask: number[];
  lookarounds: Automaton["lookarounds"];
  /** Remaining work, shared with nested lookarounds: repeats of nothing add no nodes but take time. */
  steps: { left: number };
  backwards: boolean;
}

/**
 * Compiles a pattern's tree, in time and size linear in the pattern with its repeats expanded.
 * @throws PatternError at the element that exceeds MAX_PATTERN_NODES
 */
export function compilePattern(root: Node, anchors: Automaton["anchors"]): Automaton {
  const lookarounds: Automaton["lookarounds"] = [];
  const program = compileProgram(root, lookarounds, { left: 4 * MAX_PATTERN_NODES }, false);
  return { program, lookarounds, anchors, anchored: anchors.start || anchors.end };
}

function compileProgram(
  root: Node,
  lookarounds: Automaton["lookarounds"],
  steps: Builder["steps"],
  backwards: boolean,
): Program {
  const builder: Builder = { op: [], first: [], second: [], mask: [], lookarounds, steps, backwards };
  const accept = emit(builder, root, ACCEPT, -1);
  return arrange(builder, compile(builder, root, accept, accept));
}

function emit(builder: Builder, node: Node, op: number, first: number, second = -1): number {
  if (builder.op.length >= MAX_PATTERN_NODES) throw tooLargeError(node);
  builder.op.push(op);
  builder.first.push(first);
  builder.second.push(second);
  builder.mask.push(op === SET && node.kind === "set" ? node.mask : 0);
  return builder.op.length - 1;
}

function tooLargeError(node: Node): PatternError {
  return new PatternError(
    node.position,
    `The pattern is too large: with its repeats expanded it may have at most ${MAX_PATTERN_NODES} elements.`,
  );
}

/**
 * Compiles a node in front of its continuation and returns its entry. `idle` is the continuation if the
 * current iteration of the innermost repeat has consumed nothing yet, `moved` if it has. They differ only
 * within repeats that can match nothing, and only there a node is compiled twice.
 */
function compile(builder: Builder, node: Node, idle: number, moved: number): number {
  if (--builder.steps.left < 0) throw tooLargeError(node);
  switch (node.kind) {
    case "set":
      return emit(builder, node, SET, moved);
    case "start":
    case "end":
      return emit(builder, node, node.kind === "start" ? START : END, idle);
    case "lookaround": {
      const program = compileProgram(node.child, builder.lookarounds, builder.steps, node.lookbehind);
      builder.lookarounds.push({ program, lookbehind: node.lookbehind });
      return emit(
        builder,
        node,
        node.negative ? NEGATIVE_LOOKAROUND : LOOKAROUND,
        idle,
        builder.lookarounds.length - 1,
      );
    }
    case "group":
      return compile(builder, node.child, idle, moved);
    case "sequence":
      return compileRow(builder, makeRow(node.items, builder.backwards), idle, moved);
    case "choice": {
      let entry = -1;
      for (let i = node.items.length - 1; i >= 0; i--) {
        const item = compile(builder, node.items[i], idle, moved);
        entry = entry < 0 ? item : emit(builder, node.items[i], BRANCH, item, entry);
      }
      return entry;
    }
    case "repeat": {
      const [restIdle, restMoved] = Number.isFinite(node.max)
        ? compileOptional(builder, node, idle, moved)
        : compileLoop(builder, node, idle, moved);
      return compileRow(builder, makeCopyRow(node.child, node.min), restIdle, restMoved);
    }
  }
}

interface Row {
  length: number;
  at: (index: number) => Node;
  /** Index of the first item that cannot be empty: after it no path is idle. */
  firstRequired: number;
  /** Index of the first item that can consume: up to it no path has moved. */
  firstConsuming: number;
}

function makeRow(items: Node[], backwards: boolean): Row {
  const ordered = backwards ? items.toReversed() : items;
  const until = (index: number): number => (index < 0 ? items.length : index);
  return {
    length: items.length,
    at: (index) => ordered[index],
    firstRequired: until(ordered.findIndex((item) => !item.nullable)),
    firstConsuming: until(ordered.findIndex((item) => item.consumes)),
  };
}

function makeCopyRow(node: Node, length: number): Row {
  return {
    length,
    at: () => node,
    firstRequired: node.nullable ? length : 0,
    firstConsuming: node.consumes ? 0 : length,
  };
}

/** Compiles a sequence from its end, each item for the states in which it can be entered. */
function compileRow(builder: Builder, row: Row, idle: number, moved: number): number {
  for (let i = row.length - 1; i >= 0; i--) {
    const item = row.at(i);
    const after = moved;
    if (i > row.firstConsuming) moved = compile(builder, item, after, after);
    if (i > row.firstRequired) idle = moved;
    else idle = i > row.firstConsuming && idle === after ? moved : compile(builder, item, idle, after);
  }
  return idle;
}

/** Compiles `x*`; returns its entries for an enclosing iteration that is idle and one that has moved. */
function compileLoop(
  builder: Builder,
  node: Node & { kind: "repeat" },
  idle: number,
  moved: number,
): [number, number] {
  const loop = emit(builder, node, BRANCH, -1, -1);
  const body = compile(builder, node.child, moved, loop);
  builder.first[loop] = node.lazy ? moved : body;
  builder.second[loop] = node.lazy ? body : moved;
  if (idle === moved) return [loop, loop];
  return [addBranch(builder, node, compile(builder, node.child, idle, loop), idle), loop];
}

/** Compiles the optional copies of `x{n,m}`: each can only follow one that consumed. */
function compileOptional(
  builder: Builder,
  node: Node & { kind: "repeat" },
  idle: number,
  moved: number,
): [number, number] {
  let next = moved;
  for (let copy = node.max; copy > node.min; copy--) {
    if (copy === node.min + 1 && idle !== moved) {
      const entry = addBranch(builder, node, compile(builder, node.child, idle, next), idle);
      if (node.min === 0) return [entry, entry];
      return [entry, addBranch(builder, node, compile(builder, node.child, moved, next), moved)];
    }
    next = addBranch(builder, node, compile(builder, node.child, moved, next), moved);
  }
  return next === moved ? [idle, moved] : [next, next];
}

function addBranch(builder: Builder, node: Node & { kind: "repeat" }, body: number, exit: number): number {
  return node.lazy ? emit(builder, node, BRANCH, exit, body) : emit(builder, node, BRANCH, body, exit);
}

/** Numbers the reachable nodes so that branches and assertions lead to lower numbers. */
function arrange(builder: Builder, entry: number): Program {
  const number = new Int32Array(builder.op.length).fill(-1);
  const order: number[] = [];
  const roots = [entry];
  const stack: number[] = [];
  while (roots.length > 0) {
    stack.push(roots.pop()!);
    while (stack.length > 0) {
      const node = stack[stack.length - 1];
      const op = builder.op[node];
      const continues = op !== SET && op !== ACCEPT;
      if (continues && number[builder.first[node]] < 0) {
        stack.push(builder.first[node]);
        continue;
      }
      if (op === BRANCH && number[builder.second[node]] < 0) {
        stack.push(builder.second[node]);
        continue;
      }
      stack.pop();
      if (number[node] >= 0) continue;
      number[node] = order.length;
      order.push(node);
      if (op === SET && number[builder.first[node]] < 0) roots.push(builder.first[node]);
    }
  }
  const renumber = (target: number): number => (target < 0 ? -1 : number[target]);
  const mask = Int32Array.from(order, (node) => builder.mask[node]);
  return {
    size: order.length,
    entry: number[entry],
    op: Uint8Array.from(order, (node) => builder.op[node]),
    first: Int32Array.from(order, (node) => renumber(builder.first[node])),
    second: Int32Array.from(order, (node) =>
      builder.op[node] === BRANCH ? renumber(builder.second[node]) : builder.second[node],
    ),
    mask,
    known: mask.map((letters) => (letters === ALL_LETTERS ? letters : letters & STANDARD_MASK)),
  };
}
