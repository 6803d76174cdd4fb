/** One line on a terminal that is written over as work goes on; nothing at all where nobody looks. */
export interface ProgressLine {
  show(text: string): void;
  clear(): void;
}

/** Milliseconds between two updates. */
const INTERVAL = 100;
const ERASE = "\r\u001b[2K";

export function progressLine(stream: NodeJS.WriteStream = process.stderr): ProgressLine {
  let last = 0;
  if (!stream.isTTY) return { show: () => {}, clear: () => {} };
  return {
    show(text) {
      const now = performance.now();
      if (now - last < INTERVAL) return;
      last = now;
      stream.write(`${ERASE}${text}`);
    },
    clear: () => stream.write(ERASE),
  };
}
