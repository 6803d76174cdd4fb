/** Milliseconds after which a condition that has not come true is an error: less than `bun test` gets as its limit. */
const DEADLINE = 240_000;
/** Milliseconds between two looks: short at first, then longer, so that waiting takes no processor time. */
const FIRST_PAUSE = 1;
const LONGEST_PAUSE = 10;

/**
 * Waits until a condition is true, and returns its value.
 * @param describe what the error says about the state in the end, such as the log of a server
 * @throws after four minutes, with the text of the condition
 */
export async function waitFor<T>(
  condition: () => T | Promise<T>,
  describe: () => unknown = () => "",
): Promise<Exclude<T, false | null | undefined | 0 | "">> {
  const end = performance.now() + DEADLINE;
  for (let pause = FIRST_PAUSE; ; pause = Math.min(pause * 1.5, LONGEST_PAUSE)) {
    const value = await condition();
    if (value) return value as Exclude<T, false | null | undefined | 0 | "">;
    if (performance.now() > end) {
      const found = await describe();
      const state = typeof found === "string" ? found : Bun.inspect(found);
      throw new Error(`not true within ${DEADLINE / 1000} seconds: ${condition} ${state}`);
    }
    await Bun.sleep(pause);
  }
}

/** Lets everything run that is due, with what follows from it: before a test says that something did not happen. */
export async function runPending(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise((done) => setImmediate(done));
}
