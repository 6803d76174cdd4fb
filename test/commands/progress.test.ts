import { expect, test } from "bun:test";
import { progressLine } from "../../src/commands/progress.ts";

/** The output of two minutes with progress every 20 ms. */
function written(isTTY: boolean, watched = false): string[] {
  const texts: string[] = [];
  let time = 0;
  const stream = { isTTY, write: (text: string) => texts.push(text) > 0 };
  const progress = progressLine(stream, watched, () => time);
  for (let i = 0; i < 6000; i++, time += 20) progress.show(`step ${i}`);
  progress.clear();
  return texts;
}

test("updates one line ten times a second on a terminal", () => {
  const texts = written(true);
  expect(texts.length).toBe(1201);
  expect(texts[0]).toBe("\r\u001b[2Kstep 0");
  expect(texts.at(-1)).toBe("\r\u001b[2K");
});

test("writes a line to a pipe every ten seconds, or every second with --progress", () => {
  const texts = written(false);
  expect(texts.length).toBe(11);
  expect(texts[0]).toBe("step 500\n");
  expect(written(false, true).length).toBe(119);
});
