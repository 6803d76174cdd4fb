import { readFileSync } from "node:fs";

/**
 * Requests a small list and a control, a server that does nothing, every 20 ms until its standard input ends, then prints
 * as JSON the waits for both and the processor time of the server's thread in each wait, all in milliseconds. A process,
 * so that the load's own work does not add to the waits. Arguments: process of the server, list, control.
 */
const [pid, ...urls] = process.argv.slice(2);
const EVERY = 20;
const state = { over: false };
void Bun.stdin.text().then(() => {
  state.over = true;
});
const waits: number[][] = urls.map(() => []);
const work: number[] = [];

/** Milliseconds for which the thread that answers requests has run. */
const worked = (): number =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;

async function measure(url: string): Promise<number> {
  const started = performance.now();
  const response = await fetch(url).catch(() => undefined);
  await response?.arrayBuffer();
  if (response?.ok) return performance.now() - started;
  console.error(`${url} failed: ${response?.status ?? "no connection"}`);
  state.over = true;
  // Infinity has no form in JSON.
  return Number.MAX_VALUE;
}

for (let next = performance.now(); !state.over; next = Math.max(next + EVERY, performance.now())) {
  await Bun.sleep(next - performance.now());
  const before = worked();
  const measured = urls.map(async (url, i) => {
    waits[i].push(await measure(url));
    if (i === 0) work.push(worked() - before);
  });
  await Promise.all(measured);
}
process.stdout.write(JSON.stringify([...waits, work]));
