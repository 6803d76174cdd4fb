import { expect, test } from "bun:test";
import { neighbourJoining, newick, type Tree } from "../../src/motif/tree.ts";
import { random } from "../fixtures/random-protein.ts";
import { cpuTime } from "./cpu-time.ts";
import { pathLengths, randomTree } from "./random-tree.ts";

function full(lower: number[][]): [Float64Array, number] {
  const size = lower.length + 1;
  const matrix = new Float64Array(size * size);
  lower.forEach((row, i) =>
    row.forEach((d, j) => {
      matrix[(i + 1) * size + j] = matrix[j * size + i + 1] = d;
    }),
  );
  return [matrix, size];
}

/** Topology: for each inner branch the leaves on the side without leaf 0, and its length. */
function splits({ leaves, parent, length }: Tree): Map<string, number> {
  const below = Array.from(parent, (_, node): number[] => (node < leaves ? [node] : []));
  for (let node = 0; node < parent.length - 1; node++) below[parent[node]].push(...below[node]);
  const result = new Map<string, number>();
  for (let node = leaves; node < parent.length - 1; node++) {
    const inside = new Set(below[node]);
    const side = Array.from({ length: leaves }, (_, i) => i).filter((i) => inside.has(i) !== inside.has(0));
    result.set(side.join(" "), length[node]);
  }
  return result;
}

test("reproduces the tree of eight sequences of Saitou & Nei, 1987 (table 1, figure 3)", () => {
  const [matrix, size] = full([
    [7],
    [8, 5],
    [11, 8, 5],
    [13, 10, 7, 8],
    [16, 13, 10, 11, 5],
    [13, 10, 7, 8, 6, 9],
    [17, 14, 11, 12, 10, 13, 8],
  ]);
  const tree = neighbourJoining(matrix, size);
  expect([...tree.length.subarray(0, 8)].map((x) => Math.round(x * 1e9) / 1e9)).toEqual([
    5, 2, 1, 3, 1, 4, 2, 6,
  ]);
  expect(splits(tree)).toEqual(
    new Map(
      [
        ["2 3 4 5 6 7", 2],
        ["4 5", 2],
        ["6 7", 1],
        ["3 4 5 6 7", 1],
        ["4 5 6 7", 2],
      ].map(([side, length]) => [side as string, length as number]),
    ),
  );
  pathLengths(tree).forEach((d, i) => expect(d).toBeCloseTo(matrix[i], 9));
});

test("reconstructs six sequences with unequal rates", () => {
  const [matrix, size] = full([[5], [4, 7], [7, 10, 7], [6, 9, 6, 5], [8, 11, 8, 9, 8]]);
  const tree = neighbourJoining(matrix, size);
  expect([...tree.length.subarray(0, 6)]).toEqual([1, 4, 2, 3, 2, 5]);
  expect([...splits(tree).keys()].sort()).toEqual(["2 3 4 5", "3 4", "3 4 5"]);
  pathLengths(tree).forEach((d, i) => expect(d).toBeCloseTo(matrix[i], 9));
});

test("reproduces the textbook example of five sequences", () => {
  const [matrix, size] = full([[5], [9, 10], [9, 10, 8], [8, 9, 7, 3]]);
  const tree = neighbourJoining(matrix, size);
  expect(newick(tree, ["a", "b", "c", "d", "e"])).toBe("(d:2,e:1,(c:4,(a:2,b:3):3):2);");
});

test("reconstructs any tree from its distances", () => {
  const next = random(31);
  for (let leaves = 3; leaves < 60; leaves += 4) {
    const truth = randomTree(next, leaves);
    const matrix = pathLengths(truth);
    const tree = neighbourJoining(matrix, leaves);
    pathLengths(tree).forEach((d, i) => expect(Math.abs(d - matrix[i])).toBeLessThan(1e-9));
    expect([...splits(tree).keys()].sort()).toEqual([...splits(truth).keys()].sort());
  }
});

test("lists parents after children, without negative branches and with unchanged distances", () => {
  const next = random(32);
  for (let size = 0; size < 30; size++) {
    const matrix = new Float64Array(size * size);
    for (let i = 0; i < size; i++) {
      for (let j = 0; j < i; j++) matrix[i * size + j] = matrix[j * size + i] = Math.floor(next() * 5);
    }
    const before = matrix.slice();
    const { leaves, parent, length } = neighbourJoining(matrix, size);
    expect(matrix).toEqual(before);
    expect(leaves).toBe(size);
    expect(parent.length).toBe(size < 2 ? size : size === 2 ? 3 : 2 * size - 2);
    parent.subarray(0, -1).forEach((up, node) => expect(up).toBeGreaterThan(node));
    if (size > 0) expect(parent.at(-1)).toBe(-1);
    length.forEach((branch) => expect(branch).toBeGreaterThanOrEqual(0));
  }
});

test("breaks ties by sequence number", () => {
  const size = 9;
  const star = new Float64Array(size * size).fill(0.1 + 0.2);
  for (let i = 0; i < size; i++) star[i * size + i] = 0;
  const names = Array.from({ length: size }, (_, i) => `s${i}`);
  const text = newick(neighbourJoining(star, size), names);
  expect(text).toStartWith("(");
  expect(text).toContain("(s0:0.15,s1:0.15):0");
  expect(
    newick(
      neighbourJoining(
        star.map((d) => d * 3),
        size,
      ),
      names,
    ).replaceAll("0.45", "0.15"),
  ).toBe(text);
});

test("quotes special names in Newick and omits inner node names of small trees", () => {
  const tree = neighbourJoining(new Float64Array([0, 1, 1, 0]), 2);
  expect(newick(tree, ["query", "P1"])).toBe("(query:0.5,P1:0.5);");
  expect(newick(tree, ["it's (a) b", "a:b,c;"])).toBe("('it''s (a) b':0.5,'a:b,c;':0.5);");
  expect(newick(tree, ["", "sp|P04637.2|P53"])).toBe("('':0.5,sp|P04637.2|P53:0.5);");
  expect(newick(neighbourJoining(new Float64Array(1), 1), ["one"])).toBe("one;");
  expect(newick(neighbourJoining(new Float64Array(0), 0), [])).toBe("");
});

test("joins a thousand sequences in less than a second", () => {
  const size = 1000;
  const matrix = pathLengths(randomTree(random(33), size));
  let tree = neighbourJoining(new Float64Array(0), 0);
  expect(cpuTime(() => (tree = neighbourJoining(matrix, size)))).toBeLessThan(1000);
  expect(Math.abs(pathLengths(tree)[size * size - 2] - matrix[size * size - 2])).toBeLessThan(1e-6);
});

const quicktree = Bun.which("quicktree");
test.skipIf(quicktree === null)("the tree has the topology of quicktree for non-additive distances", () => {
  const next = random(34);
  for (let round = 0; round < 12; round++) {
    const size = 4 + Math.floor(next() * 30);
    const matrix = pathLengths(randomTree(next, size));
    for (let i = 0; i < size; i++) {
      for (let j = 0; j < i; j++) {
        matrix[i * size + j] = matrix[j * size + i] = Number(
          (matrix[i * size + j] * (0.8 + 0.4 * next())).toFixed(5),
        );
      }
    }
    const rows = Array.from({ length: size }, (_, i) =>
      [`s${i}`, ...Array.from(matrix.subarray(i * size, (i + 1) * size), (d) => d.toFixed(5))].join(" "),
    );
    const result = Bun.spawnSync([quicktree!, "-in", "m", "-out", "t", "/dev/stdin"], {
      stdin: Buffer.from(`${size}\n${rows.join("\n")}\n`),
    });
    expect(result.exitCode).toBe(0);
    expect(listSides(result.stdout.toString(), size)).toEqual(
      [...splits(neighbourJoining(matrix, size)).keys()].sort(),
    );
  }
});

/** The sides of each branch, from a Newick text with leaves s0, s1, …. */
function listSides(text: string, leaves: number): string[] {
  const sides = new Set<string>();
  const open: number[][] = [];
  for (const [token] of text.replaceAll(/:[-0-9.e]+/g, "").matchAll(/[()]|s\d+/g)) {
    if (token === "(") open.push([]);
    else if (token !== ")") open.at(-1)!.push(Number(token.slice(1)));
    else {
      const inside = open.pop()!;
      open.at(-1)?.push(...inside);
      const set = new Set(inside);
      const side = Array.from({ length: leaves }, (_, i) => i).filter((i) => set.has(i) !== set.has(0));
      if (side.length > 1 && side.length < leaves - 1) sides.add(side.join(" "));
    }
  }
  return [...sides].sort();
}
