/** How far work is: one line on a terminal that is written over; a line now and then where the reader is a pipe or a file. */
export interface ProgressLine {
  show(text: string): void;
  clear(): void;
}

/** Milliseconds between two updates, on a terminal and elsewhere. What takes less says nothing. */
const INTERVAL = 100;
const SPARSE_INTERVAL = 10_000;
const ERASE = "\r\u001b[2K";

export function progressLine(
  stream: Pick<NodeJS.WriteStream, "isTTY" | "write"> = process.stderr,
  now: () => number = () => performance.now(),
  sparse = SPARSE_INTERVAL,
): ProgressLine {
  const { isTTY } = stream;
  let last = isTTY ? -INTERVAL : now();
  return {
    show(text) {
      if (now() - last < (isTTY ? INTERVAL : sparse)) return;
      last = now();
      stream.write(isTTY ? `${ERASE}${text}` : `${text}\n`);
    },
    clear: () => {
      if (isTTY) stream.write(ERASE);
    },
  };
}

/** Where in a query's work a stage begins, of 1. Only the bar depends on it. */
const STAGES: Record<string, number> = { homologs: 0, tree: 0.92, scores: 0.94, end: 1 };
const BAR = 24;

/** `[######..................] 25 of 100 queries, homologs 40 %`: the bar is the part of all work. */
export function progressBar(done: number, total: number, stage: string, fraction: number): string {
  const names = Object.keys(STAGES);
  const [from, to] = [STAGES[stage], STAGES[names[names.indexOf(stage) + 1]]];
  const part = Math.min(1, (done + from + (to - from) * fraction) / total);
  const filled = Math.round(part * BAR);
  const bar = "#".repeat(filled) + ".".repeat(BAR - filled);
  return `[${bar}] ${done} of ${total} ${total === 1 ? "query" : "queries"}, ${stage} ${Math.round(fraction * 100)} %`;
}

/** `[######..................] 70 of 280 MB, 35 MB/s`; without a bar where nobody says how much it is, as through some proxies. */
export function transferText(bytes: number, total: number, speed: number): string {
  const megabytes = (count: number): string => Math.round(count / 1e6).toLocaleString("en");
  const rate = `${speed.toFixed(speed < 10 ? 1 : 0)} MB/s`;
  if (total < bytes) return `${megabytes(bytes)} MB, ${rate}`;
  const filled = Math.round((bytes / Math.max(1, total)) * BAR);
  return `[${"#".repeat(filled)}${".".repeat(BAR - filled)}] ${megabytes(bytes)} of ${megabytes(total)} MB, ${rate}`;
}

/** The line of what is on its way; `often`: also where nobody watches. */
export function transferLine(often = false): {
  show(this: void, bytes: number, total: number): void;
  clear(): void;
} {
  const line = progressLine(process.stderr, undefined, often ? 1000 : undefined);
  let first: { at: number; bytes: number } | undefined;
  return {
    show(bytes, total) {
      const now = performance.now();
      // Another file begins.
      if (first && bytes < first.bytes) first = undefined;
      first ??= { at: now, bytes };
      const speed = (bytes - first.bytes) / Math.max(1, now - first.at) / 1000;
      line.show(transferText(bytes, total, speed));
    },
    clear: () => line.clear(),
  };
}
