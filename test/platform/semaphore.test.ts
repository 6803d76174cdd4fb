import { expect, test } from "bun:test";
import { Semaphore } from "../../src/platform/semaphore.ts";
import { catchCode } from "../fixtures/service.ts";

test("a semaphore runs the allowed number at once, in order, and refuses more than 200 waiting", async () => {
  const semaphore = new Semaphore(2);
  const ends: (() => void)[] = [];
  const started: number[] = [];
  const work = (i: number) =>
    semaphore.run(() => {
      started.push(i);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
  const running = Array.from({ length: 202 }, (_, i) => work(i));
  expect(started).toEqual([0, 1]);
  expect(await catchCode(() => work(202))).toBe("busy");
  for (let i = 0; i < running.length; i++) {
    ends[i]!();
    await running[i];
  }
  expect(started).toEqual(running.map((_, i) => i));
  // All slots are free again, also after an error.
  expect(await catchCode(() => semaphore.run(() => Promise.reject(new Error("x"))))).toBe("internal");
  void work(300);
  void work(301);
  void work(302);
  expect(started.slice(202)).toEqual([300, 301]);
});
