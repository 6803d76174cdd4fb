/** Names for requests of which there are few, whatever clients ask for: the patterns of the routes. */

interface Node {
  name?: string;
  fixed: Map<string, Node>;
  /** What follows where any part may stand. */
  any?: Node;
  /** Where the rest of the path may be anything. */
  rest?: string;
}

const node = (): Node => ({ fixed: new Map() });

/**
 * A function that gives the pattern of a path: `/api/v2/locations/:id/` for that of a location, "none" for a path that
 * no route has. Fixed parts come before parameters, as the router has it.
 */
export function routeNames(patterns: Iterable<string>): (path: string) => string {
  const root = node();
  /** Patterns without parameters, which are paths. */
  const exact = new Set<string>();
  for (const pattern of patterns) {
    if (!/[:*]/.test(pattern)) exact.add(pattern);
    let at = root;
    for (const part of pattern.split("/").slice(1)) {
      if (part === "*") {
        at.rest = pattern;
        break;
      }
      if (part.startsWith(":")) at = at.any ??= node();
      else {
        let next = at.fixed.get(part);
        if (!next) at.fixed.set(part, (next = node()));
        at = next;
      }
    }
    at.name ??= pattern;
  }
  const find = (at: Node, parts: readonly string[], i: number): string | undefined => {
    if (i === parts.length) return at.name;
    const fixed = at.fixed.get(parts[i]);
    return (
      (fixed && find(fixed, parts, i + 1)) ??
      (at.any && parts[i] !== "" ? find(at.any, parts, i + 1) : undefined) ??
      at.rest
    );
  };
  return (path) => (exact.has(path) ? path : (find(root, path.split("/").slice(1), 0) ?? "none"));
}
