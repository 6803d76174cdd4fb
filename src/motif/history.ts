import type { HomologState, MatchHistory, MatchScore, Prediction } from "./prediction.ts";
import type { Node } from "./rooted-tree.ts";

/** A change of a match on the branch above a node. */
export interface Change {
  kind: "gained" | "lost";
  node: Node;
  /** The leaves below the node that show it: they have the match after a gain, and lack it after a loss. */
  leaves: number[];
}

/** Where a match appeared and was lost, with the fewest changes. */
export interface History {
  /**
   * Whether the common ancestor of all had the match; `undecided` if that needs as many changes as a gain. The changes are
   * then those of an ancestor that had it.
   */
  ancestor: MatchHistory["ancestor"];
  changes: Change[];
  /** If it is undecided: those of an ancestor that lacked it. */
  otherChanges?: Change[];
}

/** A gain costs as much as a loss, and slightly more, so that of histories with as many changes the one with fewest gains wins. */
const LOSS = 1;
const GAIN = 1 + 2 ** -20;

/** Costs of a node without and with the match. */
type Costs = readonly [without: number, withIt: number];

/** Homologs that keep a match in place have it; substituted and deleted ones do not. Nearby ones and those not reached are unknown. */
const HAS_MATCH: Readonly<Record<HomologState, boolean | null>> = {
  conserved: true,
  shifted: null,
  substituted: false,
  gap: false,
  missing: null,
};

/**
 * The history of a match along a rooted tree that needs the fewest changes (Sankoff, SIAM J. Appl. Math. 1975, 28:35). A gain
 * is inferred only if losses alone would need more changes. Of equal histories, changes are as late as possible.
 *
 * @param states state of the match in each homolog; the query has the match. Others are unknown.
 */
export function inferHistory(root: Node, states: ReadonlyMap<number, HomologState>): History {
  const costs = new Map<Node, Costs>();
  const compute = (node: Node): Costs => {
    const own =
      node.children.length === 0 ? leafCosts(node.leaf, states) : sumCosts(node.children.map(compute));
    costs.set(node, own);
    return own;
  };
  const [without, withIt] = compute(root).map(Math.floor);
  const list = (hasIt: boolean): Change[] => listChanges(root, hasIt, costs, states);
  if (withIt === without) return { ancestor: "undecided", changes: list(true), otherChanges: list(false) };
  return withIt < without
    ? { ancestor: "had it", changes: list(true) }
    : { ancestor: "lacked it", changes: list(false) };
}

/** The fewest changes if the root has the match, or lacks it. */
function listChanges(
  root: Node,
  rootHasIt: boolean,
  costs: ReadonlyMap<Node, Costs>,
  states: ReadonlyMap<number, HomologState>,
): Change[] {
  const changes: Change[] = [];
  const trace = (node: Node, hasIt: boolean, change: Change | null): void => {
    if (node.children.length === 0 && leafState(node.leaf, states) !== null) change?.leaves.push(node.leaf);
    for (const child of node.children) {
      const [same, other] = hasIt ? costs.get(child)!.toReversed() : costs.get(child)!;
      if (same <= other + (hasIt ? LOSS : GAIN)) trace(child, hasIt, change);
      else {
        const next: Change = { kind: hasIt ? "lost" : "gained", node: child, leaves: [] };
        changes.push(next);
        trace(child, !hasIt, next);
      }
    }
  };
  trace(root, rootHasIt, null);
  return changes;
}

/** A prediction with the history of each match that homologs reach. */
export const addHistories = (prediction: Prediction, root: Node): Prediction => ({
  ...prediction,
  patterns: prediction.patterns.map((pattern) => ({
    ...pattern,
    matches: pattern.matches.map((match) =>
      match.homologs === 0
        ? match
        : { ...match, history: describeHistory(inferHistory(root, mapStates(match.atHomologs))) },
    ),
  })),
});

const describeHistory = ({ ancestor, changes }: History): MatchHistory => ({
  ancestor,
  changes: changes.map(({ kind, leaves }) => ({
    kind,
    homologs: leaves.filter((leaf) => leaf > 0).map((leaf) => leaf - 1),
    query: leaves.includes(0),
  })),
});

/** The state of a match by the number of the homolog. */
export const mapStates = (atHomologs: MatchScore["atHomologs"]): Map<number, HomologState> =>
  new Map(atHomologs.map(({ homolog, state }) => [homolog, state]));

function leafState(leaf: number, states: ReadonlyMap<number, HomologState>): boolean | null {
  return leaf === 0 ? true : HAS_MATCH[states.get(leaf - 1) ?? "missing"];
}

function leafCosts(leaf: number, states: ReadonlyMap<number, HomologState>): Costs {
  const hasIt = leafState(leaf, states);
  return [hasIt === true ? Infinity : 0, hasIt === false ? Infinity : 0];
}

function sumCosts(children: readonly Costs[]): Costs {
  let [without, withIt] = [0, 0];
  for (const [childWithout, childWith] of children) {
    without += Math.min(childWithout, childWith + GAIN);
    withIt += Math.min(childWith, childWithout + LOSS);
  }
  return [without, withIt];
}
