import { expect, test } from "bun:test";
import { Position } from "../../src/web/score/position.ts";
import { listMatches, type Result } from "../../src/web/score/result.ts";
import { readTrack } from "../../src/web/score/track-drawings.tsx";
import { makeTracks } from "../../src/web/score/tracks.tsx";
import { SAMPLE } from "../scoring/sample-prediction.ts";

const key = (key: string, of: Partial<KeyboardEvent> = {}) => ({ key, ...of }) as KeyboardEvent;

test("tells subscribers where the pictures point, once per change", () => {
  const position = new Position(393);
  const seen: (number | null)[] = [];
  const stop = position.subscribe(() => seen.push(position.residue));
  position.point(23);
  position.point(23);
  position.point(394);
  position.point(0);
  position.point(50, { from: 60, to: 70 });
  position.markSelected(19);
  position.point(7);
  position.point(null);
  stop();
  position.point(8);
  expect(seen).toEqual([23, null, 19, 7, 19]);
});

test("keys go from residue to residue within the protein, and select", () => {
  const selected: number[] = [];
  const position = new Position(393, (residue) => selected.push(residue));
  expect(position.onKey(key("Enter"), 100)).toBe(false);
  const press = (name: string, of = {}): number | null => {
    expect(position.onKey(key(name, of), 100)).toBe(true);
    return position.residue;
  };
  expect(press("ArrowRight")).toBe(100);
  expect(press("ArrowRight")).toBe(101);
  expect(press(",")).toBe(100);
  expect(press("ArrowLeft", { shiftKey: true })).toBe(90);
  press("Enter");
  expect(selected).toEqual([90]);
  position.point(5);
  expect(press("ArrowLeft", { shiftKey: true })).toBe(1);
  position.point(392);
  expect([press("."), press(".")]).toEqual([393, 393]);
  for (const other of [key("ArrowUp"), key("ArrowLeft", { ctrlKey: true }), key("a")])
    expect(position.onKey(other, 1)).toBe(false);
});

test("each track says what it has at a residue", () => {
  const { alignment, queryLength } = SAMPLE.prediction;
  const along = (value: number): number[] => Array.from({ length: queryLength }, () => value);
  const values = { conservation: along(0.884), disorder: along(0.126), order: along(0.415) };
  const result = {
    ...SAMPLE.prediction,
    identifier: "",
    alignment: { ...alignment, ...values },
  } as unknown as Result;
  const [{ start, end }] = listMatches(result);
  const domain = { group: "domain", type: "Domain", name: "TAD1; binds", start: 1, end: start, source: "x" };
  const tracks = makeTracks(result, listMatches(result), [domain] as never);
  const read = (residue: number): Record<string, string> =>
    Object.fromEntries(tracks.map((track) => [track.label, readTrack(track, residue)]));
  expect(read(start)).toMatchObject({
    Conservation: "88\u00A0%",
    Disorder: "0.13",
    "Predicted pLDDT": "42",
    Domains: "TAD1",
  });
  const matched = tracks.find(({ kind }) => kind === "matches")!;
  expect(readTrack(matched, end)).toStartWith(`${start}–${end}, `);
  expect([readTrack(matched, end + 1), read(start + 1).Domains]).toEqual(["", ""]);
});
