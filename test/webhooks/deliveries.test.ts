import { describe, expect, test } from "bun:test";
import { JobStore } from "../../src/scoring/jobs/store.ts";
import { delayAfter, MAX_ATTEMPTS } from "../../src/webhooks/deliverer.ts";
import { IDS } from "../inventory/sample.ts";
import { isSigned, openReceiver } from "./receiver.ts";
import { HOUR, webhookStage } from "./stage.ts";

const stage = webhookStage();
const { add, advance, ask, change, deliver, reopen, states, types } = stage;

describe("events", () => {
  test("record events are delivered in order, signed, without the values of the record", async () => {
    const { secret } = await add("alice");
    const made = await stage.lab.ask("POST", "locations/", { as: "alice", body: { label: "Rack 7" } });
    const id = String(made.body.id);
    await change("sealed words", id);
    await stage.lab.ask("DELETE", `locations/${id}/`, { as: "alice" });
    await stage.lab.ask("POST", `locations/${id}/restore/`, { as: "alice", body: {} });
    await deliver();
    expect(types()).toEqual(["record.created", "record.updated", "record.deleted", "record.restored"]);
    expect(stage.receiver.got.map(({ data }) => data.version)).toEqual([1, 2, 3, 4]);
    expect(stage.receiver.got[0].data).toEqual({
      resource: "locations",
      id,
      of: null,
      address: `https://lab.example/labd/api/v2/locations/${id}/`,
      version: 1,
      user: "alice",
      batch: expect.any(String),
    });
    expect(stage.receiver.got[0].headers.get("user-agent")).toBe("labd/1");
    for (const one of stage.receiver.got) {
      expect(one.text).not.toMatch(/Rack|sealed/);
      expect(isSigned(secret, one)).toBe(true);
      expect(isSigned(secret, { ...one, text: one.text.replace("locations", "places") })).toBe(false);
      expect(isSigned(`whsec_${"A".repeat(43)}=`, one)).toBe(false);
    }
  });

  test("events of records that the owner may not view are not delivered", async () => {
    const { id } = await add("bob");
    await change("x", IDS.secret);
    await deliver();
    expect(types()).toEqual([]);
    await change("y");
    stage.receiver.answers.push(500);
    await deliver();
    await stage.lab.ask("PATCH", `locations/${IDS.bench}/`, { as: "admin", body: { public: false } });
    advance(HOUR);
    await deliver();
    expect(types()).toEqual(["record.updated"]);
    expect(await states(id)).toEqual(["withheld"]);
  });

  test("reminders of records that the owner may view are delivered once, as long as they are due", async () => {
    const addStock = async (as: string, values: object, list = "stocks/consumables") => {
      const body = { name: "Taq", model_type: "ENZYME", minimum_amount: 2, ...values };
      const answer = await stage.lab.send(as, "POST", `${list}/`, body);
      expect(answer.status).toBe(201);
      return String(answer.body.id);
    };
    const known = await addStock("alice", { amount: 1 });
    await add("alice", { events: ["reminder"] });
    const query_expression = JSON.stringify({ category: "lot", operator: "==", value: "L7" });
    await add("alice", { events: ["reminder"], resource: "stocks/consumables", query_expression });
    // Those of consumables hear of products whose tubes their owner may view and the filter selects.
    for (const lot of ["L8", "L9"])
      await add("alice", {
        events: ["reminder"],
        resource: "stocks/consumables",
        query_expression: JSON.stringify({ category: "lot", operator: "==", value: lot }),
      });
    const { id: elsewhere } = await add("alice", { events: ["reminder"], resource: "locations" });
    const low = await addStock("alice", { lot: "L7", amount: 1 });
    const expiring = await addStock("alice", { amount: 3, expiry: "2026-01-20" });
    const expired = await addStock("alice", { amount: 3, expiry: "2025-12-20" });
    await addStock("bob", { amount: 1 });
    // Of a product, all tubes count that the owner of the webhook may view: alice sees one, bob two.
    const product = await addStock("bob", { public: true }, "stocks/products");
    await addStock("bob", { product, public: true, lot: "L8" });
    await addStock("bob", { product, lot: "L9" });
    const stocked = await addStock("bob", { public: true, minimum_amount: 1 }, "stocks/products");
    for (const status of ["AVAILABLE", "EMPTY"])
      await addStock("bob", { product: stocked, public: true, status });
    advance(HOUR);
    for (let i = 0; i < 2; i++) await deliver();
    const shown = stage.receiver.got.map(({ data }) => [data.id, data.reason]).toSorted();
    expect(shown).toEqual(
      [
        [low, "below_minimum"],
        [low, "below_minimum"],
        [expiring, "expiring"],
        [expired, "expired"],
        [product, "below_minimum"],
        [product, "below_minimum"],
      ].toSorted(),
    );
    expect(stage.receiver.got[0]).toMatchObject({ type: "reminder" });
    expect(stage.receiver.got.find(({ data }) => data.id === low)!.data).toEqual({
      resource: "stocks/consumables",
      id: low,
      address: `https://lab.example/labd/api/v2/stocks/consumables/${low}/`,
      reason: "below_minimum",
    });
    expect(await states(elsewhere)).toEqual([]);
    // Withheld, because it is no longer due when the receiver is back.
    const later = await addStock("alice", { amount: 1 });
    advance(HOUR);
    stage.receiver.answers.push(500);
    await deliver();
    await stage.lab.send("alice", "POST", `stocks/consumables/${later}/refill/`, { amount: 9 });
    advance(HOUR);
    const before = stage.receiver.got.length;
    expect(before).toBeGreaterThan(shown.length);
    await deliver();
    expect(stage.receiver.got.length).toBe(before);
    // What was due when the webhook was added is no event.
    expect(stage.receiver.got.some(({ data }) => data.id === known)).toBe(false);
  });

  test("events can be limited to a list, to records that match, and by name", async () => {
    const query_expression = JSON.stringify({ category: "place__room", operator: "==", value: "102" });
    await add("alice", { resource: "locations", query_expression, events: ["record.updated"] });
    await change("here", IDS.bench);
    await change("another room", IDS.shelf);
    await stage.lab.ask("PATCH", `places/${IDS.a102}/`, { as: "admin", body: { description: "z" } });
    await stage.lab.ask("DELETE", `locations/${IDS.bench}/`, { as: "admin" });
    await deliver();
    expect(stage.receiver.got.map(({ type, data }) => [type, data.id])).toEqual([
      ["record.updated", IDS.bench],
    ]);
  });

  test("job events are delivered to the owner of the job and to administrators", async () => {
    let jobs = 0;
    const store = new JobStore({
      database: stage.lab.database,
      clock: stage.lab.clock,
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
    const mine = stage.receiver.got.map(({ type, data }) => `${type} ${String(data.id)}`).toSorted();
    expect(mine).toEqual(["job.failed job-4", "job.finished job-2", "job.finished job-5"]);
    expect(all.got.map(({ data }) => data.id).toSorted()).toEqual(["job-2", "job-3", "job-4", "job-5"]);
    expect(stage.receiver.got[0].data.address).toStartWith("https://lab.example/labd/api/scoring/jobs/job-");
    // Events that every webhook has seen are discarded, except the last.
    await stage.webhooks.deliverer.poll();
    expect(stage.lab.database.query("SELECT count(*) AS n FROM job_end").get()).toEqual({ n: 1 });
  });

  test("events are collected in groups of up to 200, and delivered once even if collected twice", async () => {
    await add("bob", { resource: "locations" });
    stage.lab.database.run("UPDATE webhook SET record_cursor = 0");
    for (let i = 0; i < 250; i++) await change(`words ${i}`);
    const { n } = stage.lab.database
      .query("SELECT count(*) AS n FROM record_change WHERE object_kind = 'location'")
      .get() as { n: number };
    await stage.webhooks.deliverer.poll();
    expect(stage.lab.database.query("SELECT count(*) AS n FROM webhook_delivery").get()).toEqual({ n: 200 });
    for (let i = 0; i < 2; i++) await deliver();
    // Without the secret location of the sample.
    expect(stage.receiver.got).toHaveLength(n - 1);
    // As after a power cut that undid the cursor.
    stage.lab.database.run("UPDATE webhook SET record_cursor = 0");
    for (let i = 0; i < 3; i++) await deliver();
    expect(stage.receiver.got).toHaveLength(n - 1);
    expect(new Set(stage.receiver.got.map(({ id }) => id)).size).toBe(n - 1);
  });
});

describe("attempts", () => {
  test("attempts are repeated under the same id with growing delays until the webhook is failing", async () => {
    const { id } = await add("alice");
    await change("one");
    await change("two");
    stage.receiver.answers.push(...Array<number>(MAX_ATTEMPTS).fill(503));
    for (let i = 1; i < MAX_ATTEMPTS; i++) {
      await deliver();
      advance(delayAfter(i, 1) - 1);
      await deliver();
      expect(stage.receiver.got).toHaveLength(i);
      advance(1);
    }
    await deliver();
    expect(new Set(stage.receiver.got.map((one) => one.id)).size).toBe(1);
    expect((await ask("GET", `${id}/`, "alice")).body).toMatchObject({
      state: "failing",
      waiting: 2,
      next_attempt: null,
      last_error: "The response had status 503.",
    });
    expect(stage.logged).toEqual(["webhook failing"]);
    advance(24 * HOUR);
    await change("three");
    await deliver();
    expect(stage.receiver.got).toHaveLength(MAX_ATTEMPTS);
    const [ping, second] = await Promise.all([1, 2].map(() => ask("POST", `${id}/ping/`, "alice")));
    expect(second.status).toBe(409);
    expect(ping.body).toMatchObject({ event: "ping", state: "delivered", status: 200, answer: "thank you" });
    await deliver();
    const after = stage.receiver.got.slice(MAX_ATTEMPTS);
    expect(after.map(({ type }) => type)).toEqual(["ping", ...Array<string>(3).fill("record.updated")]);
    expect(after[1].id).toBe(stage.receiver.got[0].id);
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
  ])("attempt %d with the random number %d is repeated after %d ms", (attempts, random, delay) => {
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
    "after status %d with Retry-After %d ms: %s, and the webhook is %s",
    async (status, wait, state, webhook) => {
      const { id } = await add("alice");
      await change("one");
      stage.receiver.answers.push(status);
      if (wait !== undefined) stage.receiver.headers["Retry-After"] = String(wait / 1000);
      await deliver();
      expect(await states(id)).toEqual([state]);
      const shown = (await ask("GET", `${id}/`, "alice")).body;
      expect(shown.state).toBe(webhook);
      if (state === "delivered" || webhook === "failing") return;
      const delay = Math.min(Math.max(wait ?? 0, 5000), HOUR);
      expect(shown.next_attempt).toBe(new Date(stage.lab.clock.now() + delay).toISOString());
      advance(delay - 1);
      await deliver();
      expect(stage.receiver.got).toHaveLength(1);
      advance(1);
      await deliver();
      expect(stage.receiver.got).toHaveLength(2);
    },
  );

  test("attempts continue when a failing webhook is resumed or a delivery is repeated", async () => {
    const { id } = await add("alice");
    await change("one");
    stage.receiver.answers.push(410);
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
    expect(stage.receiver.got.map((one) => one.id)).toEqual(Array(3).fill(sent.id));
    const ping = (await ask("POST", `${id}/ping/`, "alice")).body;
    expect((await ask("POST", `${id}/deliveries/${ping.id}/redeliver/`, "alice")).status).toBe(409);
  });

  test("a failed ping is not repeated", async () => {
    const { id } = await add("alice");
    stage.receiver.answers.push(503);
    const ping = (await ask("POST", `${id}/ping/`, "alice")).body;
    expect(ping).toMatchObject({
      state: "failed",
      attempts: 1,
      error: "The response had status 503.",
      status: 503,
    });
    advance(HOUR);
    await deliver();
    expect(types()).toEqual(["ping"]);
  });

  test("attempts are made immediately after the clock was set back", async () => {
    await add("alice");
    stage.receiver.answers.push(500);
    await change("x");
    await deliver();
    advance(-5 * HOUR);
    await deliver();
    expect(types()).toEqual(["record.updated", "record.updated"]);
  });

  test("attempts of one webhook do not delay another, and pause while the account is disabled", async () => {
    await add("alice");
    await using other = openReceiver();
    await add("bob", { url: other.url });
    stage.receiver.answers.push(500);
    for (const word of ["one", "two", "three"]) await change(word);
    await deliver();
    expect([stage.receiver.got.length, other.got.length]).toEqual([1, 3]);
    stage.lab.accounts.setActive(stage.lab.accounts.userId("bob"), false);
    await change("four");
    await deliver();
    expect(other.got).toHaveLength(3);
  });

  test("closing ends attempts, although more are due", async () => {
    await add("bob");
    for (const word of ["one", "two", "three"]) await change(word);
    const all = deliver();
    await stage.webhooks.deliverer.close();
    await all;
    expect(stage.receiver.got.length).toBeLessThan(3);
  });

  test("attempts require https once http is no longer allowed", async () => {
    const { id } = await add("alice");
    await reopen(false);
    await change("one");
    await deliver();
    expect((await ask("GET", `${id}/`, "alice")).body.last_error).toContain("webhook_allow");
    expect(stage.receiver.got).toEqual([]);
  });
});
