import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { ANONYMOUS } from "../../src/platform/actor.ts";
import { makeOwnership } from "../../src/accounts/owner.ts";
import { type Computations, OwnSearches } from "../../src/scoring/proteome/own-searches.ts";
import { Tasks } from "../../src/tasks/tasks.ts";
import { SearchFiles } from "../../src/scoring/proteome/search-files.ts";
import { helixPdb } from "../fixtures/helix-model.ts";
import { PROTEOME, storeFamilies } from "./proteome-stage.ts";
import { openScoringAlone, P53, type ParsedResponse, type ScoringAlone } from "./scoring-harness.ts";
import { waitFor } from "../wait.ts";

setDefaultTimeout(60_000);

const authenticate = ({ headers }: Request) => {
  const username = headers.get("authorization");
  return { ...ANONYMOUS, username, superuser: username === "admin" };
};
const options = {
  ownership: makeOwnership({ authenticate }),
  identifyClient: ({ headers }: Request) => {
    const username = headers.get("authorization");
    return username === null ? "192.0.2.1" : `user ${username}`;
  },
};

let service: ScoringAlone;
beforeAll(async () => {
  service = await openScoringAlone({ workers: 0, maxMessageBytes: 1_000_000, ...options });
  await service.scoring.corpora.add({ name: "some", bytes: PROTEOME });
  storeFamilies(service.scoring.corpora.active()!, [0, 1, 2, 3, 4, 5]);
});
afterAll(() => service.close());

const call = (method: string, path: string, headers: Record<string, string> = {}, body?: unknown) =>
  service.ask(method, path, { headers, ...(body === undefined ? {} : { body }) });
const JOB = { querySequence: P53, patterns: ["F...W"] };
const start = (headers: Record<string, string> = {}) => call("POST", "/jobs", headers, JOB);
const readCookie = ({ headers }: ParsedResponse): string =>
  /^labd_owner=[\w-]{43}/.exec(headers.get("set-cookie") ?? "")?.[0] ?? "";
const KEY = { "Owner-Key": "a secret of a program".replaceAll(" ", "-") };
const STRANGERS: Record<string, string>[] = [
  {},
  { authorization: "eve" },
  { "Owner-Key": "another-secret-of-a-program" },
  { cookie: `labd_owner=${"x".repeat(43)}` },
];

/** Everything that changes a job. */
const WRITES: [string, (path: string, headers: Record<string, string>) => Promise<ParsedResponse>][] = [
  ["uploading its model", (path, headers) => call("PUT", `${path}/model?name=a`, headers, helixPdb(P53))],
  ["removing its model", (path, headers) => call("DELETE", `${path}/model`, headers)],
  ["cancelling it", (path, headers) => call("DELETE", path, headers)],
];

test.each(WRITES)("%s requires more than the link", async (_, write) => {
  for (const owner of [{}, { authorization: "ana" }, KEY]) {
    const started = await start(owner);
    const path = `/jobs/${started.json.id}`;
    const cookie = readCookie(started);
    expect(cookie === "").toBe(Object.keys(owner).length > 0);
    const own = cookie === "" ? owner : { cookie };
    for (const stranger of STRANGERS) {
      expect(await write(path, stranger)).toMatchObject({ status: 403, json: { code: "forbidden" } });
      expect((await call("GET", path, stranger)).json).toMatchObject({ state: "queued", mayChange: false });
    }
    expect((await call("GET", path, own)).json).toMatchObject({ mayChange: true });
    expect(await write(path, own)).toMatchObject({ status: 200 });
  }
});

test("administrators may change every job, and only they may change SOAP jobs without an owner key", async () => {
  const { id } = (await start()).json;
  expect(await call("DELETE", `/jobs/${id}`, { authorization: "admin" })).toMatchObject({ status: 200 });
  expect(await call("DELETE", "/jobs/none", {})).toMatchObject({
    status: 404,
    json: { code: "unknown_job" },
  });
});

test("a browser keeps one secret after signing in, and events state whether the caller may change the job", async () => {
  const first = await start();
  const cookie = readCookie(first);
  expect(first.headers.get("set-cookie")).toMatch(/; Path=\/; Max-Age=\d+; HttpOnly; SameSite=Strict$/);
  expect(readCookie(await start({ cookie }))).toBe(cookie);
  const signedIn = { cookie, authorization: "ana" };
  expect((await call("GET", `/jobs/${first.json.id}`, signedIn)).json.mayChange).toBe(true);
  const stop = new AbortController();
  const request = new Request(`${first.json.links.events}`, { headers: { cookie }, signal: stop.signal });
  const reader = (await service.send(request)).body!.getReader();
  let text = "";
  while (!text.includes("data:")) text += new TextDecoder().decode((await reader.read()).value);
  stop.abort();
  expect(text).toContain('"mayChange":true');
});

test("repeating a request with the key of another caller does not give ownership", async () => {
  const headers = { "Idempotency-Key": "same" };
  const first = await start(headers);
  const again = await start(headers);
  expect(again.json).toMatchObject({ id: first.json.id, mayChange: false });
  expect(await call("DELETE", `/jobs/${first.json.id}`, { cookie: readCookie(again) })).toMatchObject({
    status: 403,
  });
});

test("rejects a short Owner-Key, and stores no secret", async () => {
  expect(await start({ "Owner-Key": "short" })).toMatchObject({
    status: 400,
    text: expect.stringContaining("Owner-Key: expected 20 to 255"),
  });
  const cookie = readCookie(await start());
  await start(KEY);
  const rows = JSON.stringify(service.database.query("SELECT * FROM job").all());
  expect(rows).not.toContain(cookie.slice("labd_owner=".length));
  expect(rows).not.toContain(KEY["Owner-Key"]);
});

test("anonymous callers store so many bytes of jobs, and of models", async () => {
  const { database } = service;
  const fill = (column: "jobs" | "models", client: string, bytes: number) =>
    database
      .query(
        `INSERT INTO anonymous_storage (client, ${column}) VALUES (?1, ?2) ON CONFLICT DO UPDATE SET ${column} = ?2`,
      )
      .run(client, bytes);
  const job = await start(KEY);
  const upload = () => call("PUT", `/jobs/${job.json.id}/model?name=a`, KEY, helixPdb(P53));
  const stored = () =>
    database.query("SELECT jobs, models FROM anonymous_storage WHERE client = '192.0.2.1'").get() as {
      jobs: number;
      models: number;
    };
  const before = stored();
  expect(before.jobs).toBe(
    (
      database
        .query("SELECT sum(octet_length(request)) AS bytes FROM job WHERE client = '192.0.2.1'")
        .get() as {
        bytes: number;
      }
    ).bytes,
  );
  expect((await upload()).status).toBe(200);
  expect(stored().models).toBeGreaterThan(before.models);
  for (const [column, own, all, request] of [
    ["jobs", 1e9, 1e10, () => start(KEY)],
    ["models", 1e8, 1e9, upload],
  ] as const) {
    fill(column, "192.0.2.1", own + 1e7);
    const mine = await request();
    expect(mine).toMatchObject({ status: 507, json: { code: "quota_exceeded" } });
    expect(mine.text).toContain("Your network stores");
    fill(column, "192.0.2.1", 0);
    fill(column, "192.0.2.9", all + 1);
    expect((await request()).text).toContain("Anonymous callers together store");
    expect((await start({ authorization: "ana" })).status).toBe(202);
    fill(column, "192.0.2.9", 0);
  }
});

const SEARCHES = "/proteome/searches";
const search = (headers: Record<string, string> = {}, pattern = "P..P") =>
  call("POST", SEARCHES, headers, { pattern });
const shown = (id: string, headers: Record<string, string> = {}) => call("GET", `${SEARCHES}/${id}`, headers);
const cancel = (id: string, headers: Record<string, string>) => call("DELETE", `${SEARCHES}/${id}`, headers);

const ended = (id: string): Promise<ParsedResponse> =>
  waitFor(async () => {
    const now = await shown(id);
    return !["queued", "running"].includes(now.json.state) && now;
  });

test("equal proteome searches share the result, not the link and its end", async () => {
  const ana = await search({ authorization: "ana" });
  const bob = await search({ authorization: "bob" });
  const [one, two] = [ana.json.id, bob.json.id];
  expect(one).not.toBe(two);
  expect((await search({ authorization: "ana" })).json.id).toBe(one);
  for (const stranger of [...STRANGERS, { authorization: "bob" }])
    expect(await cancel(one, stranger)).toMatchObject({ status: 403 });
  const cancelled = await cancel(one, { authorization: "ana" });
  if (cancelled.status === 200) {
    expect(cancelled.json).toMatchObject({ id: one, state: "cancelled", results: [] });
    expect((await shown(one)).json.state).toBe("cancelled");
    expect((await call("GET", `${SEARCHES}/${one}/matches`)).json.code).toBe("job_cancelled");
  }
  expect((await ended(two)).json).toMatchObject({ id: two, state: "finished" });
  const third = await search();
  expect(third.json).toMatchObject({ state: "finished", mayChange: true });
  expect((await shown(third.json.id)).json.mayChange).toBe(false);
  expect((await shown(third.json.id, { cookie: readCookie(third) })).json.mayChange).toBe(true);
  expect(await cancel(third.json.id, { cookie: readCookie(third) })).toMatchObject({ status: 409 });
  expect((await shown(third.json.id)).json.state).toBe("finished");
});

test("a search that everybody has cancelled is stopped, and not run again by the next process", async () => {
  const files = new SearchFiles(service.directory);
  const before = files.unfinished();
  const one = await search(KEY, "[ST]P");
  const two = await search({ authorization: "bob" }, "[ST]P");
  const states = [
    (await cancel(one.json.id, KEY)).status,
    (await cancel(two.json.id, { authorization: "bob" })).status,
  ];
  // It may have finished before.
  if (states.every((status) => status === 200)) expect(files.unfinished()).toEqual(before);
});

test("a client's oldest searches make room for its new ones", async () => {
  const { json } = await search({ authorization: "carl" });
  await ended(json.id);
  const { database } = service;
  const count = () =>
    (
      database.query("SELECT count(*) AS count FROM task WHERE client = 'user carl'").get() as {
        count: number;
      }
    ).count;
  await waitFor(
    () => !database.query("SELECT 1 FROM task WHERE client = 'user carl' AND ended IS NULL").get(),
  );
  const insert = database.query(
    `INSERT INTO task (id, kind, subject, client, state, created, ended, shared)
     VALUES (?, 'proteome-search', '', 'user carl', 'finished', 0, 0, ?)`,
  );
  for (let i = 0; i < 300; i++) insert.run(`x${i}`, "0".repeat(64));
  await search({ authorization: "carl" }, "W..W");
  expect(count()).toBe(200);
});

test("a computation is stopped once nobody waits for it", async () => {
  const stopped: string[] = [];
  const progress = { state: "running", failure: null, place: null, searched: 1, total: 2 } as const;
  const computations: Computations = {
    progress: () => Promise.resolve(progress),
    open: () => Promise.resolve(),
    stop: (id) => Promise.resolve(stopped.push(id)),
    drop: () => Promise.resolve(),
  };
  const tasks = new Tasks({ ...service.settings });
  const own = new OwnSearches(tasks, computations);
  const request = {
    corpus: { name: "c", hash: "" },
    pattern: { expression: "P..P", name: null, dialect: "plain" as const },
    model: "continuous" as const,
    organism: null,
  };
  const [one, two] = ["ana", "bob"].map((name) => own.add("c", request, `user ${name}`, null));
  expect((await own.cancel(one)).isCancelled).toBe(true);
  expect([own.find(one.id).isCancelled, own.find(two.id).isCancelled]).toEqual([true, false]);
  expect(stopped).toEqual([]);
  expect([own.isAbandoned("c"), own.isAbandoned("of a former version")]).toEqual([false, false]);
  await own.cancel(two);
  expect(stopped).toEqual(["c"]);
  expect(own.isAbandoned("c")).toBe(true);
  await tasks.close();
});

test("a structure model is shown without reading its file", async () => {
  const path = `/jobs/${(await start(KEY)).json.id}/model`;
  const added = await call("PUT", `${path}?name=a`, KEY, helixPdb(P53));
  service.database.run("UPDATE protein_model SET content = x'00'");
  expect((await call("GET", path)).json).toEqual(added.json);
  expect((await call("GET", `${path}/file`)).json.code).toBe("content_damaged");
});
