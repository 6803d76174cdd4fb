import { LETTERS, STANDARD } from "./alphabet.ts";
import { type Automaton, compilePattern } from "./automaton.ts";
import { MAX_NESTING, MAX_PATTERN_NODES, MAX_REPEAT } from "./options.ts";
import {
  ALL_LETTERS,
  choice,
  listed,
  letterMask,
  type Node,
  PatternError,
  repeat,
  sequence,
  set,
  type SetNode,
} from "./pattern-tree.ts";

export { PatternError } from "./pattern-tree.ts";

/**
 * `plain`: amino-acid letters, digits, `. , ^ $ * + ? | [ ] { } ( )`; white space is ignored.
 * `elm`: also `(?=…) (?!…) (?<=…) (?<!…)` and `(?:…)`, as in tables of motif classes.
 */
export type Dialect = "plain" | "elm";

export interface Pattern {
  expression: string;
  root: Node;
  automaton: Automaton;
}

interface Reader {
  text: string;
  /** Index of the next character that is not white space. */
  at: number;
  dialect: Dialect;
  elements: number;
  /** True if `^`, or `$`, occurred. */
  anchors: Automaton["anchors"];
}

/**
 * Parses and compiles an expression with the meaning of Python's `re`: alternatives in order, repeats greedy
 * unless `?` follows, alternatives normalized (`S|T` is `[ST]`), which affects the score. Characters that
 * Python would take literally but that no protein contains are errors.
 *
 * @throws PatternError with position, reason and the allowed characters; also if the pattern is too large
 */
export function parsePattern(expression: string, dialect: Dialect = "plain"): Pattern {
  const reader: Reader = {
    text: expression,
    at: -1,
    dialect,
    elements: 0,
    anchors: { start: false, end: false },
  };
  advance(reader);
  const root = readChoice(reader, 0);
  if (reader.at < expression.length) {
    throw new PatternError(reader.at, "Unmatched ): every ) needs a ( before it.");
  }
  return { expression, root, automaton: compilePattern(root, reader.anchors) };
}

function advance(reader: Reader): void {
  reader.at++;
  while (reader.at < reader.text.length && " \t\r\n".includes(reader.text[reader.at])) reader.at++;
}

function peek(reader: Reader): string {
  return reader.at < reader.text.length ? reader.text[reader.at] : "";
}

/** Counts an element, so that a very long pattern is rejected early. */
function countElement(reader: Reader, position: number): void {
  if (++reader.elements > MAX_PATTERN_NODES) {
    throw new PatternError(position, `The pattern is too large: at most ${MAX_PATTERN_NODES} elements.`);
  }
}

function readChoice(reader: Reader, depth: number): Node {
  const position = reader.at;
  const items = [readSequence(reader, depth)];
  while (peek(reader) === "|") {
    countElement(reader, reader.at);
    advance(reader);
    items.push(readSequence(reader, depth));
  }
  return items.length === 1 ? sequence(items[0], position) : choice(items, position);
}

function readSequence(reader: Reader, depth: number): Node[] {
  const items: Node[] = [];
  for (;;) {
    const character = peek(reader);
    if (character === "" || character === "|" || character === ")") return items;
    countElement(reader, reader.at);
    if (startsRepeat(character)) {
      items.push(readRepeat(reader, items.pop()));
      continue;
    }
    const item = readItem(reader, character, depth);
    if (item.kind !== "group" || item.capturing || startsRepeat(peek(reader))) items.push(item);
    else if (item.child.kind === "sequence") items.push(...item.child.items);
    else items.push(item.child);
  }
}

function startsRepeat(character: string): boolean {
  return character !== "" && "*+?{".includes(character);
}

function readItem(reader: Reader, character: string, depth: number): Node {
  const position = reader.at;
  switch (character) {
    case "(":
      return readGroup(reader, depth);
    case "[":
      return readSet(reader);
    case ".":
      advance(reader);
      return set(".", "any", ALL_LETTERS, position);
    case "^":
    case "$":
      advance(reader);
      reader.anchors[character === "^" ? "start" : "end"] = true;
      return { kind: character === "^" ? "start" : "end", position, nullable: true, consumes: false };
    default:
  }
  if (!STANDARD.includes(character)) throw new PatternError(position, unexpectedCharacter(character));
  advance(reader);
  return listed(character, position);
}

/** Message for a character that cannot start an element. */
function unexpectedCharacter(character: string): string {
  const allowed = `Allowed are the residues ${STANDARD}, . [ ] ( ) | ^ $ and the repeats * + ? {n,m}.`;
  if (character === "x") return `Residues are upper-case letters, and any residue is a dot. ${allowed}`;
  if (character === "X")
    return `X is not one of the twenty residues; any residue is written as a dot. ${allowed}`;
  if (character >= "a" && character <= "z") return `Residues are upper-case letters. ${allowed}`;
  if (character >= "0" && character <= "9")
    return "Numbers are only allowed within braces: x(3) is written .{3}.";
  if (character === ",") return "Commas are only allowed within braces, as in {2,4}.";
  if (character === "]") return "Unmatched ]: every ] needs a [ before it.";
  if (character === "}") return "Unmatched }: every } needs a { before it.";
  if (LETTERS.includes(character)) return `${character} is not one of the twenty residues. ${allowed}`;
  return `This character is not allowed in a pattern. ${allowed}`;
}

function readSet(reader: Reader): SetNode {
  const position = reader.at;
  advance(reader);
  const excluded = peek(reader) === "^";
  if (excluded) advance(reader);
  const letters = new Set<string>();
  for (let letter = peek(reader); letter !== "]"; letter = peek(reader)) {
    if (letter === "") throw new PatternError(position, "Unclosed [: a set ends with ].");
    if (!STANDARD.includes(letter)) {
      throw new PatternError(reader.at, `A set [ ] may only list residues, without separators: ${STANDARD}.`);
    }
    letters.add(letter);
    advance(reader);
  }
  if (letters.size === 0) throw new PatternError(position, "Empty set: list at least one residue.");
  advance(reader);
  const all = [...letters].join("");
  return excluded
    ? set(`[^${all}]`, "excluded", ALL_LETTERS & ~letterMask(all), position)
    : listed(all, position);
}

function readGroup(reader: Reader, depth: number): Node {
  const position = reader.at;
  if (depth >= MAX_NESTING) {
    throw new PatternError(position, `Groups are nested too deeply: at most ${MAX_NESTING} levels.`);
  }
  advance(reader);
  const capturing = peek(reader) !== "?";
  const lookaround = capturing ? null : readGroupKind(reader);
  const child = readChoice(reader, depth + 1);
  if (peek(reader) !== ")") throw new PatternError(position, "Unclosed (: a group ends with ).");
  advance(reader);
  if (lookaround)
    return { kind: "lookaround", ...lookaround, child, position, nullable: true, consumes: false };
  return { kind: "group", capturing, child, position, nullable: child.nullable, consumes: child.consumes };
}

/** Kind of a `(?` group: a lookaround, or null for a non-capturing group. */
function readGroupKind(reader: Reader): { lookbehind: boolean; negative: boolean } | null {
  if (reader.dialect !== "elm") {
    throw new PatternError(
      reader.at,
      "Expected an element after (: special groups (?…) are not supported here.",
    );
  }
  advance(reader);
  if (peek(reader) === ":") {
    advance(reader);
    return null;
  }
  const lookbehind = peek(reader) === "<";
  if (lookbehind) advance(reader);
  const sign = peek(reader);
  if (sign !== "=" && sign !== "!") {
    throw new PatternError(reader.at, "Expected one of : = ! <= <! after (?.");
  }
  advance(reader);
  return { lookbehind, negative: sign === "!" };
}

function readRepeat(reader: Reader, child: Node | undefined): Node {
  const position = reader.at;
  if (child === undefined || child.kind === "start" || child.kind === "end") {
    throw new PatternError(position, "Nothing to repeat: a residue, set or group must come first.");
  }
  // A repeat within a group may be repeated.
  if (child.kind === "repeat") {
    throw new PatternError(position, "A repeat cannot follow a repeat: put the first in a group.");
  }
  const [min, max] = readCounts(reader);
  const lazy = peek(reader) === "?";
  if (lazy) advance(reader);
  return repeat(child, min, max, lazy, position);
}

function readCounts(reader: Reader): [min: number, max: number] {
  const character = peek(reader);
  const position = reader.at;
  advance(reader);
  if (character === "*") return [0, Infinity];
  if (character === "+") return [1, Infinity];
  if (character === "?") return [0, 1];
  const low = readNumber(reader);
  let high = low;
  if (peek(reader) === ",") {
    advance(reader);
    high = readNumber(reader) ?? Infinity;
    if (low === null && high === Infinity)
      throw new PatternError(position, "A repeat in braces needs a number.");
  }
  if (low === null && high === null) {
    throw new PatternError(reader.at, "Expected a number after {, as in {3}, {2,4}, {2,} or {,4}.");
  }
  if (peek(reader) !== "}") throw new PatternError(reader.at, "Expected }: a repeat is {n} or {n,m}.");
  advance(reader);
  if (high! < (low ?? 0)) throw new PatternError(position, "The upper count is smaller than the lower one.");
  return [low ?? 0, high!];
}

function readNumber(reader: Reader): number | null {
  const position = reader.at;
  let value: number | null = null;
  for (let digit = peek(reader); digit >= "0" && digit <= "9"; digit = peek(reader)) {
    value = (value ?? 0) * 10 + Number(digit);
    if (value > MAX_REPEAT) throw new PatternError(position, `A count may be at most ${MAX_REPEAT}.`);
    advance(reader);
  }
  return value;
}
