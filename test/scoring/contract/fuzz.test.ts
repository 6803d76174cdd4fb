import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SaxesParser } from "saxes";
import { type App, open } from "../../../src/app/open.ts";
import { resolveConfig } from "../../../src/config.ts";
import { complaint, mutant } from "./mutated-message.ts";
import { random } from "./random-message.ts";

const COUNT = Number(process.env.LABD_FUZZ ?? 10_000);
const SEED = Number(process.env.LABD_FUZZ_SEED ?? 4);

let directory: string;
let app: App;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "labd-fuzz-"));
  app = await open(
    resolveConfig({ flags: { data_dir: directory, log: "off", workers: "1" }, environment: {} }).config,
  );
});
afterAll(async () => {
  await app.close();
  rmSync(directory, { recursive: true, force: true });
});

/** The answer is XML: whoever asked can read it. */
function checkWellFormed(xml: string): void {
  const parser = new SaxesParser({ xmlns: true });
  parser.on("error", (error) => {
    throw error;
  });
  parser.write(xml).close();
}

function inPieces(bytes: Uint8Array<ArrayBuffer>, size: number): ReadableStream<Uint8Array<ArrayBuffer>> {
  let at = 0;
  return new ReadableStream({
    pull(controller) {
      if (at >= bytes.length) return controller.close();
      controller.enqueue(bytes.slice(at, (at += size)));
    },
  });
}

/** Milliseconds of processor time that count as a hang: an answer takes less than one. */
const HANG = 5000;

test(
  `answers ${COUNT} damaged messages quickly, by a response or a fault (LABD_FUZZ=n, LABD_FUZZ_SEED=n)`,
  async () => {
    const next = random(SEED);
    const statuses: Record<number, number> = {};
    const wrong: unknown[] = [];
    for (let i = 0; i < COUNT; i++) {
      const { message, headers } = mutant(next);
      const body = i % 4 === 0 ? inPieces(message, 1 + Math.floor(next() * 300)) : message;
      const started = process.cpuUsage();
      const response = await app.answer(
        new Request("http://127.0.0.1:8480/soap/ConservationScorer", { method: "POST", headers, body }),
      );
      const text = await response.text();
      const { user, system } = process.cpuUsage(started);
      const milliseconds = (user + system) / 1000;
      const what = complaint(response.status, response.headers.get("content-type"), text);
      if (what !== null || milliseconds > HANG) {
        wrong.push({
          i,
          what,
          milliseconds,
          message: Buffer.from(message).toString("latin1").slice(0, 2000),
        });
      }
      checkWellFormed(text);
      statuses[response.status] = (statuses[response.status] ?? 0) + 1;
    }
    expect(wrong.slice(0, 3)).toEqual([]);
    // Damage of one kind, or none, would prove nothing.
    expect(statuses[200]).toBeGreaterThan(COUNT / 50);
    expect(statuses[500]).toBeGreaterThan(COUNT / 2);
    expect(statuses[415]).toBeGreaterThan(0);
  },
  Math.max(300_000, COUNT * 10),
);
