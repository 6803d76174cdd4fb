/** True shows progress on standard error of Node.js, false never; by default on terminals. Or a function that is told. */
export type ProgressOption = boolean | ((fraction: number, text: string) => void);

interface Terminal {
  isTTY?: boolean;
  write(text: string): unknown;
}

const WIDTH = 30;
/** Milliseconds between two looks at work, at first and at most. @internal */
export const FIRST_PAUSE = 50;
/** @internal */
export const LONGEST_PAUSE = 2000;

/** Progress of long work. @internal */
export class Progress {
  readonly #title: string;
  readonly #tell: (fraction: number, text: string) => void;
  #tenth = -1;
  #isLive = false;

  constructor(title: string, option?: ProgressOption) {
    this.#title = title.length > 24 ? `${title.slice(0, 20)}...` : title;
    const { stderr } = (globalThis as { process?: { stderr?: Terminal } }).process ?? {};
    if (typeof option === "function") this.#tell = option;
    else if (stderr && (option ?? stderr.isTTY))
      this.#tell = (fraction, text) => this.#show(stderr, fraction, text);
    else this.#tell = () => {};
  }

  /** Shows a fraction from 0 to 1. */
  at(fraction: number, text: string): void {
    this.#tell(fraction, text);
  }

  end(text: string): void {
    this.#tell(1, text);
    const { stderr } = (globalThis as { process?: { stderr?: Terminal } }).process ?? {};
    if (this.#isLive) stderr?.write("\n");
  }

  /** A bar on terminals; elsewhere a line for each tenth. */
  #show(stderr: Terminal, fraction: number, text: string): void {
    const done = Math.floor(fraction * WIDTH);
    const bar = `${"#".repeat(done)}${".".repeat(WIDTH - done)}`;
    const line = `${this.#title} [${bar}] ${String(Math.round(fraction * 100)).padStart(3)}% ${text}`;
    if (stderr.isTTY) {
      this.#isLive = true;
      stderr.write(`\r${line}\u001b[K`);
    } else if (Math.floor(fraction * 10) > this.#tenth) {
      this.#tenth = Math.floor(fraction * 10);
      stderr.write(`${line}\n`);
    }
  }
}
