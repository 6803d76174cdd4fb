import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import {
  ask,
  element,
  ended,
  NAMESPACE,
  post,
  processorTime,
  runJobMessage,
  scratch,
  serve,
  type Server,
} from "./labd.ts";
import { dial, exchange, pour } from "./raw-http.ts";

/** Messages of 100 MB and of millions of parts, to the executable: refused at once or read, in flat memory. */

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

/** Numbered, so that no two are the same. */
function* numbered(print: (i: number) => string, count: number): Generator<string> {
  for (let i = 0; i < count; i += 1000) yield Array.from({ length: 1000 }, (_, k) => print(i + k)).join("");
}
function* around(before: string, parts: Iterable<string>, after: string): Generator<string> {
  yield before;
  yield* parts;
  yield after;
}

const VALUE = `${OPEN}<querySequence>`;
const FLOODS: Record<string, () => Iterable<string>> = {
  "a sequence of 100 MB": () => message(VALUE, "A", HUNDRED_MB, CLOSE),
  "100 MB of white space between elements": () => message(OPEN, " \n", HUNDRED_MB, CLOSE),
  "100 MB of white space before the root": () => message(" ", " ", HUNDRED_MB, OPEN + CLOSE),
  "a comment of 100 MB": () => message(`${OPEN}<!--`, "x", HUNDRED_MB, `-->${CLOSE}`),
  "a comment of 100 MB after the root": () => message(`${OPEN}${CLOSE}<!--`, "x", HUNDRED_MB, "-->"),
  "a processing instruction of 100 MB": () => message(`${OPEN}<?x `, "x", HUNDRED_MB, `?>${CLOSE}`),
  "a CDATA section of 100 MB": () =>
    message(`${VALUE}<![CDATA[`, "A", HUNDRED_MB, `]]></querySequence>${CLOSE}`),
  "an element name of 10 MB": () => message(`${OPEN}<`, "a", 10_000_000, `/>${CLOSE}`),
  "an attribute name of 10 MB": () => message(`${OPEN}<a `, "a", 10_000_000, `="1"/>${CLOSE}`),
  "an attribute value of 10 MB": () => message(`${OPEN}<a a="`, "a", 10_000_000, `"/>${CLOSE}`),
  "a namespace of 10 MB": () => message(`${OPEN}<a xmlns="`, "a", 10_000_000, `"/>${CLOSE}`),
  "a million levels": () => message(OPEN, "<a>", 3_000_000, CLOSE),
  "a million levels in the header": () =>
    message(
      '<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Header>',
      "<a>",
      3_000_000,
      CLOSE,
    ),
  "a million namespace declarations": () =>
    around(
      `${OPEN}<a`,
      numbered((i) => ` xmlns:n${i}="urn:${i}"`, 1_000_000),
      `/>${CLOSE}`,
    ),
  "a million attributes": () =>
    around(
      `${OPEN}<a`,
      numbered((i) => ` a${i}=""`, 1_000_000),
      `/>${CLOSE}`,
    ),
  "a million header blocks": () =>
    message(
      '<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Header>',
      "<a/>",
      4_000_000,
      CLOSE,
    ),
  "a million expressions": () =>
    message(
      `${OPEN}<querySequence>M</querySequence><scoringModel/>`,
      "<regularExpression/>",
      20_000_000,
      "</RunJob>",
    ),
  "a million comments": () => message(OPEN, "<!---->", 7_000_000, CLOSE),
  "a million CDATA sections": () => message(VALUE, "<![CDATA[]]>", 12_000_000, `</querySequence>${CLOSE}`),
  "a million processing instructions": () => message(OPEN, "<?x?>", 5_000_000, CLOSE),
  "millions of character references": () => message(VALUE, "&#65;", 20_000_000, `</querySequence>${CLOSE}`),
  "a DOCTYPE of 100 MB": () => message('<!DOCTYPE x [<!ENTITY a "', "a", HUNDRED_MB, '">]>'),
  "NUL bytes, 100 MB": () => message("\0", "\0", HUNDRED_MB, ""),
  "100 MB of text before the root": () => message("x", "x", HUNDRED_MB, ""),
  "100 MB of left angle brackets": () => message("<", "<", HUNDRED_MB, ""),
};

describe("refused at the limit, quickly, in flat memory:", () => {
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

test("a declared length past the limit is refused before the body", async () => {
  const head = HEAD.replace("Transfer-Encoding: chunked", `Content-Length: ${HUNDRED_MB}`);
  const { statuses } = await exchange(server.url, [head], { until: /<\/\S*Envelope>/ });
  expect(statuses).toEqual([413]);
});

test("who has sent all of a flood before it reads has the answer, and the connection still", async () => {
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
    for (let i = 0; i < 12_000 && answers().length < statuses.length; i++) await Bun.sleep(20);
    expect(answers()).toEqual(statuses);
  };
  await has(["500"]);
  await write("GET /healthz HTTP/1.1\r\nHost: lab\r\n\r\n");
  await has(["500", "200"]);
  socket.destroy();
  expect(memory(server.process.pid) - before).toBeLessThan(FLAT);
}, 300_000);

test("bombs of gzip are not unpacked", async () => {
  const bomb = Bun.gzipSync(Buffer.alloc(50_000_000, 0x41));
  const before = memory(server.process.pid);
  for (const encoding of ["gzip", "x-gzip", "deflate", "br", "zstd", "gzip, gzip", "identity, gzip"]) {
    const response = await fetch(`${server.url}/soap/ConservationScorer`, {
      method: "POST",
      headers: { "Content-Type": "text/xml", "Content-Encoding": encoding },
      body: bomb,
    });
    expect([encoding, response.status]).toEqual([encoding, 415]);
    expect(await response.text()).toContain("unsupported_media_type");
  }
  expect(memory(server.process.pid) - before).toBeLessThan(FLAT);
});

test("100 MB within the limits are read through, memory flat", async () => {
  using other = scratch();
  await using roomy = await serve(other.directory, [
    "--workers",
    "1",
    "--log",
    "off",
    "--max-message-bytes",
    "200000000",
  ]);
  await ask(roomy.url, "GetStatus", "x");
  const before = memory(roomy.process.pid);
  // 48,000 comments of 2 kB: nothing of them is kept.
  const comment = `<!--${"x".repeat(2093)}-->`;
  const { received, statuses, milliseconds, sent } = await pour(
    roomy.url,
    HEAD,
    message(OPEN, comment, HUNDRED_MB, CLOSE),
  );
  expect(statuses).toEqual([200]);
  expect(sent).toBeGreaterThan(HUNDRED_MB);
  expect(await ended(roomy.url, element(received, "JobIdentifier")!)).toBe("finished");
  const grown = memory(roomy.process.pid) - before;
  process.stderr.write(
    `100 MB read in ${Math.round(milliseconds)} ms; memory grew by ${Math.round(grown)} MB at most\n`,
  );
  expect(grown).toBeLessThan(FLAT);
}, 300_000);

/** Patterns whose characters are allowed and whose size is not, or which explode elsewhere. */
const PATTERNS: Record<string, [string, string]> = {
  "nested repeats on 3,000 A": ["(A+)+W", "A".repeat(3000)],
  "alternatives that overlap": ["(A|A|A)*W", "A".repeat(3000)],
  "nested stars": ["((A*)*)*W", "A".repeat(3000)],
  "four wide wildcards": [".{0,1000}.{0,1000}.{0,1000}.{0,1000}W", "A".repeat(3000)],
  "200,000 alternatives": [Array.from({ length: 200_000 }, () => "AC").join("|"), "AC"],
  "50,000 nested groups": [`${"(".repeat(50_000)}A${")".repeat(50_000)}`, "AC"],
  "50,000 groups that stay open": ["(".repeat(50_000), "AC"],
  "a literal of 1 MB": ["ACDEFGHIKL".repeat(100_000), "AC"],
  "a set of 1 MB": [`[${"A".repeat(1_000_000)}]`, "AC"],
  "repeats of repeats past the cap": ["((((A{1,99}){1,99}){1,99}){1,99}){1,99}", "AC"],
  "optional ones by the thousand": ["A?".repeat(4000) + "W", "A".repeat(3000)],
  "a count of a thousand digits": [`A{${"9".repeat(1000)}}`, "AC"],
};

test("patterns that explode elsewhere are refused or finished; neighbours do not notice", async () => {
  for (const [name, [pattern, sequence]] of Object.entries(PATTERNS)) {
    const started = processorTime(server.process);
    const answer = post(server.url, runJobMessage({ sequence, patterns: [pattern] }));
    expect((await ask(server.url, "GetStatus", "x")).status).toBe(500);
    const { status, text } = await answer;
    const took = processorTime(server.process) - started;
    expect({ name, slow: took > 5000, took }).toMatchObject({ name, slow: false });
    if (status === 200) {
      const job = element(text, "JobIdentifier")!;
      expect([name, await ended(server.url, job)]).toEqual([name, "finished"]);
    } else {
      expect([name, status, element(text, "faultcode")?.split(":")[1]]).toEqual([name, 500, "Client"]);
      expect(text).toContain("invalid_pattern");
      expect(text.length).toBeLessThan(1500);
    }
  }
}, 300_000);
