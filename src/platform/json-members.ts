import { Problem } from "../problem.ts";
import { exceeded, LIMITS } from "./limits.ts";

const [QUOTE, BACKSLASH, COLON] = [0x22, 0x5c, 0x3a];
const [LIST, LIST_END, OBJECT, OBJECT_END] = [0x5b, 0x5d, 0x7b, 0x7d];

/**
 * Counts what JSON text holds before it is parsed: JSON.parse takes seconds for an object of a million members. Text
 * that is not JSON may pass; the parser reports its error.
 * @returns how deep lists and objects nest
 * @throws Problem too_large
 */
export function checkMembers(text: string): number {
  const counts: number[] = [];
  let [count, containers, depth] = [0, 0, 0];
  for (let at = 0; at < text.length; at++)
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = findStringEnd(text, at);
        break;
      case COLON:
        if (++count > LIMITS.members.max) throw new Problem("too_large", exceeded(LIMITS.members));
        break;
      case LIST:
      case OBJECT:
        if (++containers > LIMITS.containers.max) throw new Problem("too_large", exceeded(LIMITS.containers));
        depth = Math.max(depth, counts.push(count));
        count = 0;
        break;
      case LIST_END:
      case OBJECT_END:
        count = counts.pop() ?? 0;
        break;
      default:
    }
  return depth;
}

/** Limits the number of fields of a form. @throws Problem too_large */
export function checkFields(text: string): void {
  let count = 1;
  for (let at = text.indexOf("&"); at >= 0; at = text.indexOf("&", at + 1))
    if (++count > LIMITS.members.max) throw new Problem("too_large", exceeded(LIMITS.members));
}

/** Position of the quotation mark that ends the string: one after an even number of backslashes. */
function findStringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let first = end;
    while (text.charCodeAt(first - 1) === BACKSLASH) first--;
    if ((end - first) % 2 === 0) return end;
  }
  return text.length;
}
