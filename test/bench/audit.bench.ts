/**
 * What the audit log costs: the same work on two services in this process, of which one notes nothing, in turns.
 *
 *   bun run test/bench/audit.bench.ts          400 pairs of each kind of work
 *   PAIRS=50 bun run test/bench/audit.bench.ts quick
 *
 * Each pair is one request to each, the order drawn by lot. Told are the medians of both, of the differences within the
 * pairs, and an interval that holds that median in 95 of 100 runs (by rank). Databases are on the disk of TMPDIR.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type App, open } from "../../src/app/open.ts";
import { resolveConfig } from "../../src/config.ts";

const PAIRS = Number(process.env.PAIRS ?? 400);
const directory = mkdtempSync(join(tmpdir(), "labd-audit-"));
const say = (line: string) => process.stdout.write(`${line}\n`);

interface Side {
  app: App;
  ask(method: string, path: string, body?: unknown): Promise<Record<string, string>>;
}

async function openSide(name: string, isNoting: boolean): Promise<Side> {
  const flags = { data_dir: join(directory, name), log: "off", workers: "1" };
  const app = await open(resolveConfig({ flags, environment: {} }).config);
  await app.accounts.addUser({ username: "ada", superuser: true });
  await app.accounts.addUser({ username: "kim" });
  const token = app.accounts.addToken("ada", "bench");
  // The same instance for whoever notes something in this database.
  if (!isNoting) app.accounts.audit.log.record = () => {};
  return {
    app,
    async ask(method, path, body) {
      const request = new Request(`http://lab/api/v2/${path}`, {
        method,
        headers: { Authorization: `Token ${token}`, "Content-Type": "application/json" },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const response = await app.answer(request);
      const text = await response.text();
      if (response.status >= 300) throw new Error(`${method} ${path}: ${response.status} ${text}`);
      return text === "" ? {} : (JSON.parse(text) as Record<string, string>);
    },
  };
}

const sides = { noted: await openSide("noted", true), silent: await openSide("silent", false) };
let made = 0;

/** Work by its name: `before` is not timed. */
const WORK: [string, (side: Side) => Promise<() => Promise<unknown>>][] = [
  [
    "make a record",
    async ({ ask }) =>
      () =>
        ask("POST", "locations/", { label: `L${made++}` }),
  ],
  [
    "make 100 records at once",
    async ({ ask }) => {
      const many = Array.from({ length: 100 }, () => ({ label: `L${made++}` }));
      return () => Promise.all(many.map((one) => ask("POST", "locations/", one)));
    },
  ],
  [
    "delete a record",
    async ({ ask }) => {
      const { id } = await ask("POST", "locations/", { label: `L${made++}` });
      return () => ask("DELETE", `locations/${id}/`);
    },
  ],
  [
    "share a record",
    async ({ ask }) => {
      const { id } = await ask("POST", "locations/", { label: `L${made++}` });
      return () => ask("PATCH", `locations/${id}/permissions/`, { users: [{ user: "kim", view: true }] });
    },
  ],
  [
    "make a token",
    async ({ ask }) =>
      () =>
        ask("POST", "tokens/", { name: "x" }),
  ],
];

const sorted = (values: number[]): number[] => values.toSorted((a, b) => a - b);
const median = (values: number[]): number => sorted(values)[values.length >> 1];
const ms = (value: number): string => value.toFixed(3).padStart(8);

say(`${PAIRS} pairs; milliseconds: with, without, median difference and its 95 % interval, entries noted`);
for (const [name, prepare] of WORK) {
  const times = { noted: [] as number[], silent: [] as number[] };
  const before = sides.noted.app.accounts.audit.log.head()?.seq ?? 0;
  const warmUp = Math.max(10, PAIRS / 10);
  for (let i = -warmUp; i < PAIRS; i++) {
    const order = Math.random() < 0.5 ? (["noted", "silent"] as const) : (["silent", "noted"] as const);
    for (const side of order) {
      const work = await prepare(sides[side]);
      const start = performance.now();
      await work();
      if (i >= 0) times[side].push(performance.now() - start);
    }
  }
  const differences = sorted(times.noted.map((time, i) => time - times.silent[i]));
  const half = Math.ceil(0.98 * Math.sqrt(PAIRS));
  const [low, high] = [PAIRS / 2 - half, PAIRS / 2 + half].map(
    (at) => differences[Math.max(0, Math.min(PAIRS - 1, Math.round(at)))],
  );
  const entries = (sides.noted.app.accounts.audit.log.head()?.seq ?? 0) - before;
  say(
    `${name.padEnd(26)}${ms(median(times.noted))}${ms(median(times.silent))}${ms(median(differences))} (${ms(low)} ..${ms(high)})${String(entries).padStart(6)}`,
  );
}
for (const { app } of Object.values(sides)) await app.close();
rmSync(directory, { recursive: true });
