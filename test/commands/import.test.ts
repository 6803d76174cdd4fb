import { afterEach, beforeEach, expect, spyOn, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openData } from "../../src/app/data-directory.ts";
import { listen } from "../../src/app/listen.ts";
import { parseCall, type Command } from "../../src/commands/command-line.ts";
import { resolveConfig } from "../../src/config.ts";
import { exportFile } from "../../src/commands/export.ts";
import { importFile } from "../../src/commands/import.ts";

/** Files into a data directory and out of it, by itself and beside the service that runs on it. */

let directory: string;
let data: string;
let written: string;
let stdout: ReturnType<typeof spyOn<typeof process.stdout, "write">>;
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), "labd-files-"));
  data = join(directory, "data");
  const opened = await openData(configOf());
  await opened.accounts.addUser({ username: "kim", group: "Freezers" });
  opened.close();
  written = "";
  stdout = spyOn(process.stdout, "write").mockImplementation(((
    text: string | Uint8Array,
    done?: () => void,
  ) => {
    written += typeof text === "string" ? text : new TextDecoder().decode(text);
    done?.();
    return true;
  }) as typeof process.stdout.write);
});
afterEach(() => {
  stdout.mockRestore();
  rmSync(directory, { recursive: true, force: true });
});

const configOf = (port = "0") =>
  resolveConfig({ flags: { data_dir: data, port, workers: "1", log: "off" }, environment: {} }).config;
const file = (name: string, text?: string): string => {
  const path = join(directory, name);
  if (text !== undefined) writeFileSync(path, text);
  return path;
};

/** Exit code and what the verb prints. */
async function run(verb: Command, ...words: string[]): Promise<[number, string]> {
  written = "";
  const call = parseCall(verb, [...words, "--data-dir", data, "--user", "kim"], {});
  const code = await verb.run(call);
  return [code, written];
}

test("without a service: tried out, imported, exported, imported again", async () => {
  const csv = file("boxes.csv", "path,description\nRoom 1 / Shelf 1,cold\nRoom 1 / Shelf 2,\n");
  const words = [csv, "--resource", "locations"];
  expect(await run(importFile, ...words, "--dry-run")).toEqual([
    0,
    "Would have made 2, changed 0, left 0 of 2 rows as they are, and 1 locations on the way.\n",
  ]);
  const [code, told] = await run(importFile, ...words);
  expect(code).toBe(0);
  expect(told).toMatch(/^Made 2, .* 1 locations on the way\.\nBatch [0-9a-f-]{36}: /);
  const query = ["--query", "fields=label,parent__label&ordering=-label"];
  expect(await run(exportFile, "locations", ...query)).toEqual([
    0,
    "label,parent__label\r\nShelf 2,Room 1\r\nShelf 1,Room 1\r\nRoom 1,\r\n",
  ]);
  const xlsx = file("boxes.xlsx");
  expect((await run(exportFile, "locations", "--output", xlsx))[0]).toBe(0);
  expect([readFileSync(xlsx).subarray(0, 2).toString(), existsSync(`${xlsx}.part`)]).toEqual(["PK", false]);
  const [, json] = await run(importFile, xlsx, "--resource", "locations", "--json");
  expect(JSON.parse(json)).toMatchObject({ rows: 3, unchanged: 3, batch: null });
});

test("every wrong cell is a line of a table, and the exit code says so", async () => {
  const csv = file("bad.csv", "name,amount\nx,many\ny,-1\n");
  const [code, told] = await run(importFile, csv, "--resource", "stocks/consumables");
  expect([code, told]).toEqual([
    65,
    "row  column  what is wrong\n2    amount  A valid number is required.\n3    amount  Ensure this value is greater than or equal to 0.\n\nNothing was written of 2 rows.\n",
  ]);
  await expect(run(importFile, csv, "--resource", "location")).rejects.toThrow("Did you mean locations?");
  await expect(run(importFile, csv)).rejects.toThrow("Name the list: --resource LIST.");
  await expect(run(importFile, csv, "--resource", "locations", "--match", "x")).rejects.toThrow("name, none");
  await expect(run(exportFile, "locations", "--query", "colour=red")).rejects.toThrow(
    '"colour" is not a parameter',
  );
  await expect(run(importFile, file("none.csv"), "--resource", "locations")).rejects.toThrow(
    "There is no file",
  );
});

test("beside a service it is the service that does it, and no token is left", async () => {
  const service = await listen(configOf());
  const port = ["--port", String(service.port)];
  const csv = file("boxes.csv", "label\nBox 1\n");
  const [code, told] = await run(importFile, csv, "--resource", "locations", ...port);
  expect([code, told.split("\n")[0]]).toEqual([0, "Made 1, changed 0, left 0 of 1 rows as they are."]);
  expect(await run(exportFile, "locations", "--query", "fields=label", ...port)).toEqual([
    0,
    "label\r\nBox 1\r\n",
  ]);
  expect(service.accounts.tokens.list()).toEqual([]);
  await expect(run(exportFile, "locations", "--port", "1")).rejects.toThrow(
    "none answers at http://127.0.0.1:1",
  );
  await service.stop();
});
