import { Database } from "bun:sqlite";
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createDecipheriv, hkdfSync } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BackupKey, decrypting, encrypting } from "../../../src/operations/backup/encryption.ts";
import { type Manifest, sealed } from "../../../src/operations/backup/manifest.ts";
import { labd } from "../../commands/labd.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "labd-encryption-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

const KEY: BackupKey = { id: "test", bytes: Buffer.alloc(32, 7) };
const OTHER: BackupKey = { id: "other", bytes: Buffer.alloc(32, 8) };

async function* pieces(bytes: Buffer, size: number) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}
const all = async (chunks: AsyncIterable<Uint8Array>): Promise<Buffer> =>
  Buffer.concat(await Array.fromAsync(chunks));
const encrypt = (bytes: Buffer): Promise<Buffer> => all(encrypting(KEY)(pieces(bytes, 10_007)));
const decrypt = (bytes: Buffer, key: BackupKey | undefined = KEY): Promise<Buffer> =>
  all(decrypting(key)(pieces(bytes, 7_777)));

test("decryption restores the content at every chunk boundary", async () => {
  for (const size of [0, 1, 65_535, 65_536, 65_537, 131_072, 300_000]) {
    const plain = Buffer.from(Array.from({ length: size }, (_, i) => (i * 7) & 255));
    const encrypted = await encrypt(plain);
    expect([size, (await decrypt(encrypted)).equals(plain)]).toEqual([size, true]);
    // A single byte may occur by chance.
    if (size > 40) expect(encrypted.includes(plain.subarray(0, 40))).toBe(false);
  }
  const plain = Buffer.from("a file that is not encrypted");
  expect((await decrypt(plain, undefined)).equals(plain)).toBeTrue();
});

test("the documented format can be read without labd", async () => {
  const encrypted = await encrypt(Buffer.from("hello"));
  const line = encrypted.indexOf("\n") + 1;
  const salt = encrypted.subarray(line, line + 32);
  const fileKey = Buffer.from(hkdfSync("sha256", KEY.bytes, salt, encrypted.subarray(0, line), 32));
  const nonce = Buffer.from("000000000000000000000001", "hex");
  const decipher = createDecipheriv("aes-256-gcm", fileKey, nonce).setAuthTag(encrypted.subarray(-16));
  expect(
    decipher.update(encrypted.subarray(line + 32, -16), undefined, "utf8") + decipher.final("utf8"),
  ).toBe("hello");
});

test("rejects another key, changed bytes, a cut end, and chunks in another order", async () => {
  const encrypted = await encrypt(Buffer.alloc(200_000, "x"));
  const message = (bytes: Buffer, key: BackupKey | null = KEY): Promise<string> =>
    all(decrypting(key ?? undefined)(pieces(bytes, 7_777))).then(
      () => "decrypted",
      (error: Error) => error.message,
    );
  const changed = Buffer.from(encrypted);
  changed[100_000] ^= 1;
  const [head, chunk] = [24 + 32, 65_536 + 16];
  const swapped = Buffer.concat([
    encrypted.subarray(0, head),
    encrypted.subarray(head + chunk, head + 2 * chunk),
    encrypted.subarray(head, head + chunk),
    encrypted.subarray(head + 2 * chunk),
  ]);
  const wrong = "it was encrypted with another key, or altered";
  expect(await message(encrypted, OTHER)).toBe(wrong);
  expect(await message(changed)).toBe(wrong);
  expect(await message(swapped)).toBe(wrong);
  expect(await message(encrypted.subarray(0, head + 2 * chunk))).toBe(wrong);
  expect(await message(encrypted.subarray(0, head))).toBe("its end is missing");
  expect(await message(encrypted, null)).toBe("it is encrypted, and there is no key");
});

test("backups are encrypted once there is a key, and restored with it only", async () => {
  const [data, to, other] = ["data", "backups", "other"].map((name) => join(directory, name));
  const run = (words: string) => labd([...words.split(" "), "--data-dir", data]);
  await run("corpus add --sample");
  await run("user add kim");
  const plain = (await run(`backup --to ${to}`)).stdout.split("\n")[0];
  const made = await run("backup --make-key");
  expect([made.code, made.stderr, made.stdout]).toEqual([0, "", expect.stringContaining("Keep a copy")]);
  const [, id] = /the key ([0-9a-f]{16})\./.exec(made.stdout)!;
  const file = join(data, "backup.key");
  expect(statSync(file).mode & 0o777).toBe(process.platform === "win32" ? 0o666 : 0o600);
  expect(await run("backup --make-key")).toMatchObject({
    code: 75,
    stderr: expect.stringContaining("exists"),
  });
  const path = (await run(`backup --to ${to}`)).stdout.split("\n")[0];
  const { key, database, corpora } = JSON.parse(readFileSync(path, "utf8")) as Manifest;
  expect([key, corpora[0].file.endsWith(`.labc.${id}.zst`)]).toEqual([id, true]);
  for (const { file } of [database, ...corpora])
    expect(readFileSync(join(to, file)).subarray(0, 24).toString()).toBe("labd-backup-encrypted-1\n");
  expect((await run(`backup --list --to ${to}`)).stdout).toMatch(new RegExp(`\\n.*  key ${id}\\n$`));
  expect((await run(`restore --check ${path}`)).stdout).toContain("intact");

  const without = await labd(["restore", path, "--data-dir", other]);
  expect(without).toMatchObject({
    code: 74,
    stderr: expect.stringContaining(`encrypted with the key ${id}, and there is no key`),
  });
  expect(existsSync(join(other, "labd.sqlite"))).toBeFalse();
  // Without the key, nobody can alter the manifest, or replace it with one of an unencrypted backup.
  const restoreChanged = async (change: (manifest: Manifest) => Manifest, ...words: string[]) => {
    const manifest = readFileSync(path, "utf8");
    writeFileSync(path, JSON.stringify(change(JSON.parse(manifest) as Manifest)));
    const { stderr } = await labd(["restore", path, "--data-dir", other, ...words]);
    writeFileSync(path, manifest);
    return stderr;
  };
  const altered = (manifest: Manifest): Manifest => ({ ...manifest, created: "2020-01-01T00:00:00.000Z" });
  const { key: _, ...plainly } = JSON.parse(readFileSync(path, "utf8")) as Manifest;
  for (const [change, error] of [
    [altered, "was altered since the backup was made"],
    [(manifest: Manifest) => sealed(altered(manifest), undefined), "was altered since"],
    [(manifest: Manifest) => ({ ...manifest, seal: "" }), "was altered since"],
    [() => plainly, "is damaged or was altered"],
    [() => sealed(plainly, undefined), "The backup is not encrypted"],
  ] as const)
    expect(await restoreChanged(change, "--key", file)).toContain(error);
  const wrong = join(directory, "wrong.key");
  writeFileSync(wrong, `${"0".repeat(64)}\n`);
  expect((await labd(["restore", path, "--data-dir", other, "--key", wrong])).stderr).toContain(
    "the key given is",
  );
  expect(await labd(["restore", path, "--data-dir", other, "--key", file])).toMatchObject({ code: 0 });
  expect(
    new Database(join(other, "labd.sqlite"))
      .query("SELECT count(*) AS n FROM user_account WHERE username = 'kim'")
      .get(),
  ).toEqual({ n: 1 });
  const corpus = readdirSync(join(data, "corpora")).find((name) => name.endsWith(".labc"))!;
  const [source, restored] = [data, other].map((place) => readFileSync(join(place, "corpora", corpus)));
  expect(restored.equals(source)).toBeTrue();
  // The next backups of the restored directory are encrypted too.
  expect(readFileSync(join(other, "backup.key"), "utf8")).toBe(readFileSync(file, "utf8"));
  // The backup from before the key needs none, and keeps its corpus.
  rmSync(file);
  const unencrypted = readFileSync(plain, "utf8");
  writeFileSync(plain, unencrypted.replace('"reason": "asked"', '"reason": "other"'));
  expect((await run(`restore --check ${plain}`)).stderr).toContain("is damaged or was altered");
  writeFileSync(plain, unencrypted);
  expect(await run(`restore --check ${plain}`)).toMatchObject({ code: 0 });
  expect(readdirSync(join(to, "corpora"))).toHaveLength(2);
});
