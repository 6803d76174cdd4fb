/**
 * Requests a small list every 20 ms until its standard input ends, then prints the waits in milliseconds as JSON. A
 * process, so that the load's own work does not add to the waits.
 */
const [url] = process.argv.slice(2);
const EVERY = 20;
const state = { over: false };
void Bun.stdin.text().then(() => {
  state.over = true;
});
const waits: number[] = [];
for (let next = performance.now(); !state.over; next = Math.max(next + EVERY, performance.now())) {
  await Bun.sleep(next - performance.now());
  const started = performance.now();
  const response = await fetch(url).catch(() => undefined);
  await response?.arrayBuffer();
  if (!response?.ok) {
    console.error(`The small list failed: ${response?.status ?? "no connection"}`);
    waits.push(Infinity);
    break;
  }
  waits.push(performance.now() - started);
}
process.stdout.write(JSON.stringify(waits.map((wait) => (wait === Infinity ? -1 : wait))));
