/**
 * Large imports and exports by the executable, and their effect on other clients.
 *
 *   bun run build.ts && bun run test/bench/import.bench.ts     100,000 consumables
 *   ROWS=5000 bun run test/bench/import.bench.ts               quick
 *
 * Meanwhile one client reads a list and one creates a record every 50 ms. Prints duration, latency of these
 * clients, and peak memory of a fresh process for every line.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median, memoryOf, say } from "./harness.ts";

const ROWS = Number(process.env.ROWS ?? 100_000);
const LABD = process.env.LABD ?? "dist/labd";
const directory = mkdtempSync(join(tmpdir(), "labd-import-"));
const data = join(directory, "data");

async function labd(...words: string[]): Promise<string> {
  const child = Bun.spawn([LABD, ...words, "--data-dir", data], { stdout: "pipe", stderr: "inherit" });
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`labd ${words.join(" ")}`);
  return text.trim();
}

interface Service {
  send(path: string, init?: RequestInit): Promise<Response>;
}

/** Runs an operation on a fresh process with a reader and a writer. */
async function underLoad(
  what: string,
  token: string,
  work: (service: Service) => Promise<string>,
): Promise<void> {
  const port = 20_000 + Math.floor(Math.random() * 20_000);
  const command = [LABD, "serve", "--data-dir", data, "--port", String(port), "--log", "off"];
  const child = Bun.spawn([...command, "--max-message-bytes", "100000000"], {
    stdout: "ignore",
    stderr: "ignore",
  });
  const base = `http://127.0.0.1:${port}/api/v2/`;
  const send = (path: string, init: RequestInit = {}) =>
    fetch(base + path, { ...init, headers: { Authorization: `Token ${token}`, ...init.headers } });
  try {
    for (;;) {
      try {
        if ((await send("version/")).ok) break;
      } catch {
        await Bun.sleep(20);
      }
    }
    const [reads, writes]: number[][] = [[], []];
    const under = { done: false };
    const client = async (times: number[], pause: number, ask: () => Promise<Response>): Promise<void> => {
      while (!under.done) {
        const start = performance.now();
        const response = await ask();
        await response.arrayBuffer();
        if (!response.ok) throw new Error(`${response.status} during ${what}`);
        times.push(performance.now() - start);
        await Bun.sleep(pause);
      }
    };
    const body = JSON.stringify({ label: "Meanwhile" });
    const headers = { "Content-Type": "application/json" };
    const others = [
      client(reads, 5, () => send("locations/")),
      client(writes, 50, () => send("locations/", { method: "POST", headers, body })),
    ];
    await Bun.sleep(300);
    const atRest = memoryOf(child.pid, "VmRSS");
    for (const times of [reads, writes]) times.length = 0;
    const start = performance.now();
    const outcome = await work({ send });
    const seconds = (performance.now() - start) / 1000;
    under.done = true;
    await Promise.all(others);
    const waits = [reads, writes].map(
      (times) => `${median(times).toFixed(0)}/${Math.max(...times).toFixed(0)}`,
    );
    say(
      `${what}: ${seconds.toFixed(1)} s, ${outcome}; reads took ${waits[0]} ms, writes ${waits[1]} ms (median/maximum); memory ${atRest.toFixed(0)} MB before, ${memoryOf(child.pid, "VmHWM").toFixed(0)} MB peak, ${memoryOf(child.pid, "VmRSS").toFixed(0)} MB after`,
    );
  } finally {
    child.kill();
    await child.exited;
  }
}

try {
  await labd("user", "add", "bench", "--admin");
  const token = await labd("token", "add", "bench");
  const rows = Array.from(
    { length: ROWS },
    (_, i) => `Item ${i},Description of thing ${i} of its kind,${i % 100},OTHER\n`,
  );
  const csv = `name,description,amount,model_type\n${rows.join("")}`;
  const path = "stocks/consumables/import/";
  const imported =
    (file: BodyInit, query = "") =>
    async ({ send }: Service) => {
      const answer = await send(path + query, { method: "POST", body: file });
      const report = (await answer.json()) as Record<string, number>;
      if (!answer.ok) throw new Error(JSON.stringify(report).slice(0, 300));
      return `${report.created} created, ${report.updated} changed, ${report.unchanged} unchanged`;
    };
  const files = new Map<string, Uint8Array<ArrayBuffer>>();
  const exported =
    (format: string) =>
    async ({ send }: Service) => {
      const bytes = await (await send(`stocks/consumables/?format=${format}`)).bytes();
      files.set(format, bytes as Uint8Array<ArrayBuffer>);
      return `${(bytes.length / 1e6).toFixed(1)} MB`;
    };
  await underLoad("dry run of CSV", token, imported(csv, "?dry_run=1"));
  await underLoad("import of CSV", token, imported(csv));
  await underLoad("export as CSV", token, exported("csv"));
  await underLoad("export as XLSX", token, exported("xlsx"));
  await underLoad("import of that XLSX, unchanged", token, imported(files.get("xlsx")!));
  await underLoad(
    "import of that XLSX, as new",
    token,
    imported(files.get("xlsx")!, '?match=none&mapping={"id":null}'),
  );
} finally {
  rmSync(directory, { recursive: true, force: true });
}
