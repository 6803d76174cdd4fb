import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import {
  inventoryAliases,
  inventoryRoutes,
  loadInventory,
  type RequestPool,
  RESOURCES,
} from "../../src/inventory/index.ts";
import type { Json } from "../../src/inventory/model/field.ts";
import type { InventorySample } from "../../src/inventory/records/sample.ts";
import { openStore } from "../../src/inventory/records/store.ts";
import type { SubResource } from "../../src/inventory/resources/sub-resource.ts";
import { Accounts } from "../../src/accounts/accounts.ts";
import type { Clock } from "../../src/platform/clock.ts";
import { type Answer, openHttp } from "../../src/platform/http.ts";
import { openLog } from "../../src/platform/log.ts";
import { DIRECT, type PublicUrlOptions } from "../../src/platform/origin.ts";
import { type Database, openDatabase } from "../../src/platform/sqlite.ts";
import { MIGRATIONS } from "../../db/index.ts";
import { listOperations, type Paths } from "../described.ts";
import { SAMPLE } from "./sample.ts";
import { openMigrated } from "../database.ts";

/** The lists that pages show. The others come from the same declarations; client-models.test.ts asks them. */
export const SHOWN_LISTS = RESOURCES.filter(({ forClients }) => !forClients);

/** Of alice, where an installation is opened with passwords: hashing one takes longer than all else. */
export const PASSWORD = "correct horse";

/** 2026-01-01T00:00:00Z. */
export const START = Date.UTC(2026, 0, 1);

/** A clock that stands still until told, and ids that count. */
export function fixedClock(ids = 0): Clock & { set(now: number): void; ids(): number } {
  let now = START;
  return {
    now: () => now,
    newId: () => `00000000-0000-4000-9000-${String(++ids).padStart(12, "0")}`,
    ids: () => ids,
    set: (to) => {
      now = to;
    },
  };
}

export interface Answered {
  status: number;
  headers: Headers;
  text: string;
  /** The body as JSON; an empty object for other bodies. */
  body: Record<string, Json>;
}

export interface Lab {
  database: Database;
  clock: ReturnType<typeof fixedClock>;
  accounts: Accounts;
  /** Tokens by username: admin (superuser), alice (Genomics, SYSTEM_GROUP), bob (Imaging). */
  tokens: Record<string, string>;
  /**
   * Asks as a user, or as nobody. `body` is sent as JSON unless it is text. A request that shows records to more people
   * is confirmed, unless it is to stay `unconfirmed`.
   */
  ask(
    method: string,
    path: string,
    options?: {
      as?: string | undefined;
      body?: unknown;
      headers?: Record<string, string>;
      unconfirmed?: boolean;
    },
  ): Promise<Answered>;
  /** Sends a request as a user. */
  send(as: string, method: string, path: string, body?: unknown): Promise<Answered>;
  /** Answers without a socket, on the same database, with heavy requests sent to the pool. */
  through(pool: RequestPool | undefined): Answer;
  /** The response itself, whose body is yet to be read. */
  get(path: string, as?: string): Promise<Response>;
  /** Sends and receives bytes: a file, or a form with one. */
  bytes(
    method: string,
    path: string,
    options?: { as?: string; body?: Uint8Array<ArrayBuffer> | string | FormData; type?: string },
  ): Promise<{ status: number; headers: Headers; bytes: Uint8Array<ArrayBuffer> }>;
}

const HTTP = {
  log: openLog("problems", (line) => process.stderr.write(line), Date.now),
  gzipThreshold: Number.POSITIVE_INFINITY,
  maxMessageBytes: 10_000_000,
  receiveTimeout: 60,
  notReadyReasons: () => [],
  documentation: { version: "0", introduction: "", tags: [] },
  // Pages are tested in test/web/api-page.test.ts.
  showJson: async (_: Request, response: Response): Promise<Response> => {
    const headers = new Headers(response.headers);
    headers.set("content-type", "text/html; charset=utf-8");
    return new Response(response.body, { status: response.status, headers });
  },
};

const openAnswer = (
  options: Pick<Lab, "database" | "clock" | "accounts"> & {
    anonymousRead: boolean;
    sample?: () => Promise<InventorySample>;
  },
  pool: RequestPool | undefined,
  reach: PublicUrlOptions,
): Answer =>
  openHttp({
    ...HTTP,
    clock: { now: options.clock.now, newId: () => "request" },
    reach,
    admit: (request) => options.accounts.verifyHeader(request),
    services: [inventoryRoutes({ ...options, ...(pool ? { pool } : {}) })],
    aliases: inventoryAliases(),
  });

async function readAnswer(response: Response): Promise<Answered> {
  const text = await response.text();
  let body: Record<string, Json> = {};
  try {
    body = JSON.parse(text) as Record<string, Json>;
  } catch {
    // Not JSON: the test looks at the text.
  }
  return { status: response.status, headers: response.headers, text, body };
}

interface FillOptions {
  sample?: InventorySample;
  passwords?: boolean;
  /** In place of those of the program. */
  subResources?: readonly SubResource[];
  /** File of the database; in memory where there is none. */
  path?: string;
}

interface Filled {
  image: Uint8Array;
  /** Ids that were given out. */
  ids: number;
  tokens: Lab["tokens"];
}

/** The initial database of most labs. Filling a database takes as long as all requests of most tests. */
let usual: Filled | undefined;

/** A database with accounts and the sample. */
async function openFilled(
  options: FillOptions,
): Promise<Pick<Lab, "database" | "clock" | "accounts" | "tokens">> {
  const { path, sample, passwords, subResources } = options;
  const isUsual = !(sample || passwords || subResources);
  const { image, ids, tokens } = isUsual ? (usual ??= await fill({})) : await fill(options);
  if (path !== undefined) writeFileSync(path, image, { mode: 0o600 });
  const database = path === undefined ? openDatabase(image, MIGRATIONS) : openMigrated(path);
  const clock = fixedClock(ids);
  if (subResources) openStore(database, clock, subResources);
  return { database, clock, accounts: new Accounts(database, clock), tokens: { ...tokens } };
}

async function fill({ sample = SAMPLE, passwords, subResources }: FillOptions): Promise<Filled> {
  const database = openMigrated();
  const clock = fixedClock();
  const accounts = new Accounts(database, clock);
  await accounts.addUser({ username: "admin", superuser: true });
  await accounts.addUser({
    username: "alice",
    fullName: "Alice Archer",
    group: "Genomics",
    ...(passwords ? { password: PASSWORD } : {}),
  });
  await accounts.addUser({ username: "bob", fullName: "Bob Baker", group: "Imaging" });
  const tokens = Object.fromEntries(
    ["admin", "alice", "bob"].map((name) => [name, accounts.addToken(name, "test")]),
  );
  if (subResources) openStore(database, clock, subResources);
  loadInventory(database, clock, sample, "system");
  const image = database.serialize();
  database.close();
  return { image, ids: clock.ids(), tokens };
}

/** An installation in memory with the sample of the tests, composed as the program composes it. */
export async function openLab(
  options: FillOptions & {
    /** The sample that administrators may load. */
    loadable?: InventorySample;
    anonymousRead?: boolean;
    reach?: PublicUrlOptions;
  } = {},
): Promise<Lab> {
  const { database, clock, accounts, tokens } = await openFilled(options);
  const { anonymousRead = true, loadable } = options;
  const routed = {
    database,
    clock,
    accounts,
    anonymousRead,
    ...(loadable ? { sample: async () => loadable } : {}),
  };
  const through = (pool: RequestPool | undefined) => openAnswer(routed, pool, options.reach ?? DIRECT);
  const answer = through(undefined);
  const lab: Lab = {
    database,
    clock,
    accounts,
    tokens,
    through,
    async ask(method, path, { as, body, headers = {}, unconfirmed = false } = {}) {
      const sent: Record<string, string> = { ...headers };
      if (as !== undefined) sent.Authorization = `Token ${tokens[as]}`;
      if (body !== undefined) sent["Content-Type"] ??= "application/json";
      const address = path.startsWith("http") ? path : `http://lab/api/v2/${path}`;
      const request = new Request(address, {
        method,
        headers: sent,
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
      });
      const response = await answer(request);
      const answered = await readAnswer(response);
      if (answered.body.code === "sharing_unconfirmed" && !unconfirmed) {
        const confirmed = `${path}${path.includes("?") ? "&" : "?"}confirm=${String(answered.body.confirm)}`;
        return lab.ask(method, confirmed, { as, body, headers, unconfirmed: true });
      }
      // Tests compare the fields of an error; its code is in `text`.
      if (answered.status >= 400 && "message" in answered.body) delete answered.body.code;
      return answered;
    },
    send: (as, method, path, body) => lab.ask(method, path, body === undefined ? { as } : { as, body }),
    get: (path, as) =>
      answer(
        new Request(`http://lab/api/v2/${path}`, {
          headers: as === undefined ? {} : { Authorization: `Token ${tokens[as]}` },
        }),
      ),
    async bytes(method, path, { as, body, type } = {}) {
      const headers: Record<string, string> = type === undefined ? {} : { "Content-Type": type };
      if (as !== undefined) headers.Authorization = `Token ${tokens[as]}`;
      const request = new Request(`http://lab/api/v2/${path}`, {
        method,
        headers,
        ...(body === undefined ? {} : { body }),
      });
      const response = await answer(request);
      const bytes = new Uint8Array(await response.arrayBuffer());
      return { status: response.status, headers: response.headers, bytes };
    },
  };
  return lab;
}

/** Lets a user put records into locations that would otherwise only be public. */
export async function letUse(lab: Lab, user: string, ...locations: string[]): Promise<void> {
  const users = [{ user, view: true }];
  for (const id of locations)
    expect((await lab.send("admin", "PATCH", `locations/${id}/permissions/`, { users })).status).toBe(200);
}

/** Sends requests such as "GET locations/" as one caller, and compares their statuses. */
export async function expectStatuses(
  lab: Lab,
  as: string | undefined,
  rows: readonly (readonly [request: string, status: number, body?: unknown])[],
): Promise<void> {
  for (const [request, status, body] of rows) {
    const [method, path] = request.split(" ");
    const sent = { ...(as === undefined ? {} : { as }), ...(body === undefined ? {} : { body }) };
    const answer = await lab.ask(method, path, sent);
    expect({ as, request, body, status: answer.status }).toEqual({ as, request, body, status });
  }
}

/**
 * The operations of the OpenAPI document, by path and method; those that several lists have, at the paths of `lists`, or
 * of their first list.
 */
export async function readPaths(lab: Lab, lists = ["locations"]): Promise<Paths> {
  const { text } = await lab.ask("GET", "http://lab/docs/json");
  const paths = Object.entries(listOperations(JSON.parse(text))).filter(([path]) => path.startsWith("/api/"));
  return Object.fromEntries(
    paths.flatMap(([path, methods]) =>
      path.includes("{list}")
        ? chooseLists(methods, lists).map((list) => [path.replace("{list}", list), withoutList(methods)])
        : [[path, methods]],
    ),
  );
}

function chooseLists(methods: Paths[string], lists: readonly string[]): readonly string[] {
  const { schema } = Object.values(methods)[0].parameters.find(({ name }) => name === "list")!;
  const all = schema.enum ?? [];
  const chosen = lists.filter((list) => all.includes(list));
  return chosen.length > 0 ? chosen : all.slice(0, 1);
}

const withoutList = (methods: Paths[string]): Paths[string] =>
  Object.fromEntries(
    Object.entries(methods).map(([method, { parameters, ...operation }]) => [
      method,
      { ...operation, parameters: parameters.filter(({ name }) => name !== "list") },
    ]),
  );

/** Adds the record of the example to each list that is empty. */
export async function fillLists(lab: Lab, paths: Paths): Promise<void> {
  for (const { segment } of RESOURCES) {
    if ((await lab.send("admin", "GET", `${segment}/?page=1`)).body.total !== 0) continue;
    const { example } = paths[`/api/v2/${segment}`].post.requestBody!.content["application/json"];
    expect(await lab.send("admin", "POST", `${segment}/`, example)).toMatchObject({ status: 201 });
  }
}
