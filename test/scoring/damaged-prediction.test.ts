import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type App, open } from "../../src/app/open.ts";
import { resolveConfig } from "../../src/config.ts";
import { E7, inEnvelope, NAMESPACE } from "../executable/messages.ts";
import { waitFor } from "../wait.ts";

let directory: string;
let app: App;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "labd-damaged-"));
  const flags = { data_dir: directory, log: "off", workers: "1" };
  app = await open(resolveConfig({ flags, environment: {} }).config);
});
afterEach(async () => {
  await app.close();
  rmSync(directory, { recursive: true, force: true });
});

const ask = async (path: string, init: RequestInit = {}): Promise<Response> =>
  app.answer(new Request(`http://127.0.0.1:8480${path}`, init));

/** Scores patterns, and returns the job once it has finished. */
async function score(patterns: string[]): Promise<string> {
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ identifier: "E7", querySequence: E7, patterns });
  const { id } = (await (await ask("/api/scoring/jobs", { method: "POST", headers, body })).json()) as {
    id: string;
  };
  const read = async () => (await (await ask(`/api/scoring/jobs/${id}`)).json()) as { state: string };
  await waitFor(async () => (await read()).state === "finished");
  return id;
}

const soapResult = (job: string): Promise<Response> =>
  ask("/soap/ConservationScorer", {
    method: "POST",
    headers: { "Content-Type": "text/xml" },
    body: inEnvelope(`<GetResult xmlns="${NAMESPACE}"><JobIdentifier>${job}</JobIdentifier></GetResult>`),
  });

/** Ways in which the stored bytes of a result may change; each is a statement. */
const DAMAGE = {
  "a garbled part":
    "UPDATE result_part SET bytes = CAST(substr(bytes, 1, 30) || x'ffff' || substr(bytes, 33) AS BLOB)",
  "a truncated part": "UPDATE result_part SET bytes = substr(bytes, 1, length(bytes) / 2)",
  "an empty part": "UPDATE result_part SET bytes = x''",
  "a garbled checksum":
    "UPDATE result_part SET bytes = CAST(substr(bytes, 1, length(bytes) - 8) || x'0000000000000000' AS BLOB)",
  "the last part, missing": "UPDATE result_part SET part = part + 1",
  "all parts missing": "DELETE FROM result_part",
  "bytes of a former version, garbled":
    "DELETE FROM result_part; UPDATE result SET packed = x'28b52ffd00010203'",
  "text of a former version, garbled":
    "DELETE FROM result_part; PRAGMA ignore_check_constraints = ON; UPDATE result SET prediction = '{\"patterns\":['",
};

test.each(Object.entries(DAMAGE))(
  "%s is reported by every form, and scoring again ends it",
  async (_, statement) => {
    const job = await score(["L.C.E"]);
    const before = await (await ask(`/api/scoring/jobs/${job}/result?format=json`)).text();
    app.database.run(statement);
    const damaged = {
      code: "content_damaged",
      message: expect.stringContaining(`job ${job} is damaged`) as unknown,
    };
    const paths = ["json", "xml", "tsv", "gff3", "fasta", "eln"].map(
      (form) => `jobs/${job}/result?format=${form}`,
    );
    for (const path of [
      ...paths,
      `jobs/${job}/scan`,
      `jobs/${job}/features`,
      `scans?jobs=${job}`,
      `comparison?a=${job}&b=${job}`,
    ]) {
      const response = await ask(`/api/scoring/${path}`);
      expect([path, response.status, await response.json()]).toMatchObject([path, 410, damaged]);
    }
    const fault = await soapResult(job);
    expect([fault.status, await fault.text()]).toEqual([
      500,
      expect.stringContaining(`job ${job} is damaged`),
    ]);
    const again = await score(["L.C.E"]);
    expect(again).not.toBe(job);
    const after = await (await ask(`/api/scoring/jobs/${again}/result?format=json`)).text();
    expect(after).toBe(before);
    expect((await ask(`/api/scoring/jobs/${job}/result`)).status).toBe(410);
    expect((await soapResult(again)).status).toBe(200);
  },
);

test("damage in a later part of a long result is found before its first part is sent, in both encodings", async () => {
  const job = await score(Array.from({ length: 20 }, (_, i) => `.{${i + 1}}`));
  const last = "(SELECT max(part) FROM result_part WHERE form = 'json')";
  expect(app.database.query(`SELECT ${last} > 1 AS many`).get()).toEqual({ many: 1 });
  app.database.run(
    `UPDATE result_part SET bytes = CAST(substr(bytes, 1, 50) || x'ffff' || substr(bytes, 53) AS BLOB) WHERE part = ${last}`,
  );
  for (const encoding of ["identity", "gzip"]) {
    const headers = { "Accept-Encoding": encoding };
    const response = await ask(`/api/scoring/jobs/${job}/result?format=json`, { headers });
    expect([encoding, response.status]).toEqual([encoding, 410]);
  }
});
