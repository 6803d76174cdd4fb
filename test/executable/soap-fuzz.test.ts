import { expect, test } from "bun:test";
import { complaint, mutant } from "../scoring/contract/mutated-message.ts";
import { random } from "../scoring/contract/random-message.ts";
import { ask, E7, element, ended, post, processorTime, runJobMessage, scratch, serve } from "./labd.ts";
import { dial } from "./raw-http.ts";

/** Damaged messages to the executable, some at a time, some cut off by the client. */

const COUNT = Number(process.env.LABD_FUZZ_EXECUTABLE ?? 500);
const AT_A_TIME = 8;

test(
  `${COUNT} damaged messages leave the executable well (LABD_FUZZ_EXECUTABLE=n)`,
  async () => {
    using place = scratch();
    await using server = await serve(place.directory, ["--workers", "1", "--log", "problems"]);
    const next = random(77);
    const wrong: unknown[] = [];
    let answered = 0;
    const client = async (): Promise<void> => {
      while (answered < COUNT) {
        const i = answered++;
        const { message, headers } = mutant(next);
        if (i % 10 === 9) {
          const socket = dial(server.url);
          socket.write(
            `POST /soap/ConservationScorer HTTP/1.1\r\nHost: x\r\nContent-Type: text/xml\r\nContent-Length: ${message.length + 10}\r\n\r\n`,
          );
          socket.write(message);
          await Bun.sleep(2);
          socket.destroy();
          continue;
        }
        // Of all that it does meanwhile.
        const started = processorTime(server.process);
        const response = await fetch(`${server.url}/soap/ConservationScorer`, {
          method: "POST",
          headers,
          body: message,
        });
        const text = await response.text();
        const milliseconds = processorTime(server.process) - started;
        const what = complaint(response.status, response.headers.get("content-type"), text);
        if (what !== null || milliseconds > 5000) {
          wrong.push({
            i,
            what,
            milliseconds,
            message: Buffer.from(message).toString("latin1").slice(0, 2000),
          });
        }
      }
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, client));
    expect(wrong.slice(0, 3)).toEqual([]);
    expect(server.process.exitCode).toBe(null);
    expect(server.log()).not.toContain('"internal"');
    // It still does its work.
    const { text } = await post(server.url, runJobMessage({ sequence: E7, patterns: ["L.C.E"] }));
    const job = element(text, "JobIdentifier")!;
    expect(await ended(server.url, job)).toBe("finished");
    expect((await ask(server.url, "GetResult", job)).text).toContain("LYCYE");
  },
  Math.max(60_000, COUNT * 20),
);
