import { expect, test } from "bun:test";
import { blosum62 } from "../../src/motif/matrix.ts";
import { END_GAP_FACTOR } from "../../src/motif/options.ts";
import {
  alignProfiles,
  type Band,
  type ProfileAlignment,
  type Profile,
  makeProfile,
} from "../../src/motif/profile.ts";
import { random, randomProtein } from "../fixtures/random-protein.ts";

const everything = (rows: number, columns: number): Band => ({
  low: new Int32Array(rows + 1),
  high: new Int32Array(rows + 1).fill(columns),
});

/** Two or three related sequences with gaps. */
function smallProfile(next: () => number, length: number): Profile {
  const sequences: Uint8Array[] = [];
  const columns: Int32Array[] = [];
  for (let k = 1 + Math.floor(next() * 3); k > 0; k--) {
    const own = Int32Array.from({ length }, (_, i) => i).filter(() => next() < 0.8);
    columns.push(own);
    sequences.push(randomProtein(next, own.length));
  }
  return makeProfile(sequences, columns, length);
}

/** Score of an alignment by its columns: B both, A and F the first alone, S the second alone. */
function computeScore(a: Profile, b: Profile, moves: string): number {
  let [i, j, sum] = [0, 0, 0];
  for (const { 0: run } of moves.matchAll(/B|F+|S+/g)) {
    if (run === "B") {
      for (let p = 0; p < 20; p++)
        for (let q = 0; q < 20; q++)
          sum += a.frequencies[i * 20 + p] * b.frequencies[j * 20 + q] * blosum62(p, q);
      i++;
      j++;
      continue;
    }
    const [own, at, other, otherLength] = run.startsWith("F")
      ? [a, i, j, b.length]
      : ([b, j, i, a.length] as const);
    const share = other === 0 || other === otherLength ? END_GAP_FACTOR : 1;
    const last = at + run.length - 1;
    let cost = own.open[at] + own.close[last];
    for (let c = at; c <= last; c++) cost += own.next[c];
    sum -= share * cost;
    if (own === a) i += run.length;
    else j += run.length;
  }
  return sum;
}

function listMoves({ first, second, length }: ProfileAlignment): string {
  const [a, b] = [new Set(first), new Set(second)];
  return Array.from({ length }, (_, c) => (a.has(c) ? (b.has(c) ? "B" : "F") : "S")).join("");
}

function* allMoves(rows: number, columns: number): Generator<string> {
  if (rows === 0 && columns === 0) yield "";
  if (rows > 0 && columns > 0) for (const rest of allMoves(rows - 1, columns - 1)) yield `B${rest}`;
  if (rows > 0) for (const rest of allMoves(rows - 1, columns)) yield `F${rest}`;
  if (columns > 0) for (const rest of allMoves(rows, columns - 1)) yield `S${rest}`;
}

test("profile alignment scores at least as high as random alignments", () => {
  const next = random(81);
  for (let round = 0; round < 60; round++) {
    const a = smallProfile(next, Math.floor(next() * 5));
    const b = smallProfile(next, Math.floor(next() * 5));
    const found = computeScore(a, b, listMoves(alignProfiles(a, b, everything(a.length, b.length))));
    let best = -Infinity;
    for (const moves of allMoves(a.length, b.length)) best = Math.max(best, computeScore(a, b, moves));
    expect(found).toBeCloseTo(best, 9);
  }
});

test("gaps cost less next to existing gaps", () => {
  const [w, c] = [18, 1];
  const sequences = [Uint8Array.of(w, c), Uint8Array.of(w, w, c)];
  const { open, close, next } = makeProfile(sequences, [Int32Array.of(0, 2), Int32Array.of(0, 1, 2)], 3);
  expect([...open]).toEqual([5.5, 2.75, 5.5]);
  expect([...close]).toEqual([5.5, 2.75, 5.5]);
  expect([...next]).toEqual([1, 0.5, 1]);
});

test("reports an alignment path at the edge of the band", () => {
  const protein = randomProtein(random(82), 40);
  const profile = makeProfile([protein], [Int32Array.from(protein.keys())], 40);
  const tight: Band = { low: new Int32Array(41), high: new Int32Array(41) };
  const wide: Band = { low: new Int32Array(41), high: new Int32Array(41) };
  for (let i = 0; i <= 40; i++) {
    [tight.low[i], tight.high[i]] = [Math.max(0, i - 1), i];
    [wide.low[i], wide.high[i]] = [Math.max(0, i - 3), Math.min(40, i + 3)];
  }
  expect(alignProfiles(profile, profile, tight).touchesBand).toBe(true);
  expect(alignProfiles(profile, profile, wide)).toMatchObject({ touchesBand: false, length: 40 });
});

test("aligns long profiles, which are scored in parts", () => {
  const protein = randomProtein(random(83), 700);
  const columns = Int32Array.from(protein.keys());
  const profile = makeProfile([protein], [columns], 700);
  const { first, second } = alignProfiles(profile, profile, everything(700, 700));
  expect(first).toEqual(columns);
  expect(second).toEqual(columns);
});
