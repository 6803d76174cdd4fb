/**
 * Latency of the inventory pages in headless Chromium with the executable.
 *
 *   bun run build && bun run test/bench/pages.bench.ts    100,000 locations and 100,000 consumables
 *   RECORDS=1000 ROUNDS=3 …                                quick
 *
 * From the event (click, key, navigation) to the first frame that shows its result, measured in the page;
 * without script compilation and evaluation on navigation. Also prints the processor time of service and
 * page. Exit code 1 if any 95th percentile is 200 ms or more. See docs/performance.md.
 */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch, type Page } from "puppeteer-core";
import { open } from "../../src/app/open.ts";
import { resolveConfig } from "../../src/config.ts";
import { serve } from "../executable/labd.ts";

const RECORDS = Number(process.env.RECORDS ?? 100_000);
const ROUNDS = Number(process.env.ROUNDS ?? 20);
const LIMIT = 200;
const ROOMS = 200;
const PASSWORD = "a password for benches";
const CHROMIUM = [process.env.CHROMIUM ?? "", "/usr/bin/chromium", "/usr/bin/google-chrome"].find(
  (path) => path !== "" && existsSync(path),
);
if (CHROMIUM === undefined) throw new Error("no Chromium: name one in CHROMIUM");

const id = (kind: number) => `printf('${kind}0000000-0000-4000-8000-%012d', i)`;

/** Creates the records by SQL. */
async function make(directory: string): Promise<void> {
  const { config } = resolveConfig({ flags: { data_dir: directory, workers: "1" }, environment: {} });
  const app = await open(config);
  const { accounts, database } = app;
  await accounts.addUser({ username: "admin", password: PASSWORD, superuser: true });
  const admin = accounts.userId("admin");
  const numbers = (count: number) =>
    `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < ${count - 1})`;
  const shared = "created, modified, created_by, modified_by, owner, owned_by, public";
  const common = `1700000000000000 + i, 1700000000000000 + i, ${admin}, ${admin}, ${admin}, 1, i % 2`;
  const prose = "'Description of thing ' || i || ', number ' || (i * 104729 % 1000) || ' of its kind'";
  database.transaction(() => {
    database.run(
      `INSERT INTO address (rid, name, name_fold, ${shared}) WITH n (i) AS (SELECT 1) SELECT 1, 'Here', 'here', ${common} FROM n`,
    );
    database.run(
      `INSERT INTO place (rid, id, building, building_fold, room, room_fold, address, ${shared})
       ${numbers(ROOMS)} SELECT i + 1, ${id(4)}, 'A', 'a', printf('%03d', i), printf('%03d', i), 1, ${common} FROM n`,
    );
    database.run(
      `INSERT INTO location (rid, id, label, label_fold, description, place, parent, ${shared})
       ${numbers(RECORDS)} SELECT i + 1, ${id(2)}, 'Box ' || i, 'box ' || i, ${prose}, 1 + i % ${ROOMS},
         CASE WHEN i >= ${ROOMS * 10} THEN 1 + i % ${ROOMS * 10} END, ${common} FROM n`,
    );
    database.run(
      `INSERT INTO consumable (rid, id, name, name_fold, description, model_type, status, location, amount, ${shared})
       ${numbers(RECORDS)} SELECT i + 1, ${id(3)}, 'Tube ' || (i * 7919 % ${RECORDS}), 'tube ' || (i * 7919 % ${RECORDS}), ${prose},
         CASE i % 3 WHEN 0 THEN 'ANTIBODY' WHEN 1 THEN 'OLIGO' ELSE 'ENZYME' END, 'AVAILABLE',
         1 + (i * 31) % ${RECORDS}, i % 100, ${common} FROM n`,
    );
    // Existing records need a first history entry.
    database.run(
      "INSERT INTO record_batch (rid, id, at, kind, user_rid) VALUES (2, '90000000-0000-4000-8000-000000000002', 1700000000000000, 'sample', 1)",
    );
    // The server indexes the texts when it starts.
    database.run("DELETE FROM record_text_source");
  })();
  database.run("PRAGMA optimize");
  await app.close();
}

const directory = mkdtempSync(join(tmpdir(), "labd-pages-"));
await make(directory);
await using server = await serve(directory, ["--log", "off"]);
const browser = await launch({
  executablePath: CHROMIUM,
  protocolTimeout: 30_000,
  args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
});
const page = await browser.newPage();
await page.setViewport({ width: 1200, height: 900 });
page.on("pageerror", (error) => {
  throw error;
});
// Code evaluated here is not part of the page.
await page.setBypassCSP(true);
await page.goto(`${server.url}/sign-in`);
await page.evaluate(
  (body) =>
    fetch("/api/v2/session/", { method: "POST", headers: { "Content-Type": "application/json" }, body }),
  JSON.stringify({ username: "admin", password: PASSWORD }),
);

/** Time at which an expression first held in a frame. */
await page.evaluateOnNewDocument(() => {
  (globalThis as unknown as { whenShown: unknown }).whenShown = (expression: string) =>
    new Promise((resolve) => {
      const test = new Function(`return ${expression}`) as () => boolean;
      const holds = (): boolean => {
        try {
          return document.body !== null && test();
        } catch {
          // The element does not exist yet.
          return false;
        }
      };
      const check = (): void => {
        // After that frame was drawn.
        if (holds()) requestAnimationFrame(() => setTimeout(() => resolve(performance.now())));
        else requestAnimationFrame(check);
      };
      check();
    });
});

/** Milliseconds from running `act` in the page to the first frame in which `shown` holds. */
const wait = async (act: string, shown: string): Promise<number> => {
  before = await processorTime();
  return page.evaluate(
    async (doIt, expression) => {
      const { whenShown } = globalThis as unknown as { whenShown(expression: string): Promise<number> };
      const start = performance.now();
      new Function(doIt)();
      return (await whenShown(expression)) - start;
    },
    act,
    shown,
  );
};

/** Waiting time for opening an address, without script compilation and evaluation. */
async function waitToOpen(path: string, shown: string): Promise<number> {
  await page.tracing.start({ categories: ["devtools.timeline", "v8", "disabled-by-default-v8.compile"] });
  const { identifier } = await page.evaluateOnNewDocument((expression) => {
    const from = globalThis as unknown as {
      whenShown(expression: string): Promise<number>;
      shownAt: unknown;
    };
    from.shownAt = from.whenShown(expression);
  }, shown);
  before = await processorTime();
  await page.goto(server.url + path);
  const at = await page.evaluate(() => (globalThis as unknown as { shownAt: Promise<number> }).shownAt);
  await page.removeScriptToEvaluateOnNewDocument(identifier);
  const trace = JSON.parse(new TextDecoder().decode(await page.tracing.stop())) as {
    traceEvents: { name: string; dur?: number }[];
  };
  const scripts = trace.traceEvents.filter(({ name }) =>
    ["EvaluateScript", "v8.evaluateModule", "v8.compileModule", "v8.compile"].includes(name),
  );
  return at - scripts.reduce((sum, { dur = 0 }) => sum + dur / 1000, 0);
}

const meter = await page.createCDPSession();
await meter.send("Performance.enable");
/** Milliseconds of processor time that the page's process and the service have used so far. */
async function processorTime(): Promise<number> {
  const { metrics } = await meter.send("Performance.getMetrics");
  const pageTime = metrics.find(({ name }) => name === "ProcessTime")?.value ?? 0;
  const tasks = `/proc/${server.process.pid}/task`;
  if (!existsSync(tasks)) return pageTime * 1000;
  const threads = readdirSync(tasks).map((id) =>
    Number(readFileSync(`${tasks}/${id}/schedstat`, "utf8").split(" ")[0]),
  );
  return pageTime * 1000 + threads.reduce((sum, time) => sum + time / 1e6, 0);
}

interface Measured {
  waited: number[];
  computed: number[];
}
/** Processor time at the start of the current interaction. */
let before = 0;
const results = new Map<string, Measured>();
async function measure(what: string, once: (round: number) => Promise<number>): Promise<void> {
  const times: number[] = [];
  const computed: number[] = [];
  // The first round warms up.
  for (let round = 0; round <= ROUNDS; round++) {
    const time = await once(round).catch((cause: unknown) => {
      throw new Error(`${what}: no result at ${page.url()}`, { cause });
    });
    const used = (await processorTime()) - before;
    if (round === 0) continue;
    times.push(time);
    computed.push(used);
  }
  const up = (values: number[]) => values.toSorted((a, b) => a - b);
  results.set(what, { waited: up(times), computed: up(computed) });
}

const ROWS = "document.querySelectorAll('tbody tr').length === 50";
const COUNT = RECORDS.toLocaleString("en");
const TOTAL = `document.querySelector('.card-foot')?.innerText.includes('of ${COUNT}')`;
const IDLE = "document.querySelector('.card.dense')?.ariaBusy !== 'true'";
const SELECTED = "document.querySelector('.bulk')?.innerText";
const list = (path: string) => async (act: string, shown: string) => {
  await ready(page, path);
  return wait(act, shown);
};
async function ready(on: Page, path: string): Promise<void> {
  await on.goto(server.url + path, { waitUntil: "networkidle2" });
  await on.waitForFunction("document.querySelectorAll('tbody tr').length > 0");
}
const consumables = list("/inventory/stocks-consumables");

await measure("open the list", () => waitToOpen("/inventory/stocks-consumables", `${ROWS} && ${TOTAL}`));
await measure("search a word (with the pause of 75 ms)", (round) =>
  consumables(
    `const box = document.querySelector('input[type=search]'); box.value = '${RECORDS / 2 + round}'; box.dispatchEvent(new Event('input', { bubbles: true }))`,
    `!${TOTAL} && document.querySelector('tbody')?.innerText.includes('${RECORDS / 2 + round}')`,
  ),
);
await measure("filter by what no index has", async (round) => {
  await ready(page, "/inventory/stocks-consumables");
  await page.click(".chip-add");
  await page.waitForSelector(".filter-row input");
  return wait(
    `const box = document.querySelector('.filter-row input'); box.value = '${round}7'; box.dispatchEvent(new Event('input', { bubbles: true }));
     setTimeout(() => document.querySelector('form[aria-label=Filter] [type=submit]').click())`,
    `location.search.includes('query_expression') && !${TOTAL} && ${IDLE}`,
  );
});
await measure("order by a column without an index", () =>
  consumables(
    "[...document.querySelectorAll('th .sort')].find((b) => b.innerText.startsWith('Amount')).click()",
    `location.search.includes('ordering=amount') && ${IDLE} && document.querySelector('th[aria-sort]')?.innerText.startsWith('Amount')`,
  ),
);
await measure("next page", () =>
  consumables(
    "[...document.querySelectorAll('nav[aria-label=Pages] button')].at(-1).click()",
    `document.querySelector('.card-foot').innerText.startsWith('51–100') && ${IDLE}`,
  ),
);
await measure("next row by key", () =>
  consumables(
    "document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'j', bubbles: true }))",
    "document.querySelector('tbody tr.active') !== null",
  ),
);
await measure("select the page", () =>
  consumables("document.querySelector('thead input').click()", `${SELECTED}.startsWith('50 records')`),
);
await measure("select all that are found", async () => {
  await ready(page, "/inventory/stocks-consumables");
  await page.click("thead input");
  await page.waitForSelector(".bulk");
  return wait(
    "[...document.querySelectorAll('.bulk button')].find((b) => b.innerText.startsWith('Select all')).click()",
    `${SELECTED}.startsWith('${COUNT} records')`,
  );
});
await measure("change a value in its cell", async (round) => {
  await ready(page, "/inventory/stocks-consumables");
  await page.click("tbody button[title^='Edit amount']");
  await page.waitForSelector(".cell-editor input");
  await page.type(".cell-editor input", `${round}`);
  return wait(
    "document.querySelector('.cell-editor [type=submit]').click()",
    "document.querySelector('.cell-editor') === null && document.querySelector('.toast') !== null",
  );
});
await measure("open a record", (round) =>
  waitToOpen(
    `/inventory/locations/20000000-0000-4000-8000-${String(round).padStart(12, "0")}`,
    "document.querySelector('h1').innerText.startsWith('Box') && document.querySelector('.names li') !== null && document.querySelector('.path li + li') !== null",
  ),
);
await measure("open the tree", () =>
  waitToOpen("/inventory/storage", "document.querySelectorAll('.tree li').length >= 100"),
);
await measure("open a room in the tree", async () => {
  await page.goto(`${server.url}/inventory/storage`, { waitUntil: "networkidle2" });
  await page.waitForSelector(".tree li button");
  return wait(
    "document.querySelector('.tree li button').click()",
    "document.querySelector('.tree .tree li') !== null",
  );
});

await browser.close();
await server.end("SIGTERM");
rmSync(directory, { recursive: true });

const at = (times: readonly number[], share: number): string =>
  times[Math.min(times.length - 1, Math.floor(times.length * share))].toFixed(0);
let slow = 0;
process.stdout.write(
  `| ${RECORDS.toLocaleString("en")} records, ms | median | 95 % | slowest | processor |\n|---|---:|---:|---:|---:|\n`,
);
for (const [what, { waited, computed }] of results) {
  const row = [what, at(waited, 0.5), at(waited, 0.95), at(waited, 1), at(computed, 0.5)];
  process.stdout.write(`| ${row.join(" | ")} |\n`);
  if (Number(at(waited, 0.95)) >= LIMIT) slow++;
}
process.exit(slow > 0 ? 1 : 0);
