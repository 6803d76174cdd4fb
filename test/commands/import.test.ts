import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openData } from "../../src/app/data-directory.ts";
import { listen } from "../../src/app/listen.ts";
import { resolveConfig } from "../../src/config.ts";
import { elabftw, linkedRecords } from "../inventory/eln-crates.ts";
import { createMigrated } from "../database.ts";
import { labd } from "./labd.ts";

/** Imports and exports of a data directory, alone and beside a running server. */

setDefaultTimeout(60_000);

let directory: string;
let data: string;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "labd-files-"));
  data = join(directory, "data");
  createMigrated(join(data, "labd.sqlite"));
  const opened = await openData(makeConfig());
  await opened.accounts.addUser({ username: "kim", group: "Freezers" });
  opened.close();
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const makeConfig = (port = "0") =>
  resolveConfig({ flags: { data_dir: data, port, workers: "1", log: "off" }, environment: {} }).config;
const file = (name: string, text?: string): string => {
  const path = join(directory, name);
  if (text !== undefined) writeFileSync(path, text);
  return path;
};

/** Exit code and output. */
async function run(command: "import" | "export", ...words: string[]): Promise<[number, string]> {
  const { code, stdout, stderr } = await labd([command, ...words, "--data-dir", data, "--user", "kim"]);
  return [code, stdout + stderr];
}

test("imports, exports and imports again without a server", async () => {
  const csv = file("boxes.csv", "path,description\nRoom 1 / Shelf 1,cold\nRoom 1 / Shelf 2,\n");
  const words = [csv, "--resource", "locations"];
  expect(await run("import", ...words, "--dry-run")).toEqual([
    0,
    "Would add 2, change 0 and keep 0 of 2 rows, with 1 new parent location.\n",
  ]);
  const [code, told] = await run("import", ...words);
  expect(code).toBe(0);
  expect(told).toMatch(/^Added 2, .* 1 new parent location\.\nBatch [0-9a-f-]{36}: /);
  const query = ["--query", "fields=label,parent__label&ordering=-label"];
  expect(await run("export", "locations", ...query)).toEqual([
    0,
    "label,parent__label\r\nShelf 2,Room 1\r\nShelf 1,Room 1\r\nRoom 1,\r\n",
  ]);
  const xlsx = file("boxes.xlsx");
  expect((await run("export", "locations", "--output", xlsx))[0]).toBe(0);
  expect([readFileSync(xlsx).subarray(0, 2).toString(), existsSync(`${xlsx}.part`)]).toEqual(["PK", false]);
  const [, json] = await run("import", xlsx, "--resource", "locations", "--json");
  expect(JSON.parse(json)).toMatchObject({ rows: 3, unchanged: 3, batch: null });

  const archive = file("export.eln");
  writeFileSync(archive, linkedRecords());
  const dryRun = [archive, "--resource", "stocks/consumables", "--dry-run"];
  const [archived, summary] = await run("import", ...dryRun);
  expect([archived, summary.split("\n").slice(0, 4)]).toEqual([
    0,
    [
      "Would add 2, change 0 and keep 0 of 2 rows, with 0 files and 2 notes.",
      "Kept in notes, because no field has the name: Link.",
      "",
    ],
  ]);
  writeFileSync(archive, elabftw());
  expect((await run("import", ...dryRun))[1]).toContain(
    "Kept in notes, because no field has the name: host, Strength.\n",
  );
  const exported = file("boxes.eln");
  expect((await run("export", "locations", "--output", exported))[0]).toBe(0);
  expect((await run("import", exported, "--resource", "locations"))[1]).toStartWith(
    "Added 0, changed 0 and kept 3 of 3 rows, with 0 files and 0 notes.",
  );
});

test("lists invalid cells of a table and exits with 65", async () => {
  const csv = file("bad.csv", "name,amount\nx,many\ny,-1\n");
  const [code, told] = await run("import", csv, "--resource", "stocks/consumables");
  expect([code, told]).toEqual([
    65,
    "row  column  error\n2    amount  A valid number is required.\n3    amount  Ensure this value is greater than or equal to 0.\n\nNone of 2 rows was written.\n",
  ]);
  expect((await run("import", csv, "--resource", "location"))[1]).toContain("Did you mean locations?");
  expect((await run("import", csv))[1]).toContain("Name the list: --resource LIST.");
  expect((await run("import", csv, "--resource", "locations", "--match", "x"))[1]).toContain("name");
  expect((await run("export", "locations", "--query", "colour=red"))[1]).toContain(
    '"colour" is not a parameter',
  );
  expect((await run("import", file("none.csv"), "--resource", "locations"))[1]).toContain("There is no file");
});

test("sends requests to a running server and revokes its token afterwards", async () => {
  const service = await listen(makeConfig());
  const port = ["--port", String(service.port)];
  const csv = file("boxes.csv", "label\nBox 1\n");
  const started = performance.now();
  const [code, told] = await run("import", csv, "--resource", "locations", ...port);
  expect([code, told.split("\n")[0]]).toEqual([0, "Added 1, changed 0 and kept 0 of 1 row."]);
  // It does not wait for the server to release the data directory.
  expect(performance.now() - started).toBeLessThan(3000);
  expect(await run("export", "locations", "--query", "fields=label", ...port)).toEqual([
    0,
    "label\r\nBox 1\r\n",
  ]);
  expect(service.accounts.tokens.list()).toEqual([]);
  expect((await run("export", "locations", "--port", "1"))[1]).toContain(
    "http://127.0.0.1:1 does not respond (ECONNREFUSED). Give",
  );
  await service.stop();
});

test("imports the good rows of a messy file, prints those that wait, and says what it guessed", async () => {
  const csv = file("messy.csv", "Tube label,Vol,Exp. date,Karma\nA,100 ul,12/31/2027,1\nB,5 blobs,,\n");
  const to = [csv, "--resource", "stocks/consumables"];
  const [, waiting] = await run("import", ...to, "--waiting");
  expect(waiting.split("\r\n").slice(0, 2)).toEqual([
    "Tube label,Vol,Exp. date,Karma,reason",
    'B,5 blobs,,,"blobs is not a unit. Write one such as mL, L, µL, nL, mg, g, kg, µg, ng, pg."',
  ]);
  const [code, told] = await run("import", ...to, "--partial");
  expect(code).toBe(65);
  expect(told).toContain("Left 1 row: --waiting prints them.\nAdded 1, changed 0 and kept 0 of 2 rows");
  expect(told).toContain(
    "Guessed: Tube label is name, Vol is amount, Exp. date is expiry.\nNo field for: Karma.\n",
  );
});
