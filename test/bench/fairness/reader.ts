/**
 * Requests a small list and a control, a server that does nothing, every 20 ms until its standard input ends, then prints
 * the waits for both in milliseconds as JSON. A process, so that the load's own work does not add to the waits.
 */
const urls = process.argv.slice(2);
const EVERY = 20;
const state = { over: false };
void Bun.stdin.text().then(() => {
  state.over = true;
});
const waits: number[][] = urls.map(() => []);

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
  await Promise.all(urls.map(async (url, i) => waits[i].push(await measure(url))));
}
process.stdout.write(JSON.stringify(waits));
