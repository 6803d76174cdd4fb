import { expect, test } from "bun:test";
import { renderToString } from "preact-render-to-string";
import { listLeaves, type Node, rootTree } from "../../src/motif/rooted-tree.ts";
import { CladeView } from "../../src/web/score/clade-view.tsx";
import { foldTree } from "../../src/web/score/folded-tree.ts";
import { historyText, listNames } from "../../src/web/score/history-text.ts";
import { listMatches, type Result, type State } from "../../src/web/score/result.ts";
import { random } from "../fixtures/random-protein.ts";
import { randomTree } from "../motif/random-tree.ts";
import { SAMPLE } from "../scoring/sample-prediction.ts";

const NAMES = ["Mus musculus", "Gallus gallus", "Danio rerio", "Salmo salar", "TP73", "Petromyzon marinus"];
const TREE = "(((query:1,A0:1):1,A1:2):2,((A2:1,A3:1):2,(A4:2,A5:2):1):1);";

/** @param states one letter for each homolog: kept, nearby, lost, missing */
function makeResult(states: string): Result {
  const of: Record<string, State> = { k: "conserved", n: "shifted", l: "gap", m: "missing" };
  const homologs = NAMES.map((name, i) =>
    Object.assign({}, SAMPLE.prediction.homologs[0], {
      accession: `A${i}`,
      organism: name === "TP73" ? "Homo sapiens" : name,
      gene: name === "TP73" ? name : null,
      relation: name === "TP73" ? "paralog" : "ortholog",
    }),
  );
  const atHomologs = [...states].map((letter, homolog) => ({
    homolog,
    state: of[letter],
    residues: "FSDW",
    retention: 0,
  }));
  const [pattern] = SAMPLE.prediction.patterns;
  const matches = [{ ...pattern.matches[0], atHomologs, homologs: states.replaceAll("m", "").length }];
  const { protein, prediction } = SAMPLE;
  return {
    ...prediction,
    identifier: "",
    protein: protein!,
    homologs,
    patterns: [{ ...pattern, matches }],
    tree: TREE,
  };
}

test.each([
  ["kkkkkk", "The common ancestor of all homologs had it."],
  [
    "kklkkl",
    "The common ancestor of all homologs had it; it was lost 2 times, in zebrafish; in Petromyzon marinus.",
  ],
  [
    "kkllkl",
    "Either it appeared 2 times, in the ancestor of TP53, mouse and chicken; in TP73 of human, or it was lost 2 times, in the ancestor of zebrafish and Salmo salar; in Petromyzon marinus: both need as many changes.",
  ],
  ["klllll", "It appeared in the ancestor of TP53 and mouse. The common ancestor of all homologs lacked it."],
  ["nlllll", "It appeared in TP53. The common ancestor of all homologs lacked it."],
  [
    "kkllll",
    "Either it appeared in the ancestor of TP53, mouse and chicken, or it was lost in the ancestor of zebrafish, Salmo salar and 2 more: both need as many changes.",
  ],
  ["mmmmmm", ""],
])("homologs with %s tell: %s", (states, expected) => {
  const result = makeResult(states);
  expect(historyText(result, listMatches(result)[0])).toBe(expected);
});

test("a result without a tree has no history", () => {
  const result = { ...makeResult("kkkkkk"), tree: "" };
  expect(historyText(result, listMatches(result)[0])).toBe("");
  expect(renderToString(<CladeView result={result} match={listMatches(result)[0]} />)).toBe("");
});

test("names proteins once, and paralogs with their gene", () => {
  const result = makeResult("kkkkkk");
  expect(listNames(result, [5])).toBe("TP73 of human");
  result.homologs[3].organism = "Schizosaccharomyces pombe (strain 972 / ATCC 24843)";
  expect(listNames(result, [4])).toBe("Schizosaccharomyces pombe");
  result.homologs[1].organism = "Mus musculus";
  expect(listNames(result, [2, 1, 0])).toBe("TP53 and mouse");
});

test("a folded tree has each leaf in one row, differing clades unfolded, and not more rows than there is room", () => {
  const next = random(3);
  for (let size = 3; size < 100; size += 7) {
    const root = rootTree(randomTree(next, size));
    const colours = Array.from({ length: size }, () => next() < 0.2);
    const difference = (node: Node): number =>
      new Set(listLeaves(node).map((leaf) => colours[leaf])).size - 1;
    const { rows, drawing } = foldTree(root, difference, new Set());
    expect(rows.flatMap(listLeaves).toSorted((a, b) => a - b)).toEqual(colours.map((_, i) => i));
    expect(rows.length).toBeLessThanOrEqual(15);
    expect(listLeaves(rows[0])).toContain(0);
    if (rows.length < 14) expect(rows.map(difference)).not.toContain(1);
    expect(new Set(drawing.leaves.map(({ depth }) => depth)).size).toBe(1);
    const inner = (node: Node): Node[] =>
      node.children.length > 0 ? [node, ...node.children.flatMap(inner)] : [];
    expect(foldTree(root, difference, new Set(inner(root))).rows.length).toBe(size);
  }
});

test("the view says in words what each row keeps", () => {
  const result = makeResult("kkllnm");
  const html = renderToString(<CladeView result={result} match={listMatches(result)[0]} />);
  const rows = [...html.matchAll(/<li(?: class="query")?>(.*?)<\/li>/g)].map(([, row]) => row);
  const words = rows.flatMap((row) => row.match(/aria-label="([^"]*)"><(?:svg|small)/)?.[1] ?? []);
  expect(words).toEqual(["1 kept", "1 kept", "1 kept", "2 lost", "1 nearby", "1 not reached"]);
  expect(html).toContain("TP73 of human");
  expect(html.match(/class="state-mark substituted"/g)?.length).toBeGreaterThanOrEqual(3);
});
