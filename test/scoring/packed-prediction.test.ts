import { describe, expect, test } from "bun:test";
import { gunzipSync } from "node:zlib";
import { makeBody, type StoredResult, withNames } from "../../src/scoring/jobs/stored-result.ts";
import { encodePrediction } from "../../src/scoring/prediction/encode-prediction.ts";
import type { NamedQuery, PredictionReport } from "../../src/scoring/prediction/prediction.ts";
import {
  type Form,
  FORMS,
  packPrediction,
  type Parts,
  readResult,
  storeResult,
  unpackParts,
} from "../../src/scoring/jobs/packed-prediction.ts";
import { SAMPLE } from "./sample-prediction.ts";
import { openMigrated } from "../database.ts";
import { runPending } from "../wait.ts";

const VERSION = { corpus: "c", method: "m" };

const [pattern] = SAMPLE.prediction.patterns;
/** The sample with so many matches that each form has several parts. */
const LONG: PredictionReport = {
  identifier: "long",
  prediction: {
    ...SAMPLE.prediction,
    patterns: [{ ...pattern, matches: Array.from({ length: 1000 }, () => pattern.matches).flat() }],
  },
};

function stored(prediction: string | Uint8Array<ArrayBuffer>, form: Form): Parts {
  const database = openMigrated();
  return readResult(database, storeResult(database, "d", VERSION, prediction, 0)!, form);
}

const named = ({ identifier, protein = null }: PredictionReport): NamedQuery => ({ identifier, protein });

const printed = ({ prediction, ...names }: PredictionReport, form: Form): string =>
  form === "json"
    ? JSON.stringify({ ...named({ ...names, prediction }), ...prediction })
    : encodePrediction({ ...names, prediction });

const sent = (parts: StoredResult, head = "", tail = ""): Promise<string> =>
  new Response(makeBody(parts, { head, tail })).text();

const sentInGzip = async (parts: StoredResult, head = "", tail = ""): Promise<string> =>
  gunzipSync(await new Response(makeBody(parts, { head, tail, gzip: true })).bytes()).toString();

describe("a stored prediction", () => {
  test.each(FORMS)("a stored prediction is sent exactly as printed, in %s", async (form) => {
    for (const identifier of ["", "p53", 'A & <b> "\\ü🧬\r\n', "\u0000\uD800"])
      for (const { protein = null, prediction } of [SAMPLE, LONG]) {
        const parts = withNames(stored(packPrediction(prediction), form), form, { identifier, protein });
        expect(parts.count > 1).toBe(prediction === LONG.prediction);
        const text = printed({ identifier, protein, prediction }, form);
        expect((await sent(parts)) === text).toBe(true);
        expect((await sent(parts, "head ", " tail")) === `head ${text} tail`).toBe(true);
        expect((await sentInGzip(parts, "head ", " tail")) === `head ${text} tail`).toBe(true);
      }
  });

  test.each(FORMS)(
    "a prediction is read in %s although it was stored as JSON, packed or as text",
    async (form) => {
      const text = JSON.stringify(SAMPLE.prediction);
      for (const former of [text, new Uint8Array(Bun.zstdCompressSync(text))]) {
        const parts = withNames(stored(former, form), form, named(SAMPLE));
        expect(await sent(parts)).toBe(printed(SAMPLE, form));
      }
      const database = openMigrated();
      database.run(
        "INSERT INTO result (rid, digest, corpus, method, prediction, computed) VALUES (1, '', '', '', ?, 0)",
        [text],
      );
      expect(unpackParts(readResult(database, 1, form))).toBe(
        form === "json" ? text : encodePrediction({ ...SAMPLE, identifier: "" }),
      );
    },
  );

  test.each(FORMS)("a prediction packed by an earlier version is sent in %s", async (form) => {
    const database = openMigrated();
    const result = storeResult(database, "d", VERSION, packPrediction(LONG.prediction), 0)!;
    const text = await sent(readResult(database, result, form));
    const half = text.length / 2;
    database.run("DELETE FROM result_part");
    for (const [part, piece] of [text.slice(0, half), text.slice(half)].entries())
      database.run("INSERT INTO result_part (result, form, part, bytes) VALUES (?, ?, ?, ?)", [
        result,
        form,
        part,
        Bun.zstdCompressSync(piece),
      ]);
    const parts = readResult(database, result, form);
    expect((await sent(parts)) === text).toBe(true);
    expect((await sentInGzip(parts)) === text).toBe(true);
  });

  test("a prediction is read one part at a time, as the client reads it", async () => {
    const parts = stored(packPrediction(LONG.prediction), "xml");
    let read = 0;
    const counted = { ...parts, read: (part: number) => (read++, parts.read(part)) };
    const reader = (makeBody(counted) as ReadableStream<Uint8Array>).getReader();
    await reader.read();
    await runPending();
    expect(read).toBe(1);
    await reader.cancel();
    expect(read).toBe(1);
  });

  test("sending a prediction that is deleted meanwhile ends with an error", async () => {
    const database = openMigrated();
    const result = storeResult(database, "d", VERSION, packPrediction(LONG.prediction), 0)!;
    const parts = readResult(database, result, "json");
    database.run("DELETE FROM result");
    expect(database.query("SELECT * FROM result_part").all()).toEqual([]);
    expect(() => parts.read(1)).toThrow("The prediction was removed while it was sent.");
  });
});

describe("packing a prediction", () => {
  /** With patterns whose matches have so many positions that the XML has `megabytes`, the JSON much less. */
  function ofSize(megabytes: number): PredictionReport["prediction"] {
    const length = 1000;
    const match = {
      ...pattern.matches[0],
      text: "A".repeat(length),
      conservation: Array.from({ length }, () => null),
      atHomologs: [],
    };
    const [empty, xml] = [[], [match]].map(
      (matches) => encodePrediction({ identifier: "", prediction: withMatches(matches) }).length,
    );
    return withMatches(
      Array.from({ length: Math.floor((megabytes * 2 ** 20 - empty) / (xml - empty)) }, () => match),
    );
  }
  const withMatches = (matches: typeof pattern.matches): PredictionReport["prediction"] => ({
    ...SAMPLE.prediction,
    patterns: [{ ...pattern, matches }],
  });

  test("succeeds up to 64 MB of XML, and fails beyond with a clear text", () => {
    expect(packPrediction(ofSize(63)).length).toBeLessThan(4 * 2 ** 20);
    const tooLong = ofSize(66);
    expect(JSON.stringify(tooLong).length).toBeLessThan(32 * 2 ** 20);
    expect(() => packPrediction(tooLong)).toThrow(
      "The prediction would take more than 64 MB, which is the limit: the patterns match nearly everywhere. Use more specific ones.",
    );
  });
});

test("bytes that are not a packed prediction are refused", () => {
  expect(() => stored(new Uint8Array(100), "json")).toThrow("Not a packed prediction.");
});
