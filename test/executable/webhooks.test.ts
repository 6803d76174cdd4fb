import { expect, setDefaultTimeout, test } from "bun:test";
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { isSigned, openReceiver } from "../webhooks/receiver.ts";
import { E7, labd, scratch, serve } from "./labd.ts";
import { waitFor } from "../wait.ts";

setDefaultTimeout(300_000);

test("after kill -9 delivers earlier events once and in order", async () => {
  using place = scratch();
  const { directory } = place;
  const data = ["--data-dir", directory];
  expect((await labd(["user", "add", "ada", "--admin", ...data])).code).toBe(0);
  const token = (await labd(["token", "add", "ada", ...data])).stdout.trim().split(/\s+/).at(-1)!;
  const headers = { Authorization: `Token ${token}`, "Content-Type": "application/json" };
  await using receiver = openReceiver();
  const words = ["--webhook-allow", "127.0.0.0/8"];
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
  await waitFor(() => receiver.got.length >= before + labels.length + 1);
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

test("labd webhook manages webhooks while the server runs", async () => {
  using place = scratch();
  const { directory } = place;
  const on = ["--data-dir", directory];
  const may = ["--webhook-allow", "127.0.0.0/8"];
  await labd(["user", "add", "ada", "--admin", ...on]);
  const token = (await labd(["token", "add", "ada", ...on])).stdout.trim();
  await using receiver = openReceiver();
  await using server = await serve(directory, may);
  const hook = (...words: string[]) => labd(["webhook", ...words, ...on, ...may]);
  const told = async (...words: string[]) => JSON.parse((await hook(...words, "--json")).stdout);

  expect(await labd(["webhook", "add", receiver.url, "--user", "ada", ...on])).toMatchObject({
    code: 65,
    stderr: expect.stringContaining("url: Must begin with https:// (setting webhook_allow)"),
  });
  const events = ["--event", "record.created", "--resource", "locations"];
  const made = await hook("add", receiver.url, "--user", "ada", ...events);
  expect(made).toMatchObject({ code: 0, stderr: expect.stringContaining("not shown again") });
  const [, id, secret] = /^webhook (\S{36})\nsecret  (whsec_\S{44})\n$/.exec(made.stdout)!;
  expect(await hook("test", id.slice(0, 8))).toMatchObject({
    code: 0,
    stdout: "The receiver returned status 200.\nthank you\n",
  });
  expect(receiver.got[0]).toMatchObject({ type: "ping", data: { webhook: id } });
  receiver.answers.push(503);
  expect(await hook("test", id)).toMatchObject({
    code: 1,
    stdout: "The response had status 503.\nthank you\n",
  });

  const rotated = await told("secret", id, "--overlap-hours", "2");
  const write = await fetch(`${server.url}/api/v2/locations/`, {
    method: "POST",
    headers: { Authorization: `Token ${token}`, "Content-Type": "application/json" },
    body: JSON.stringify({ label: "Rack" }),
  });
  expect(write.status).toBe(201);
  await waitFor(() => receiver.got.length === 3);
  for (const one of [secret, rotated.secret]) expect(isSigned(one, receiver.got[2])).toBe(true);
  const [newest] = await told("deliveries", id, "--count", "1");
  expect(newest).toMatchObject({ event: "record.created" });
  expect((await hook("redeliver", id, newest.id)).code).toBe(0);
  await waitFor(() => receiver.got.length === 4);
  expect(receiver.got[3].id).toBe(newest.id);
  const [listed] = await told("list", "ada");
  expect(listed).toMatchObject({
    id,
    user: "ada",
    events: ["record.created"],
    resource: "locations",
    state: "active",
  });
  expect((await hook("list")).stdout).not.toContain("whsec");
  expect((await hook("resume", id)).code).toBe(0);
  expect((await hook("remove", id)).code).toBe(0);
  expect(await hook("remove", id)).toMatchObject({ code: 66 });
  const { stdout } = await labd(["audit", "export", "--action", "webhook", ...on]);
  const actions = stdout
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { action: string }).action);
  expect(actions).toEqual(["create", "secret", "resume", "remove"].map((one) => `webhook.${one}`));
  expect(stdout).not.toMatch(/whsec|key=1/);
});
