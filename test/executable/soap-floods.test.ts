import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { ask, element, NAMESPACE, processorTime, scratch, seenBy, serve, type Server } from "./labd.ts";
import { dial, exchange, pour } from "./raw-http.ts";
import { waitFor } from "../wait.ts";

const HUNDRED_MB = 100_000_000;
/** Megabytes by which the process may grow while such a message is read. */
const FLAT = 80;
const HEAD =
  "POST /soap/ConservationScorer HTTP/1.1\r\nHost: lab\r\nContent-Type: text/xml; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n";
const OPEN = `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body><RunJob xmlns="${NAMESPACE}"><identifier>x</identifier>`;
const CLOSE = "<querySequence>MKLV</querySequence><scoringModel/></RunJob></s:Body></s:Envelope>";
const IS_LINUX = process.platform === "linux";

const place = scratch();
let server: Server;
beforeAll(async () => {
  server = await serve(place.directory, ["--workers", "1", "--log", "off"]);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  place[Symbol.dispose]();
});

/** The most megabytes of memory that a process ever had; 0 where the system does not tell. */
function memory(pid: number): number {
  if (!IS_LINUX) return 0;
  return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) / 1024;
}

/** A text over and over, in parts of 64 kB, up to this many characters in all. */
function* over(text: string, characters: number): Generator<string> {
  const part = text.repeat(Math.max(1, Math.floor(65_536 / text.length)));
  for (let sent = 0; sent < characters; sent += part.length) yield part;
}

function* message(before: string, text: string, characters: number, after: string): Generator<string> {
  yield before;
  yield* over(text, characters);
  yield after;
}

const VALUE = `${OPEN}<querySequence>`;
/** A sample; test/scoring/contract/limits.test.ts has more, in memory. */
const FLOODS: Record<string, () => Iterable<string>> = {
  "a sequence of 100 MB": () => message(VALUE, "A", HUNDRED_MB, CLOSE),
  "100 MB of white space between elements": () => message(OPEN, " \n", HUNDRED_MB, CLOSE),
  "an attribute value of 10 MB": () => message(`${OPEN}<a a="`, "a", 10_000_000, `"/>${CLOSE}`),
  "a million levels": () => message(OPEN, "<a>", 3_000_000, CLOSE),
  "a million CDATA sections": () => message(VALUE, "<![CDATA[]]>", 12_000_000, `</querySequence>${CLOSE}`),
  "a DOCTYPE of 100 MB": () => message('<!DOCTYPE x [<!ENTITY a "', "a", HUNDRED_MB, '">]>'),
};

describe("rejects floods at the limit, quickly and with flat memory", () => {
  test.each(Object.entries(FLOODS))("%s", async (_, body) => {
    const before = memory(server.process.pid);
    const begun = processorTime(server.process);
    const { received, statuses } = await pour(server.url, HEAD, body());
    expect([413, 415, 500]).toContain(statuses[0]);
    expect(element(received, "faultcode")).toEndWith(":Client");
    expect(received.length).toBeLessThan(2500);
    expect(processorTime(server.process) - begun).toBeLessThan(3000);
    expect(memory(server.process.pid) - before).toBeLessThan(FLAT);
    expect((await ask(server.url, "GetStatus", "x")).status).toBe(500);
  });
});

test("responds to a client that sends a whole flood before it reads, and keeps the connection", async () => {
  const before = memory(server.process.pid);
  const socket = dial(server.url);
  let received = "";
  socket.on("data", (chunk) => (received += chunk.toString("latin1")));
  const write = (text: string): Promise<unknown> | boolean =>
    socket.write(text, "latin1") || new Promise((resolve) => socket.once("drain", resolve));
  await write(HEAD);
  for (const part of over("A", HUNDRED_MB)) await write(`${part.length.toString(16)}\r\n${part}\r\n`);
  await write("0\r\n\r\n");
  const answers = (): string[] => [...received.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status);
  const has = async (statuses: string[]): Promise<void> => {
    await waitFor(() => answers().length >= statuses.length);
    expect(answers()).toEqual(statuses);
  };
  await has(["500"]);
  await write("GET /healthz HTTP/1.1\r\nHost: lab\r\n\r\n");
  await has(["500", "200"]);
  socket.destroy();
  expect(memory(server.process.pid) - before).toBeLessThan(FLAT);
}, 300_000);

test("refuses further large bodies before they arrive, with 503 and Retry-After", async () => {
  const head = `POST /soap/ConservationScorer HTTP/1.1\r\nHost: lab\r\nContent-Type: text/xml\r\nContent-Length: 16777216\r\n\r\n`;
  const unfinished = [dial(server.url), dial(server.url)];
  for (const socket of unfinished) socket.write(head);
  await seenBy(server.url);
  const { received, statuses } = await exchange(server.url, [head], { until: /Envelope>$/ });
  expect(statuses).toEqual([503]);
  expect(received).toContain("\r\nRetry-After: 5\r\n");
  expect(element(received, "faultcode")).toBe("soap:Server");
  expect(element(received, "code")).toBe("busy");
  for (const socket of unfinished) socket.destroy();
  const isFree = async (): Promise<boolean> =>
    (await exchange(server.url, [head], { until: /Envelope>$/, patience: 200 })).received === "";
  for (let i = 0; !(await isFree()); i++) expect(i).toBeLessThan(100);
});

test("does not decompress gzip bombs beyond the message limit, and refuses other encodings", async () => {
  const bomb = Bun.gzipSync(Buffer.alloc(50_000_000, 0x20));
  const before = memory(server.process.pid);
  for (const encoding of ["gzip", "x-gzip", "deflate", "br", "zstd", "gzip, gzip", "identity, gzip"]) {
    const isGzip = encoding === "gzip" || encoding === "x-gzip";
    const [status, code] = isGzip ? [413, "too_large"] : [415, "unsupported_media_type"];
    const response = await fetch(`${server.url}/soap/ConservationScorer`, {
      method: "POST",
      headers: { "Content-Type": "text/xml", "Content-Encoding": encoding },
      body: bomb,
    });
    expect([encoding, response.status]).toEqual([encoding, status]);
    expect(await response.text()).toContain(`<p:code>${code}<`);
  }
  expect(memory(server.process.pid) - before).toBeLessThan(FLAT);
});
