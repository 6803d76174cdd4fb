import { Problem } from "../problem.ts";
import { exceeded, LIMITS } from "./limits.ts";

const [QUOTE, COLON, BACKSLASH] = [0x22, 0x3a, 0x5c];
const [OPENING, CLOSING] = [
  [0x5b, 0x7b],
  [0x5d, 0x7d],
];

/**
 * Counts what JSON text holds before it is parsed: JSON.parse takes seconds for an object of a million members. Text
 * that is not JSON may pass; the parser says what is wrong with it.
 * @returns how deep lists and objects nest
 * @throws Problem too_large
 */
export function checkMembers(text: string): number {
  const counts: number[] = [];
  let [count, containers, depth] = [0, 0, 0];
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === COLON) {
      if (++count > LIMITS.members.max) throw new Problem("too_large", exceeded(LIMITS.members));
    } else if (OPENING.includes(code)) {
      if (++containers > LIMITS.containers.max) throw new Problem("too_large", exceeded(LIMITS.containers));
      depth = Math.max(depth, counts.push(count));
      count = 0;
    } else if (CLOSING.includes(code)) count = counts.pop() ?? 0;
  }
  return depth;
}

/** The same for a form. @throws Problem too_large */
export function checkFields(text: string): void {
  let count = 1;
  for (let at = text.indexOf("&"); at >= 0; at = text.indexOf("&", at + 1))
    if (++count > LIMITS.members.max) throw new Problem("too_large", exceeded(LIMITS.members));
}

/** Position of the quotation mark that ends the string. */
function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at;
    if (code === BACKSLASH) at++;
  }
  return text.length;
}
