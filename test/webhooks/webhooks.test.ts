import { afterAll, afterEach, beforeEach, describe, expect, setSystemTime, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { recordEvents } from "../../src/inventory/index.ts";
import { jobCompletions } from "../../src/scoring/index.ts";
import { JobStore } from "../../src/scoring/jobs/store.ts";
import { delayAfter, MAX_ATTEMPTS } from "../../src/webhooks/deliverer.ts";
import { EVENTS, openWebhooks, type Webhooks } from "../../src/webhooks/index.ts";
import { checkSecrets } from "../../src/webhooks/secret.ts";
import { complaints, type Operation } from "../described.ts";
import { type Json, openService } from "../fixtures/service.ts";
import { type Lab, openLab } from "../inventory/harness.ts";
import { IDS } from "../inventory/sample.ts";
import { isSigned, openReceiver, type Receiver } from "./receiver.ts";

const HOUR = 3_600_000;
const place = mkdtempSync(join(tmpdir(), "labd-test-"));
afterAll(() => rmSync(place, { recursive: true }));

let lab: Lab;
let receiver: Receiver;
let webhooks: Webhooks;
let keyFile: string;
const logged: string[] = [];

const open = (plain = true): Webhooks =>
  openWebhooks({
    database: lab.database,
    clock: lab.clock,
    log: { info: () => {}, problem: (event) => void logged.push(event) },
    sources: {
      records: recordEvents(lab.database, lab.clock, "https://lab.example/labd"),
      jobs: jobCompletions(lab.database),
    },
    accounts: lab.accounts,
    allow: "127.0.0.0/8",
    plain,
    base: "https://lab.example/labd",
    version: "1",
    keyFile,
    random: () => 1,
  });

async function reopen(plain = true): Promise<void> {
  await webhooks.deliverer.close();
  webhooks = open(plain);
}

beforeEach(async () => {
  keyFile = join(place, crypto.randomUUID());
  lab = await openLab({ path: join(place, crypto.randomUUID()) });
  receiver = openReceiver();
  webhooks = open();
  logged.length = 0;
  setSystemTime(lab.clock.now());
});
afterEach(async () => {
  await webhooks.deliverer.close();
  await receiver[Symbol.asyncDispose]();
  lab.database.close();
  setSystemTime();
});

const ask = (method: string, path: string, as?: string, body?: unknown) =>
  openService(lab.accounts, [webhooks.routes]).ask(method, `/api/webhooks/${path}`, {
    ...(as === undefined ? {} : { as: lab.tokens[as] }),
    ...(body === undefined ? {} : { body }),
  });

async function add(as: string, input: object = {}): Promise<Json> {
  const { status, body } = await ask("POST", "", as, { url: receiver.url, ...input });
  expect({ status, body }).toMatchObject({ status: 201 });
  return body;
}

const change = (description: string, id: string = IDS.bench) =>
  lab.ask("PATCH", `locations/${id}/`, { as: "admin", body: { description } });
const deliver = () => webhooks.deliverer.deliverAll();
const types = () => receiver.got.map(({ type }) => type);
const states = async (id: string) =>
  (await ask("GET", `${id}/deliveries/`, "admin")).body.results.map((one: Json) => one.state);
function advance(milliseconds: number): void {
  lab.clock.set(lab.clock.now() + milliseconds);
  setSystemTime(lab.clock.now());
}

describe("events", () => {
  test("of records are delivered in order, signed, without the record's values", async () => {
    const { secret } = await add("alice");
    const made = await lab.ask("POST", "locations/", { as: "alice", body: { label: "Rack 7" } });
    const id = String(made.body.id);
    await change("sealed words", id);
    await lab.ask("DELETE", `locations/${id}/`, { as: "alice" });
    await lab.ask("POST", `locations/${id}/restore/`, { as: "alice", body: {} });
    await deliver();
    expect(types()).toEqual(["record.created", "record.updated", "record.deleted", "record.restored"]);
    expect(receiver.got.map(({ data }) => data.version)).toEqual([1, 2, 3, 4]);
    expect(receiver.got[0].data).toEqual({
      resource: "locations",
      id,
      of: null,
      address: `https://lab.example/labd/api/v2/locations/${id}/`,
      version: 1,
      user: "alice",
      batch: expect.any(String),
    });
    expect(receiver.got[0].headers.get("user-agent")).toBe("labd/1");
    for (const one of receiver.got) {
      expect(one.text).not.toMatch(/Rack|sealed/);
      expect(isSigned(secret, one)).toBe(true);
      expect(isSigned(secret, { ...one, text: one.text.replace("locations", "places") })).toBe(false);
      expect(isSigned(`whsec_${"A".repeat(43)}=`, one)).toBe(false);
    }
  });

  test("of records that the owner may not view are not delivered", async () => {
    const { id } = await add("bob");
    await change("x", IDS.secret);
    await deliver();
    expect(types()).toEqual([]);
    await change("y");
    receiver.answers.push(500);
    await deliver();
    await lab.ask("PATCH", `locations/${IDS.bench}/`, { as: "admin", body: { public: false } });
    advance(HOUR);
    await deliver();
    expect(types()).toEqual(["record.updated"]);
    expect(await states(id)).toEqual(["withheld"]);
  });

  test("can be limited to a list, to records that match, and by name", async () => {
    const query_expression = JSON.stringify({ category: "place__room", operator: "==", value: "102" });
    await add("alice", { resource: "locations", query_expression, events: ["record.updated"] });
    await change("here", IDS.bench);
    await change("another room", IDS.shelf);
    await lab.ask("PATCH", `places/${IDS.a102}/`, { as: "admin", body: { description: "z" } });
    await lab.ask("DELETE", `locations/${IDS.bench}/`, { as: "admin" });
    await deliver();
    expect(receiver.got.map(({ type, data }) => [type, data.id])).toEqual([["record.updated", IDS.bench]]);
  });

  test("of jobs are delivered to their owner and to administrators", async () => {
    let jobs = 0;
    const store = new JobStore({
      database: lab.database,
      clock: lab.clock,
      scoringVersion: () => ({ corpus: "c", method: "m" }),
      newId: () => `job-${++jobs}`,
    });
    const insert = (sequence: string, client: string) =>
      store.insert({ query: sequence, model: "continuous", patterns: [] } as never, client);
    // Not recorded: no webhook asks for jobs yet.
    await insert("A", "user alice");
    store.cancel("job-1");
    await add("alice");
    await using all = openReceiver();
    await add("admin", { url: all.url, events: ["job.finished", "job.failed"] });
    await insert("B", "user alice");
    await insert("C", "user bob");
    await insert("D", "user alice");
    for (let i = 0; i < 2; i++) store.finish(store.lease(1000)!, { corpus: "c", method: "m" }, "{}");
    store.fail(store.lease(1000)!.rid, "no");
    // Known already: finished at once.
    await insert("B", "user alice");
    await deliver();
    const mine = receiver.got.map(({ type, data }) => `${type} ${String(data.id)}`).toSorted();
    expect(mine).toEqual(["job.failed job-4", "job.finished job-2", "job.finished job-5"]);
    expect(all.got.map(({ data }) => data.id).toSorted()).toEqual(["job-2", "job-3", "job-4", "job-5"]);
    expect(receiver.got[0].data.address).toStartWith("https://lab.example/labd/api/scoring/jobs/job-");
    // Those that every webhook has seen are discarded, except the last.
    await webhooks.deliverer.poll();
    expect(lab.database.query("SELECT count(*) AS n FROM job_end").get()).toEqual({ n: 1 });
  });

  test("are collected up to 200 at a time, and delivered once even if collected twice", async () => {
    await add("bob", { resource: "locations" });
    lab.database.run("UPDATE webhook SET record_cursor = 0");
    for (let i = 0; i < 250; i++) await change(`words ${i}`);
    const { n } = lab.database
      .query("SELECT count(*) AS n FROM record_change WHERE object_kind = 'location'")
      .get() as { n: number };
    await webhooks.deliverer.poll();
    expect(lab.database.query("SELECT count(*) AS n FROM webhook_delivery").get()).toEqual({ n: 200 });
    for (let i = 0; i < 2; i++) await deliver();
    // Without the secret location of the sample.
    expect(receiver.got).toHaveLength(n - 1);
    // As after a power cut that undid the cursor.
    lab.database.run("UPDATE webhook SET record_cursor = 0");
    for (let i = 0; i < 3; i++) await deliver();
    expect(receiver.got).toHaveLength(n - 1);
    expect(new Set(receiver.got.map(({ id }) => id)).size).toBe(n - 1);
  });
});

describe("attempts", () => {
  test("are repeated with growing delays under the same id, until the webhook is failing", async () => {
    const { id } = await add("alice");
    await change("one");
    await change("two");
    receiver.answers.push(...Array<number>(MAX_ATTEMPTS).fill(503));
    for (let i = 1; i < MAX_ATTEMPTS; i++) {
      await deliver();
      advance(delayAfter(i, 1) - 1);
      await deliver();
      expect(receiver.got).toHaveLength(i);
      advance(1);
    }
    await deliver();
    expect(new Set(receiver.got.map((one) => one.id)).size).toBe(1);
    expect((await ask("GET", `${id}/`, "alice")).body).toMatchObject({
      state: "failing",
      waiting: 2,
      next_attempt: null,
      last_error: "The answer was 503.",
    });
    expect(logged).toEqual(["webhook failing"]);
    advance(24 * HOUR);
    await change("three");
    await deliver();
    expect(receiver.got).toHaveLength(MAX_ATTEMPTS);
    const [ping, second] = await Promise.all([1, 2].map(() => ask("POST", `${id}/ping/`, "alice")));
    expect(second.status).toBe(409);
    expect(ping.body).toMatchObject({ event: "ping", state: "delivered", status: 200, answer: "thank you" });
    await deliver();
    const after = receiver.got.slice(MAX_ATTEMPTS);
    expect(after.map(({ type }) => type)).toEqual(["ping", ...Array<string>(3).fill("record.updated")]);
    expect(after[1].id).toBe(receiver.got[0].id);
    expect(after.slice(1).map(({ data }) => data.version)).toEqual([2, 3, 4]);
    expect((await ask("GET", `${id}/`, "alice")).body).toMatchObject({ state: "active", waiting: 0 });
  });

  test.each([
    [1, 1, 5000],
    [2, 1, 10_000],
    [3, 1, 20_000],
    [3, 0, 10_000],
    [3, 0.5, 15_000],
    [10, 1, 2_560_000],
    [11, 1, HOUR],
    [20, 0, HOUR / 2],
  ])("number %d is followed, with the random number %d, after %d ms", (attempts, random, delay) => {
    expect(delayAfter(attempts, random)).toBe(delay);
  });

  test.each([
    [200, undefined, "delivered", "active"],
    [299, undefined, "delivered", "active"],
    [300, 5000, "pending", "active"],
    [429, 600_000, "pending", "active"],
    [500, 100_000 * 1000, "pending", "active"],
    [410, undefined, "pending", "failing"],
  ])(
    "with status %d and Retry-After %d ms: %s, and the webhook is %s",
    async (status, wait, state, webhook) => {
      const { id } = await add("alice");
      await change("one");
      receiver.answers.push(status);
      if (wait !== undefined) receiver.headers["Retry-After"] = String(wait / 1000);
      await deliver();
      expect(await states(id)).toEqual([state]);
      const shown = (await ask("GET", `${id}/`, "alice")).body;
      expect(shown.state).toBe(webhook);
      if (state === "delivered" || webhook === "failing") return;
      const delay = Math.min(Math.max(wait ?? 0, 5000), HOUR);
      expect(shown.next_attempt).toBe(new Date(lab.clock.now() + delay).toISOString());
      advance(delay - 1);
      await deliver();
      expect(receiver.got).toHaveLength(1);
      advance(1);
      await deliver();
      expect(receiver.got).toHaveLength(2);
    },
  );

  test("continue when a failing webhook is resumed, or a delivery is repeated", async () => {
    const { id } = await add("alice");
    await change("one");
    receiver.answers.push(410);
    await deliver();
    expect((await ask("POST", `${id}/resume/`, "alice")).body.state).toBe("active");
    await deliver();
    const [sent] = (await ask("GET", `${id}/deliveries/`, "alice")).body.results;
    expect(sent).toMatchObject({
      state: "delivered",
      attempts: 1,
      status: 200,
      answer: "thank you",
      due: null,
    });
    const redeliver = `${id}/deliveries/${sent.id}/redeliver/`;
    expect((await ask("POST", redeliver, "alice")).body).toMatchObject({ id: sent.id, state: "pending" });
    await deliver();
    expect(receiver.got.map((one) => one.id)).toEqual(Array(3).fill(sent.id));
    const ping = (await ask("POST", `${id}/ping/`, "alice")).body;
    expect((await ask("POST", `${id}/deliveries/${ping.id}/redeliver/`, "alice")).status).toBe(409);
  });

  test("a failed ping is not repeated", async () => {
    const { id } = await add("alice");
    receiver.answers.push(503);
    const ping = (await ask("POST", `${id}/ping/`, "alice")).body;
    expect(ping).toMatchObject({ state: "failed", attempts: 1, error: "The answer was 503.", status: 503 });
    advance(HOUR);
    await deliver();
    expect(types()).toEqual(["ping"]);
  });

  test("are made at once after the clock was set back", async () => {
    await add("alice");
    receiver.answers.push(500);
    await change("x");
    await deliver();
    advance(-5 * HOUR);
    await deliver();
    expect(types()).toEqual(["record.updated", "record.updated"]);
  });

  test("of one webhook do not delay another, and pause while the account is disabled", async () => {
    await add("alice");
    await using other = openReceiver();
    await add("bob", { url: other.url });
    receiver.answers.push(500);
    for (const word of ["one", "two", "three"]) await change(word);
    await deliver();
    expect([receiver.got.length, other.got.length]).toEqual([1, 3]);
    lab.accounts.setActive(lab.accounts.userId("bob"), false);
    await change("four");
    await deliver();
    expect(other.got).toHaveLength(3);
  });

  test("need https once http is no longer allowed", async () => {
    const { id } = await add("alice");
    await reopen(false);
    await change("one");
    await deliver();
    expect((await ask("GET", `${id}/`, "alice")).body.last_error).toContain("webhook_allow");
    expect(receiver.got).toEqual([]);
  });
});

describe("routes", () => {
  test.each([
    [{}, "url"],
    [{ url: "lab" }, "url"],
    [{ url: "ftp://lab.example/" }, "url"],
    [{ url: "https://user:word@lab.example/" }, "url"],
    [{ url: "https://user@lab.example/" }, "url"],
    [{ url: "https://:word@lab.example/" }, "url"],
    [{ url: "https://10.0.0.1/" }, "url"],
    [{ url: "http://2886729729/" }, "url"],
    [{ url: "https://[::ffff:a00:1]/" }, "url"],
    [{ url: `https://lab.example/${"x".repeat(2000)}` }, "url"],
    [{ events: ["record.renamed"] }, "events"],
    [{ events: [] }, "events"],
    [{ resource: "locaitons" }, "resource"],
    [{ resource: "" }, "resource"],
    [{ resource: "locations", query_expression: "{" }, "query_expression"],
    [{ query_expression: "{}" }, "query_expression"],
    [{ secret: "mine" }, "secret"],
  ])("refuse %j and name %s", async (input, name) => {
    const body = "url" in input || name === "url" ? input : { url: receiver.url, ...input };
    expect(await ask("POST", "", "alice", body)).toMatchObject({
      status: 400,
      body: { [name]: [expect.any(String)] },
    });
  });

  test("accept any events, once each, and drop the fragment of the URL", async () => {
    const made = await add("alice", { url: "https://lab.example/x#y", resource: null });
    expect(made).toMatchObject({ url: "https://lab.example/x", events: [...EVENTS], resource: null });
    const twice = await add("alice", { events: ["job.failed", "job.failed"] });
    expect(twice.events).toEqual(["job.failed"]);
  });

  test("list an account's own webhooks, for an administrator all, without secrets", async () => {
    const { id } = await add("alice");
    await add("bob");
    const all = await ask("GET", "", "admin");
    expect(all.body.results.map(({ user }: Json) => user)).toEqual(["alice", "bob"]);
    expect(all.text).not.toContain("whsec_");
    expect(all.headers.get("cache-control")).toBe("no-store");
    expect((await ask("GET", "", "alice")).body.results.map((one: Json) => one.id)).toEqual([id]);
    await change("one");
    await deliver();
    expect((await ask("GET", `${id}/deliveries/?page_size=1`, "admin")).body.results).toHaveLength(1);
    for (const size of ["0", "x", "-1"])
      expect((await ask("GET", `${id}/deliveries/?page_size=${size}`, "alice")).status).toBe(400);
    expect((await ask("DELETE", `${id}/`, "alice")).status).toBe(204);
    expect((await ask("GET", `${id}/`, "alice")).status).toBe(404);
    const left = lab.database.query("SELECT count(DISTINCT webhook) AS n FROM webhook_delivery").get();
    expect(left).toEqual({ n: 1 });
  });

  test("allow 20 webhooks per account", async () => {
    for (let i = 0; i < 20; i++) await add("alice");
    expect((await ask("POST", "", "alice", { url: receiver.url })).status).toBe(409);
    await add("bob");
  });

  test("answer as documented, for anonymous and other callers too", async () => {
    const { body } = await openService(lab.accounts, [webhooks.routes]).ask("GET", "/docs/json");
    const operations = Object.entries(body.paths as Record<string, Record<string, Operation>>)
      .filter(([path]) => path.startsWith("/api/webhooks/"))
      .flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
      );
    expect(operations).toHaveLength(10);
    const { id } = await add("alice");
    await change("one");
    await deliver();
    const [sent] = (await ask("GET", `${id}/deliveries/`, "alice")).body.results;
    const order = ["get", "post", "delete"];
    const found: string[] = [];
    const statuses: [string, number[]][] = [];
    for (const { path, method, operation } of operations.toSorted(
      (a, b) => order.indexOf(a.method) - order.indexOf(b.method),
    )) {
      const address = path.replace("/api/webhooks/", "").replace("{id}", id).replace("{delivery}", sent.id);
      const input = path === "/api/webhooks/" && method === "post" ? { url: receiver.url } : undefined;
      const answers = [];
      for (const as of [undefined, "bob", "alice"])
        answers.push(await ask(method.toUpperCase(), address, as, input));
      if (path.endsWith("/secret/")) answers.push(await ask("POST", address, "alice", { overlap_hours: -1 }));
      for (const answer of answers) found.push(...complaints(operation, method, path, answer));
      statuses.push([`${method} ${address}`, answers.map(({ status }) => status)]);
    }
    expect(found).toEqual([]);
    const one = sent.id as string;
    expect(Object.fromEntries(statuses)).toEqual({
      "get ": [401, 200, 200],
      "post ": [401, 201, 201],
      [`get ${id}/`]: [401, 404, 200],
      [`delete ${id}/`]: [401, 404, 204],
      [`post ${id}/ping/`]: [401, 404, 200],
      [`post ${id}/resume/`]: [401, 404, 200],
      [`post ${id}/secret/`]: [401, 404, 200, 400],
      [`get ${id}/deliveries/`]: [401, 404, 200],
      [`get ${id}/deliveries/${one}/`]: [401, 404, 200],
      [`post ${id}/deliveries/${one}/redeliver/`]: [401, 404, 200],
    });
  });
});

describe("secrets", () => {
  /** The next delivery, signed now. */
  async function next(): Promise<Receiver["got"][number]> {
    await change(`at ${lab.clock.now()} ${receiver.got.length}`);
    await deliver();
    return receiver.got.at(-1)!;
  }
  const signers = async (...secrets: string[]) => {
    const delivery = await next();
    return secrets.map((secret) => isSigned(secret, delivery));
  };

  test("overlap after a rotation: the previous one also signs for a while", async () => {
    const { id, secret: first } = await add("alice");
    const rotate = async (body: object) => (await ask("POST", `${id}/secret/`, "alice", body)).body;
    const { secret: second, former_secret_until } = await rotate({ overlap_hours: 2 });
    expect(former_secret_until).toBe(new Date(lab.clock.now() + 2 * HOUR).toISOString());
    const both = await next();
    expect(both.headers.get("webhook-signature")).toMatch(/^v1,\S{44} v1,\S{44}$/);
    expect([isSigned(first, both), isSigned(second, both)]).toEqual([true, true]);
    const { secret: third } = await rotate({});
    expect(await signers(first, second, third)).toEqual([false, true, true]);
    advance(24 * HOUR);
    expect(await signers(second, third)).toEqual([false, true]);
    await webhooks.deliverer.poll();
    const stored = lab.database
      .query("SELECT former_sealed_secret AS former, former_until FROM webhook")
      .get();
    expect(stored).toEqual({ former: null, former_until: null });
    const fourth = await rotate({ overlap_hours: 0 });
    expect(fourth.former_secret_until).toBeNull();
    expect(await signers(third, fourth.secret)).toEqual([false, true]);
    for (const body of [{ overlap_hours: 1.5 }, { overlap_hours: "1" }, { overlap_hours: 721 }, { hours: 1 }])
      expect((await ask("POST", `${id}/secret/`, "alice", body)).status).toBe(400);
    const recorded = lab.accounts.audit.log.latest({ action: "webhook" }, 10).reverse();
    const actions = ["webhook.create", ...Array<string>(3).fill("webhook.secret")];
    expect(recorded.map(({ action }) => action)).toEqual(actions);
    expect(recorded[0]).toMatchObject({ actor: "alice", subject: { kind: "webhook", id } });
    expect(JSON.stringify(recorded)).not.toMatch(/whsec|key=1/);
  });

  test("are encrypted for their webhook, and deliveries wait without the key", async () => {
    const { id, secret } = await add("alice");
    const { secret: rotated } = (await ask("POST", `${id}/secret/`, "alice")).body;
    const stored = JSON.stringify(lab.database.query("SELECT * FROM webhook").all());
    for (const one of ["whsec_", secret.slice(6), rotated.slice(6)]) expect(stored).not.toContain(one);
    await reopen();
    expect(await signers(secret, rotated)).toEqual([true, true]);
    const other = await add("bob");
    lab.database
      .query(
        "UPDATE webhook SET sealed_secret = (SELECT sealed_secret FROM webhook WHERE id = ?) WHERE id = ?",
      )
      .run(id, other.id);
    expect(webhooks.store.find(other.id)?.secret).toBeNull();
    await ask("DELETE", `${other.id}/`, "bob");

    const right = keyFile;
    keyFile = join(place, "another");
    await reopen();
    const { length } = receiver.got;
    await next();
    expect(receiver.got).toHaveLength(length);
    expect((await ask("GET", `${id}/`, "alice")).body.last_error).toContain("cannot be decrypted");
    keyFile = right;
    await reopen();
    advance(HOUR);
    await deliver();
    expect(receiver.got).toHaveLength(length + 1);
    keyFile = join(place, "another");
    await reopen();
    const fresh = (await ask("POST", `${id}/secret/`, "alice")).body;
    expect(fresh.former_secret_until).toBeNull();
    expect(await signers(fresh.secret)).toEqual([true]);
  });

  test("are checked by doctor with the key file", async () => {
    const check = (key = keyFile) => checkSecrets(lab.database.filename, key);
    expect(check()).toEqual([]);
    expect(checkSecrets(join(place, "no database"), keyFile)).toEqual([]);
    const { id } = await add("alice");
    expect(check()).toMatchObject([{ state: "ok", about: "webhooks" }]);
    expect(check("/nowhere")).toMatchObject([
      { state: "problem", found: expect.stringContaining(`is missing: deliveries of 1 of 1`) },
    ]);
    const other = join(place, "other");
    writeFileSync(other, "00".repeat(32));
    expect(check(other)[0].found).toMatch(new RegExp(`does not fit: .*: ${id}\\.$`));
  });
});
