import { Database } from "bun:sqlite";
import { expect, setDefaultTimeout, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { MIGRATIONS } from "../../db/index.ts";
import type { Manifest } from "../../src/operations/backup/manifest.ts";
import { labd, scratch, serve } from "./labd.ts";

// A busy machine takes its time.
setDefaultTimeout(300_000);

/** The database of every released version: this one starts on it, after a backup, and has all that was there. */

const DATABASES = join(import.meta.dir, "../fixtures/databases");

interface Expected {
  user: string;
  password: string;
  location: string;
  job: string;
  result: string;
  note: string;
  attachment: { name: string; text: string };
  history: Record<string, unknown>[];
  locations: { id: string; label: string; description: string | null }[];
}

const versions = readdirSync(DATABASES, { withFileTypes: true }).filter((entry) => entry.isDirectory());

test.each(versions.map(({ name }) => name))(
  "a database of %s is upgraded, and has all that was in it",
  async (version) => {
    using place = scratch();
    const directory = join(DATABASES, version);
    const expected = JSON.parse(readFileSync(join(directory, "expected.json"), "utf8")) as Expected;
    const backup = readdirSync(directory).find((name) => name.startsWith("labd-") && name.endsWith(".json"))!;
    const former = JSON.parse(readFileSync(join(directory, backup), "utf8")) as Manifest;
    const data = join(place.directory, "data");
    const to = join(place.directory, "backups");
    expect((await labd(["restore", join(directory, backup), "--data-dir", data])).code).toBe(0);
    {
      await using server = await serve(place.directory, ["--data-dir", data, "--backup-dir", to]);
      const headers = {
        Authorization: `Basic ${Buffer.from(`${expected.user}:${expected.password}`).toString("base64")}`,
      };
      const read = async (path: string): Promise<string> =>
        (await fetch(`${server.url}/api/${path}`, { headers })).text();
      const list = async (path: string): Promise<Record<string, unknown>[]> => {
        const body = JSON.parse(await read(path));
        return Array.isArray(body) ? body : body.results;
      };
      const pick = ["id", "label", "description"] as const;
      const locations = await list(`v2/locations/?page_size=max&fields=${pick.join()}&ordering=label`);
      expect(locations.map((one) => Object.fromEntries(pick.map((name) => [name, one[name]])))).toEqual(
        expected.locations,
      );
      const found = await list(`v2/locations/?query=${encodeURIComponent("ixture freez")}`);
      expect(found.map(({ id }) => id)).toEqual([expected.location]);
      // What a later version adds to a history is of other records: of notes, say.
      const history = await list(`v2/locations/${expected.location}/history/`);
      expect(history.filter(({ id }) => id === expected.location)).toMatchObject(expected.history);
      const [note] = await list(`v2/locations/${expected.location}/notes/`);
      expect(note.content).toBe(expected.note);
      const [file] = await list(`v2/attachments/?app=stocks&model=location&object_id=${expected.location}`);
      expect(file.name).toBe(expected.attachment.name);
      expect(await read(`v2/attachments/${String(file.id)}/`)).toBe(expected.attachment.text);
      expect(await read(`scoring/jobs/${expected.job}/result?format=tsv`)).toBe(expected.result);
      const written = await fetch(`${server.url}/api/v2/locations/`, {
        method: "POST",
        headers: { ...headers, "Content-Type": "application/json" },
        body: JSON.stringify({ label: "Made after the upgrade" }),
      });
      expect(written.status).toBe(201);
      const pending = MIGRATIONS.map(({ name }) => name).filter(
        (name) => !former.database.migrations.includes(name),
      );
      expect(server.log().includes("backup before upgrade")).toBe(pending.length > 0);
      expect(await server.end("SIGTERM")).toBe(0);
    }
    // The way back is the backup that was made first: it has what the old version knows, and no more.
    const made = readdirSync(to).find((name) => name.endsWith(".json"))!;
    const kept = JSON.parse(readFileSync(join(to, made), "utf8")) as Manifest;
    expect(kept.reason).toBe("upgrade");
    expect(kept.database.migrations).toEqual(former.database.migrations);
    expect(kept.database.rows).toEqual(former.database.rows);
    // Every row of every table is there still, and the whole is sound.
    const after = JSON.parse(
      readFileSync((await labd(["backup", "--data-dir", data, "--to", to])).stdout.split("\n")[0], "utf8"),
    ) as Manifest;
    for (const [table, rows] of Object.entries(former.database.rows)) {
      // What an index keeps of its texts is its own business.
      if (!/_fts_\w+$/.test(table))
        expect([table, after.database.rows[table] >= rows]).toEqual([table, true]);
    }
  },
);

test("a database of a later version is refused with what to do, and left as it is", async () => {
  using place = scratch();
  const data = join(place.directory, "data");
  await labd(["user", "add", "ada", "--data-dir", data]);
  const database = new Database(join(data, "labd.sqlite"));
  database.run("INSERT INTO migration VALUES ('9999-later.sql', 'x', 0)");
  database.close();
  for (const words of [
    ["serve", "--port", "0"],
    ["user", "list"],
    ["corpus", "list"],
  ]) {
    const { code, stderr } = await labd([...words, "--data-dir", data]);
    expect([words[0], code]).toEqual([words[0], 76]);
    expect(stderr).toContain("9999-later.sql");
    expect(stderr).toContain("restore a backup made before the upgrade");
  }
  expect(readdirSync(data)).not.toContain("backups");
});
