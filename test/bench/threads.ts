/** Threads of a benchmark: LABD_BENCH_THREADS, 2 by default. */

/** Items per message: proteins that share a pass over the corpus. */
const CHUNK = 16;

/**
 * Results of `work` for all items, in order. Does not return in the threads it starts, so that the rest of
 * the file runs once.
 *
 * @param file the benchmark's path.
 */
export async function onThreads<Item, Result>(
  file: string,
  items: readonly Item[],
  work: (items: Item[]) => Result[],
): Promise<Result[]> {
  if (!Bun.isMainThread) {
    self.addEventListener("message", ({ data }: MessageEvent<Item[]>) => postMessage(work(data)));
    postMessage(null);
    return new Promise(() => {});
  }
  const chunks = Array.from({ length: Math.ceil(items.length / CHUNK) }, (_, k) =>
    items.slice(k * CHUNK, (k + 1) * CHUNK),
  );
  const results: Result[][] = [];
  let next = 0;
  const serve = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const worker = new Worker(file, { argv: process.argv.slice(2) });
      let current = -1;
      worker.addEventListener("error", ({ message }) => reject(new Error(message)));
      worker.addEventListener("message", ({ data }: MessageEvent<Result[] | null>) => {
        if (data !== null) results[current] = data;
        current = next++;
        if (current % 10 === 0) console.error(`${current * CHUNK} of ${items.length}`);
        // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows
        if (current < chunks.length) worker.postMessage(chunks[current]);
        else {
          worker.terminate();
          resolve();
        }
      });
    });
  await Promise.all(Array.from({ length: Number(process.env.LABD_BENCH_THREADS ?? 2) }, serve));
  return results.flat();
}
