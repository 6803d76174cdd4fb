import { expect, setDefaultTimeout, test } from "bun:test";
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { isSigned, openReceiver } from "../webhook/receiver.ts";
import { E7, labd, scratch, serve } from "./labd.ts";

// A busy machine takes its time.
setDefaultTimeout(60_000);

const until = async (what: () => boolean): Promise<void> => {
  for (let i = 0; i < 1500 && !what(); i++) await Bun.sleep(20);
  expect(what()).toBe(true);
};

test("what was written before a kill -9 is delivered after it, once, in order, beside the end of a job", async () => {
  using place = scratch();
  const { directory } = place;
  const data = ["--data-dir", directory];
  expect((await labd(["user", "add", "ada", "--admin", ...data])).code).toBe(0);
  const token = (await labd(["token", "add", "ada", ...data])).stdout.trim().split(/\s+/).at(-1)!;
  const headers = { Authorization: `Token ${token}`, "Content-Type": "application/json" };
  await using receiver = openReceiver();
  const words = ["--webhook-http", "true", "--webhook-allow", "127.0.0.0/8"];
  const call = async (url: string, path: string, body: object) =>
    (
      await fetch(`${url}/api/${path}`, { method: "POST", headers, body: JSON.stringify(body) })
    ).json() as Promise<Record<string, string>>;
  let secret: string;
  const labels = Array.from({ length: 20 }, (_, i) => `P${i}`);
  let job: string;
  {
    await using server = await serve(directory, words);
    ({ secret } = await call(server.url, "webhooks/", { url: receiver.url }));
    expect(secret).toStartWith("whsec_");
    // Nothing is answered well while it lives: what is collected then waits.
    receiver.answers.push(...Array<number>(100).fill(500));
    for (const label of labels) expect((await call(server.url, "v2/locations/", { label })).id).toBeString();
    const proteins = join(directory, "p.fasta");
    await Bun.write(proteins, `>a\n${E7}\n>b\n${E7.slice(5)}\n`);
    expect((await labd(["corpus", "add", proteins, ...data])).code).toBe(0);
    job = (await call(server.url, "scoring/jobs", { querySequence: E7, patterns: ["L.C.E"] })).id;
    expect(job).toBeString();
    await server.end("SIGKILL");
  }
  receiver.answers.length = 0;
  const before = receiver.got.length;
  // An attempt before is not made again until its time: as if that had passed.
  const database = new Database(join(directory, "labd.sqlite"));
  database.run("UPDATE webhook_delivery SET due = 0");
  database.close();
  await using server = await serve(directory, words);
  await until(() => receiver.got.length >= before + labels.length + 1);
  const got = receiver.got.slice(before);
  const records = got.filter(({ type }) => type === "record.created");
  expect(records.map(({ data }) => data.resource)).toEqual(labels.map(() => "locations"));
  const told = await Promise.all(
    records.map(async ({ data }) => {
      const record = await fetch(`${server.url}${String(data.address)}`, { headers });
      return ((await record.json()) as { label: string }).label;
    }),
  );
  expect(told).toEqual(labels);
  expect(got.filter(({ type }) => type.startsWith("job.")).map(({ data }) => data.id)).toEqual([job]);
  expect(new Set(got.map(({ id }) => id)).size).toBe(got.length);
  for (const one of receiver.got) expect(isSigned(secret, one)).toBe(true);
  // The log names neither the secret nor the address.
  expect(server.log()).not.toContain(secret);
  expect(server.log()).not.toContain("key=1");
});
