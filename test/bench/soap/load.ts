/** Load without wrk: as load.lua, by fetch. Arguments: url, file, words of a right answer, connections, seconds. */
import { readFileSync } from "node:fs";

const [url, file, expected, connections, seconds] = process.argv.slice(2);
const message = readFileSync(file, "utf8");
const until = performance.now() + Number(seconds) * 1000;
const LETTERS = "ACDEFGHIKLMNPQRSTVWY";
let count = 0;
let right = 0;
let wrong = 0;

/** Eight letters for a number. */
function letters(number: number): string {
  let text = "";
  for (let rest = number, i = 0; i < 8; i++, rest = Math.floor(rest / 20)) text += LETTERS[rest % 20];
  return text;
}

async function connection(): Promise<void> {
  while (performance.now() < until) {
    const response = await fetch(url, {
      method: "POST",
      headers: { "Content-Type": "text/xml; charset=utf-8" },
      body: message.replace("########", () => letters(count++)),
    });
    const body = await response.text();
    if (response.status === 200 && body.includes(expected)) right++;
    else wrong++;
  }
}

const started = performance.now();
await Promise.all(Array.from({ length: Number(connections) }, connection));
const microseconds = Math.round((performance.now() - started) * 1000);
process.stdout.write(`RESULT ${JSON.stringify({ right, wrong, broken: 0, microseconds })}\n`);
