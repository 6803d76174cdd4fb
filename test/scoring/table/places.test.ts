import { expect, test } from "bun:test";
import { groupOverlapping } from "../../../src/motif/overlap.ts";
import type { MatchNotes } from "../../../src/scoring/features/annotation.ts";
import { makeScan, type ScanMatch } from "../../../src/scoring/results/scan.ts";
import { listPlaces, numberPlaces } from "../../../src/scoring/table/places.ts";
import { random } from "../../fixtures/random-protein.ts";
import { SAMPLE } from "../sample-prediction.ts";

const [SAMPLE_MATCH] = makeScan(SAMPLE).matches;

/** Notes of a match with an instance. */
function instance(logic: string): MatchNotes {
  const feature = {
    group: "motif" as const,
    start: 1,
    end: 4,
    name: "X",
    id: "ELMI1",
    type: "",
    source: "ELM",
    logic,
  };
  return { instances: [feature], homologs: [], domains: [], phosphosite: null, sentence: null };
}

const matchAt = (
  [start, end]: readonly [number, number],
  z: number | null,
  logic?: string,
): ScanMatch & { of: number } => ({
  ...SAMPLE_MATCH,
  of: 0,
  start,
  end,
  z,
  notes: logic === undefined ? null : instance(logic),
});

const A = matchAt([1, 10], 2);
const B = matchAt([5, 12], 1);
const KNOWN = matchAt([30, 40], 0.5, "true positive");
const INSIDE = matchAt([31, 34], 3);
const BESIDE = matchAt([36, 60], 1);
const FALSE = matchAt([70, 73], 1, "false positive");
const SAME = matchAt([70, 73], 1.5);
const UNSCORED = matchAt([90, 93], null);
const ALL = [INSIDE, A, SAME, B, BESIDE, FALSE, KNOWN, UNSCORED];

/** Places as places of matches in `ALL`, the best one first. */
const listed = (matches: readonly ScanMatch[], all: readonly ScanMatch[] = ALL) =>
  listPlaces(matches, numberPlaces(all)).map(({ best, others }) =>
    [best, ...others].map((match) => ALL.indexOf(match as never)),
  );

test("overlapping matches are one place, whose best match is a known instance or that of the highest z", () => {
  expect(listed(ALL)).toEqual([[1, 3], [2, 5], [4], [6, 0], [7]]);
});

test("places follow the order of their best matches, and the other matches that of the table", () => {
  expect(listed(ALL.toReversed())).toEqual([[7], [6, 0], [4], [2, 5], [1, 3]]);
});

test("a filter leaves the matches of a place together, also without its best match", () => {
  const left = matchAt([8, 11], 0.2);
  const all = [A, B, left];
  const places = listPlaces([left, B], numberPlaces(all));
  expect(places).toEqual([{ best: B, others: [left] }]);
});

test("matches of different proteins never share a place", () => {
  const other = { ...A, of: 1 };
  const numbers = numberPlaces([A, other, B], ({ of }) => of);
  expect([A, other, B].map((match) => numbers.get(match))).toEqual([1, 2, 1]);
});

test("no matches have no places", () => expect(listed([], [])).toEqual([]));

test("groups are those of comparing each match with each best match", () => {
  const next = random(3);
  for (let round = 0; round < 100; round++) {
    const spans = Array.from({ length: 60 }, () => {
      const start = 1 + Math.floor(next() * 80);
      return { start, end: start + Math.floor(next() * 12) };
    });
    const best: (typeof spans)[number][] = [];
    const expected = spans.map((span) => {
      const found = best.findIndex((other) => {
        const shared = Math.min(span.end, other.end) - Math.max(span.start, other.start) + 1;
        return 2 * shared >= Math.min(span.end - span.start, other.end - other.start) + 1;
      });
      return found < 0 ? { group: best.push(span), isBest: true } : { group: found + 1, isBest: false };
    });
    expect(groupOverlapping(spans)).toEqual(expected);
  }
});
