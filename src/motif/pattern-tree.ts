import { LETTERS, STANDARD } from "./alphabet.ts";

/** Invalid pattern. `position` is the 0-based index in the expression as given. */
export class PatternError extends Error {
  readonly position: number;

  constructor(position: number, text: string) {
    super(text);
    this.name = "PatternError";
    this.position = position;
  }
}

interface NodeBase {
  /** Index in the expression. */
  position: number;
  /** True if the node can match without consuming a residue. */
  nullable: boolean;
  consumes: boolean;
}

/** One residue of a set: a letter, `.`, `[…]` or `[^…]`. */
export interface SetNode extends NodeBase {
  kind: "set";
  /** Normal form: `[S]` is `S`. */
  written: string;
  form: "listed" | "excluded" | "any";
  /** Bit c for each matching code c; letters beyond the twenty match `.` and `[^…]`. */
  mask: number;
}
export interface AnchorNode extends NodeBase {
  kind: "start" | "end";
}
export interface LookaroundNode extends NodeBase {
  kind: "lookaround";
  lookbehind: boolean;
  negative: boolean;
  child: Node;
}
export interface GroupNode extends NodeBase {
  kind: "group";
  child: Node;
  /** True for a capturing group, false for `(?:…)`. */
  capturing: boolean;
}
export interface SequenceNode extends NodeBase {
  kind: "sequence";
  items: Node[];
}
export interface ChoiceNode extends NodeBase {
  kind: "choice";
  items: Node[];
}
export interface RepeatNode extends NodeBase {
  kind: "repeat";
  child: Node;
  min: number;
  /** Infinity without an upper count. */
  max: number;
  lazy: boolean;
}
export type Node = SetNode | AnchorNode | LookaroundNode | GroupNode | SequenceNode | ChoiceNode | RepeatNode;

/** All letters as a mask. */
export const ALL_LETTERS = 2 ** LETTERS.length - 1;
/** The standard residues as a mask. */
export const STANDARD_MASK = 2 ** STANDARD.length - 1;

export function set(written: string, form: SetNode["form"], mask: number, position: number): SetNode {
  return { kind: "set", written, form, mask, position, nullable: false, consumes: true };
}

/** A set of listed residues without repetitions. */
export function listed(letters: string, position: number): SetNode {
  const unique = letters.length === 1 ? letters : [...new Set(letters)].join("");
  return set(unique.length === 1 ? unique : `[${unique}]`, "listed", letterMask(unique), position);
}

export function letterMask(letters: string): number {
  let mask = 0;
  for (const letter of letters) mask |= 1 << LETTERS.indexOf(letter);
  return mask;
}

/**
 * Alternatives, normalized as in Python: a common prefix is factored out, and single listed residues become
 * one set. Groups and repeats are never equal, as in Python.
 */
export function choice(items: Node[][], position: number): Node {
  const common: Node[] = [];
  let prefixLength = 0;
  for (; items.every((item) => item.length > prefixLength); prefixLength++) {
    const first = items[0][prefixLength];
    if (!items.every((item) => isEqual(item[prefixLength], first))) break;
    common.push(first);
  }
  const rest = prefixLength === 0 ? items : items.map((item) => item.slice(prefixLength));
  if (rest.every((item) => item.length === 1 && item[0].kind === "set" && item[0].form === "listed")) {
    const letters = rest.map((item) => (item[0] as SetNode).written.replace(/[[\]]/g, "")).join("");
    common.push(listed(letters, rest[0][0].position));
    return sequence(common, position);
  }
  const branches = rest.map((item) => sequence(item, item[0]?.position ?? position));
  common.push({
    kind: "choice",
    items: branches,
    position,
    nullable: branches.some((branch) => branch.nullable),
    consumes: branches.some((branch) => branch.consumes),
  });
  return sequence(common, position);
}

function isEqual(a: Node, b: Node): boolean {
  if (a.kind === "set" && b.kind === "set") return a.written === b.written;
  return a.kind === b.kind && (a.kind === "start" || a.kind === "end");
}

export function sequence(items: Node[], position: number): Node {
  if (items.length === 1) return items[0];
  return {
    kind: "sequence",
    items,
    position,
    nullable: items.every((item) => item.nullable),
    consumes: items.some((item) => item.consumes),
  };
}

/** True if a repeat is greedy, unbounded, and requires at most one iteration. */
function isOpen(min: number, max: number, lazy: boolean): boolean {
  return min <= 1 && max === Infinity && !lazy;
}

export function repeat(child: Node, min: number, max: number, lazy: boolean, position: number): RepeatNode {
  // (x*)*, (x+)* and so on are x*: the same matches in the same order without the copies that nesting
  // costs.
  let inner = child;
  while (inner.kind === "group") inner = inner.child;
  if (inner.kind === "repeat" && isOpen(min, max, lazy) && isOpen(inner.min, inner.max, inner.lazy)) {
    if (!inner.child.nullable) {
      child = inner.child;
      min = Math.min(min, inner.min);
    }
  }
  return {
    kind: "repeat",
    child,
    min,
    max,
    lazy,
    position,
    nullable: min === 0 || child.nullable,
    consumes: max > 0 && child.consumes,
  };
}
