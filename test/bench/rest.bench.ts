/**
 * Requests per second of lists, records and writes over HTTP on a large database.
 *
 *   bun run build.ts && bun run test/bench/rest.bench.ts   100,000 of two kinds, 50 users
 *   RECORDS=1000000 …      more records        BIGGER=1000000 …   a second service with that many
 *   RECORDS=5000 SECONDS=0.2 …   quick
 *
 * The server is the executable; every response is checked. Compared in turns with a bare Bun.serve that sends
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

const openApp = (directory: string) =>
  open(resolveConfig({ flags: { data_dir: directory, workers: "1" }, environment: {} }).config);

/** Creates the database in a separate process, so that its memory is not counted. */
async function createRecords(directory: string, records: number): Promise<void> {
  const app = await openApp(directory);
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
  const tokens = Object.fromEntries(
    ["admin", "user0"].map((user) => [user, accounts.addToken(user, "bench")]),
  );
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
    for (const [index, send] of services.entries()) {
      const start = performance.now();
      const end = start + SECONDS * 1000;
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
      if (round > 0) measured[index].push((done / (performance.now() - start)) * 1000);
    }
  return measured.map(median);
}

const SELF = [process.execPath, import.meta.path];

/** Starts a process and reads its address from stderr. */
async function startServer(command: string[]) {
  const child = Bun.spawn(command, { stdout: "ignore", stderr: "pipe" });
  const reader = child.stderr.getReader();
  let output = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`${command.join(" ")}: ${output}`);
    output += new TextDecoder().decode(value);
    const address = /http:\/\/[^\s"]+/.exec(output);
    if (!address) continue;
    // Drain the log.
    void (async () => {
      while (!(await reader.read()).done);
    })();
    return { child, url: address[0].replace(/\/?$/, "/") };
  }
}

/** Starts the executable on a new database. */
async function startLabd(directory: string, records: number) {
  const start = performance.now();
  const maker = Bun.spawn([...SELF, "create", directory, String(records)], {
    stderr: "inherit",
    stdout: "pipe",
  });
  const tokens = (await new Response(maker.stdout).json()) as Record<string, string>;
  if ((await maker.exited) !== 0) throw new Error("creating the records failed");
  const { child, url } = await startServer([LABD, "serve", "--data-dir", directory, "--port", "0"]);
  const labd: Service = { base: `${url}api/v2/`, tokens, records };
  const answer = await fetch(`${labd.base}version/`);
  if (!answer.ok) throw new Error(await answer.text());
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  say(`${records} annotation types and as many locations, created in ${seconds} s`);
  say(
    `server: ${memoryOf(child.pid).toFixed(0)} MB at rest, including ${memoryOf(child.pid, "RssFile").toFixed(0)} MB of the executable`,
  );
  return { child, labd };
}

async function main(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "labd-bench-"));
  const { child, labd } = await startLabd(join(directory, "data"), RECORDS);
  const bigger = BIGGER > 0 ? await startLabd(join(directory, "bigger"), BIGGER) : undefined;
  const bare = await startServer([...SELF, "bare"]);
  let peer: Peer | undefined;
  try {
    peer = process.env.PEER === "0" ? undefined : await startPeer(directory, RECORDS);
    say(
      peer
        ? `peer: Django REST framework ${peer.version}`
        : "No peer: install rest_framework, django_filters and gunicorn for /usr/bin/python3",
    );
    await measure({
      labd,
      bigger: bigger?.labd,
      bare: bare.url,
      peer: peer && { ...peer, records: RECORDS },
    });
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

const headersOf = (service: Service, user: string) => ({
  Authorization: `Token ${service.tokens[user]}`,
  "Content-Type": "application/json",
  // Compression is not measured.
  "Accept-Encoding": "identity",
});
const get = (service: Service, path: string, user: string): Promise<Response> =>
  fetch(service.base + path, { headers: headersOf(service, user) });

/** A page without the service's address. */
const pageOf = async (service: Service, response: Response): Promise<Page> =>
  JSON.parse((await response.text()).replaceAll(service.base, "/")) as Page;

/** @throws if the list has another total */
async function getList(service: Service, path: string, user: string, total: number): Promise<Response> {
  const response = await get(service, path, user);
  const page = await pageOf(service, response.clone());
  if (page.total !== total) throw new Error(`${service.base}${path}: ${page.total}, expected ${total}`);
  return response;
}

/** A list, and its expected total with this many records. */
interface List {
  name: string;
  path: string;
  user: string;
  total(records: number): number;
}

function countIf(records: number, condition: (i: number) => boolean): number {
  let found = 0;
  for (let i = 0; i < records; i++) if (condition(i)) found++;
  return found;
}

/** Public records, those of user0, and those of its group. */
const isVisible = (i: number): boolean => i % 2 === 1 || i % USERS === 0 || i % GROUPS === 0;
const nameOf = (i: number, records: number): string => String((i * 7919) % records).padStart(7, "0");
const middlePage = Math.min(1000, Math.floor(RECORDS / 50 / 2));
const all = (records: number): number => records;
const visible = (records: number): number => countIf(records, isVisible);

const LISTS: readonly List[] = [
  { name: "list of 50, superuser", path: "annotationtypes/", user: "admin", total: all },
  { name: "list of 50, user", path: "annotationtypes/", user: "user0", total: visible },
  { name: "locations, 50, user", path: "locations/", user: "user0", total: visible },
  {
    name: `page ${middlePage}, superuser`,
    path: `annotationtypes/?page=${middlePage}`,
    user: "admin",
    total: all,
  },
  {
    name: `page ${middlePage}, user`,
    path: `annotationtypes/?page=${middlePage}`,
    user: "user0",
    total: visible,
  },
  {
    name: "type and name",
    path: "annotationtypes/?type=TEXT&name=type_00",
    user: "admin",
    total: (records) => countIf(records, (i) => i % 4 === 0 && nameOf(i, records).startsWith("00")),
  },
  {
    name: "description contains",
    path: "annotationtypes/?description=number+777+of",
    user: "admin",
    total: (records) => countIf(records, (i) => (i * 104_729) % 1000 === 777),
  },
  {
    name: "query",
    path: "locations/?query=box+424",
    user: "user0",
    total: (records) => countIf(records, (i) => isVisible(i) && String(i).includes("424")),
  },
];

interface Services {
  readonly labd: Service;
  readonly bigger: Service | undefined;
  /** Address of the bare server. */
  readonly bare: string;
  readonly peer: Service | undefined;
}

const servicesOf = ({ labd, bigger, peer }: Services): Service[] =>
  [labd, bigger, peer].filter((service) => service !== undefined);

async function measure(services: Services): Promise<void> {
  for (const list of LISTS) await measureList(services, list);
  const { labd } = services;
  const detail = ({ records }: Service, i: number) =>
    `annotationtypes/10000000-0000-4000-8000-${String((i * 37) % records).padStart(12, "0")}/`;
  await compare(services, "any record", await get(labd, detail(labd, 1), "admin"), (service, i) =>
    get(service, detail(service, i), "admin"),
  );
  await measureCreation(services);
  if (RECORDS >= 30_000) await measureBulkUpdate(labd);
}

async function measureList(services: Services, { name, path, user, total }: List): Promise<void> {
  const { labd, bigger, peer } = services;
  const start = performance.now();
  const sample = await getList(labd, path, user, total(RECORDS));
  let details = `, ${total(RECORDS)} records, first request ${(performance.now() - start).toFixed(1)} ms`;
  if (bigger) {
    const start = performance.now();
    await getList(bigger, path, user, total(bigger.records));
    details += `, ${(performance.now() - start).toFixed(1)} ms with ${bigger.records}`;
  }
  if (peer) {
    const theirs = await pageOf(peer, await getList(peer, path, user, total(RECORDS)));
    const ours = await pageOf(labd, sample.clone());
    for (const key of ["current", "total_pages", "results"] as const)
      if (!Bun.deepEquals(theirs[key], ours[key]))
        throw new Error(`${path}: ${key} of the peer differ: ${JSON.stringify([ours[key], theirs[key]])}`);
  }
  await compare(services, name, sample, (service) => get(service, path, user), details);
}

async function measureCreation(services: Services): Promise<void> {
  const created = new Map<Service, number>();
  const create = (service: Service, i: number): Promise<Response> => {
    created.set(service, (created.get(service) ?? 0) + 1);
    return fetch(`${service.base}locations/`, {
      method: "POST",
      headers: headersOf(service, "user0"),
      body: JSON.stringify({ label: `New ${i}`, description: "Created by the benchmark" }),
    });
  };
  const sample = await create(services.labd, 0);
  await compare(services, "create", sample, (service, i) => create(service, i + 1));
  for (const service of servicesOf(services))
    await getList(service, "locations/?name=New", "user0", created.get(service) ?? 0);
}

async function measureBulkUpdate(labd: Service): Promise<void> {
  const ids = Array.from(
    { length: 10_000 },
    (_, i) => `20000000-0000-4000-8000-${String((i * 3) % RECORDS).padStart(12, "0")}`,
  );
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    const response = await fetch(`${labd.base}locations/?fields=id`, {
      method: "PATCH",
      headers: headersOf(labd, "admin"),
      body: JSON.stringify(ids.map((id) => ({ id, barcode: `B${round}` }))),
    });
    const rows = (await response.json()) as unknown[];
    if (rows.length !== ids.length) throw new Error(`bulk update: ${response.status}`);
    times.push(performance.now() - start);
  }
  say(`bulk update of 10,000: ${median(times).toFixed(0)} ms`);
}

/** Prints the rate and its ratios to the bare server and the peer. */
async function compare(
  services: Services,
  name: string,
  sample: Response,
  send: (service: Service, i: number) => Promise<Response>,
  details = "",
): Promise<void> {
  const { bare, bigger, peer } = services;
  const bytes = await sample.arrayBuffer();
  await fetch(bare, { method: "PUT", body: bytes });
  const [bareRate, rate, ...others] = await rates([
    () => fetch(bare, { headers: { "Accept-Encoding": "identity" } }),
    ...servicesOf(services).map((service) => (i: number) => send(service, i)),
  ]);
  const ratios = [`${(rate / bareRate).toFixed(2)} of a bare server's ${bareRate.toFixed(0)}/s`];
  if (peer)
    ratios.unshift(`${(rate / others.at(-1)!).toFixed(1)} times the peer's ${others.at(-1)!.toFixed(1)}/s`);
  if (bigger)
    ratios.unshift(
      `${(rate / others[0]).toFixed(2)} times the ${others[0].toFixed(0)}/s with ${bigger.records}`,
    );
  const size = `${(bytes.byteLength / 1024).toFixed(1)} KB`;
  say(`${name}: ${rate.toFixed(0)}/s, ${ratios.join(", ")} (${size}${details})`);
}

const [, , role, place, records] = process.argv;
if (role === "create") await createRecords(place, Number(records));
else if (role === "bare") serveBare();
else await main();
