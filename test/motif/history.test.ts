import { expect, test } from "bun:test";
import { addHistories, inferHistory } from "../../src/motif/history.ts";
import type { HomologState, Prediction } from "../../src/motif/prediction.ts";
import { listLeaves, type Node, parseNewick, rootTree } from "../../src/motif/rooted-tree.ts";
import { random } from "../fixtures/random-protein.ts";
import { SAMPLE } from "../scoring/sample-prediction.ts";
import { randomTree } from "./random-tree.ts";

const STATES: HomologState[] = ["conserved", "shifted", "substituted", "gap", "missing"];
const HAS: Partial<Record<HomologState, boolean>> = { conserved: true, substituted: false, gap: false };

function listNodes(node: Node): Node[] {
  return [node, ...node.children.flatMap(listNodes)];
}

/** Fewest changes, then fewest gains, of all assignments of the match to the nodes, for each state of the root. */
function searchAll(
  root: Node,
  states: ReadonlyMap<number, HomologState>,
): Record<"with" | "without", [number, number]> {
  const nodes = listNodes(root);
  const observed = nodes.map((node) =>
    node.children.length > 0 ? undefined : node.leaf === 0 ? true : HAS[states.get(node.leaf - 1)!],
  );
  const numbers = new Map(nodes.map((node, i) => [node, i]));
  const branches = nodes.flatMap((node, i) =>
    node.children.map((child) => [i, numbers.get(child)!] as const),
  );
  const best = { with: [Infinity, 0], without: [Infinity, 0] } as Record<
    "with" | "without",
    [number, number]
  >;
  for (let assignment = 0; assignment < 1 << nodes.length; assignment++) {
    const has = (i: number): boolean => ((assignment >> i) & 1) === 1;
    if (observed.some((state, i) => state !== undefined && state !== has(i))) continue;
    const changed = branches.filter(([from, to]) => has(from) !== has(to));
    const gains = changed.filter(([from]) => !has(from)).length;
    const of = has(0) ? "with" : "without";
    const [changes, fewest] = best[of];
    if (changed.length < changes || (changed.length === changes && gains < fewest))
      best[of] = [changed.length, gains];
  }
  return best;
}

test("histories have the fewest changes, and of those the fewest gains, as all assignments show", () => {
  const next = random(11);
  for (let round = 0; round < 400; round++) {
    const size = 3 + Math.floor(next() * 5);
    const root = rootTree(randomTree(next, size));
    const states = new Map(
      Array.from({ length: size - 1 }, (_, i) => [i, STATES[Math.floor(next() * STATES.length)]]),
    );
    const all = searchAll(root, states);
    const { ancestor, changes, otherChanges } = inferHistory(root, states);
    const gains = changes.filter(({ kind }) => kind === "gained").length;
    const wins = Math.sign(all.without[0] - all.with[0]);
    expect(ancestor).toBe((["lacked it", "undecided", "had it"] as const)[wins + 1]);
    expect([changes.length, gains]).toEqual(wins < 0 ? all.without : all.with);

    expect(otherChanges?.length).toBe(wins === 0 ? all.without[0] : undefined);

    // From the root on, the changes give the observed leaves.
    const byNode = new Map(changes.map((change) => [change.node, change]));
    const check = (node: Node, has: boolean, last: number[] | null): void => {
      const change = byNode.get(node);
      if (change) expect(change.kind).toBe(has ? "lost" : "gained");
      const [now, leaves] = change ? [!has, change.leaves] : [has, last];
      if (node.children.length === 0) {
        const observed = node.leaf === 0 ? true : HAS[states.get(node.leaf - 1)!];
        if (observed !== undefined) expect(now).toBe(observed);
        if (leaves) expect(leaves.includes(node.leaf)).toBe(observed !== undefined);
      }
      for (const child of node.children) check(child, now, leaves);
    };
    check(root, wins >= 0, null);
  }
});

const NAMES = ["query", "mouse", "chicken", "frog", "trout", "perch", "zebrafish", "lamprey"];
const TREE = parseNewick(
  "((((query:1,mouse:1):1,chicken:2):1,frog:3):3,((trout:2,perch:2):1,zebrafish:3):3,lamprey:12);",
  NAMES,
);

/** @param states one letter for each homolog: kept, nearby, lost, missing */
function history(states: string): string {
  const of = { k: "conserved", n: "shifted", l: "substituted", m: "missing" } as const;
  const { ancestor, changes } = inferHistory(
    TREE,
    new Map([...states].map((letter, i) => [i, of[letter as keyof typeof of]])),
  );
  return [
    ancestor,
    ...changes.map(({ kind, leaves }) => `${kind} ${leaves.map((i) => NAMES[i]).join(" ")}`),
  ].join("; ");
}

test.each([
  ["kkkkkkk", "had it"],
  ["kkklllk", "had it; lost trout perch zebrafish"],
  // A loss and a gain need as many changes as two losses: no gain is claimed.
  ["kkklklk", "had it; lost trout; lost zebrafish"],
  // Three losses, in chicken, frog and the fishes, and one in the lamprey: a gain needs less.
  ["kllllll", "lacked it; gained query mouse"],
  ["lllllll", "lacked it; gained query"],
  ["kkkkkkl", "undecided; lost lamprey"],
  // Nearby and not reached say nothing.
  ["kkknmkm", "had it"],
  ["kkklmnk", "had it; lost trout"],
  ["mmmmmmm", "had it"],
])("homologs with %s tell: %s", (states, expected) => {
  expect(history(states)).toBe(expected);
});

test("a gain is claimed where losses alone would need more changes", () => {
  const root = parseNewick("((query:1,a:1):4,((b:1,(c:1,(d:1,(e:1,f:1):1):1):1):1,g:1):3);", [
    "query",
    ..."abcdefg",
  ]);
  const states = [..."klllkkk"].map((letter, i) => [i, letter === "k" ? "conserved" : "gap"] as const);
  const { ancestor, changes } = inferHistory(root, new Map(states));
  expect([ancestor, ...changes.map(({ kind, leaves }) => [kind, leaves])]).toEqual([
    "had it",
    ["lost", [2, 3, 4]],
    ["gained", [5, 6]],
  ]);
});

test("a prediction names the homologs of each change", () => {
  const homologs = NAMES.slice(1).map((accession) =>
    Object.assign({}, SAMPLE.prediction.homologs[0], { accession }),
  );
  const [match] = SAMPLE.prediction.patterns[0].matches;
  const atHomologs = [..."kllllll"].map((letter, homolog) => ({
    homolog,
    state: letter === "k" ? ("conserved" as const) : ("gap" as const),
    residues: "",
    retention: 0,
  }));
  const patterns = [{ ...SAMPLE.prediction.patterns[0], matches: [{ ...match, atHomologs }] }];
  const prediction: Prediction = { ...SAMPLE.prediction, homologs, patterns };
  expect(addHistories(prediction, TREE).patterns[0].matches[0].history).toEqual({
    ancestor: "lacked it",
    changes: [{ kind: "gained", homologs: [0], query: true }],
  });
  expect(listLeaves(TREE).length).toBe(8);
});
