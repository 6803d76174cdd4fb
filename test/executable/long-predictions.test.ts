import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import {
  ask,
  element,
  ended,
  inEnvelope,
  NAMESPACE,
  post,
  runJobMessage,
  scratch,
  serve,
  type Server,
} from "./labd.ts";
import { dial, exchange } from "./raw-http.ts";

/** Predictions of nearly the largest size, which clients fetch at the same time, and fetch without reading. */

const CLIENTS = 40;
/** Megabytes by which the process may grow for all of them. */
const FLAT = 100;

const place = scratch();
let server: Server;
beforeAll(async () => {
  server = await serve(place.directory, ["--workers", "1", "--log", "off"]);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  place[Symbol.dispose]();
});

/** A protein without homologs, in which five patterns match 3,000 times each. */
const sequence = Array.from({ length: 4000 }, (_, i) => "ACDEFGHIKLMNPQRSTVWY"[(i * i + (i >> 3)) % 20]).join(
  "",
);
const submit = async (length: number): Promise<string> => {
  const patterns = Array.from({ length: 5 }, () => `.{${length}}`);
  const accepted = await post(server.url, runJobMessage({ sequence, patterns }));
  return element(accepted.text, "JobIdentifier")!;
};

const makeMessage = (job: string, headers = ""): string => {
  const message = inEnvelope(
    `<GetResult xmlns="${NAMESPACE}"><JobIdentifier>${job}</JobIdentifier></GetResult>`,
  );
  return `POST /soap/ConservationScorer HTTP/1.1\r\nHost: lab\r\nContent-Type: text/xml\r\n${headers}Content-Length: ${message.length}\r\n\r\n${message}`;
};

const memory = (): number =>
  process.platform === "linux"
    ? Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${server.process.pid}/status`, "utf8"))![1]) / 1024
    : 0;

test.each([
  ["plain", ""],
  ["gzip", "Accept-Encoding: gzip\r\n"],
])(
  "clients that do not read their predictions (%s) use bounded memory and delay no other",
  async (form, headers) => {
    const job = await submit(38);
    expect(await ended(server.url, job)).toContain("finished");
    const before = memory();
    const answered = new Set<Socket>();
    const sockets: Socket[] = Array.from({ length: CLIENTS }, () => {
      const socket = dial(server.url);
      socket.once("data", () => {
        answered.add(socket);
        socket.pause();
      });
      socket.write(makeMessage(job, headers));
      return socket;
    });
    let longest = 0;
    let grown = 0;
    for (let still = 0; still < 20;) {
      if (answered.size === CLIENTS) still++;
      const begun = performance.now();
      expect((await ask(server.url, "GetStatus", job)).status).toBe(200);
      longest = Math.max(longest, performance.now() - begun);
      grown = Math.max(grown, memory() - before);
      await Bun.sleep(20);
    }
    for (const socket of sockets) socket.destroy();
    process.stdout.write(
      `${CLIENTS} unread predictions, ${form}: ${Math.round(grown)} MB, longest GetStatus ${Math.round(longest)} ms\n`,
    );
    expect(grown).toBeLessThan(FLAT);
    // A hundred milliseconds where the machine does nothing else.
    expect(longest).toBeLessThan(1000);
    const whole = await ask(server.url, "GetResult", job);
    expect(whole.text.length).toBeGreaterThan(50 * 2 ** 20);
    expect(whole.text).toEndWith(
      "</p:ConScorePrediction></tns:GetResultResponse></soap:Body></soap:Envelope>",
    );
    const json = await fetch(`${server.url}/api/scoring/jobs/${job}/result`);
    expect(((await json.json()) as { patterns: unknown[] }).patterns).toHaveLength(5);
  },
  300_000,
);

test("printing a long prediction does not delay other requests", async () => {
  const job = await submit(10);
  expect(await ended(server.url, job)).toContain("finished");
  const forms = Promise.all(
    ["tsv", "gff3", "stockholm", "fasta"].map(async (form) =>
      (await fetch(`${server.url}/api/scoring/jobs/${job}/result?format=${form}`)).text(),
    ),
  );
  const printed: string[] = [];
  void forms.then((texts) => printed.push(...texts));
  let longest = 0;
  do {
    const begun = performance.now();
    await ask(server.url, "GetStatus", job);
    longest = Math.max(longest, performance.now() - begun);
  } while (printed.length === 0);
  process.stdout.write(`four other forms: longest GetStatus ${Math.round(longest)} ms\n`);
  // 3,000 matches of each of five patterns; alignments are printed once.
  const counts = printed.map(
    (text, i) => text.match([/^test\t/gm, /^test\t/gm, /^# STO/gm, /^>/gm][i])?.length,
  );
  expect(counts).toEqual([15_000, 15_000, 1, 1]);
  expect(longest).toBeLessThan(1000);
}, 100_000);

test("a prediction of several parts is sent without chunks over HTTP/1.0", async () => {
  const job = await submit(1);
  expect(await ended(server.url, job)).toContain("finished");
  const { received } = await exchange(server.url, [makeMessage(job).replace("HTTP/1.1", "HTTP/1.0")]);
  const body = received.slice(received.indexOf("\r\n\r\n") + 4);
  expect(body.length).toBeGreaterThan(2 ** 20);
  expect(body === (await ask(server.url, "GetResult", job)).text).toBe(true);
}, 100_000);

test("a job whose prediction is too long fails with an explanation", async () => {
  const job = await submit(50);
  expect(await ended(server.url, job)).toContain("failed");
  const { text, status } = await ask(server.url, "GetResult", job);
  expect([status, element(text, "code")]).toEqual([500, "job_failed"]);
  expect(element(text, "faultstring")).toContain("would take more than 64 MB");
}, 100_000);
