import { expect, test } from "bun:test";
import { rank, type Result } from "../../src/web/score/result.ts";
import {
  brushed,
  brushPartAt,
  type BrushPart,
  centred,
  clamped,
  pinched,
  showing,
  type Span,
  thinned,
  zoomed,
} from "../../src/web/score/track-geometry.ts";
import { makeTracks } from "../../src/web/score/tracks.tsx";
import { listMatches } from "../../src/web/score/result.ts";
import { SAMPLE } from "../scoring/sample-prediction.ts";

const TITIN = 34_350;
const span = (from: number, to: number): Span => ({ from, to });

test.each<[from: number, residues: number, expected: Span]>([
  [1, 100, span(1, 100)],
  [-20, 100, span(1, 100)],
  [390, 100, span(294, 393)],
  [-Infinity, 50, span(1, 50)],
  [Infinity, 50, span(344, 393)],
  [200, 3, span(200, 211)],
  [5, 1_000, span(1, 393)],
])("keeps the view from %p of %p residues within the protein", (from, residues, expected) => {
  expect(clamped(from, residues, 393)).toEqual(expected);
});

test("keeps a short protein whole", () => {
  expect(clamped(3, 12, 5)).toEqual(span(1, 5));
  expect(zoomed(span(1, 5), 0.5, 3, 5)).toEqual(span(1, 5));
});

test("zooms around a residue, which stays in its place", () => {
  const before = span(1_001, 2_000);
  const after = zoomed(before, 0.5, 1_250, TITIN);
  expect(after).toEqual(span(1_126, 1_625));
  expect((1_250 - after.from) / 500).toBeCloseTo((1_250 - before.from) / 1_000, 2);
  expect(zoomed(after, 2, 1_250, TITIN)).toEqual(span(1_002, 2_001));
  expect(zoomed(before, 100, 1_500, TITIN)).toEqual(span(1, TITIN));
});

test("shows a match in the middle, unless an end is near", () => {
  expect(centred(span(150, 157), 100, 393)).toEqual(span(104, 203));
  expect(centred(span(19, 26), 100, 393)).toEqual(span(1, 100));
});

test("moves the view as little as possible to keep a match in it", () => {
  expect(showing(span(100, 199), span(150, 160), 393)).toEqual(span(100, 199));
  expect(showing(span(100, 199), span(95, 102), 393)).toEqual(span(95, 194));
  expect(showing(span(100, 199), span(195, 210), 393)).toEqual(span(111, 210));
  expect(showing(span(100, 119), span(150, 180), 393).from).toBe(150);
});

test.each<[at: number, part: BrushPart]>([
  [92, "start"],
  [104, "start"],
  [150, "window"],
  [196, "end"],
  [206, "end"],
  [80, "outside"],
  [230, "outside"],
])("grabs at residue %p the brush's %p", (at, part) => {
  expect(brushPartAt(at, span(100, 200), 8)).toBe(part);
});

test("moves a brush that is too small to grab its edges", () => {
  expect(brushPartAt(TITIN / 2, span(17_100, 17_200), 300)).toBe("window");
  expect(brushPartAt(17_400, span(17_100, 17_200), 300)).toBe("window");
  expect(brushPartAt(18_000, span(17_100, 17_200), 300)).toBe("outside");
});

test.each<[part: BrushPart, from: number, to: number, expected: Span]>([
  ["window", 150, 170, span(120, 220)],
  ["window", 150, 1, span(1, 101)],
  ["start", 100, 60, span(60, 200)],
  ["start", 100, 260, span(200, 260)],
  ["start", 100, 195, span(189, 200)],
  ["end", 200, 350, span(100, 350)],
  ["end", 200, 40, span(40, 100)],
  ["outside", 300, 340, span(300, 340)],
  ["outside", 300, 250, span(250, 300)],
])("drags the brush's %p from %p to %p", (part, from, to, expected) => {
  expect(brushed(part, span(100, 200), [from, to], 393)).toEqual(expected);
});

test("keeps two residues below two fingers", () => {
  // 100 residues, fingers at 25 % and 75 %, then as far apart as the view is wide.
  expect(pinched([125, 175], [0, 1], 393)).toEqual(span(125, 174));
  expect(pinched([125, 175], [0.45, 0.55], 393)).toEqual(span(1, 393));
  expect(pinched([125, 175], [0.35, 0.85], 393)).toEqual(span(90, 189));
});

test("draws the best of the matches that share a few pixels, and all where there is room", () => {
  const matches = Array.from({ length: 8_000 }, (_, i) => ({
    start: 1 + 4 * i,
    end: 4 + 4 * i,
    z: i === 4_321 ? 3 : 0,
  }));
  const plot = { span: span(1, TITIN), left: 100, width: 1_100, scale: 1_000 / TITIN, y: 0 };
  const drawn = thinned(matches, plot, 3, rank);
  expect(drawn.length).toBeLessThanOrEqual(334);
  expect(drawn.length).toBeGreaterThan(300);
  expect(drawn).toContain(matches[4_321]);
  const near = { ...plot, span: span(17_281, 17_300), scale: 50 };
  expect(thinned(matches, near, 3, rank)).toEqual(matches.slice(4_320, 4_325));
});

test("the picture has a track for each kind of data and each pattern", () => {
  const result = { ...SAMPLE.prediction, identifier: "" } as Result;
  const tracks = makeTracks(result, listMatches(result));
  expect(tracks.slice(0, 3).map(({ label }) => label)).toEqual([
    "Conservation",
    "Disorder",
    "Predicted pLDDT",
  ]);
  const pLddt = [null, 91];
  const [, , confidence] = makeTracks(result, [], [], pLddt);
  expect(confidence).toMatchObject({ label: "pLDDT of the model", values: [null, 0.91] });
  const lanes = tracks.flatMap((track) => (track.kind === "matches" ? [track.matches.length] : []));
  expect(lanes).toEqual(result.patterns.map(({ matches }) => matches.length));
});

test("motifs without a match have no lane unless they are chosen", () => {
  const [pattern] = SAMPLE.prediction.patterns;
  const result = (count: number): Result => ({
    identifier: "",
    protein: null,
    ...SAMPLE.prediction,
    patterns: Array.from({ length: count }, (_, i) => ({
      ...pattern,
      matches: i === 0 ? pattern.matches : [],
    })),
  });
  const countHidden = (count: number): number => {
    const made = result(count);
    return makeTracks(made, listMatches(made)).filter(({ choice }) => choice?.key === "empty").length;
  };
  expect([countHidden(8), countHidden(9)]).toEqual([0, 8]);
});
