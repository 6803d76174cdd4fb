import { Database } from "bun:sqlite";
import { expect, setDefaultTimeout, test } from "bun:test";
import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { labd, scratch, serveHere } from "./labd.ts";

setDefaultTimeout(300_000);

/** Overwrites the first page of a table. */
function damage(path: string, table: string): void {
  const database = new Database(path);
  const { rootpage } = database.query("SELECT rootpage FROM sqlite_schema WHERE name = ?").get(table) as {
    rootpage: number;
  };
  const { page_size: size } = database.query("PRAGMA page_size").get() as { page_size: number };
  database.close(true);
  const file = openSync(path, "r+");
  writeSync(file, new Uint8Array(size).fill(0xff), 0, size, (rootpage - 1) * size);
  closeSync(file);
}

test("a damaged page is reported by /readyz and doctor, and nothing is written any more", async () => {
  using place = scratch();
  const data = place.directory;
  await labd(["user", "add", "ada", "--admin", "--data-dir", data]);
  const token = (await labd(["token", "add", "ada", "--data-dir", data])).stdout.trim();
  let server = await serveHere(data);
  const ask = async (method: string, path: string, body?: object) => {
    const response = await fetch(server.url + path, {
      method,
      headers: { Authorization: `Token ${token}`, "Content-Type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  expect((await ask("POST", "/api/v2/locations/", { label: "Shelf" })).status).toBe(201);
  await server.stop();
  damage(join(data, "labd.sqlite"), "location");
  server = await serveHere(data);
  await using _ = server;
  const isDamaged = { status: 503, body: { code: "database_damaged" } };
  const note = { name: "colour", value_type: "text" };
  expect(await ask("GET", "/readyz")).toMatchObject({ status: 200 });
  expect(await ask("GET", "/api/v2/locations/")).toMatchObject(isDamaged);
  expect(await ask("GET", "/readyz")).toEqual({
    status: 503,
    body: {
      status: "not ready",
      reasons: [expect.stringMatching(/^The database is damaged: .* restore the last backup/)],
    },
  });
  expect(await ask("POST", "/api/v2/annotations/types/", note)).toMatchObject(isDamaged);
  const job = { querySequence: "ACDEFGHIKLMNPQRSTVWY", patterns: ["C.E"] };
  expect(await ask("POST", "/api/scoring/jobs", job)).toMatchObject(isDamaged);
  expect((await ask("GET", "/api/v2/places/")).status).toBe(200);
  const words = ["doctor", "--format", "json", "--data-dir", data, "--port", String(server.port)];
  expect((await labd(words)).stdout).toContain("It is not ready: The database is damaged");
});
