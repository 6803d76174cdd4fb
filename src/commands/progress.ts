/** The progress of work: one line on a terminal, overwritten; a line now and then in a pipe or a file. */
export interface ProgressLine {
  show(this: void, text: string): void;
  clear(this: void): void;
}

/** Milliseconds between two updates on a terminal, in a pipe, and in a pipe with --progress. */
const TERMINAL_INTERVAL = 100;
const PIPE_INTERVAL = 10_000;
const WATCHED_INTERVAL = 1000;
const ERASE = "\r\u001b[2K";
const BAR = 24;

type Output = { write(chunk: string): unknown; isTTY?: boolean };

/** @param watched whether a program reads the lines of a pipe as they arrive */
export function progressLine(
  output: Output,
  watched = false,
  now: () => number = () => performance.now(),
): ProgressLine {
  const { isTTY = false } = output;
  const interval = isTTY ? TERMINAL_INTERVAL : watched ? WATCHED_INTERVAL : PIPE_INTERVAL;
  let last = isTTY ? -interval : now();
  return {
    show(text) {
      if (now() - last < interval) return;
      last = now();
      output.write(isTTY ? `${ERASE}${text}` : `${text}\n`);
    },
    clear: () => {
      if (isTTY) output.write(ERASE);
    },
  };
}

/** The part of a query's work after which a stage begins; only the bar depends on it. */
const STAGES: Record<string, number> = { homologs: 0, tree: 0.92, scores: 0.94, end: 1 };

const bar = (part: number): string => {
  const filled = Math.round(part * BAR);
  return `[${"#".repeat(filled)}${".".repeat(BAR - filled)}]`;
};

/** `[######..................] 25 of 100 queries, homologs 40 %` */
export function progressBar(done: number, total: number, stage: string, fraction: number): string {
  const names = Object.keys(STAGES);
  const [from, to] = [STAGES[stage], STAGES[names[names.indexOf(stage) + 1]]];
  const part = Math.min(1, (done + from + (to - from) * fraction) / total);
  return `${bar(part)} ${done} of ${total} ${total === 1 ? "query" : "queries"}, ${stage} ${Math.round(fraction * 100)} %`;
}

/** `[######..................] 70 of 280 MB, 35 MB/s`; without a bar where the total is unknown. */
export function transferText(bytes: number, total: number, speed: number): string {
  const megabytes = (count: number): string => Math.round(count / 1e6).toLocaleString("en");
  const rate = `${speed.toFixed(speed < 10 ? 1 : 0)} MB/s`;
  if (total < bytes) return `${megabytes(bytes)} MB, ${rate}`;
  return `${bar(bytes / Math.max(1, total))} ${megabytes(bytes)} of ${megabytes(total)} MB, ${rate}`;
}

/** The progress of transfers, one file after the other. */
export function transferLine(
  output: Output,
  watched = false,
): { show(this: void, bytes: number, total: number): void; clear(this: void): void } {
  const line = progressLine(output, watched);
  let first: { at: number; bytes: number } | undefined;
  return {
    show(bytes, total) {
      const now = performance.now();
      // Fewer bytes than before mean that another file begins.
      if (!first || bytes < first.bytes) first = { at: now, bytes };
      const speed = (bytes - first.bytes) / Math.max(1, now - first.at) / 1000;
      line.show(transferText(bytes, total, speed));
    },
    clear: line.clear,
  };
}
