import { expect, test } from "bun:test";
import { progressLine } from "../../src/commands/progress.ts";

/** What a run of two minutes writes that has something to say every 20 ms. */
function written(isTTY: boolean): string[] {
  const texts: string[] = [];
  let time = 0;
  const stream = { isTTY, write: (text: string) => texts.push(text) > 0 };
  const progress = progressLine(stream as never, () => time);
  for (let i = 0; i < 6000; i++, time += 20) progress.show(`step ${i}`);
  progress.clear();
  return texts;
}

test("a terminal has one line that is written over ten times a second", () => {
  const texts = written(true);
  expect(texts.length).toBe(1201);
  expect(texts[0]).toBe("\r\u001b[2Kstep 0");
  expect(texts.at(-1)).toBe("\r\u001b[2K");
});

test("a pipe has a line every ten seconds, and none of what takes less", () => {
  const texts = written(false);
  expect(texts.length).toBe(11);
  expect(texts[0]).toBe("step 500\n");
});
