/**
 * The waiting time of a small read during large requests, and the memory that they take.
 *
 *   bun run build && bun run test/bench/fairness.bench.ts [LOAD ...]
 *   LABD=/path/of/another/labd bun run test/bench/fairness.bench.ts
 *
 * With 100,000 public records, a list of five is requested every 20 ms while each load runs, alone and eight at once,
 * on a new server. Prints the longest wait and the peak memory of the server with its processes. The control is a server
 * that does nothing, requested at the same times: on a busy machine it waits too. The work is the processor time of the
 * server's thread during a wait at most: about the longest wait on a machine that does nothing else. Linux only.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { memory, open, prepare } from "./fairness/laboratory.ts";
import { LOADS, type Load } from "./fairness/loads.ts";
import { quantile, say } from "./harness.ts";

/** Milliseconds after which a load is given up. */
const LIMIT = 60_000;

const named = process.argv.slice(2);
const unknown = named.filter((name) => !Object.hasOwn(LOADS, name));
if (unknown.length > 0)
  throw new Error(`No load is named ${unknown.join(" or ")}. Loads: ${Object.keys(LOADS).join(", ")}`);
const script = (name: string): string[] => [process.execPath, join(import.meta.dir, `fairness/${name}.ts`)];
const idle = Bun.spawn(script("control"), { stdout: "pipe" });
const controlUrl = new TextDecoder().decode((await idle.stdout.getReader().read()).value).trim();
const prepared = await prepare();

interface Measured {
  /** Milliseconds. */
  longest: number;
  p99: number;
  control: number;
  work: number;
  /** Megabytes. */
  peak: number;
  seconds: number;
  outcomes: string;
}

async function measure(load: Load, clients: number): Promise<Measured> {
  await using laboratory = await open(prepared);
  const list = `${laboratory.url}/api/v2/stocks/consumables/?page_size=5`;
  for (let i = 0; i < 20; i++) await (await fetch(list)).arrayBuffer();
  const pid = String(laboratory.server.process.pid);
  const reader = Bun.spawn([...script("reader"), pid, list, controlUrl], { stdin: "pipe", stdout: "pipe" });
  await Bun.sleep(500);
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, memory(laboratory.server));
  }, 50);
  const started = performance.now();
  const all = Array.from({ length: clients }, () => load(laboratory).catch((error: Error) => error.message));
  const given = await Promise.race([Promise.all(all), Bun.sleep(LIMIT).then(() => ["given up"])]);
  const seconds = (performance.now() - started) / 1000;
  await Bun.sleep(500);
  clearInterval(watch);
  await reader.stdin.end();
  const text = await Promise.race([
    new Response(reader.stdout).text(),
    Bun.sleep(LIMIT).then(() => "[[1e9],[0],[0]]"),
  ]);
  reader.kill();
  const [waits, control, work] = JSON.parse(text) as number[][];
  const outcomes = [...new Set(given)].map((outcome) => {
    const count = given.filter((other) => other === outcome).length;
    return count > 1 ? `${count} × ${outcome}` : outcome;
  });
  return {
    longest: Math.max(...waits),
    p99: quantile(waits, 0.99),
    control: Math.max(...control),
    work: Math.max(...work),
    peak,
    seconds,
    outcomes: outcomes.join(", "),
  };
}

say(
  "| Load | Clients | Longest wait | 99th percentile | Control | Work | Peak memory | Seconds | Responses |",
);
say("|---|---|---|---|---|---|---|---|---|");
try {
  for (const name of named.length > 0 ? named : Object.keys(LOADS))
    for (const clients of name === "nothing" ? [1] : [1, 8]) {
      const { longest, p99, control, work, peak, seconds, outcomes } = await measure(LOADS[name], clients);
      const cells = [
        name,
        clients,
        `${longest.toFixed(0)} ms`,
        `${p99.toFixed(1)} ms`,
        `${control.toFixed(0)} ms`,
        `${work.toFixed(0)} ms`,
        `${peak.toFixed(0)} MB`,
        seconds.toFixed(1),
        outcomes,
      ];
      say(`| ${cells.join(" | ")} |`);
    }
} finally {
  idle.kill();
  rmSync(prepared.directory, { recursive: true, force: true });
}
process.exit();
