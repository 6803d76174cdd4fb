import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RequestPool, RESOURCES } from "../../src/inventory/index.ts";
import type { RequestPoolOptions } from "../../src/inventory/api/request-pool.ts";
import { nextTurn, WRITER } from "../../src/inventory/api/request-turns.ts";
import type { Answer } from "../../src/platform/http.ts";
import { releaseMemory } from "../../src/platform/memory.ts";
import { openLog } from "../../src/platform/log.ts";
import { closeDatabase } from "../../src/platform/sqlite.ts";
import { VERSION } from "../../src/version.ts";
import { type Lab, openLab } from "./harness.ts";
import { type Random, seeded } from "./random.ts";
import { waitFor } from "../wait.ts";

/** Requests that other processes answer. */

const RECORDS = 20_000;
const directory = mkdtempSync(join(tmpdir(), "labd-pool-"));
const pools: RequestPool[] = [];
let lab: Lab;

const OPTIONS: RequestPoolOptions = { version: VERSION, log: openLog("off", () => {}, Date.now) };

function newPool(options: Partial<RequestPoolOptions> = {}): RequestPool {
  const pool = new RequestPool({ ...OPTIONS, ...options });
  pools.push(pool);
  return pool;
}

/** For tests that leave its processes as they are: from source, each takes half a second to start. */
let common: RequestPool | undefined;
const commonPool = (): RequestPool => (common ??= newPool());

beforeAll(async () => {
  lab = await openLab({ path: join(directory, "labd.sqlite") });
  const owners = ["admin", "alice", "bob"].map((name) => lab.accounts.userId(name));
  const [[group]] = lab.database.query("SELECT rid FROM user_group WHERE name = 'Genomics'").values() as [
    [number],
  ];
  // Every fifth record is public.
  const common = `1700000000000000 + i, 1700000000000000 + i, ${owners[0]}, ${owners[0]}, ${owners[1]} + i % 2, ${group} + i % 2, i % 5 = 0`;
  lab.database.run(
    `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${RECORDS - 1})
     INSERT INTO location (id, label, label_fold, description, created, modified, created_by, modified_by, owner, owned_by, public)
     SELECT printf('20000000-0000-4000-8000-%012d', i), 'Box ' || i, 'box ' || i,
       'Description of thing ' || i || ', number ' || (i * 104729 % 1000) || ' of its kind', ${common} FROM n`,
  );
});

afterAll(() => {
  for (const pool of pools) pool.close();
  closeDatabase(lab.database);
  rmSync(directory, { recursive: true, force: true });
});

function ask(answer: Answer, path: string, as?: string, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  if (as !== undefined) headers.set("Authorization", `Token ${lab.tokens[as]}`);
  return answer(new Request(`http://lab/api/v2/${path}`, { ...init, headers }));
}

const readJson = async (response: Response) => (await response.json()) as Record<string, unknown>;

/** Conditions on every record that take a second or more: many values, of which the last applies. */
function slowList(parameters: Record<string, string>, absentText = "~"): string {
  const absent = Array.from({ length: 19 }, (_, i) => `${i}${absentText}`);
  const pairs = Object.entries(parameters).flatMap(([name, last]) =>
    [...absent, last].map((value) => [name, value]),
  );
  return `locations/?${new URLSearchParams(pairs).toString()}`;
}
const SLOW = slowList({
  description__icontains: "of",
  description__iendswith: "kind",
  description__istartswith: "desc",
  notes__content__icontains: "absent",
  owner__username__icontains: "i",
  owner__full_name__iendswith: "r",
  created_by__username__icontains: "dm",
  modified_by__username__icontains: "dm",
});

const PARAMETERS: readonly ((random: Random) => string)[] = [
  () => "page_size=max",
  () => "format=csv",
  () => "format=xlsx",
  () => "format=api",
  () => "explain=1",
  (random) => `as_of=${2025 + random.below(3)}-01-01T00:00:00Z`,
  (random) => `deleted=${random.pick(["all", "true", "false"])}`,
  (random) => `description__icontains=${random.pick(["thing", "99", "of", "x", "%25"])}`,
  (random) => `ordering=${random.pick(["-modified", "owner__username", "description", "nothing"])}`,
  (random) => `page_size=${random.pick(["1", "300", "7"])}`,
  (random) => `page=${random.pick(["1", "2", "last", "900"])}`,
  (random) => `fields=${random.pick(["id", "*", "id,owner__username"])}`,
  (random) => `response_format=${random.pick(["flat", "nested"])}`,
  (random) => `can_change=${random.chance(0.5)}`,
  (random) => `query=${random.pick(["box", "bench", "424"])}`,
];

function randomPath(random: Random): string {
  const segment = random.chance(0.5) ? "locations" : random.pick(RESOURCES).segment;
  const list = () => {
    const parameters = Array.from({ length: 1 + random.below(3) }, () => random.pick(PARAMETERS)(random));
    return `${segment}/?${parameters.join("&")}`;
  };
  const id = random.pick(["20000000-0000-4000-8000-000000000007", "10000000-0000-4000-8000-000000000023"]);
  return random.pick([
    list,
    list,
    list,
    () => `locations/${id}/history/`,
    () => `locations/${id}/?as_of=2027-01-01`,
    () => `locations/values/?field=${random.pick(["owner", "public", "nothing"])}`,
    () => `locations/labels/?page_size=3&format=zpl&page=${1 + random.below(3)}`,
    () => `changes/?page_size=${1 + random.below(100)}`,
    () => "batches/",
  ])();
}

/** Of a body; null for XLSX, which contains the time of its creation. */
async function hashBody(response: Response): Promise<unknown> {
  const bytes = await response.bytes();
  return response.headers.get("content-type")?.includes("spreadsheet") ? null : Bun.hash(bytes);
}

test("returns the same bytes from another process for every caller", async () => {
  const pool = commonPool();
  const here = lab.through(undefined);
  const away = lab.through(pool);
  const random = seeded(20);
  for (let i = 0; i < 50; i++) {
    const path = randomPath(random);
    const as = random.pick([undefined, "admin", "alice", "bob"]);
    const method = random.chance(0.1) ? "HEAD" : "GET";
    const [expected, got] = [await ask(here, path, as, { method }), await ask(away, path, as, { method })];
    const same = {
      path,
      as,
      status: got.status,
      headers: [...got.headers],
      bytes: await hashBody(got),
    };
    expect(same).toEqual({
      path,
      as,
      status: expected.status,
      headers: [...expected.headers],
      bytes: await hashBody(expected),
    });
  }
  expect(pool.pids.length).toBeGreaterThan(0);
}, 120_000);

test("answers all lists of a page at once, more than may wait for a process", async () => {
  const away = lab.through(commonPool());
  const lists = Array.from({ length: 30 }, (_, i) => `locations/?created__gte=2023-11-14T22:13:${10 + i}Z`);
  const answers = await Promise.all(lists.map((list) => ask(away, list, "alice")));
  expect(answers.map(({ status }) => status)).toEqual(lists.map(() => 200));
});

test("gives a streamed list the same entity tag until something is written", async () => {
  const away = lab.through(commonPool());
  const list = "locations/?page_size=max&fields=id";
  const first = await ask(away, list, "alice");
  await first.text();
  const known = { headers: { "If-None-Match": first.headers.get("etag")! } };
  expect((await ask(away, list, "alice", known)).status).toBe(304);
  lab.database.run("UPDATE location SET description = description || '.' WHERE rid = 1");
  const changed = await ask(away, list, "alice", known);
  expect(changed.status).toBe(200);
  await changed.text();
}, 30_000);

test("responds to other requests during a long request", async () => {
  const away = lab.through(commonPool());
  const slow = ask(away, SLOW, "alice");
  const statuses: number[] = [];
  let turns = 0;
  for (let ended: unknown; ended === undefined; turns++) {
    statuses.push((await ask(away, "places/?page_size=5", "bob")).status);
    ended = await Promise.race([slow, Bun.sleep(5)]);
  }
  expect(new Set([...statuses, (await slow).status])).toEqual(new Set([200]));
  // On the thread of the server there would be one.
  expect(turns).toBeGreaterThan(20);
}, 60_000);

test("ends a request at the deadline and names its filter", async () => {
  const options: RequestPoolOptions = { ...OPTIONS, deadline: 0.2 };
  const pool = new RequestPool(options);
  pools.push(pool);
  const away = lab.through(pool);
  const response = await ask(away, SLOW, "alice");
  expect({ status: response.status, body: await readJson(response) }).toMatchObject({
    status: 400,
    body: {
      code: "too_expensive",
      message: expect.stringContaining(
        "description__icontains (20 values), description__iendswith (20 values)",
      ),
    },
  });
  options.deadline = 60;
  expect((await ask(away, "changes/", "alice")).status).toBe(200);
}, 30_000);

test("answers a caller who does not read earlier responses, and cuts off the oldest response", async () => {
  const pool = newPool({ unread: 100 });
  const away = lab.through(pool);
  const unread: Response[] = [];
  for (let i = 0; i < 4; i++) unread.push(await ask(away, "locations/?page_size=max", "alice"));
  expect(pool.pids).toHaveLength(4);
  expect((await ask(away, "locations/?page_size=max", "alice")).status).toBe(200);
  expect(pool.pids).toHaveLength(4);
  const [oldest, other] = unread;
  expect(await oldest.text().catch(String)).toContain("The process that computed the response ended");
  expect((await other.text()).length).toBeGreaterThan(1_000_000);
}, 60_000);

test("releases the process of a client that disconnected", async () => {
  const away = lab.through(commonPool());
  const list = () => ask(away, "locations/?page_size=max", "alice");
  const [first, ...others] = [await list(), await list(), await list(), await list()];
  let isAnswered = false;
  const last = list().then((response) => {
    isAnswered = true;
    return response.text();
  });
  // Others are not affected by alice's lists, which nobody reads.
  expect((await ask(away, "changes/", "bob")).status).toBe(200);
  expect(isAnswered).toBe(false);
  await first.body!.cancel();
  expect((await last).length).toBeGreaterThan(1_000_000);
  for (const { body } of others) await body!.cancel();
}, 60_000);

describe("turns", () => {
  type Row = [key: string, unreadSince?: number];
  const next = (waiting: string[], processes: Row[]) => {
    const turn = nextTurn(
      waiting.map((key) => ({ key })),
      processes.map(([key, unreadSince]) => ({ key, unreadSince })),
      100,
      1000,
    );
    if (typeof turn !== "object") return turn;
    const { request, displaced } = turn;
    return displaced ? [request.key, displaced.unreadSince] : request.key;
  };
  const busy = (...keys: string[]): Row[] => keys.map((key) => [key]);
  const unread = (since: number, ...keys: string[]): Row[] => keys.map((key) => [key, since]);
  const [a, b, c, n] = ["user 1", "user 2", "user 3", "network x"];
  test.each([
    ["in the order of arrival", [a, b], [], a],
    ["with fewer running requests first", [a, b], busy(a), b],
    ["two at most that compute for one caller", [a, b], busy(a, a), b],
    ["four at most that compute", [a], busy(b, b, c, c), undefined],
    ["three at most that compute for anonymous callers", [n, a], busy(n, n, "network y"), a],
    ["unread responses of the caller do not count", [a], unread(990, a, a, a), a],
    ["up to four, until one is old", [a], [...unread(990, a, a, a), [a, 950]], 50],
    ["the oldest of the caller makes room", [a], [...unread(850, a, a, a), [a, 800], [b, 1]], [a, 800]],
    ["the oldest of all makes room", [c], [...unread(850, a, a, a), ...unread(800, b, b, b)], [c, 800]],
    [
      "of anonymous callers for anonymous ones",
      [n],
      [...unread(850, n, n, "network y", n), [a, 1]],
      [n, 850],
    ],
    ["one process writes", [WRITER, a], busy(WRITER), a],
    ["one that writes does not occupy a reader", [a, WRITER], busy(b, b, c, c), WRITER],
  ] as const)("%s", (_, waiting, processes, expected) => {
    expect(next([...waiting], processes as unknown as Row[])).toEqual(expected as never);
  });
});

test("ends the query of a client that disconnected", async () => {
  const pool = newPool();
  const away = lab.through(pool);
  await ask(away, "changes/", "alice");
  const [pid] = pool.pids;
  const gone = new AbortController();
  const slow = ask(away, SLOW, "alice", { signal: gone.signal });
  await Bun.sleep(50);
  gone.abort();
  await slow;
  expect(pool.pids).not.toContain(pid);
}, 30_000);

test("returns 503 when a process is killed, and starts another process", async () => {
  const pool = newPool();
  const away = lab.through(pool);
  expect((await ask(away, "changes/", "alice")).status).toBe(200);
  const slow = ask(away, SLOW, "alice");
  await Bun.sleep(50);
  const [killed] = pool.pids;
  process.kill(killed, "SIGKILL");
  const response = await slow;
  expect({ status: response.status, retry: response.headers.get("retry-after") }).toEqual({
    status: 503,
    retry: "5",
  });
  expect((await ask(away, "changes/", "alice")).status).toBe(200);
  expect(pool.pids).not.toContain(killed);
}, 30_000);

test("alternates between callers, and rejects more requests than a caller may have waiting", async () => {
  const away = lab.through(commonPool());
  const done: string[] = [];
  const send = async (as: string, i: number) => {
    // Counts of equal lists would be cached.
    const slow = slowList({ description__icontains: "of" }, `~${as}${i}`);
    const response = await ask(away, `${slow}&page_size=max`, as);
    await response.text();
    done.push(as);
    return response.status;
  };
  await Promise.all(["alice", "alice", "bob"].map((as) => ask(away, "changes/", as)));
  const alices = Array.from({ length: 24 }, (_, i) => send("alice", i));
  const bob = send("bob", 0);
  expect(await bob).toBe(200);
  const before = done.filter((name) => name === "alice").length;
  expect(before).toBeLessThan(8);
  const statuses = await Promise.all(alices);
  expect(statuses.filter((status) => status === 503)).toHaveLength(2);
}, 120_000);

test("rejects waiting requests and ends the processes when it is closed", async () => {
  const pool = newPool();
  const away = lab.through(pool);
  const sent = [1, 2, 3].map(() => ask(away, SLOW, "alice"));
  await Bun.sleep(50);
  pool.close();
  expect((await Promise.all(sent)).map(({ status }) => status)).toEqual([503, 503, 503]);
  await waitFor(() => pool.pids.length === 0);
}, 30_000);

test("ends idle processes", async () => {
  const pool = newPool({ idle: 50 });
  expect((await ask(lab.through(pool), "changes/", "alice")).status).toBe(200);
  await waitFor(() => pool.pids.length === 0);
}, 30_000);

test("ends a process that is idle or unread when memory is short, and no other", async () => {
  const pool = newPool();
  const away = lab.through(pool);
  const slow = ask(away, SLOW, "alice");
  await waitFor(() => pool.pids.length > 0);
  while (releaseMemory());
  expect((await slow).status).toBe(200);
  const unread = await ask(away, "locations/?page_size=max", "alice");
  expect(releaseMemory()).toBe(true);
  expect(await unread.text().catch(String)).toContain("The process that computed the response ended");
  expect((await ask(away, "changes/", "alice")).status).toBe(200);
  expect(releaseMemory()).toBe(true);
  await waitFor(() => pool.pids.length === 0);
}, 30_000);

test("keeps processes that a service manager signals", async () => {
  const pool = commonPool();
  const away = lab.through(pool);
  await ask(away, "changes/", "alice");
  const { pids } = pool;
  for (const pid of pids)
    for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) process.kill(pid, signal);
  expect((await ask(away, "changes/", "alice")).status).toBe(200);
  expect(pool.pids).toEqual(pids);
}, 30_000);

test("explains that another version was installed, or that no process can be started", async () => {
  const upgraded = await ask(lab.through(newPool({ version: "0.0.1" })), "changes/", "alice");
  expect({ status: upgraded.status, body: await readJson(upgraded) }).toMatchObject({
    status: 503,
    body: { message: "Another version of labd was installed. Restart the service." },
  });
  const away = lab.through(newPool());
  const { execPath } = process;
  process.execPath = "/nonexistent/labd";
  const missing = await ask(away, "changes/", "alice");
  process.execPath = execPath;
  expect({ status: missing.status, body: await readJson(missing) }).toMatchObject({
    status: 503,
    body: { message: "The server cannot start another process for this request. Try again." },
  });
  expect((await ask(away, "changes/", "alice")).status).toBe(200);
}, 30_000);
