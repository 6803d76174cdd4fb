import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { harmfulProxy, type ObjectServer, objectServer } from "../platform/object-server.ts";
import { killedWhen, labd, scratch, serve } from "./labd.ts";

setDefaultTimeout(300_000);

/** Corpora on their way between machines: by a server, by a store of objects, and through `kill -9`. */

let store: ObjectServer;
beforeAll(async () => {
  store = await objectServer();
});
afterAll(() => store[Symbol.asyncDispose]());

const corporaOf = (data: string): string[] => readdirSync(join(data, "corpora")).sort();

test("pulled from a server by who has a token, pushed to a store and pulled from there, through kill -9 each time", async () => {
  using place = scratch();
  const [from, to, third] = ["from", "to", "third"].map((name) => join(place.directory, name));
  // More than a part of an upload may have.
  const fasta = join(place.directory, "many.fasta");
  const residues = "ACDEFGHIKLMNPQRSTVWY".repeat(24);
  writeFileSync(fasta, Array.from({ length: 24_000 }, (_, i) => `>P${i}\n${residues}\n`).join(""));
  expect((await labd(["corpus", "add", fasta, "--data-dir", from])).code).toBe(0);
  const name = corporaOf(from).find((file) => file.endsWith(".labc"))!;
  const hash = name.replace(".labc", "");
  const bytes = readFileSync(join(from, "corpora", name));
  expect(bytes.length).toBeGreaterThan(10_000_000);
  await labd(["user", "add", "ada", "--password-stdin", "--data-dir", from], { stdin: "correct horse\n" });
  const token = (await labd(["token", "add", "ada", "--data-dir", from])).stdout.trim();
  await using server = await serve(from, ["--log", "problems", "--backup-hours", "0"]);
  using proxy = await harmfulProxy(() => Number(new URL(server.url).port));
  const url = `http://127.0.0.1:${proxy.port}`;

  const pull = ["corpus", "pull", hash, "--from", url, "--data-dir", to];
  expect(await labd(pull)).toMatchObject({ code: 77, stderr: expect.stringContaining("wants a token") });
  const withToken = [...pull, "--token-file", join(place.directory, "token")];
  writeFileSync(withToken.at(-1)!, `${token}\n`);
  const part = join(to, "corpora", `${name}.fetching`);
  const arrived = (): number => statSync(part, { throwIfNoEntry: false })?.size ?? 0;
  proxy.faults.push({ when: () => true, holdAnswer: 4_000_000 });
  await killedWhen(withToken, {}, () => arrived() > 2_000_000);
  const begun = arrived();
  expect(begun).toBeLessThan(bytes.length);
  const second = await labd(withToken);
  expect(second).toMatchObject({ code: 0, stderr: expect.stringContaining("Going on behind") });
  expect(second.stdout).toContain(`* many  ${hash.slice(0, 12)}`);
  expect(readFileSync(join(to, "corpora", name)).equals(bytes)).toBe(true);
  expect(corporaOf(to)).toEqual([name]);
  expect(await labd(withToken)).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("there already, as many"),
  });

  const address = store.address();
  const push = ["corpus", "push", "many", "--to", address, "--data-dir", to];
  expect(await labd(push)).toMatchObject({ code: 69, stderr: expect.stringContaining("s3_access_key") });
  const env = store.variables;
  store.faults.push({
    when: (method, asked) => method === "PUT" && asked.includes("partNumber=2"),
    holdRequest: 100_000,
  });
  await killedWhen(push, env, () => store.faults.length === 0);
  const fromStore = ["corpus", "pull", hash, "--from", address, "--data-dir", third];
  expect(await labd(fromStore, { env })).toMatchObject({
    code: 66,
    stderr: expect.stringContaining("is not there"),
  });
  expect(existsSync(join(third, "corpora", name))).toBe(false);
  const pushed = await labd(push, { env });
  expect(pushed).toMatchObject({ code: 0, stdout: `${address}/${name}\n` });
  expect(await labd(push, { env })).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("there already, whole"),
  });
  const pulled = await labd([...fromStore, "--name", "ours"], { env });
  expect(pulled).toMatchObject({ code: 0, stderr: "" });
  expect(pulled.stdout).toContain("* ours ");
  expect(await labd(["corpus", "verify", "--data-dir", third])).toMatchObject({
    stdout: `ours is whole: ${hash}\n`,
  });
  const log = (await labd(["audit", "export", "--action", "corpus", "--data-dir", third])).stdout;
  expect(log).toContain(hash);
  expect(log + pushed.stderr + server.log()).not.toContain(store.variables.LABD_S3_SECRET_KEY);
});
