import { BACKGROUND, STANDARD } from "./alphabet.ts";
import { MAX_POSITION_BITS } from "./options.ts";
import { type Node, STANDARD_MASK } from "./pattern-tree.ts";

/** Background frequency of a set of residues (mask), 0..1; letters beyond the twenty do not count. */
export function sumFrequencies(mask: number): number {
  if ((mask & STANDARD_MASK) === STANDARD_MASK) return 1;
  let frequency = 0;
  for (let code = 0; code < STANDARD.length; code++) if ((mask >>> code) & 1) frequency += BACKGROUND[code];
  return frequency;
}

/** Information of a position that admits a set (mask): −log2 of its background frequency, in bits. */
export function positionBits(mask: number): number {
  const frequency = sumFrequencies(mask);
  return frequency > 0 ? Math.max(0, -Math.log2(frequency)) : MAX_POSITION_BITS;
}

/** Information of a path (masks), in bits. */
export function pathBits(path: Int32Array): number {
  let bits = 0;
  for (const mask of path) bits += positionBits(mask);
  return bits;
}

/** Minimum information over all paths of a pattern, in bits. */
export function minBits(node: Node): number {
  switch (node.kind) {
    case "set":
      return positionBits(node.mask);
    case "start":
    case "end":
    case "lookaround":
      return 0;
    case "group":
      return minBits(node.child);
    case "sequence":
      return node.items.reduce((bits, item) => bits + minBits(item), 0);
    case "choice":
      return node.items.reduce((bits, item) => Math.min(bits, minBits(item)), Infinity);
    case "repeat":
      return node.min === 0 ? 0 : node.min * minBits(node.child);
  }
}
