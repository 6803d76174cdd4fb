import { Database } from "bun:sqlite";
import { expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { labd, scratch, serveHere } from "./labd.ts";

setDefaultTimeout(60_000);

test("compact returns the space of deleted rows to the disk and keeps everything else", async () => {
  using place = scratch();
  // A name that SQL must quote.
  const data = join(place.directory, "lab's data");
  const env = { LABD_DATA_DIR: data };
  const path = join(data, "labd.sqlite");
  const missing = await labd(["compact"], { env });
  expect([missing.code, missing.stderr]).toEqual([76, expect.stringContaining("There is no database")]);
  await labd(["user", "add", "kim"], { env });
  const database = new Database(path);
  database.run("CREATE TABLE large (bytes BLOB)");
  database.run("INSERT INTO large VALUES (zeroblob(20000000))");
  database.run("DROP TABLE large");
  database.close(true);
  expect(statSync(path).size).toBeGreaterThan(20_000_000);
  {
    await using _ = await serveHere(data);
    const running = await labd(["compact"], { env });
    expect([running.code, running.stderr]).toEqual([75, expect.stringContaining("Stop it first")]);
  }
  const { code, stdout } = await labd(["compact"], { env });
  expect([code, stdout]).toEqual([
    0,
    expect.stringMatching(/^Compacted .* from 2\d\.\d MB to (\S+ kB|1\.\d+ MB)\.\n$/),
  ]);
  expect(statSync(path).size).toBeLessThan(3_000_000);
  expect(readdirSync(data).filter((name) => /wal|tmp|etilqs/.test(name))).toEqual([]);
  expect((await labd(["user", "list"], { env })).stdout).toContain("kim");
  const entries = (await labd(["audit", "export", "--action", "database"], { env })).stdout;
  expect(JSON.parse(entries)).toMatchObject({
    action: "database.compact",
    detail: { after: statSync(path).size },
  });
  expect((await labd(["audit", "verify"], { env })).code).toBe(0);
});
