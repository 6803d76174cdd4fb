/**
 * Requests per second of lists, records and writes over HTTP on a large database.
 *
 *   bun run build.ts && bun run test/bench/rest.bench.ts   100,000 of two kinds, 50 users
 *   RECORDS=1000000 …      more records        BIGGER=1000000 …   a second service with that many
 *   RECORDS=5000 SECONDS=0.2 …   quick
 *
 * The server is the executable; every answer is checked. Compared in turns with a bare Bun.serve that sends
 * the same bytes, and with Django REST framework on the same records (rest/peer.py; Debian: python3-django,
 * python3-djangorestframework, python3-django-filters, gunicorn). See docs/performance.md.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "../../src/app/open.ts";
import { resolveConfig } from "../../src/config.ts";
import { type Peer, startPeer } from "./rest/peer.ts";
import { median, memoryOf, say } from "./harness.ts";

const RECORDS = Number(process.env.RECORDS ?? 100_000);
const LABD = process.env.LABD ?? "dist/labd";
const BIGGER = Number(process.env.BIGGER ?? 0);
const SECONDS = Number(process.env.SECONDS ?? 1);
const ROUNDS = 3;
/** Concurrent requests. */
const CLIENTS = 8;
const USERS = 50;
const GROUPS = 10;
const TYPES = ["TEXT", "JSON", "OBJECT", "DMAPPANNOTATION"];

const opened = (directory: string) =>
  open(resolveConfig({ flags: { data_dir: directory, workers: "1" }, environment: {} }).config);

/** Creates the database in a separate process, so that its memory is not counted. */
async function make(directory: string, records: number): Promise<void> {
  const app = await opened(directory);
  const { accounts, database } = app;
  await accounts.addUser({ username: "admin", superuser: true });
  for (let i = 0; i < USERS; i++)
    await accounts.addUser({ username: `user${i}`, group: `Group ${i % GROUPS}` });
  const first = accounts.userId("user0");
  const [group] = database.query("SELECT rid FROM user_group WHERE name = 'Group 0'").values() as [[number]];
  // Every second record is public; owners and groups rotate; names are unique.
  const rows = `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${records - 1})`;
  const common = `1700000000000000 + i, 1700000000000000 + i, ${first} + i % ${USERS}, ${first} + i % ${USERS}, ${first} + i % ${USERS}, ${group[0]} + i % ${GROUPS}, i % 2`;
  const shared = "created, modified, created_by, modified_by, owner, owned_by, public";
  const id = (kind: number) => `printf('${kind}0000000-0000-4000-8000-%012d', i)`;
  const name = `'type_' || printf('%07d', i * 7919 % ${records})`;
  const prose = "'Description of thing ' || i || ', number ' || (i * 104729 % 1000) || ' of its kind'";
  const types = TYPES.map((type, i) => `WHEN ${i} THEN '${type}'`).join(" ");
  database.transaction(() => {
    database.run(
      `${rows} INSERT INTO field_type (id, kind, name, name_fold, label, choice_label, description, description_fold, type,
        preferred_view_widget, preferred_edit_widget, preferred_list_widget, field_meta, ${shared})
       SELECT ${id(1)}, 'annotation', ${name}, ${name}, ${name}, ${name}, ${prose}, lower(${prose}),
        CASE i % ${TYPES.length} ${types} END, 'TEXT', 'TEXTINPUT', 'TEXT', 1, ${common} FROM n`,
    );
    database.run(
      `${rows} INSERT INTO location (id, label, label_fold, description, ${shared})
       SELECT ${id(2)}, 'Box ' || i, 'box ' || i, ${prose}, ${common} FROM n`,
    );
  })();
  database.run("PRAGMA optimize");
  const tokens = Object.fromEntries(["admin", "user0"].map((who) => [who, accounts.addToken(who, "bench")]));
  await app.close();
  process.stdout.write(JSON.stringify(tokens));
}

/** Serves the bytes of the last PUT and prints its address. */
function serveBare(): void {
  let bytes = new ArrayBuffer(0);
  const bare = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    maxRequestBodySize: 1e8,
    async fetch(request) {
      if (request.method === "PUT") bytes = await request.arrayBuffer();
      return new Response(bytes, { headers: { "Content-Type": "application/json" } });
    },
  });
  process.stderr.write(`at ${bare.url.href}\n`);
}

type Send = (i: number) => Promise<Response>;

/** Requests per second of each service with CLIENTS concurrent clients: medians of alternating rounds. */
async function rates(services: readonly Send[]): Promise<number[]> {
  const measured: number[][] = services.map(() => []);
  let sent = 0;
  for (let round = 0; round <= ROUNDS; round++)
    for (const [which, send] of services.entries()) {
      const begin = performance.now();
      const end = begin + SECONDS * 1000;
      let done = 0;
      const client = async () => {
        while (performance.now() < end) {
          const response = await send(sent++);
          await response.arrayBuffer();
          if (!response.ok) throw new Error(`${response.status} ${response.url}`);
          done++;
        }
      };
      await Promise.all(Array.from({ length: CLIENTS }, client));
      // The first round warms up.
      if (round > 0) measured[which].push((done / (performance.now() - begin)) * 1000);
    }
  return measured.map(median);
}

const SELF = [process.execPath, import.meta.path];

/** Starts a process and reads its address from stderr. */
async function spawned(command: string[]) {
  const child = Bun.spawn(command, { stdout: "ignore", stderr: "pipe" });
  const reader = child.stderr.getReader();
  let said = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`${command.join(" ")}: ${said}`);
    said += new TextDecoder().decode(value);
    const address = /http:\/\/[^\s"]+/.exec(said);
    if (!address) continue;
    // Drain the log.
    void (async () => {
      while (!(await reader.read()).done);
    })();
    return { child, url: address[0].replace(/\/?$/, "/") };
  }
}

/** Starts the executable on a new database. */
async function start(directory: string, records: number) {
  const begin = performance.now();
  const made = Bun.spawn([...SELF, "make", directory, String(records)], {
    stderr: "inherit",
    stdout: "pipe",
  });
  const tokens = (await new Response(made.stdout).json()) as Record<string, string>;
  if ((await made.exited) !== 0) throw new Error("the records were not made");
  const { child, url } = await spawned([LABD, "serve", "--data-dir", directory, "--port", "0"]);
  const labd: Service = { base: `${url}api/v2/`, tokens, records };
  const answer = await fetch(`${labd.base}version/`);
  if (!answer.ok) throw new Error(await answer.text());
  const seconds = ((performance.now() - begin) / 1000).toFixed(1);
  say(`${records} annotation types and as many locations, made in ${seconds} s`);
  say(
    `server: ${memoryOf(child.pid).toFixed(0)} MB at rest, ${memoryOf(child.pid, "RssFile").toFixed(0)} of them the program`,
  );
  return { child, labd };
}

async function main(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "labd-bench-"));
  const { child, labd } = await start(join(directory, "data"), RECORDS);
  const bigger = BIGGER > 0 ? await start(join(directory, "bigger"), BIGGER) : undefined;
  const bare = await spawned([...SELF, "bare"]);
  let peer: Peer | undefined;
  try {
    peer = process.env.PEER === "0" ? undefined : await startPeer(directory, RECORDS);
    say(
      peer
        ? `peer: Django REST framework ${peer.version}`
        : "NO PEER: install rest_framework, django_filters and gunicorn for /usr/bin/python3",
    );
    await measure(labd, bigger?.labd, bare.url, peer && { ...peer, records: RECORDS });
    for (const [service, { pid }] of [
      [labd, child],
      ...(bigger ? [[bigger.labd, bigger.child] as const] : []),
    ] as const)
      say(
        `server with ${service.records}: ${memoryOf(pid).toFixed(0)} MB at the end, ${memoryOf(pid, "VmHWM").toFixed(0)} MB peak`,
      );
  } finally {
    await peer?.stop();
    child.kill();
    bigger?.child.kill();
    bare.child.kill();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** A service with the records, and tokens by user. */
interface Service {
  readonly base: string;
  readonly tokens: Record<string, string>;
  /** Records of each kind. */
  readonly records: number;
}

interface Page {
  readonly total: number;
  readonly total_pages: number;
  readonly current: number;
  readonly results: unknown[];
}

async function measure(
  labd: Service,
  bigger: Service | undefined,
  bare: string,
  peer: Service | undefined,
): Promise<void> {
  const services = [labd, bigger, peer].filter((service) => service !== undefined);
  const headers = (service: Service, who: string) => ({
    Authorization: `Token ${service.tokens[who]}`,
    "Content-Type": "application/json",
    // Compression is not measured.
    "Accept-Encoding": "identity",
  });
  const get = (service: Service, path: string, who: string) =>
    fetch(service.base + path, { headers: headers(service, who) });
  /** A page without the service's address. */
  const page = async (service: Service, response: Response): Promise<Page> =>
    JSON.parse((await response.text()).replaceAll(service.base, "/")) as Page;
  const total = async (service: Service, path: string, who: string, wanted: number): Promise<Response> => {
    const response = await get(service, path, who);
    const body = await page(service, response.clone());
    if (body.total !== wanted) throw new Error(`${service.base}${path}: ${body.total}, expected ${wanted}`);
    return response;
  };
  const pages = Math.min(1000, Math.floor(RECORDS / 50 / 2));
  /** Counts the records that meet a condition on their number. */
  const count = (records: number, holds: (i: number) => boolean): number => {
    let found = 0;
    for (let i = 0; i < records; i++) if (holds(i)) found++;
    return found;
  };
  // Public records, user0's own, and those of its group.
  const visible = (i: number) => i % 2 === 1 || i % USERS === 0 || i % GROUPS === 0;
  const named = (records: number) => (i: number) =>
    String((i * 7919) % records)
      .padStart(7, "0")
      .startsWith("00");
  /** Number of records that a list finds. */
  type Found = (records: number) => number;
  const all: Found = (records) => records;
  const seen: Found = (records) => count(records, visible);
  const lists: [what: string, path: string, who: string, wanted: Found][] = [
    ["list of 50, superuser", "annotationtypes/", "admin", all],
    ["list of 50, user", "annotationtypes/", "user0", seen],
    ["locations, 50, user", "locations/", "user0", seen],
    [`page ${pages}, superuser`, `annotationtypes/?page=${pages}`, "admin", all],
    [`page ${pages}, user`, `annotationtypes/?page=${pages}`, "user0", seen],
    [
      "type and name",
      "annotationtypes/?type=TEXT&name=type_00",
      "admin",
      (records) => count(records, (i) => i % 4 === 0 && named(records)(i)),
    ],
    [
      "description contains",
      "annotationtypes/?description=number+777+of",
      "admin",
      (records) => count(records, (i) => (i * 104_729) % 1000 === 777),
    ],
    [
      "query",
      "locations/?query=box+424",
      "user0",
      (records) => count(records, (i) => visible(i) && String(i).includes("424")),
    ],
  ];
  for (const [what, path, who, found] of lists) {
    const wanted = found(RECORDS);
    const begin = performance.now();
    const sample = await total(labd, path, who, wanted);
    const first = performance.now() - begin;
    let later = "";
    if (bigger) {
      const again = performance.now();
      await total(bigger, path, who, found(bigger.records));
      later = `, ${(performance.now() - again).toFixed(1)} ms with ${bigger.records}`;
    }
    if (peer) {
      const theirs = await page(peer, await total(peer, path, who, wanted));
      const ours = await page(labd, sample.clone());
      for (const key of ["current", "total_pages", "results"] as const)
        if (!Bun.deepEquals(theirs[key], ours[key]))
          throw new Error(`${path}: ${key} of the peer differ: ${JSON.stringify([ours[key], theirs[key]])}`);
    }
    const more = `, ${wanted} records, first time ${first.toFixed(1)} ms${later}`;
    await compare(what, sample, (service) => get(service, path, who), more);
  }
  const detail = ({ records }: Service, i: number) =>
    `annotationtypes/10000000-0000-4000-8000-${String((i * 37) % records).padStart(12, "0")}/`;
  await compare("one record, any", await get(labd, detail(labd, 1), "admin"), (service, i) =>
    get(service, detail(service, i), "admin"),
  );
  const made = new Map<Service, number>();
  const create = (service: Service, i: number) => {
    made.set(service, (made.get(service) ?? 0) + 1);
    return fetch(`${service.base}locations/`, {
      method: "POST",
      headers: headers(service, "user0"),
      body: JSON.stringify({ label: `New ${i}`, description: "Made by the benchmark" }),
    });
  };
  await compare("create", await create(labd, 0), (service, i) => create(service, i + 1));
  for (const service of services)
    await total(service, "locations/?name=New", "user0", made.get(service) ?? 0);
  const ids = Array.from(
    { length: 10_000 },
    (_, i) => `20000000-0000-4000-8000-${String((i * 3) % RECORDS).padStart(12, "0")}`,
  );
  const times: number[] = [];
  const rounds = RECORDS >= 30_000 ? ROUNDS : 0;
  for (let round = 0; round < rounds; round++) {
    const begin = performance.now();
    const response = await fetch(`${labd.base}locations/?fields=id`, {
      method: "PATCH",
      headers: headers(labd, "admin"),
      body: JSON.stringify(ids.map((id) => ({ id, barcode: `B${round}` }))),
    });
    const rows = (await response.json()) as unknown[];
    if (rows.length !== ids.length) throw new Error(`bulk update: ${response.status}`);
    times.push(performance.now() - begin);
  }
  if (times.length > 0) say(`bulk update of 10,000: ${median(times).toFixed(0)} ms`);

  /** Prints the rate and its ratios to the bare server and the peer. */
  async function compare(
    what: string,
    sample: Response,
    send: (service: Service, i: number) => Promise<Response>,
    more = "",
  ): Promise<void> {
    const bytes = await sample.arrayBuffer();
    await fetch(bare, { method: "PUT", body: bytes });
    const [floor, ours, ...others] = await rates([
      () => fetch(bare, { headers: { "Accept-Encoding": "identity" } }),
      ...services.map((service) => (i: number) => send(service, i)),
    ]);
    const theirs = others.at(-1)!;
    const slower = bigger
      ? `, ${(ours / others[0]).toFixed(2)} times the ${others[0].toFixed(0)}/s with ${bigger.records}`
      : "";
    const beside =
      slower + (peer ? `, ${(ours / theirs).toFixed(1)} times the peer's ${theirs.toFixed(1)}/s` : "");
    say(
      `${what}: ${ours.toFixed(0)}/s${beside}, ${(ours / floor).toFixed(2)} of a bare server's ${floor.toFixed(0)}/s (${(bytes.byteLength / 1024).toFixed(1)} KB${more})`,
    );
  }
}

const [, , role, place, records] = process.argv;
if (role === "make") await make(place, Number(records));
else if (role === "bare") serveBare();
else await main();
