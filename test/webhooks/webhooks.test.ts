import { afterAll, afterEach, beforeEach, expect, setSystemTime, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { swagger } from "@elysiajs/swagger";
import { type AnyElysia, Elysia } from "elysia";
import { recordEvents } from "../../src/inventory/index.ts";
import { Problem } from "../../src/problem.ts";
import { jobCompletions } from "../../src/scoring/jobs/job-completions.ts";
import { JobStore } from "../../src/scoring/jobs/store.ts";
import { delayAfter, MAX_ATTEMPTS } from "../../src/webhooks/deliverer.ts";
import { openWebhooks, type Webhooks } from "../../src/webhooks/index.ts";
import { complaints } from "../described.ts";
import { type Lab, openLab } from "../inventory/harness.ts";
import { IDS } from "../inventory/sample.ts";
import { isSigned, openReceiver, type Receiver } from "./receiver.ts";

let lab: Lab;
let receiver: Receiver;
let webhooks: Webhooks;
const logged: string[] = [];
const place = mkdtempSync(join(tmpdir(), "labd-test-"));
afterAll(() => rmSync(place, { recursive: true }));
let keyFile: string;

const openAll = (): Webhooks =>
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
    plain: true,
    base: "https://lab.example/labd",
    version: "1",
    keyFile,
    random: () => 1,
  });

beforeEach(async () => {
  lab = await openLab();
  keyFile = join(place, crypto.randomUUID());
  receiver = openReceiver();
  webhooks = openAll();
  logged.length = 0;
});
afterEach(async () => {
  await webhooks.deliverer.close();
  await receiver[Symbol.asyncDispose]();
  lab.database.close();
  setSystemTime();
});

// As JSON comes.
// oxlint-disable-next-line no-explicit-any
type Parsed = Record<string, any>;

interface Told {
  status: number;
  headers: Headers;
  text: string;
  body: Parsed;
}

async function ask(method: string, path: string, as?: string, body?: unknown): Promise<Told> {
  const app = new Elysia({ handler: { standardHostname: false }, systemRouter: false, strictPath: true })
    .onError({ as: "global" }, ({ error }) => {
      const problem = Problem.from(error);
      if (problem.code === "internal") throw problem.cause;
      return Response.json(
        { ...(problem.fields ?? { detail: problem.message }), message: problem.message },
        { status: problem.status },
      );
    })
    .use(webhooks.routes);
  const headers: Record<string, string> =
    as === undefined ? {} : { Authorization: `Token ${lab.tokens[as]}` };
  const response = await app.fetch(
    new Request(`http://lab/api/webhooks/${path}`, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }),
  );
  const text = await response.text();
  const { status, headers: said } = response;
  return { status, headers: said, text, body: text === "" ? {} : JSON.parse(text) };
}

async function hook(as: string, about: object = {}): Promise<Parsed> {
  const { status, body } = await ask("POST", "", as, { url: receiver.url, ...about });
  expect({ status, body }).toMatchObject({ status: 201 });
  return body;
}

const change = (description: string, id: string = IDS.bench, as = "admin") =>
  lab.ask("PATCH", `locations/${id}/`, { as, body: { description } });
const types = () => receiver.got.map(({ type }) => type);
const advance = (milliseconds: number) => lab.clock.set(lab.clock.now() + milliseconds);

test("events of records: what, where, who, and none of its values; in order, and signed", async () => {
  const { secret } = await hook("alice");
  setSystemTime(lab.clock.now());
  const made = await lab.ask("POST", "locations/", { as: "alice", body: { label: "Rack 7" } });
  const id = String(made.body.id);
  await change("sealed words", id, "alice");
  await lab.ask("DELETE", `locations/${id}/`, { as: "alice" });
  await lab.ask("POST", `locations/${id}/restore/`, { as: "alice", body: {} });
  await webhooks.deliverer.deliverAll();
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
  for (const one of receiver.got) {
    expect(one.text).not.toMatch(/Rack|sealed/);
    expect(isSigned(secret, one)).toBe(true);
    expect(isSigned(secret, { ...one, text: one.text.replace("alice", "bob") })).toBe(false);
    expect(isSigned(`whsec_${"A".repeat(43)}=`, one)).toBe(false);
  }
});

test("whoever may not view a record is not told; nor is, in the end, who no longer may", async () => {
  await hook("bob");
  await change("x", IDS.secret);
  await webhooks.deliverer.deliverAll();
  expect(types()).toEqual([]);
  await change("y", IDS.bench);
  receiver.answers.push(500);
  await webhooks.deliverer.deliverAll();
  expect(types()).toEqual(["record.updated"]);
  await lab.ask("PATCH", `locations/${IDS.bench}/`, { as: "admin", body: { public: false } });
  advance(3_600_000);
  await webhooks.deliverer.deliverAll();
  expect(types()).toEqual(["record.updated"]);
  const [webhook] = (await ask("GET", "", "bob")).body.results;
  const { results } = (await ask("GET", `${webhook.id}/deliveries/`, "bob")).body;
  expect(results.map(({ state }: { state: string }) => state)).toEqual(["withheld"]);
});

test("after the clock was set back, what waits is delivered within an hour", async () => {
  await hook("alice");
  setSystemTime(lab.clock.now());
  receiver.answers.push(500);
  await change("x");
  await webhooks.deliverer.deliverAll();
  expect(receiver.got.length).toBe(1);
  advance(-5 * 3_600_000);
  await webhooks.deliverer.deliverAll();
  expect(types()).toEqual(["record.updated", "record.updated"]);
});

test("a list, a filter of it and events can be asked for; wrong ones are refused with the choices", async () => {
  const filter = JSON.stringify({ category: "place__room", operator: "==", value: "102" });
  await hook("alice", { resource: "locations", query_expression: filter, events: ["record.updated"] });
  await change("here", IDS.bench);
  await change("elsewhere", IDS.shelf);
  await lab.ask("PATCH", `places/${IDS.a102}/`, { as: "admin", body: { description: "z" } });
  await lab.ask("DELETE", `locations/${IDS.bench}/`, { as: "admin" });
  await webhooks.deliverer.deliverAll();
  expect(receiver.got.map(({ type, data }) => [type, data.id])).toEqual([["record.updated", IDS.bench]]);
  const url = receiver.url;
  for (const [body, name] of [
    [{}, "url"],
    [{ url: "ftp://lab.example/" }, "url"],
    [{ url: "https://user:word@lab.example/" }, "url"],
    [{ url: "https://10.0.0.1/" }, "url"],
    [{ url: "http://2886729729/" }, "url"],
    [{ url: "https://[::ffff:a00:1]/" }, "url"],
    [{ url, events: ["record.renamed"] }, "events"],
    [{ url, resource: "locaitons" }, "resource"],
    [{ url, resource: "locations", query_expression: "{" }, "query_expression"],
    [{ url, query_expression: filter }, "query_expression"],
    [{ url, secret: "mine" }, "secret"],
  ] as const)
    expect(await ask("POST", "", "alice", body)).toMatchObject({
      status: 400,
      body: { [name]: [expect.any(String)] },
    });
});

test("a failure is tried again, later each time, in order and under the same id; then the webhook is failing", async () => {
  const { id } = await hook("alice");
  await change("one");
  await change("two");
  receiver.answers.push(...Array<number>(MAX_ATTEMPTS).fill(503));
  const delays: number[] = [];
  for (let i = 1; i < MAX_ATTEMPTS; i++) {
    await webhooks.deliverer.deliverAll();
    expect(receiver.got).toHaveLength(i);
    delays.push(delayAfter(i, 1));
    advance(delayAfter(i, 1) - 1);
    await webhooks.deliverer.deliverAll();
    expect(receiver.got).toHaveLength(i);
    advance(1);
  }
  expect(delays.slice(0, 4)).toEqual([5000, 10_000, 20_000, 40_000]);
  expect(Math.max(...delays)).toBe(3_600_000);
  expect([delayAfter(3, 0), delayAfter(3, 0.5)]).toEqual([10_000, 15_000]);
  await webhooks.deliverer.deliverAll();
  expect(new Set(receiver.got.map((one) => one.id)).size).toBe(1);
  const failing = (await ask("GET", `${id}/`, "alice")).body;
  expect(failing).toMatchObject({ state: "failing", waiting: 2, last_error: "The answer was 503." });
  expect(logged).toEqual(["webhook failing"]);
  advance(86_400_000);
  await webhooks.deliverer.deliverAll();
  expect(receiver.got).toHaveLength(MAX_ATTEMPTS);
  // What happens meanwhile waits where it happened; a second ping waits for the first.
  await change("three");
  const [ping, second] = await Promise.all([1, 2].map(() => ask("POST", `${id}/ping/`, "alice")));
  expect(second.status).toBe(409);
  expect(ping.body).toMatchObject({ event: "ping", state: "delivered", status: 200, answer: "thank you" });
  await webhooks.deliverer.deliverAll();
  const after = receiver.got.slice(MAX_ATTEMPTS);
  expect(after.map(({ type }) => type)).toEqual(["ping", ...Array<string>(3).fill("record.updated")]);
  expect(after[1].id).toBe(receiver.got[0].id);
  expect(after.slice(1).map(({ data }) => data.version)).toEqual([2, 3, 4]);
  expect((await ask("GET", `${id}/`, "alice")).body).toMatchObject({ state: "active", waiting: 0 });
});

test("the receiver may say when, and that it is gone; resuming goes on", async () => {
  const { id } = await hook("alice");
  await change("one");
  receiver.answers.push(429, 410);
  receiver.headers["Retry-After"] = "600";
  await webhooks.deliverer.deliverAll();
  advance(599_000);
  await webhooks.deliverer.deliverAll();
  expect(receiver.got).toHaveLength(1);
  advance(1000);
  await webhooks.deliverer.deliverAll();
  expect(receiver.got).toHaveLength(2);
  expect((await ask("GET", `${id}/`, "alice")).body.state).toBe("failing");
  expect((await ask("POST", `${id}/resume/`, "alice")).body.state).toBe("active");
  await webhooks.deliverer.deliverAll();
  expect(receiver.got).toHaveLength(3);
});

test("a webhook of one owner does not wait for that of another, and both keep to their own", async () => {
  const slow = await hook("alice");
  const other = openReceiver();
  await using _ = other;
  await ask("POST", "", "bob", { url: other.url });
  receiver.answers.push(500);
  for (const word of ["one", "two", "three"]) await change(word);
  await webhooks.deliverer.deliverAll();
  expect(receiver.got).toHaveLength(1);
  expect(other.got).toHaveLength(3);
  expect((await ask("GET", "", "alice")).body.results).toHaveLength(1);
  expect((await ask("GET", "", "admin")).body.results).toHaveLength(2);
  expect(JSON.stringify((await ask("GET", "", "admin")).body)).not.toContain("whsec_");
  for (const path of ["", "deliveries/"]) {
    expect((await ask("GET", `${slow.id}/${path}`, "bob")).status).toBe(404);
    expect((await ask("GET", `${slow.id}/${path}`)).status).toBe(401);
  }
  expect((await ask("DELETE", `${slow.id}/`, "bob")).status).toBe(404);
  expect((await ask("DELETE", `${slow.id}/`, "alice")).status).toBe(204);
  expect(lab.database.query("SELECT count(DISTINCT webhook) AS n FROM webhook_delivery").get()).toEqual({
    n: 1,
  });
});

test("a delivery is made again under its id; a disabled account's webhooks rest", async () => {
  const { id } = await hook("alice");
  await change("one");
  await webhooks.deliverer.deliverAll();
  const [sent] = (await ask("GET", `${id}/deliveries/`, "alice")).body.results;
  expect(sent).toMatchObject({ state: "delivered", attempts: 1, status: 200, answer: "thank you" });
  expect((await ask("POST", `${id}/deliveries/${sent.id}/redeliver/`, "alice")).body.state).toBe("pending");
  await webhooks.deliverer.deliverAll();
  expect(receiver.got.map((one) => one.id)).toEqual([sent.id, sent.id]);
  lab.accounts.setActive(lab.accounts.userId("alice"), false);
  await change("two");
  await webhooks.deliverer.deliverAll();
  expect(receiver.got).toHaveLength(2);
});

test("ends of jobs: to whoever asked for them, and all to administrators", async () => {
  let jobs = 0;
  const store = new JobStore({
    database: lab.database,
    clock: lab.clock,
    scoringVersion: () => ({ corpus: "c", method: "m" }),
    newId: () => `job-${++jobs}`,
  });
  const request = (identifier: string) => ({ query: identifier, model: "continuous", patterns: [] }) as never;
  // Nobody asks for them yet: none is kept.
  await store.insert(request("A"), "user alice");
  store.cancel("job-1");
  await hook("alice");
  const all = openReceiver();
  await using _ = all;
  await ask("POST", "", "admin", { url: all.url, events: ["job.finished", "job.failed"] });
  await store.insert(request("B"), "user alice");
  await store.insert(request("C"), "user bob");
  await store.insert(request("D"), "user alice");
  store.finish(store.lease(1000)!, { corpus: "c", method: "m" }, "{}");
  store.finish(store.lease(1000)!, { corpus: "c", method: "m" }, "{}");
  store.fail(store.lease(1000)!.rid, "no");
  // Asked before: finished at once.
  await store.insert(request("B"), "user alice");
  await webhooks.deliverer.deliverAll();
  const mine = receiver.got.map(({ type, data }) => `${type} ${String(data.id)}`).toSorted();
  expect(mine).toEqual(["job.failed job-4", "job.finished job-2", "job.finished job-5"]);
  expect(all.got.map(({ data }) => data.id).toSorted()).toEqual(["job-2", "job-3", "job-4", "job-5"]);
  expect(receiver.got[0].data.address).toStartWith("https://lab.example/labd/api/scoring/jobs/job-");
  // What all have read is let go of, but for the last.
  await webhooks.deliverer.poll();
  expect(lab.database.query("SELECT count(*) AS n FROM job_end").get()).toEqual({ n: 1 });
});

test("a backlog longer than one look, with a filter, is told whole; what is collected twice is told once", async () => {
  await hook("bob", { resource: "locations" });
  lab.database.run("UPDATE webhook SET record_cursor = 0");
  for (let i = 0; i < 250; i++) await change(`words ${i}`);
  const wanted = lab.database
    .query("SELECT count(*) AS n FROM record_change WHERE object_kind = 'location'")
    .get() as { n: number };
  // One look takes all that there is room for.
  await webhooks.deliverer.poll();
  expect(lab.database.query("SELECT count(*) AS n FROM webhook_delivery").get()).toMatchObject({ n: 200 });
  await webhooks.deliverer.deliverAll();
  await webhooks.deliverer.deliverAll();
  const { length } = receiver.got;
  expect(new Set(receiver.got.map(({ id }) => id)).size).toBe(length);
  // As after a power cut that took the cursor back.
  lab.database.run("UPDATE webhook SET record_cursor = 0");
  for (let i = 0; i < 3; i++) await webhooks.deliverer.deliverAll();
  expect(receiver.got).toHaveLength(length);
  // Of the sample, bob may not view the secret one.
  expect(length).toBe(wanted.n - 1);
});

test("every operation is described, and answers with what is described", async () => {
  const app = new Elysia({ handler: { standardHostname: false }, systemRouter: false, strictPath: true })
    .use(webhooks.routes)
    .use(swagger({ path: "/docs" }) as AnyElysia);
  const document = await (await app.fetch(new Request("http://lab/docs/json"))).json();
  const operations = Object.entries(document.paths as Record<string, Parsed>).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, about]) => ({ path, method, about })),
  );
  expect(operations).toHaveLength(10);
  const { id } = await hook("alice");
  await change("one");
  await webhooks.deliverer.deliverAll();
  const [sent] = (await ask("GET", `${id}/deliveries/`, "alice")).body.results;
  const order = ["get", "post", "delete"];
  const found: string[] = [];
  for (const { path, method, about } of operations.toSorted(
    (a, b) => order.indexOf(a.method) - order.indexOf(b.method),
  )) {
    const address = path.replace("/api/webhooks/", "").replace("{id}", id).replace("{delivery}", sent.id);
    const sends = path === "/api/webhooks/" && method === "post" ? { url: receiver.url } : undefined;
    const word = method.toUpperCase();
    for (const [as, status] of [
      [undefined, [401]],
      ["bob", path.includes("{") ? [404] : [200, 201]],
      ["alice", [200, 201, 204]],
    ] as const) {
      const answer = await ask(word, address, as, sends);
      expect({ word, path, as, in: status.includes(answer.status as never) }).toEqual({
        word,
        path,
        as,
        in: true,
      });
      found.push(...complaints(about, word, path, answer));
    }
  }
  expect(found).toEqual([]);
  const described = (path: string) =>
    operations.find((one) => one.path === path && one.method === "post")!.about;
  for (const [path, address, body] of [
    ["/api/webhooks/", "", { url: "ftp://lab" }],
    ["/api/webhooks/{id}/secret/", `${(await hook("alice")).id}/secret/`, { overlap_hours: -1 }],
  ] as const) {
    const refused = await ask("POST", address, "alice", body);
    expect(refused.status).toBe(400);
    expect(complaints(described(path), "POST", path, refused)).toEqual([]);
  }
});

test("with another secret both sign for a while, in one header; then the new one alone, and the old is forgotten", async () => {
  const { id, secret: first } = await hook("alice");
  const told = async (): Promise<Receiver["got"][number]> => {
    setSystemTime(lab.clock.now());
    await change(`at ${lab.clock.now()} ${receiver.got.length}`);
    await webhooks.deliverer.deliverAll();
    return receiver.got.at(-1)!;
  };
  const rotated = await ask("POST", `${id}/secret/`, "alice", { overlap_hours: 2 });
  const second = rotated.body.secret as string;
  expect(rotated.body.former_secret_until).toBe(new Date(lab.clock.now() + 7_200_000).toISOString());
  const both = await told();
  expect(both.headers.get("webhook-signature")).toMatch(/^v1,\S{44} v1,\S{44}$/);
  expect([isSigned(first, both), isSigned(second, both)]).toEqual([true, true]);
  // Again within that time: what was the present one goes on, and the first is good no more.
  const third = (await ask("POST", `${id}/secret/`, "alice")).body.secret as string;
  const next = await told();
  expect([first, second, third].map((secret) => isSigned(secret, next))).toEqual([false, true, true]);
  advance(24 * 3_600_000);
  const alone = await told();
  expect(alone.headers.get("webhook-signature")).toMatch(/^v1,\S{44}$/);
  expect([second, third].map((secret) => isSigned(secret, alone))).toEqual([false, true]);
  await webhooks.deliverer.poll();
  expect(JSON.stringify(lab.database.query("SELECT * FROM webhook").all())).not.toContain(second);
  // At once, where one has leaked.
  const fourth = (await ask("POST", `${id}/secret/`, "alice", { overlap_hours: 0 })).body;
  expect(fourth.former_secret_until).toBeNull();
  const last = await told();
  expect([isSigned(third, last), isSigned(String(fourth.secret), last)]).toEqual([false, true]);
  for (const body of [{ overlap_hours: 1.5 }, { overlap_hours: "1" }, { hours: 1 }])
    expect((await ask("POST", `${id}/secret/`, "alice", body)).status).toBe(400);
  const noted = lab.accounts.audit.log.latest({ action: "webhook" }, 10).reverse();
  expect(noted.map(({ action }) => action)).toEqual(["webhook.create", ...Array(3).fill("webhook.secret")]);
  expect(noted[0]).toMatchObject({ actor: null, subject: { kind: "webhook", id } });
  // The rest of the address may be secret.
  expect(JSON.stringify(noted)).not.toMatch(/whsec|key=1/);
});

test("secrets lie encrypted; without the key nothing is sent, and another secret goes on", async () => {
  const { id, secret } = await hook("alice");
  const kept = (): string => JSON.stringify(lab.database.query("SELECT * FROM webhook").all());
  const reopen = async (): Promise<void> => {
    await webhooks.deliverer.close();
    webhooks = openAll();
  };
  const told = async (): Promise<Receiver["got"][number]> => {
    setSystemTime(lab.clock.now());
    await change(`at ${receiver.got.length}`);
    await webhooks.deliverer.deliverAll();
    return receiver.got.at(-1)!;
  };
  const next = (await ask("POST", `${id}/secret/`, "alice")).body.secret as string;
  expect(kept()).not.toContain("whsec_");
  expect([secret, next].every((one) => !kept().includes(one.slice(6)))).toBeTrue();
  await reopen();
  const both = await told();
  expect([isSigned(secret, both), isSigned(next, both)]).toEqual([true, true]);
  // What is of one webhook is nothing for another.
  const other = await hook("bob");
  const moved =
    "UPDATE webhook SET sealed_secret = (SELECT sealed_secret FROM webhook WHERE id = ?) WHERE id = ?";
  lab.database.query(moved).run(id, other.id);
  expect(webhooks.store.find(other.id)?.secret).toBeNull();
  await ask("DELETE", `${other.id}/`, "bob");

  const right = keyFile;
  keyFile = join(place, "another");
  await reopen();
  const before = receiver.got.length;
  await told();
  expect(receiver.got).toHaveLength(before);
  expect((await ask("GET", `${id}/`, "alice")).body.last_error).toContain("Its secret cannot be decrypted");
  // The key is put back.
  keyFile = right;
  await reopen();
  advance(3_600_000);
  await webhooks.deliverer.deliverAll();
  expect(receiver.got).toHaveLength(before + 1);
  keyFile = join(place, "another");
  await reopen();
  const fresh = (await ask("POST", `${id}/secret/`, "alice")).body;
  expect(fresh.former_secret_until).toBeNull();
  const last = await told();
  expect(last.headers.get("webhook-signature")).toMatch(/^v1,\S{44}$/);
  expect(isSigned(String(fresh.secret), last)).toBeTrue();
});
