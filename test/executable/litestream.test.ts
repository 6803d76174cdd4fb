import { Database } from "bun:sqlite";
import { expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { labd, scratch, serve } from "./labd.ts";
import { waitFor } from "../wait.ts";

setDefaultTimeout(300_000);

/** The configuration in packaging/, with the real Litestream, where npm has one for this system. */

const PACKAGE = `@flydotio/litestream-${process.platform}-${process.arch}`;
const LITESTREAM = join(import.meta.dir, `../../node_modules/${PACKAGE}/litestream`);
const CONFIGURATION = join(import.meta.dir, "../../packaging/litestream.yml");
const isThere = existsSync(LITESTREAM);
if (!isThere) process.stderr.write(`SKIPPED: there is no ${PACKAGE}.\n`);

test.skipIf(!isThere)("a Litestream replica lacks only the last moment before a kill", async () => {
  using place = scratch();
  const data = join(place.directory, "data");
  await labd(["user", "add", "ada", "--admin", "--password-stdin", "--data-dir", data], {
    stdin: "correct horse\n",
  });
  const token = (await labd(["token", "add", "ada", "--data-dir", data])).stdout.trim();
  const configuration = join(place.directory, "litestream.yml");
  // The store of the tests (s3rver 5.0.0) lists no prefixes, which Litestream needs to restore: a directory stands in.
  writeFileSync(
    configuration,
    readFileSync(CONFIGURATION, "utf8")
      .replace("/var/lib/labd", data)
      .replace(
        /type: s3[^]*path: labd-litestream/,
        `type: file\n        path: ${join(place.directory, "copy")}`,
      )
      .replace("sync-interval: 1s", "sync-interval: 100ms")
      // Often, so that both sides of it are tried.
      .replace(
        "    replicas:",
        "    checkpoint-interval: 300ms\n    min-checkpoint-page-count: 20\n    replicas:",
      ),
  );
  const env = { PATH: "" };
  const words = ["--litestream", "true", "--backup-hours", "0", "--log", "problems"];
  let server = await serve(data, words);
  const litestream = Bun.spawn([LITESTREAM, "replicate", "-config", configuration], {
    env,
    stdout: "ignore",
    stderr: "ignore",
  });
  const accepted: string[] = [];
  const write = async (count: number): Promise<void> => {
    for (let i = 0; i < count;) {
      const label = `shelf ${accepted.length}`;
      const answer = await fetch(`${server.url}/api/v2/locations/`, {
        method: "POST",
        headers: { Authorization: `Token ${token}`, "Content-Type": "application/json" },
        body: JSON.stringify({ label, description: label.repeat(200) }),
      });
      // Litestream has the database for itself now and then.
      expect([201, 503]).toContain(answer.status);
      if (answer.status === 503) continue;
      accepted.push(label);
      i++;
    }
  };
  /** Labels in a restored copy; none where it cannot be restored, or, made while there is more to copy, is not whole. */
  const restored = async (): Promise<string[]> => {
    const to = join(mkdtempSync(join(place.directory, "back-")), "labd.sqlite");
    const run = Bun.spawn(
      [LITESTREAM, "restore", "-config", configuration, "-o", to, join(data, "labd.sqlite")],
      {
        env,
        stdout: "ignore",
        stderr: "ignore",
      },
    );
    if ((await run.exited) !== 0) return [];
    const copy = new Database(to);
    const { integrity_check } = copy.query("PRAGMA integrity_check").get() as { integrity_check: string };
    if (integrity_check !== "ok") return [];
    const labels = copy.query("SELECT label FROM location ORDER BY rid").all() as { label: string }[];
    copy.close();
    return labels.map(({ label }) => label);
  };
  try {
    await write(150);
    // A stop writes nothing back either, and the next start finds the log as it was.
    expect(await server.end("SIGTERM")).toBe(0);
    server = await serve(data, words);
    await write(150);
    const before = accepted.length;
    await waitFor(async () => (await restored()).length >= before);
    await write(20);
  } finally {
    litestream.kill("SIGKILL");
    await server.end("SIGKILL");
  }
  const kept = await restored();
  expect(kept.length).toBeGreaterThanOrEqual(300);
  expect(kept).toEqual(accepted.slice(0, kept.length));
  expect(server.log()).not.toContain("litestream is not set");
  const looked = JSON.parse((await labd(["doctor", "--data-dir", data, "--format", "json"])).stdout) as {
    about: string;
    found: string;
  }[];
  expect(looked.filter(({ about }) => about === "database").map(({ found }) => found)).toContain(
    "Litestream replicates or replicated it, but the setting litestream is false: its copies may be damaged.",
  );
});
