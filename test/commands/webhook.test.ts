import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { openReceiver, type Receiver } from "../webhooks/receiver.ts";
import { labd, scratch } from "./labd.ts";

setDefaultTimeout(60_000);

const place = scratch();
const env = { LABD_DATA_DIR: place.directory, LABD_WEBHOOK_ALLOW: "127.0.0.0/8" };
let receiver: Receiver;
beforeAll(async () => {
  receiver = openReceiver();
  for (const name of ["kim", "lee"]) await labd(["user", "add", name], { env });
});
afterAll(async () => {
  await receiver[Symbol.asyncDispose]();
  place[Symbol.dispose]();
});

const webhook = (...words: string[]) => labd(["webhook", ...words], { env });
const json = async (...words: string[]) => JSON.parse((await webhook(...words, "--json")).stdout);

test("adds, lists, pings and removes webhooks", async () => {
  const added = await webhook("add", receiver.url, "--user", "kim");
  expect(added.stdout).toMatch(/^webhook [0-9a-f-]{36}\nsecret {2}whsec_\S+\n$/);
  expect(added.stderr).toContain("not shown again");
  const own = ["--event", "record.created", "--event", "job.failed", "--resource", "locations"];
  const second = await json("add", receiver.url, "--user", "lee", ...own);
  expect(second.former_secret_until).toBeNull();
  const all = await json("list");
  expect(all).toMatchObject([
    { user: "kim", resource: null, waiting: 0 },
    { user: "lee", resource: "locations", events: ["record.created", "job.failed"], state: "active" },
  ]);
  const kims = all[0].id as string;
  expect(await json("list", "lee")).toEqual([all[1]]);
  const lines = (await webhook("list")).stdout.trimEnd().split("\n");
  expect(lines.map((line) => line.split(/ {2,}/).slice(1, 6))).toEqual([
    ["user", "state", "waiting", "events", "of"],
    ["kim", "active", "0", "all", "-"],
    ["lee", "active", "0", "record.created,job.failed", "locations"],
  ]);

  const ping = await webhook("test", kims.slice(0, 13));
  expect([ping.code, ping.stdout]).toEqual([0, "The receiver returned status 200.\nthank you\n"]);
  receiver.answers.push(503);
  const failed = await webhook("test", kims);
  expect([failed.code, failed.stdout]).toEqual([1, "The response had status 503.\nthank you\n"]);
  const rows = (await webhook("deliveries", kims)).stdout.trimEnd().split("\n");
  expect(rows.map((row) => row.split(/ {2,}/).slice(1, 3))).toEqual([
    ["event", "state"],
    ["ping", "failed"],
    ["ping", "delivered"],
  ]);
  expect(await json("deliveries", kims, "--count", "1")).toHaveLength(1);
  const [{ id: delivery }] = await json("deliveries", kims);
  expect((await webhook("redeliver", kims, delivery)).code).not.toBe(0);

  const rotated = await webhook("secret", kims, "--overlap-hours", "2");
  expect(rotated.stdout).toMatch(/secret {2}whsec_\S+\nThe former secret also signs until .+\.\n$/);
  const { former_secret_until } = await json("secret", kims, "--overlap-hours", "0");
  expect(former_secret_until).toBeNull();
  expect((await webhook("resume", kims)).stdout).toBe(`${kims} resumes where it stopped.\n`);
  expect((await webhook("remove", kims)).stdout).toBe(`Removed ${kims} and its deliveries.\n`);
  expect((await json("list")).map(({ user }: { user: string }) => user)).toEqual(["lee"]);
});

test("an error names the object of a command", async () => {
  const { id } = await json("add", receiver.url, "--user", "kim");
  const none = "00000000-0000-4000-8000-000000000000";
  for (const [words, code, text] of [
    [["add", receiver.url], 64, "labd webhook add needs --user USER."],
    [["add", "lab", "--user", "kim"], 65, "url: "],
    [["add", receiver.url, "--user", "max"], 66, "max"],
    [["test", none], 66, `There is no webhook ${none}. See labd webhook list.`],
    [["test", id.slice(0, 3)], 66, `There is no webhook ${id.slice(0, 3)}.`],
    [["redeliver", id, none], 66, `${id} has no delivery ${none}.`],
    [["secret", id, "--overlap-hours", "9999"], 65, "overlap_hours: "],
  ] as const) {
    const { code: ended, stderr } = await webhook(...words);
    expect({ words, ended, stderr }).toEqual({ words, ended: code, stderr: expect.stringContaining(text) });
  }
});
