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
): ProgressLine {
  const { isTTY } = stream;
  let last = isTTY ? -INTERVAL : now();
  return {
    show(text) {
      if (now() - last < (isTTY ? INTERVAL : SPARSE_INTERVAL)) return;
      last = now();
      stream.write(isTTY ? `${ERASE}${text}` : `${text}\n`);
    },
    clear: () => {
      if (isTTY) stream.write(ERASE);
    },
  };
}
