/**
 * Lists of what is running out in a large inventory, in this process, and the reminders of one person.
 *
 *   bun run test/bench/running-out.bench.ts     20,000 and 200,000 records, half of them tubes of products by twenties
 *   RECORDS=2000,20000 RUNS=5 …                 other sizes
 *
 * Prints milliseconds of processor time, by reader, and of the sums over the tubes of each product alone, as SQL without
 * permissions, units and names. Of scans for reminders, the longest time in which no request is answered.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Accounts } from "../../src/accounts/accounts.ts";
import { reminders } from "../../src/inventory/index.ts";
import { listRunningOut, readStock } from "../../src/inventory/records/running-out.ts";
import { openStore } from "../../src/inventory/records/store.ts";
import { DECLARED, type RoutedResource } from "../../src/inventory/resources/index.ts";
import type { Database } from "../../src/platform/sqlite.ts";
import { openMigrated } from "../database.ts";
import { say, withRange } from "./harness.ts";
import { fillLaboratory, USERS } from "./inventory/laboratory.ts";

const SIZES = (process.env.RECORDS ?? "20000,200000").split(",").map(Number);
const RUNS = Number(process.env.RUNS ?? 9);
const TUBES = 20;

/** Products of the first half of the consumables in turn, with the owners and rights of their first tubes. */
function addProducts(database: Database, records: number): number {
  const shared = "created, modified, created_by, modified_by, owner, owned_by, public, name, name_fold";
  const products = Math.floor(records / 4 / TUBES);
  database.run(
    `INSERT INTO product (id, minimum_amount, ${shared})
     SELECT replace(id, '10000000', '90000000'), rid % 30, ${shared} FROM consumable WHERE rid <= ${products}`,
  );
  database.run(
    `UPDATE consumable SET product = (SELECT min(rid) FROM product) + rid % ${products} WHERE rid <= ${products * TUBES}`,
  );
  database.run("ANALYZE");
  return products;
}

/** The sums over tubes of each product that decide about it, for a reader who may view everything. */
const BY_HAND = `SELECT p.rid, p.minimum_amount, count(c.rid),
  count(*) FILTER (WHERE coalesce(c.amount <> 0, 1) AND c.status <> 'EMPTY') AS live,
  count(*) FILTER (WHERE coalesce(c.amount <> 0, 1) AND c.status <> 'EMPTY' AND coalesce(c.expiry >= ?1, 1)) AS usable
  FROM product AS p LEFT JOIN consumable AS c ON c.product = p.rid AND c.deleted = 0 WHERE p.deleted = 0 GROUP BY p.rid`;

function measure(name: string, work: () => unknown): void {
  work();
  const times = Array.from({ length: RUNS }, () => {
    const before = process.cpuUsage();
    work();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  say(`  ${name}: ${withRange(times)} ms`);
}

/** Prints the longest time in which work lets no request be answered, and the time of all of it. */
async function measurePauses(name: string, work: () => Promise<unknown>): Promise<void> {
  await work();
  const pauses: number[] = [];
  const times: number[] = [];
  for (let run = 0; run < RUNS; run++) {
    let [isDone, longest, last] = [false, 0, performance.now()];
    const tick = (): void => {
      const now = performance.now();
      longest = Math.max(longest, now - last);
      last = now;
      if (!isDone) setImmediate(tick);
    };
    setImmediate(tick);
    const start = performance.now();
    await work();
    times.push(performance.now() - start);
    isDone = true;
    pauses.push(longest);
  }
  say(`  ${name}: pauses of at most ${withRange(pauses)} ms, in all ${withRange(times)} ms`);
}

async function run(records: number): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "labd-running-out-"));
  try {
    const path = join(directory, "labd.sqlite");
    const database = openMigrated(path);
    const clock = { now: Date.now, newId: () => crypto.randomUUID() };
    const accounts = new Accounts(database, clock);
    await accounts.addUser({ username: "admin", superuser: true });
    for (const [username, group] of Object.entries(USERS)) await accounts.addUser({ username, group });
    fillLaboratory(path, records);
    const products = addProducts(database, records);
    say(`${records} records, ${products} products`);
    const store = openStore(database, clock);
    for (const username of ["admin", ...Object.keys(USERS)]) {
      const user = accounts.userId(username);
      const actor = accounts.readActor(user);
      const { length } = listRunningOut(store, actor);
      measure(`${username}, ${length} running out`, () => listRunningOut(store, actor));
      const due = reminders(database, clock, "");
      await measurePauses(`${username}, scan for reminders`, () => due.scan(user, () => undefined));
    }
    const admin = accounts.readActor(accounts.userId("admin"));
    const product = DECLARED.get("product") as RoutedResource;
    const { rid } = database.query("SELECT min(rid) AS rid FROM product").get() as { rid: number };
    measure("one product", () => readStock(store, admin, product, rid));
    const today = Math.floor(Date.now() / 86_400_000) * 86_400_000_000;
    measure("products by hand", () => database.query(BY_HAND).all(today));
    database.close();
  } finally {
    rmSync(directory, { recursive: true });
  }
}

for (const records of SIZES) await run(records);
