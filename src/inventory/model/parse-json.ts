import { Problem } from "../../problem.ts";
import type { Json } from "./field.ts";

/** How deep arrays and objects may nest. */
const DEPTH = 64;

/**
 * The value of a JSON text (RFC 8259). The engine parses; only where it refuses is the text read again, for the
 * engine does not say where the mistake is.
 * @throws Problem malformed, beginning with `name`, with line and column
 */
export function parseJson(text: string, name = "JSON parse error"): Json {
  try {
    const value = JSON.parse(text) as Json;
    if (!tooDeep(value, DEPTH)) return value;
  } catch {
    // Told below.
  }
  const { at, wrong } = firstMistake(text);
  const before = text.slice(0, at).split("\n");
  const position = `line ${before.length} column ${before[before.length - 1].length + 1} (char ${at})`;
  throw new Problem("malformed", `${name} - ${wrong}: ${position}`);
}

function tooDeep(value: Json, depth: number): boolean {
  if (value === null || typeof value !== "object") return false;
  return depth === 0 || Object.values(value).some((inner) => tooDeep(inner, depth - 1));
}

class Mistake extends Error {
  constructor(
    readonly at: number,
    readonly wrong: string,
  ) {
    super(wrong);
  }
}

const SPACE = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// eslint-disable-next-line no-control-regex -- RFC 8259 forbids exactly these in a string.
const CHARACTERS = /(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*/y;
const WORDS = ["true", "false", "null"];

/** The offset, in UTF-16 units, of the first character that no JSON text has there, and what is wrong with it. */
function firstMistake(text: string): { at: number; wrong: string } {
  let at = 0;
  const take = (pattern: RegExp): number => {
    pattern.lastIndex = at;
    const length = pattern.exec(text)?.[0].length ?? 0;
    at += length;
    return length;
  };
  const skip = () => take(SPACE);
  const literal = (word: string): boolean => {
    if (!text.startsWith(word, at)) return false;
    at += word.length;
    return true;
  };
  const string = () => {
    const start = at;
    if (!literal('"')) throw new Mistake(at, "Expecting a name in double quotes");
    take(CHARACTERS);
    if (at >= text.length) throw new Mistake(start, "Unterminated string starting at");
    if (!literal('"'))
      throw new Mistake(at, text[at] === "\\" ? "Invalid \\escape" : "Invalid control character at");
  };
  const list = (close: string, depth: number, item: () => void) => {
    if (depth === 0) throw new Mistake(at, `Nested deeper than ${DEPTH}`);
    at++;
    skip();
    if (literal(close)) return;
    for (;;) {
      item();
      skip();
      if (literal(close)) return;
      if (!literal(",")) throw new Mistake(at, "Expecting ',' delimiter");
      skip();
    }
  };
  const value = (depth: number): void => {
    skip();
    const first = text[at];
    if (first === '"') string();
    else if (first === "[") list("]", depth, () => value(depth - 1));
    else if (first === "{") {
      list("}", depth, () => {
        string();
        skip();
        if (!literal(":")) throw new Mistake(at, "Expecting ':' delimiter");
        value(depth - 1);
      });
    } else if (take(NUMBER) === 0 && !WORDS.some(literal)) throw new Mistake(at, "Expecting value");
  };
  try {
    value(DEPTH);
    skip();
    return { at, wrong: at < text.length ? "Extra data" : "Expecting value" };
  } catch (error) {
    if (error instanceof Mistake) return error;
    throw error;
  }
}
