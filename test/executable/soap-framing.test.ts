import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Socket } from "node:net";
import {
  ask,
  element,
  inEnvelope,
  NAMESPACE,
  post,
  processorTime,
  runJobMessage,
  scratch,
  seenBy,
  serve,
  type Server,
} from "./labd.ts";
import { dial, exchange, type Exchange, inChunks, type Piece } from "./raw-http.ts";

/** Well and badly framed HTTP messages, sent byte by byte to the executable. */

const place = scratch();
let server: Server;
beforeAll(async () => {
  server = await serve(place.directory, ["--log", "problems", "--max-message-bytes", "1000000"]);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  place[Symbol.dispose]();
});

const MESSAGE = inEnvelope(`<GetStatus xmlns="${NAMESPACE}"><JobIdentifier>x</JobIdentifier></GetStatus>`);
const RUN_JOB = runJobMessage({ sequence: "MKLV" });
const POST = "POST /soap/ConservationScorer HTTP/1.1\r\n";
const HOST = "Host: lab.example\r\n";
const TYPE = "Content-Type: text/xml; charset=utf-8\r\n";
const HEAD = POST + HOST + TYPE;
const LENGTH = `Content-Length: ${MESSAGE.length}\r\n`;
const CHUNKED = "Transfer-Encoding: chunked\r\n";
const WHOLE = `${HEAD}${LENGTH}\r\n${MESSAGE}`;
const slowly = (text: string, size: number): Piece[] =>
  text.match(new RegExp(`.{1,${size}}`, "gs"))!.flatMap((part): Piece[] => [part, 2]);

interface Answered {
  statuses: number[];
  /** True if the server ends the connection afterwards. */
  closed?: boolean;
  has?: string;
}
const FAULT: Answered = { statuses: [500], has: "JobIdentifierFault" };
const TWICE: Answered = { statuses: [500, 500], has: "JobIdentifierFault" };

const READ: Record<string, [Piece[], Answered]> = {
  "with a length": [[WHOLE], FAULT],
  "and the connection serves on after a fault": [[WHOLE, 50, WHOLE], TWICE],
  "in chunks": [[`${HEAD}${CHUNKED}\r\n${inChunks(MESSAGE, 50)}`], FAULT],
  "in chunks of one byte": [[`${HEAD}${CHUNKED}\r\n${inChunks(MESSAGE, 1)}`], FAULT],
  "slowly, head and all": [slowly(WHOLE, 20), FAULT],
  "after 100-continue": [
    [`${HEAD}${LENGTH}Expect: 100-continue\r\n\r\n`, 100, MESSAGE],
    { statuses: [100, 500], has: "JobIdentifierFault" },
  ],
  "with Connection: close, which comes back": [
    [`${HEAD}${LENGTH}Connection: close\r\n\r\n${MESSAGE}`],
    { ...FAULT, closed: true, has: "Connection: close" },
  ],
  "over HTTP/1.0": [[WHOLE.replace("HTTP/1.1", "HTTP/1.0")], { ...FAULT, closed: true }],
  "three in a row without waiting": [[WHOLE.repeat(3)], { statuses: [500, 500, 500] }],
  "behind a request for the WSDL, without waiting": [
    [`GET /soap/ConservationScorer?wsdl HTTP/1.1\r\n${HOST}\r\n${WHOLE}`],
    { statuses: [200, 500], has: "JobIdentifierFault" },
  ],
  "with the address of a proxy as its target": [
    [WHOLE.replace("POST /", "POST http://other.example/")],
    FAULT,
  ],
  "with an offer to change to HTTP/2": [
    [`${HEAD}${LENGTH}Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n${MESSAGE}`],
    FAULT,
  ],
  "RunJob in chunks, slowly": [
    slowly(`${HEAD}${CHUNKED}\r\n${inChunks(RUN_JOB, 40)}`, 60),
    { statuses: [200], has: "JobIdentifier>" },
  ],
  "of no bytes": [[`${HEAD}Content-Length: 0\r\n\r\n`], { statuses: [500], has: "no root element" }],
  "without a length": [[`${HEAD}\r\n`], { statuses: [500], has: "no root element" }],
  "cut off inside by a length too small": [
    [`${HEAD}Content-Length: ${MESSAGE.length - 5}\r\nConnection: close\r\n\r\n${MESSAGE}`],
    { statuses: [500], closed: true, has: "ends before its Envelope is closed" },
  ],
};

describe("reads valid framing", () => {
  test.each(Object.entries(READ))("%s", async (_, [pieces, { statuses, closed = false, has }]) => {
    const answers = statuses.filter((status) => status !== 100).length;
    const until = new RegExp(`(?:</(?:soap:Envelope|wsdl:definitions|definitions)>[^]*){${answers}}`);
    const found = await exchange(server.url, pieces, closed ? {} : { until });
    expect(found.statuses).toEqual(statuses);
    expect(found.closed).toBe(closed);
    expect(found.received).toContain(has ?? "");
  });
});

/** Refused by HTTP itself: what the server says and that it hangs up. Empty: it may hang up without a word. */
const BROKEN: Record<string, [string, number[]]> = {
  "two lengths that differ": [`${HEAD}${LENGTH}Content-Length: 5\r\n\r\n${MESSAGE}`, [400]],
  "a list of lengths": [`${HEAD}Content-Length: ${MESSAGE.length}, 5\r\n\r\n${MESSAGE}`, [400]],
  "a length and chunks": [`${HEAD}${LENGTH}${CHUNKED}\r\n${inChunks(MESSAGE, 50)}`, [400]],
  "a negative length": [`${HEAD}Content-Length: -5\r\n\r\n${MESSAGE}`, [400]],
  "a huge chunk": [`${HEAD}${CHUNKED}\r\nFFFFFFFFFFFFFFFF\r\nabc`, [400]],
  "a chunk whose size is no number": [`${HEAD}${CHUNKED}\r\nzz\r\nabc`, [400]],
  "a transfer encoding that is not known": [`${HEAD}Transfer-Encoding: gzip\r\n\r\nabc`, [400]],
  "almost chunked": [`${HEAD}Transfer-Encoding: xchunked\r\n\r\n${inChunks(MESSAGE, 50)}`, [400]],
  "a header line of 1 MB": [`${HEAD}X: ${"a".repeat(1e6)}\r\n${LENGTH}\r\n${MESSAGE}`, [431]],
  "an address of 1 MB": [WHOLE.replace("/soap/", `/${"a".repeat(1e6)}/`), [431]],
  "no Host": [`${POST}${TYPE}${LENGTH}\r\n${MESSAGE}`, [400]],
  "a header folded to two lines": [`${HEAD}X: a\r\n b\r\n${LENGTH}\r\n${MESSAGE}`, [400]],
  "NUL in a header": [`${HEAD}X: a\0b\r\n${LENGTH}\r\n${MESSAGE}`, [400]],
  "lines without CR": [WHOLE.replaceAll("\r\n", "\n"), [505]],
  "TLS to a plain port": ["\x16\x03\x01\x02\0\x01\0\r\n\r\n", [400]],
  "HTTP/9.9": [WHOLE.replace("HTTP/1.1", "HTTP/9.9"), [505]],
  "a method that does not exist": [WHOLE.replace("POST", "FOO"), []],
};

test("rejects a length above the limit immediately", async () => {
  const request = `${HEAD}Content-Length: 1000000000000\r\n\r\n${MESSAGE}`;
  const { statuses } = await exchange(server.url, [request], { until: /<\/\S*Envelope>/ });
  expect(statuses).toEqual([413]);
});

describe("rejects invalid framing and closes the connection", () => {
  test.each(Object.entries(BROKEN))("%s", async (_, [request, statuses]) => {
    const { received, closed, ...found } = await exchange(server.url, [request]);
    expect(found.statuses).toEqual(statuses);
    expect(closed).toBe(true);
    expect(received).not.toContain("JobIdentifierFault");
  });
});

test("responds to PUT with 405 and Allow", async () => {
  const request = `${HEAD.replace("POST", "PUT")}Content-Length: 0\r\nConnection: close\r\n\r\n`;
  const { received, statuses } = await exchange(server.url, [request]);
  expect(statuses).toEqual([405]);
  expect(received).toMatch(/^Allow: GET, HEAD, OPTIONS, POST\r$/m);
});

const wsdlFor = (host: string): Promise<Exchange> =>
  exchange(server.url, [
    `GET /soap/ConservationScorer?wsdl HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
  ]);

test.each(["lab.example", "lab.example:8080", "lab.example:65535", "[::1]:80"])(
  "includes the valid Host %s in the WSDL",
  async (host) => {
    const { statuses, received } = await wsdlFor(host);
    expect(statuses).toEqual([200]);
    expect(received).toContain(`location="http://${host.replace(/:80$/, "")}/soap/`);
  },
);

test.each(['evil"/>', "a b", "a&b", "a/b", "a@b", "", "a:", "a:99999", "a:65536"])(
  "responds to the invalid Host %p with 400",
  async (host) => {
    const { statuses, received } = await wsdlFor(host);
    expect(statuses).toEqual([400]);
    expect(received).not.toContain("<");
  },
);

test("responds to each pipelined RunJob once, and keeps serving", async () => {
  const request = `${HEAD}Content-Length: ${RUN_JOB.length}\r\n\r\n${RUN_JOB}`;
  const { received, statuses, closed } = await exchange(server.url, [request.repeat(3)], {
    until: /(?:<\/soap:Envelope>[^]*){3}/,
  });
  // Bun ends a connection whose next request comes while an answer waits for the disk; docs/soap.md says so.
  const jobs = [...received.matchAll(/JobIdentifier>([0-9a-f-]{36})</g)].map(([, job]) => job);
  expect(closed || statuses.length === 3).toBe(true);
  expect(new Set(jobs).size).toBe(jobs.length);
  expect(jobs.length).toBe(statuses.length);
  expect((await post(server.url, RUN_JOB)).status).toBe(200);
});

/** Milliseconds of processor time that the server takes for some calls, one after the other. */
async function cost(count: number): Promise<number> {
  const before = processorTime(server.process);
  for (let i = 0; i < count; i++) expect((await ask(server.url, "GetStatus", "nobody's")).status).toBe(500);
  return processorTime(server.process) - before;
}

test("serves other clients at the same cost while 100 half-sent requests are open", async () => {
  const before = await cost(300);
  const sockets: Socket[] = Array.from({ length: 100 }, (_, i) => {
    const socket = dial(server.url);
    // Half a head, a head alone, half a body, half a chunk.
    const half = [
      HEAD,
      `${HEAD}${LENGTH}\r\n`,
      WHOLE.slice(0, -20),
      `${HEAD}${CHUNKED}\r\nfff\r\n${MESSAGE}`,
    ];
    socket.write(half[i % half.length]);
    return socket;
  });
  await seenBy(server.url);
  const during = await cost(300);
  const accepted = await post(server.url, RUN_JOB);
  expect(accepted.status).toBe(200);
  expect(element(accepted.text, "JobIdentifier")).toMatch(/^[0-9a-f-]{36}$/);
  for (const socket of sockets) socket.destroy();
  // With room for what a collection of garbage takes.
  expect(during).toBeLessThan(5 * before + 500);
});

test("survives truncated requests", async () => {
  for (let i = 1; i < 20; i++) {
    const socket = dial(server.url);
    socket.write(WHOLE.slice(0, Math.floor((WHOLE.length * i) / 20)));
    await Bun.sleep(5);
    socket.destroy();
  }
  expect((await ask(server.url, "GetStatus", "x")).status).toBe(500);
  expect(server.process.exitCode).toBe(null);
  expect(server.log()).not.toContain('"internal"');
});
