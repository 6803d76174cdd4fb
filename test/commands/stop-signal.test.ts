import { afterEach, expect, spyOn, test } from "bun:test";
import { stopSignal } from "../../src/commands/stop-signal.ts";

afterEach(() => {
  process.removeAllListeners("SIGINT");
  process.removeAllListeners("SIGTERM");
});

test.each(["SIGINT", "SIGTERM"] as const)(
  "%s stops the program, and a second one ends it",
  async (signal) => {
    const exit = spyOn(process, "exit").mockImplementation((() => {}) as never);
    const stopped = stopSignal();
    process.emit(signal);
    await stopped;
    expect(exit).not.toHaveBeenCalled();
    process.emit("SIGTERM");
    expect(exit.mock.calls).toEqual([[1]]);
    exit.mockRestore();
  },
);
