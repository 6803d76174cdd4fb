import { LETTERS } from "./alphabet.ts";
import type { Node, RepeatNode, SetNode } from "./pattern-tree.ts";
import type { Pattern } from "./pattern.ts";

/** Longer explanations are truncated. */
const MAX_LENGTH = 2000;

/**
 * A pattern in words: `[RK].L.{0,1}[FYLIVMP]` is "R or K, any residue, L, then 0 or 1 of any residue, then
 * one of F Y L I V M P".
 */
export function explain({ root }: Pattern): string {
  const words = phrase(root);
  if (words === "") return "nothing";
  return words.length > MAX_LENGTH ? `${words.slice(0, MAX_LENGTH)} …` : words;
}

/**
 * Positions of a pattern in order, for a picture: `[ST]`, `[^P]{2,3}`, `.{1,}`; null if it has alternatives or repeats of
 * several residues. Ends of the protein are left out.
 */
export function listPositions({ root }: Pattern): string[] | null {
  return positionsOf(root);
}

function positionsOf(node: Node): string[] | null {
  switch (node.kind) {
    case "set":
      return [node.written];
    case "start":
    case "end":
      return [];
    case "group":
      return positionsOf(node.child);
    case "sequence": {
      const items = node.items.map(positionsOf);
      return items.includes(null) ? null : items.flatMap((item) => item!);
    }
    case "repeat":
      return repeatedPosition(node);
    default:
      return null;
  }
}

function repeatedPosition({ child, min, max }: RepeatNode): string[] | null {
  const [only, ...others] = positionsOf(child) ?? [];
  if (only === undefined || others.length > 0 || only.includes("{")) return null;
  return [`${only}{${min}${min === max ? "" : `,${max === Infinity ? "" : max}`}}`];
}

/** The residues that a set lists or excludes; none of `.`. */
const lettersOf = ({ form, written }: SetNode): string =>
  form === "any" ? "" : [...written].filter((letter) => LETTERS.includes(letter)).join("");

function phrase(node: Node): string {
  switch (node.kind) {
    case "set":
      return residue(node);
    case "start":
      return "the protein's start";
    case "end":
      return "the protein's end";
    case "lookaround":
      return `${node.negative ? "not " : ""}${node.lookbehind ? "preceded" : "followed"} by ${parenthesized(node.child)}`;
    case "group":
      return phrase(node.child);
    case "sequence":
      return sequenceText(node.items);
    case "choice":
      return `either ${node.items.map((item) => parenthesized(item) || "nothing").join(" or ")}`;
    case "repeat":
      return repeated(node);
  }
}

function residue(node: SetNode): string {
  const letters = [...lettersOf(node)];
  if (node.form === "any") return "any residue";
  if (node.form === "excluded") return `any residue but ${letters.join(" ")}`;
  return letters.length <= 2 ? letters.join(" or ") : `one of ${letters.join(" ")}`;
}

/** Items in order; runs of one set are combined. */
function sequenceText(items: Node[]): string {
  let words = "";
  for (let i = 0; i < items.length && words.length <= MAX_LENGTH;) {
    const item = items[i];
    let run = 1;
    while (item.kind === "set" && i + run < items.length && equalsSet(items[i + run], item)) run++;
    const text = run > 1 ? `${run} of ${stripOneOf(phrase(item))}` : sequenceItem(item);
    const plain = run === 1 && item.kind === "set" && !text.startsWith("one of");
    words += words === "" ? text : `${plain ? ", " : ", then "}${text}`;
    i += run;
  }
  return words;
}

function equalsSet(a: Node, b: SetNode): boolean {
  return a.kind === "set" && a.written === b.written;
}

function stripOneOf(words: string): string {
  return words.replace(/^one of /, "");
}

/** A phrase within a sequence; a choice gets parentheses. */
function sequenceItem(node: Node): string {
  let inner = node;
  while (inner.kind === "group") inner = inner.child;
  return inner.kind === "choice" ? `(${phrase(inner)})` : phrase(inner);
}

/** A phrase in parentheses unless it is one residue. */
function parenthesized(node: Node): string {
  let inner = node;
  while (inner.kind === "group") inner = inner.child;
  const words = phrase(inner);
  return inner.kind === "set" || inner.kind === "start" || inner.kind === "end" || words === ""
    ? words
    : `(${words})`;
}

function repeated({ child, min, max, lazy }: RepeatNode): string {
  let inner = child;
  while (inner.kind === "group") inner = inner.child;
  let counts = `${min} to ${max}`;
  if (min === max) counts = `${min}`;
  else if (max === Infinity) counts = `${min} or more`;
  else if (max === min + 1) counts = `${min} or ${max}`;
  const what =
    inner.kind === "set" ? `of ${stripOneOf(residue(inner))}` : `times ${parenthesized(inner) || "nothing"}`;
  return `${counts} ${what}${lazy && min !== max ? ", as few as possible" : ""}`;
}
