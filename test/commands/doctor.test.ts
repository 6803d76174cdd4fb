import { expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CheckResult } from "../../src/platform/check-result.ts";
import { labd, scratch, serveHere } from "./labd.ts";

setDefaultTimeout(300_000);

test("checks a running server, a stopped one, a damaged corpus, and a missing directory", async () => {
  using place = scratch();
  const data = join(place.directory, "data");
  const examine = async (...words: string[]) => {
    const { code, stdout } = await labd(["doctor", "--format", "json", "--data-dir", data, ...words]);
    const findings = JSON.parse(stdout) as CheckResult[];
    return { code, of: (about: string) => findings.filter((finding) => finding.about === about) };
  };
  const none = await examine();
  expect([none.code, none.of("permissions")[0].state]).toEqual([2, "problem"]);
  await labd(["corpus", "add", "--sample", "--data-dir", data]);
  const store = (await examine("--backup-dir", "s3://backups")).of("backup").map(({ found }) => found);
  expect(store).toContainEqual(expect.stringContaining("no keys"));
  chmodSync(data, 0o750);
  {
    await using server = await serveHere(data);
    await labd(["backup", "--data-dir", data]);
    const beside = await examine("--port", String(server.port));
    for (const about of ["settings", "permissions", "disk", "database", "corpus", "server"])
      expect([about, beside.of(about).map(({ state }) => state)]).toEqual([about, ["ok"]]);
    // The backup is on the disk of the data.
    expect([beside.code, beside.of("backup")[0].state]).toEqual([1, "warning"]);
    const elsewhere = await examine("--port", "1");
    expect(elsewhere.of("server")[0]).toMatchObject({
      state: "warning",
      found: expect.stringContaining("does not respond"),
    });
  }
  const text = await labd(["doctor", "--data-dir", data, "--host", "0.0.0.0"]);
  expect(text.code).toBe(1);
  expect(text.stdout).toMatch(/^warning +settings +host 0\.0\.0\.0 .*\n +→ Set tls_certificate/m);
  const corpus = join(
    data,
    "corpora",
    readdirSync(join(data, "corpora")).find((name) => name.endsWith(".labc"))!,
  );
  const bytes = readFileSync(corpus);
  bytes[bytes.length >> 1] ^= 1;
  writeFileSync(corpus, bytes);
  const damaged = await examine();
  expect([damaged.code, damaged.of("corpus")[0].state]).toEqual([2, "problem"]);
});
