import { expect, test } from "bun:test";
import { decode, openCorpus, packCorpus, predict, predictFromAlignment } from "../../src/motif/index.ts";
import { addOrthology, relateHomologs } from "../../src/motif/orthology.ts";
import { IDENTITY_DECAY } from "../../src/motif/options.ts";
import type { HomologState } from "../../src/motif/prediction.ts";
import { listLeaves, type Node, parseNewick, rootTree } from "../../src/motif/rooted-tree.ts";
import { mutated, random, randomProtein } from "../fixtures/random-protein.ts";
import { SAMPLE } from "../scoring/sample-prediction.ts";
import { randomTree } from "./random-tree.ts";

/** Relations as letters; homologs are named by gene and species, such as `a-human`. */
function relate(tree: string, names: readonly string[], own = "human"): string {
  const species = names.map((name) => name.split("-")[1] || null);
  const root = tree === "" ? null : parseNewick(tree, ["query", ...names]);
  const relations = relateHomologs(root, species, new Set(own === "" ? [] : [own]));
  return relations.map((relation) => relation?.[0] ?? "?").join("");
}

test.each<[what: string, tree: string, names: string[], own: string, expected: string]>([
  ["the best of each species", "", ["a-mouse", "a-frog", "b-mouse"], "human", "oop"],
  ["other proteins of the query's species", "", ["b-human", "a-mouse", "c-human"], "human", "pop"],
  ["unknown species", "", ["x", "a-mouse", "y"], "human", "?o?"],
  [
    "the best of a species among the orthologs of the query's paralog",
    "((query:1,a-mouse:1):2,(b-human:1,(b-mouse:1,b-cow:1):1):2);",
    ["a-mouse", "b-human", "b-cow", "b-mouse"],
    "human",
    "oppp",
  ],
  [
    "a duplication that other species show, if the query's own is unknown",
    "((query:1,a-mouse:1):2,(b-frog:1,(b-mouse:1,b-cow:1):1):2);",
    ["a-mouse", "b-mouse", "b-cow", "b-frog"],
    "",
    "oppp",
  ],
  [
    "a better hit among paralogs: the second best of the species is its ortholog",
    "((query:1,a-cow:2):2,(b-human:1,b-cow:1):2);",
    ["b-cow", "a-cow", "b-human"],
    "human",
    "pop",
  ],
  [
    "copies that a species made of its own: the better one",
    "((query:1,a-mouse:1):2,(a-frog:1,a2-frog:1):2);",
    ["a-mouse", "a-frog", "a2-frog"],
    "human",
    "oop",
  ],
])("relates %s", (_, tree, names, own, expected) => {
  expect(relate(tree, names, own)).toBe(expected);
});

/** Plain definition: the last common ancestor with the query has a species on both of its sides. */
function isBeyondDuplication(root: Node, leaf: number, species: readonly string[], own: string): boolean {
  const below = (node: Node, wanted: number): boolean => listLeaves(node).includes(wanted);
  let node = root;
  for (let next: Node | undefined = root; next;) {
    node = next;
    next = node.children.find((child) => below(child, 0) && below(child, leaf));
  }
  const near = node.children.find((child) => below(child, 0))!;
  const names = (leaves: number[]): string[] => leaves.map((i) => (i === 0 ? own : species[i - 1]));
  const far = names(listLeaves(node).filter((i) => !below(near, i)));
  return names(listLeaves(near)).some((name) => far.includes(name));
}

test("relations on random trees are those of the definition", () => {
  const next = random(8);
  for (let round = 0; round < 200; round++) {
    const size = 3 + Math.floor(next() * 9);
    const root = rootTree(randomTree(next, size));
    const species = Array.from({ length: size - 1 }, () => "abcdefgh"[Math.floor(next() * 8)]);
    const relations = relateHomologs(root, species, new Set(["a"]));
    const isParalog = species.map(
      (name, i) => name === "a" || isBeyondDuplication(root, i + 1, species, "a"),
    );
    const expected = species.map((name, i) =>
      isParalog[i] || species.some((other, j) => j < i && other === name && !isParalog[j])
        ? "paralog"
        : "ortholog",
    );
    expect(relations).toEqual(expected as typeof relations);
  }
});

test("counts and scores the orthologs and the paralogs that reach a match", () => {
  const species = ["mouse", "frog", "human", "mouse", null, "cow"];
  const states: HomologState[] = ["conserved", "shifted", "substituted", "gap", "conserved", "missing"];
  const retention = [1, 0.5, 0.25, 0, 1, null];
  const homologs = species.map((organism, i) =>
    Object.assign({}, SAMPLE.prediction.homologs[0], { organism, weight: 1 + i, identity: 0.9 - i / 10 }),
  );
  const [pattern] = SAMPLE.prediction.patterns;
  const atHomologs = states.map((state, homolog) => ({
    homolog,
    state,
    residues: "",
    retention: retention[homolog],
  }));
  const patterns = [{ ...pattern, matches: [{ ...pattern.matches[0], atHomologs }] }];
  const related = addOrthology({ ...SAMPLE.prediction, homologs, patterns }, null, ["Human", null]);
  expect(related.homologs.map(({ relation }) => relation)).toEqual([
    "ortholog", "ortholog", "paralog", "paralog", null, "ortholog",
  ]); // prettier-ignore
  const value = (i: number): number =>
    homologs[i].weight * Math.exp((homologs[i].identity - 1) / IDENTITY_DECAY);
  const mean = (of: number[]): number =>
    of.reduce((sum, i) => sum + value(i) * retention[i]!, 0) / of.reduce((sum, i) => sum + value(i), 0);
  const [{ orthologs, paralogs }] = related.patterns[0].matches;
  expect(orthologs).toEqual({ homologs: 2, kept: 1, nearby: 1, score: expect.closeTo(mean([0, 1]), 6) });
  expect(paralogs).toEqual({ homologs: 2, kept: 0, nearby: 0, score: expect.closeTo(mean([2, 3]), 6) });
});

test("the names of rows tell species, and so relations", () => {
  const query = "MKWVTFISLLFLFSSAYSRGVF";
  const paralog = query.slice(0, 10).padEnd(22, "A");
  const rows = [
    ["sp|P04637|P53_HUMAN/1-22", "", query],
    ["sp|P02340|P53_MOUSE", "", query.replace("MK", "MA")],
    ["NP_1", "p53 [Danio rerio]", query.replace("SS", "AS")],
    ["O15350", "OS=Homo sapiens OX=9606 GN=TP73", paralog],
    ["other", "", paralog.replace("MK", "MA")],
  ].map(([name, description, letters]) => ({ name, description, letters }));
  const { homologs } = predictFromAlignment({ rows, patterns: [], model: "continuous" });
  expect(homologs.map(({ organism, gene, relation }) => [organism, gene, relation])).toEqual([
    ["Mus musculus", null, "ortholog"],
    ["Danio rerio", null, "ortholog"],
    ["Homo sapiens", "TP73", "paralog"],
    [null, null, null],
  ]);
});

test("the species of a copy of the query in the corpus is its own, so that its other proteins are paralogs", () => {
  const next = random(12);
  const residues = randomProtein(next, 200);
  const changed = (share: number): Uint8Array => mutated(next, residues, share);
  const [entries, paralog] = [[residues, changed(0.1), changed(0.2)], changed(0.5)];
  const organisms = ["Homo sapiens", "Mus musculus", "Gallus gallus", "Homo sapiens"];
  const proteins = [...entries, paralog].map((each, i) => ({
    accession: `P${i}`,
    description: "",
    organism: organisms[i],
    speciesKey: `os:${organisms[i]}`,
    residues: each,
  }));
  const corpus = openCorpus(packCorpus("some", proteins));
  const relations = (query: Uint8Array): [string, unknown][] =>
    predict({ query: decode(query), patterns: [], model: "continuous" }, corpus).homologs.map(
      ({ accession, relation }) => [accession, relation],
    );
  expect(relations(residues)).toEqual([
    ["P1", "ortholog"],
    ["P2", "ortholog"],
    ["P3", "paralog"],
  ]);
  expect(relations(changed(0.02))[0]).toEqual(["P0", "ortholog"]);
});
