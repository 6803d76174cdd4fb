import { describe, expect, test } from "bun:test";
import { EVENTS } from "../../src/webhooks/index.ts";
import { complaints, listOperations } from "../described.ts";
import { type Json, openService } from "../fixtures/service.ts";
import { webhookStage } from "./stage.ts";

const stage = webhookStage();
const { add, ask, change, deliver } = stage;

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
  ])("rejects %j and names %s", async (input, name) => {
    const body = "url" in input || name === "url" ? input : { url: stage.receiver.url, ...input };
    expect(await ask("POST", "", "alice", body)).toMatchObject({
      status: 400,
      body: { [name]: [expect.any(String)] },
    });
  });

  test("a browser confirms its session to add a webhook or to make a secret", async () => {
    const { id } = await add("alice");
    const { accounts, clock } = stage.lab;
    const { cookie } = accounts.sessions.open(accounts.userId("alice"), new Request("http://lab/"));
    const headers = { Cookie: cookie.split(";")[0], Origin: "http://lab" };
    const browse = (path: string, body: Json) =>
      openService(accounts, [stage.webhooks.routes]).ask("POST", `/api/webhooks/${path}`, { headers, body });
    const hook = { url: stage.receiver.url };
    expect((await browse("", hook)).status).toBe(201);
    clock.set(clock.now() + 11 * 60_000);
    for (const [path, body] of [
      ["", hook],
      [`${id}/secret/`, {}],
    ] as const) {
      expect((await browse(path, body)).body.code).toBe("confirmation_required");
      expect((await browse(path, { ...body, current_password: "wrong word" })).body).toMatchObject({
        code: "invalid_request",
        current_password: [expect.stringMatching(/^The account has no password/)],
      });
    }
  });

  test("accepts any events, once each, and removes the fragment of the URL", async () => {
    const made = await add("alice", { url: "https://lab.example/x#y", resource: null });
    expect(made).toMatchObject({ url: "https://lab.example/x", events: [...EVENTS], resource: null });
    const twice = await add("alice", { events: ["job.failed", "job.failed"] });
    expect(twice.events).toEqual(["job.failed"]);
  });

  test("lists webhooks of the account, or all for administrators, without secrets", async () => {
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
    const left = stage.lab.database.query("SELECT count(DISTINCT webhook) AS n FROM webhook_delivery").get();
    expect(left).toEqual({ n: 1 });
  });

  test("allows 20 webhooks per account", async () => {
    for (let i = 0; i < 20; i++) await add("alice");
    expect((await ask("POST", "", "alice", { url: stage.receiver.url })).status).toBe(409);
    await add("bob");
  });

  test("webhook operations respond as documented, also for anonymous and other callers", async () => {
    const { body } = await openService(stage.lab.accounts, [stage.webhooks.routes]).ask("GET", "/docs/json");
    const operations = Object.entries(listOperations(body))
      .filter(([path]) => path.startsWith("/api/webhooks"))
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
      const address = path
        .replace(/\/api\/webhooks\/?/, "")
        .replace("{id}", id)
        .replace("{delivery}", sent.id);
      const input = path === "/api/webhooks" && method === "post" ? { url: stage.receiver.url } : undefined;
      const answers = [];
      for (const as of [undefined, "bob", "alice"])
        answers.push(await ask(method.toUpperCase(), address, as, input));
      if (path.endsWith("/secret")) answers.push(await ask("POST", address, "alice", { overlap_hours: -1 }));
      for (const answer of answers) found.push(...complaints(operation, method, path, answer));
      statuses.push([`${method} ${address}`, answers.map(({ status }) => status)]);
    }
    expect(found).toEqual([]);
    const one = sent.id as string;
    expect(Object.fromEntries(statuses)).toEqual({
      "get ": [401, 200, 200],
      "post ": [401, 201, 201],
      [`get ${id}`]: [401, 404, 200],
      [`delete ${id}`]: [401, 404, 204],
      [`post ${id}/ping`]: [401, 404, 200],
      [`post ${id}/resume`]: [401, 404, 200],
      [`post ${id}/secret`]: [401, 404, 200, 400],
      [`get ${id}/deliveries`]: [401, 404, 200],
      [`get ${id}/deliveries/${one}`]: [401, 404, 200],
      [`post ${id}/deliveries/${one}/redeliver`]: [401, 404, 200],
    });
  });
});
