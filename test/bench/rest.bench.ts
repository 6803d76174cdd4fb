/**
 * Speed of lists, records and writes over HTTP, with many records.
 *
 *   bun run test/bench/rest.bench.ts                 100,000 annotation types and 100,000 locations, 50 users
 *   RECORDS=1000000 bun run test/bench/rest.bench.ts  ten times as many of each
 *   RECORDS=5000 SECONDS=0.2 …                        quick
 *
 * The server is a process of its own. Every answer is compared with a count that follows from the data. Each line
 * has requests per second (the median of rounds), and the ratio to a bare Bun.serve that sends the same bytes to
 * the same client: the client and the socket cost what is missing to 1. Against the peer, Django REST framework,
 * see docs/performance.md.
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "../../src/app.ts";
import { resolveConfig } from "../../src/config.ts";

const RECORDS = Number(process.env.RECORDS ?? 100_000);
const SECONDS = Number(process.env.SECONDS ?? 1);
const ROUNDS = 3;
/** Requests on their way at once. */
const CLIENTS = 8;
const USERS = 50;
const GROUPS = 10;
const TYPES = ["TEXT", "JSON", "OBJECT", "DMAPPANNOTATION"];

/** Starts the service in this process on a database of its own, and prints its address and tokens as one line. */
async function server(directory: string): Promise<void> {
  const { config } = resolveConfig({
    flags: { data_dir: directory, workers: "1" },
    environment: {},
  });
  const app = await open(config);
  const { accounts, database } = app;
  await accounts.addUser({ username: "admin", superuser: true });
  for (let i = 0; i < USERS; i++)
    await accounts.addUser({ username: `user${i}`, group: `Group ${i % GROUPS}` });
  const first = accounts.userOf("user0");
  const [group] = database.query("SELECT rid FROM user_group WHERE name = 'Group 0'").values() as [[number]];
  // Every second record is public; owners and groups take turns; every record has a name of its own.
  const rows = `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${RECORDS - 1})`;
  const common = `1700000000000000 + i, 1700000000000000 + i, ${first} + i % ${USERS}, ${first} + i % ${USERS}, ${first} + i % ${USERS}, ${group[0]} + i % ${GROUPS}, i % 2`;
  const shared = "created, modified, created_by, modified_by, owner, owned_by, public";
  const id = (kind: number) => `printf('${kind}0000000-0000-4000-8000-%012d', i)`;
  const name = `'type_' || printf('%07d', i * 7919 % ${RECORDS})`;
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
  const where = { port: 0, hostname: "127.0.0.1", maxRequestBodySize: 1e8 };
  const listening = Bun.serve({ ...where, fetch: (request) => app.answer(request) });
  let bytes = new ArrayBuffer(0);
  const bare = Bun.serve({
    ...where,
    async fetch(request) {
      if (request.method === "PUT") bytes = await request.arrayBuffer();
      return new Response(bytes, { headers: { "Content-Type": "application/json" } });
    },
  });
  process.stdout.write(`${JSON.stringify({ url: listening.url.href, bare: bare.url.href, tokens })}\n`);
}

const median = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1];

/** Requests per second of some clients at once, the median of the rounds. */
async function rate(request: (i: number) => Promise<Response>): Promise<number> {
  const rates: number[] = [];
  let sent = 0;
  for (let round = 0; round <= ROUNDS; round++) {
    const begin = performance.now();
    const end = begin + SECONDS * 1000;
    let done = 0;
    const client = async () => {
      while (performance.now() < end) {
        const response = await request(sent++);
        await response.arrayBuffer();
        if (!response.ok) throw new Error(`${response.status} ${response.url}`);
        done++;
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
    // The first round warms up.
    if (round > 0) rates.push((done / (performance.now() - begin)) * 1000);
  }
  return median(rates);
}

const memory = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;

async function main(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "labd-bench-"));
  const child = Bun.spawn([process.execPath, import.meta.path, "serve", directory], {
    stdout: "pipe",
    // The log goes nowhere, but it is written.
    stderr: "ignore",
    env: process.env as Record<string, string>,
  });
  try {
    const begin = performance.now();
    const reader = child.stdout.getReader();
    const { value } = await reader.read();
    const { url, bare, tokens } = JSON.parse(new TextDecoder().decode(value)) as {
      url: string;
      bare: string;
      tokens: Record<string, string>;
    };
    const say = (line: string) => process.stdout.write(`${line}\n`);
    say(
      `${RECORDS} annotation types and as many locations, made in ${((performance.now() - begin) / 1000).toFixed(1)} s`,
    );
    say(`server: ${memory(child.pid).toFixed(0)} MB at rest`);
    await measure(`${url}api/v2/`, bare, tokens, say);
    say(`server: ${memory(child.pid).toFixed(0)} MB after it all`);
  } finally {
    child.kill();
    rmSync(directory, { recursive: true, force: true });
  }
}

async function measure(
  base: string,
  bare: string,
  tokens: Record<string, string>,
  say: (line: string) => void,
): Promise<void> {
  const headers = (who: string) => ({
    Authorization: `Token ${tokens[who]}`,
    "Content-Type": "application/json",
    // Compression is not what is measured.
    "Accept-Encoding": "identity",
  });
  const total = async (path: string, who: string, wanted: number): Promise<Response> => {
    const response = await fetch(base + path, { headers: headers(who) });
    const body = (await response.clone().json()) as { total?: number };
    if (body.total !== wanted)
      throw new Error(`${path}: ${body.total}, but ${wanted} is what is measured here`);
    return response;
  };
  const pages = Math.min(1000, Math.floor(RECORDS / 50 / 2));
  /** How many records a condition on their number holds for, by the way in which they are made. */
  const count = (holds: (i: number) => boolean): number => {
    let found = 0;
    for (let i = 0; i < RECORDS; i++) if (holds(i)) found++;
    return found;
  };
  // The public half, what user0 owns, and what its group owns.
  const visible = (i: number) => i % 2 === 1 || i % USERS === 0 || i % GROUPS === 0;
  const seen = count(visible);
  const named = (i: number) =>
    String((i * 7919) % RECORDS)
      .padStart(7, "0")
      .startsWith("00");
  const lists: [what: string, path: string, who: string, wanted: number][] = [
    ["list of 50, superuser", "annotationtypes/", "admin", RECORDS],
    ["list of 50, user", "annotationtypes/", "user0", seen],
    ["locations, 50, user", "locations/", "user0", seen],
    [`page ${pages}, superuser`, `annotationtypes/?page=${pages}`, "admin", RECORDS],
    [`page ${pages}, user`, `annotationtypes/?page=${pages}`, "user0", seen],
    [
      "type and name",
      "annotationtypes/?type=TEXT&name=type_00",
      "admin",
      count((i) => i % 4 === 0 && named(i)),
    ],
    [
      "description contains",
      "annotationtypes/?description=number+777+of",
      "admin",
      count((i) => (i * 104_729) % 1000 === 777),
    ],
    ["query", "locations/?query=box+424", "user0", count((i) => visible(i) && String(i).includes("424"))],
  ];
  for (const [what, path, who, wanted] of lists) {
    const begin = performance.now();
    const sample = await total(path, who, wanted);
    const first = performance.now() - begin;
    const more = `, ${wanted} records, the first time ${first.toFixed(1)} ms`;
    await compare(what, sample, () => fetch(base + path, { headers: headers(who) }), more);
  }
  const detail = (i: number) =>
    `${base}annotationtypes/10000000-0000-4000-8000-${String((i * 37) % RECORDS).padStart(12, "0")}/`;
  await compare("one record, any", await fetch(detail(1), { headers: headers("admin") }), (i) =>
    fetch(detail(i), { headers: headers("admin") }),
  );
  let made = 0;
  const create = (i: number) => {
    made++;
    return fetch(`${base}locations/`, {
      method: "POST",
      headers: headers("user0"),
      body: JSON.stringify({ label: `New ${i}`, description: "Made by the benchmark" }),
    });
  };
  await compare("create", await create(0), (i) => create(i + 1));
  await total("locations/?name=New", "user0", made);
  const ids = Array.from(
    { length: 10_000 },
    (_, i) => `20000000-0000-4000-8000-${String((i * 3) % RECORDS).padStart(12, "0")}`,
  );
  const times: number[] = [];
  const rounds = RECORDS >= 30_000 ? ROUNDS : 0;
  for (let round = 0; round < rounds; round++) {
    const begin = performance.now();
    const response = await fetch(`${base}locations/?fields=id`, {
      method: "PATCH",
      headers: headers("admin"),
      body: JSON.stringify(ids.map((id) => ({ id, barcode: `B${round}` }))),
    });
    const rows = (await response.json()) as unknown[];
    if (rows.length !== ids.length) throw new Error(`bulk update: ${response.status}`);
    times.push(performance.now() - begin);
  }
  if (times.length > 0) say(`bulk update of 10,000: ${median(times).toFixed(0)} ms`);

  /** One line: the rate, and its ratio to a server that has the bytes ready. */
  async function compare(
    what: string,
    sample: Response,
    request: (i: number) => Promise<Response>,
    more = "",
  ): Promise<void> {
    const bytes = await sample.arrayBuffer();
    await fetch(bare, { method: "PUT", body: bytes });
    const floor = await rate(() => fetch(bare, { headers: { "Accept-Encoding": "identity" } }));
    const ours = await rate(request);
    say(
      `${what}: ${ours.toFixed(0)}/s, ${(ours / floor).toFixed(2)} of a bare server's ${floor.toFixed(0)}/s (${(bytes.byteLength / 1024).toFixed(1)} KB${more})`,
    );
  }
}

if (process.argv[2] === "serve") await server(process.argv[3]);
else await main();
