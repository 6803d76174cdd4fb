import { Database } from "bun:sqlite";
import { expect, setDefaultTimeout, test } from "bun:test";
import {
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { type Manifest, sealed } from "../../src/operations/backup/manifest.ts";
import { E7, killedWhen, labd, scratch, serve } from "./labd.ts";
import { waitFor } from "../wait.ts";

setDefaultTimeout(300_000);

/** Backs up a server during writes, restores elsewhere, and looks for everything that was accepted. */

const WRITERS = 6;

test("a backup during writes contains everything accepted before it began", async () => {
  using place = scratch();
  const [data, other, to] = ["data", "other", "backups"].map((name) => join(place.directory, name));
  await labd(["corpus", "add", "--sample", "--data-dir", data]);
  await labd(["user", "add", "ada", "--admin", "--password-stdin", "--data-dir", data], {
    stdin: "correct horse\n",
  });
  const made = await labd(["token", "add", "ada", "--data-dir", data]);
  const token = made.stdout.match(/[A-Za-z0-9_-]{30,}/)![0];
  const headers = { Authorization: `Token ${token}`, "Content-Type": "application/json" };
  await using server = await serve(place.directory, ["--data-dir", data, "--log", "problems"]);
  const accepted = Array.from({ length: WRITERS }, () => [] as { id: string; label: string }[]);
  const state = { stopped: false };
  const writers = accepted.map(async (own, writer) => {
    for (let i = 0; !state.stopped; i++) {
      const body = JSON.stringify({ label: `w${writer} ${String(i).padStart(6, "0")}` });
      const answer = await fetch(`${server.url}/api/v2/locations/`, { method: "POST", headers, body });
      expect(answer.status).toBe(201);
      const { id, label } = (await answer.json()) as { id: string; label: string };
      own.push({ id, label });
    }
  });
  const jobs: string[] = [];
  const submitter = (async () => {
    while (!state.stopped) {
      const body = JSON.stringify({
        identifier: "E7",
        querySequence: E7,
        patterns: [`L.C.{${jobs.length % 50}}`],
      });
      const type = { "Content-Type": "application/json" };
      const answer = await fetch(`${server.url}/api/scoring/jobs`, { method: "POST", headers: type, body });
      expect(answer.status).toBe(202);
      jobs.push(((await answer.json()) as { id: string }).id);
      await Bun.sleep(10);
    }
  })();
  const total = (): number => accepted.reduce((sum, { length }) => sum + length, 0);
  await waitFor(() => total() >= 120 && jobs.length > 0);
  const form = new FormData();
  form.set("file", new File(["the map of the cellar"], "map.txt", { type: "text/plain" }));
  const attached = await fetch(
    `${server.url}/api/v2/attachments/?app=stocks&model=location&object_id=${accepted[0][0].id}`,
    { method: "POST", headers: { Authorization: headers.Authorization }, body: form },
  );
  expect(attached.status).toBe(201);
  const { id: file } = (await attached.json()) as { id: string };
  const [before, submitted] = [accepted.map(({ length }) => length), jobs.length];
  const run = await labd(["backup", "--data-dir", data, "--to", to]);
  expect(run).toMatchObject({ code: 0, stderr: "" });
  const after = accepted.map(({ length }) => length);
  await waitFor(() => total() >= after.reduce((sum, count) => sum + count) + 50);
  state.stopped = true;
  await Promise.all([...writers, submitter]);
  const path = run.stdout.split("\n")[0];
  const { database, corpora } = JSON.parse(readFileSync(path, "utf8")) as Manifest;
  expect(corpora.length).toBe(1);
  if (process.platform !== "win32") expect(statSync(path).mode & 0o777).toBe(0o600);
  // The database is an ordinary file of zstd and SQLite.
  const plain = Bun.zstdDecompressSync(readFileSync(join(to, database.file)));
  expect(plain.subarray(0, 15).toString()).toBe("SQLite format 3");

  const checked = await labd(["restore", "--check", path]);
  expect(checked).toMatchObject({ code: 0, stderr: "" });
  expect(checked.stdout).toContain(`location ${database.rows.location}`);
  const busy = await labd(["restore", path, "--data-dir", data]);
  expect(busy).toMatchObject({ code: 75, stderr: expect.stringContaining("Stop it first") });
  expect(await labd(["restore", path, "--data-dir", other])).toMatchObject({ code: 0, stderr: "" });
  await using restored = await serve(place.directory, ["--data-dir", other, "--log", "problems"]);
  const list = await fetch(`${restored.url}/api/v2/locations/?page_size=max&fields=id,label`, { headers });
  const { results } = (await list.json()) as { results: { id: string; label: string }[] };
  expect(results.length).toBe(database.rows.location);
  const found = new Map(results.map(({ id, label }) => [id, label]));
  for (const [writer, own] of accepted.entries()) {
    const there = own.map(({ id, label }) => found.get(id) === label);
    const count = there.indexOf(false) < 0 ? there.length : there.indexOf(false);
    // Everything accepted before, nothing after a gap.
    expect(count).toBeGreaterThanOrEqual(before[writer]);
    expect(there.slice(count)).not.toContain(true);
  }
  expect(results.length).toBeLessThan(total());
  const read = await fetch(`${restored.url}/api/v2/attachments/${file}/`, { headers });
  expect(await read.text()).toBe("the map of the cellar");
  const known = await Promise.all(
    jobs.map(async (id) => (await fetch(`${restored.url}/api/scoring/jobs/${id}`)).status === 200),
  );
  const count = known.includes(false) ? known.indexOf(false) : known.length;
  expect(count).toBeGreaterThanOrEqual(submitted);
  expect([submitted > 0, known.slice(count).includes(true)]).toEqual([true, false]);
  expect((await labd(["corpus", "verify", "--data-dir", other])).stdout).toContain("is intact");
  expect(server.log()).not.toContain('"severity":"error"');
});

test.skipIf(process.platform === "win32")(
  "files and directories are accessible only to their owner, with every umask and after a kill",
  async () => {
    using place = scratch();
    const [data, other, to] = ["data", "other", "backups"].map((name) => join(place.directory, name));
    const isRoot = process.getuid?.() === 0;
    if (isRoot) {
      mkdirSync(data, { mode: 0o700 });
      chownSync(data, 65_534, 65_534);
    }
    /** Files that others may access, or that belong to another user than the data directory. */
    const open = (...directories: string[]): string[] =>
      directories
        .flatMap((directory) =>
          [".", ...readdirSync(directory, { recursive: true, encoding: "utf8" })].map((name) =>
            join(directory, name),
          ),
        )
        .filter((path) => {
          const { mode, uid } = statSync(path);
          return (mode & 0o077) !== 0 || uid !== statSync(data).uid;
        });
    const umask = process.umask(0);
    try {
      await labd(["corpus", "add", "--sample", "--data-dir", data]);
      {
        await using server = await serve(place.directory, ["--data-dir", data]);
        expect((await fetch(server.url)).status).toBe(200);
        expect(readdirSync(data)).toContain("labd.sqlite-wal");
        expect(open(data)).toEqual([]);
      }
      const database = new Database(join(data, "labd.sqlite"));
      database.run("CREATE TABLE load (bytes BLOB)");
      for (let i = 0; i < 40; i++) database.run("INSERT INTO load VALUES (randomblob(2000000))");
      database.close();
      const left = (): string[] => (existsSync(to) ? readdirSync(to) : []);
      // Not sooner: SQLite creates files before it gives them to the owner of the database.
      const isCopying = (name: string): boolean =>
        name.endsWith(".partial") && statSync(join(to, name)).size > 1_000_000;
      await killedWhen(["backup", "--data-dir", data, "--to", to], {}, () => left().some(isCopying));
      const killed = left();
      expect([killed.length > 0, open(data, to)]).toEqual([true, []]);
      const run = await labd(["backup", "--data-dir", data, "--to", to]);
      expect(run).toMatchObject({ code: 0, stderr: "" });
      // The leftovers of the killed process are removed at once.
      expect(left().filter((name) => killed.includes(name))).toEqual([]);
      expect(readdirSync(data).filter((name) => name.endsWith(".lock"))).toEqual(["labd.lock"]);
      expect(open(data, to)).toEqual([]);
      if (isRoot) {
        mkdirSync(other, { mode: 0o700 });
        chownSync(other, 65_534, 65_534);
      }
      await labd(["restore", run.stdout.split("\n")[0], "--data-dir", other]);
      expect(open(other)).toEqual([]);
    } finally {
      process.umask(umask);
    }
  },
);

test.skipIf(process.getuid?.() !== 0)(
  "files that root writes are owned by the owner of the data directory (SKIPPED without root)",
  async () => {
    using place = scratch();
    const [data, to] = ["data", "backups"].map((name) => join(place.directory, name));
    mkdirSync(data);
    chownSync(data, 65_534, 65_534);
    const others = (): string[] =>
      readdirSync(data, { recursive: true, encoding: "utf8" }).filter(
        (name) => statSync(join(data, name)).uid !== 65_534,
      );
    await labd(["corpus", "add", "--sample", "--data-dir", data]);
    expect(others()).toEqual([]);
    await labd(["backup", "--data-dir", data]);
    expect(others()).toEqual([]);
    const path = (await labd(["backup", "--data-dir", data, "--to", to])).stdout.split("\n")[0];
    rmSync(join(data, "corpora"), { recursive: true });
    expect(await labd(["restore", path, "--data-dir", data])).toMatchObject({ code: 0, stderr: "" });
    expect(others()).toEqual([]);
    expect(readdirSync(data)).toEqual(expect.arrayContaining(["corpora", "backups", "labd.sqlite"]));
    // Other files keep their owner.
    writeFileSync(join(data, "notes.txt"), "");
    await labd(["corpus", "list", "--data-dir", data]);
    expect(others()).toEqual(["notes.txt"]);
  },
);

test("rejects damaged and incomplete backups, names the file, and changes nothing", async () => {
  using place = scratch();
  const [data, to, broken] = ["data", "backups", "broken"].map((name) => join(place.directory, name));
  await labd(["corpus", "add", "--sample", "--data-dir", data]);
  const { stdout } = await labd(["backup", "--data-dir", data, "--to", to]);
  const name = stdout.split("\n")[0].split("/").at(-1)!;
  const packed = name.replace(".json", ".sqlite.zst");
  const damaged: [string, () => void, string][] = [
    [
      "a bit",
      () => {
        const bytes = readFileSync(join(broken, packed));
        bytes[bytes.length >> 1] ^= 1;
        writeFileSync(join(broken, packed), bytes);
      },
      packed,
    ],
    [
      "the end",
      () => writeFileSync(join(broken, packed), readFileSync(join(broken, packed)).subarray(0, -7)),
      packed,
    ],
    ["the database", () => rmSync(join(broken, packed)), packed],
    ["the manifest", () => rmSync(join(broken, name)), "no file"],
    ["the corpus", () => rmSync(join(broken, "corpora"), { recursive: true }), "corpora/"],
    [
      "another version",
      () => {
        const manifest = JSON.parse(readFileSync(join(broken, name), "utf8")) as Manifest;
        manifest.database.migrations.push("9999-later.sql");
        writeFileSync(join(broken, name), JSON.stringify(sealed(manifest, undefined)));
      },
      "9999-later.sql",
    ],
  ];
  const files = (): string[] => readdirSync(data, { recursive: true, encoding: "utf8" }).sort();
  const former = [files(), readFileSync(join(data, "labd.sqlite")).toString("base64")];
  for (const [what, damage, said] of damaged) {
    cpSync(to, broken, { recursive: true });
    damage();
    for (const words of [["--check"], ["--data-dir", data]]) {
      if (what === "the corpus" && words[0] !== "--check") continue;
      const { code, stderr } = await labd(["restore", join(broken, name), ...words]);
      expect([what, code === 74 || code === 76, stderr]).toEqual([what, true, expect.stringContaining(said)]);
    }
    rmSync(broken, { recursive: true });
  }
  expect([files(), readFileSync(join(data, "labd.sqlite")).toString("base64")]).toEqual(former);
  // An intact backup replaces the database, which is kept.
  const corpus = join(
    data,
    "corpora",
    readdirSync(join(data, "corpora")).find((one) => one.endsWith(".labc"))!,
  );
  const bytes = readFileSync(corpus);
  writeFileSync(corpus, bytes.toReversed());
  const restored = await labd(["restore", join(to, packed), "--data-dir", data]);
  expect(readFileSync(corpus).equals(bytes)).toBeTrue();
  expect(restored.code).toBe(0);
  expect(existsSync(restored.stdout.match(/former database is (.*)\.\n/)![1])).toBeTrue();
});

test("a damaged prediction is named by backup, restore and doctor --deep, and everything else is restored", async () => {
  using place = scratch();
  const [data, other] = ["data", "other"].map((name) => join(place.directory, name));
  const run = (...words: string[]) => labd([...words, "--data-dir", data]);
  await run("corpus", "add", "--sample");
  const features = join(place.directory, "domains.bed");
  const accession = (await run("corpus", "find", "p53")).stdout.match(/\b[OPQ]\d\w{3}\d\b/)?.[0] ?? "P04637";
  writeFileSync(features, `${accession}\t1\t20\tdomain\n`);
  expect(await run("features", "add", features)).toMatchObject({ code: 0 });
  const body = JSON.stringify({ identifier: "E7", querySequence: E7, patterns: ["L.C.E"] });
  const headers = { "Content-Type": "application/json" };
  await using server = await serve(place.directory, ["--data-dir", data]);
  const answer = await fetch(`${server.url}/api/scoring/jobs`, { method: "POST", headers, body });
  const { id } = (await answer.json()) as { id: string };
  const result = `${server.url}/api/scoring/jobs/${id}/result`;
  await waitFor(async () => (await fetch(result)).status === 200);
  const whole = await run("backup");
  expect(whole).toMatchObject({ code: 0, stderr: "" });
  expect(whole.stdout).toContain("features: 1\nBackups lack the settings file");
  expect((await run("doctor")).stdout).toContain("labd doctor --deep reads all");
  expect((await run("doctor", "--deep")).stdout).toMatch(
    /Intact: 1 prediction, 1 feature file, \d+ backup files/,
  );
  const database = new Database(join(data, "labd.sqlite"));
  database.run("UPDATE result_part SET bytes = substr(bytes, 1, 40)");
  database.close();
  const deep = await run("doctor", "--deep");
  expect([deep.code, deep.stdout]).toEqual([
    2,
    expect.stringContaining(`prediction of job ${id} is damaged`),
  ]);
  const damaged = await run("backup");
  expect(damaged.stderr).toContain(`prediction of job ${id} is damaged`);
  const restored = await labd(["restore", damaged.stdout.split("\n")[0], "--data-dir", other]);
  expect(restored.stdout).toContain(`Damaged when it was made: prediction of job ${id}.`);
  expect(restored.stdout).toContain("Backups lack the settings file");
  expect((await labd(["features", "list", "--data-dir", other])).stdout).toContain("domains.bed");
  expect((await fetch(result)).status).toBe(410);
});
