import { afterAll, afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fetchCorpus, type FetchOptions } from "../../src/farm/corpus-fetch.ts";
import { openCorpus, packCorpus } from "../../src/motif/index.ts";
import { lockFile } from "../../src/platform/sqlite.ts";
import { corpusFile } from "../../src/scoring/corpus/corpus-download.ts";
import { random, randomProtein } from "../fixtures/random-protein.ts";
import { waitFor } from "../wait.ts";

// Eight downloads take turns, which takes seconds on a busy machine.
setDefaultTimeout(60_000);

const next = random(7);
const bytes = packCorpus(
  "some",
  Array.from({ length: 6000 }, (_, i) => ({
    accession: `P${i}`,
    description: `protein ${i}`,
    organism: null,
    speciesKey: null,
    residues: randomProtein(next, 500),
  })),
);
const { hash } = openCorpus(bytes);
const source = mkdtempSync(join(tmpdir(), "labd-fetch-"));
const [right, wrong] = ["right.labc", "wrong.labc"].map((name) => join(source, name));
writeFileSync(right, bytes);
writeFileSync(wrong, bytes.with(bytes.length >> 1, bytes[bytes.length >> 1] ^ 1));

let directory: string;
let told: string[];
const corpora = (...name: string[]): string => join(directory, "corpora", ...name);
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "labd-fetch-"));
  told = [];
});
afterEach(() => rmSync(directory, { recursive: true }));
afterAll(() => rmSync(source, { recursive: true }));

const fetchFrom = (url: string | string[], options: FetchOptions = {}, wanted = hash): Promise<string> =>
  fetchCorpus(wanted, [url].flat(), directory, {
    tell: (text) => void told.push(text),
    pause: 1,
    ...options,
  });
const refusal = (...call: Parameters<typeof fetchFrom>): Promise<string> =>
  fetchFrom(...call).then(
    () => "fetched",
    (error: Error) => error.message,
  );
const isWhole = (path: string): boolean => readFileSync(path).equals(bytes);
const remaining = (): string[] => readdirSync(corpora()).filter((name) => !name.endsWith(".lock"));

/** A server with corpora below /lab. A fault is a status, or the number of bytes after which the connection breaks. */
class CorpusHost implements Disposable {
  readonly ranges: (string | null)[] = [];
  readonly faults: number[] = [];
  token: string | null = null;
  readonly #server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request) => this.#answer(request) });
  readonly url = `http://127.0.0.1:${this.#server.port}/lab`;

  constructor(private readonly file = right) {}

  #answer(request: Request): Response {
    const { pathname } = new URL(request.url);
    if (this.token !== null && request.headers.get("authorization") !== `Token ${this.token}`)
      return new Response("{}", { status: 401 });
    if (!pathname.startsWith("/lab/api/")) return Response.redirect("/", 302);
    if (pathname !== `/lab/api/scoring/corpora/${hash}`) return new Response("{}", { status: 404 });
    const fault = this.faults.shift() ?? Infinity;
    if (fault < 600) return new Response("", { status: fault });
    this.ranges.push(request.headers.get("range"));
    const response = corpusFile(request, { path: this.file, hash } as never);
    return fault === Infinity ? response : new Response(cutAfter(response, fault), response);
  }

  [Symbol.dispose](): void {
    void this.#server.stop(true);
  }
}

function cutAfter(response: Response, length: number): ReadableStream {
  return new ReadableStream({
    async start(controller) {
      controller.enqueue(new Uint8Array(await response.arrayBuffer()).subarray(0, length));
      // Time for the part to arrive on a busy machine.
      await Bun.sleep(250);
      controller.error(new Error("cut"));
    },
  });
}

test("a download continues after broken connections and busy servers, and leaves only the corpus", async () => {
  using host = new CorpusHost();
  host.token = "secret";
  host.faults.push(700_000, 1_000_000, 503);
  const seen: number[] = [];
  const options = { token: "secret", report: (at: number) => void seen.push(at) };
  const path = await fetchFrom(`${host.url}/`, options);
  expect(isWhole(path)).toBe(true);
  expect(seen.at(-1)).toBe(bytes.length);
  expect(seen).toEqual(seen.toSorted((a, b) => a - b));
  const starts = host.ranges.map((range) => Number(/\d+/.exec(range ?? "0")));
  expect(starts.length).toBe(3);
  expect(starts).toEqual([...new Set(starts)].toSorted((a, b) => a - b));
  expect(remaining()).toEqual([`${hash}.labc`]);
  expect(await fetchFrom(host.url)).toBe(path);
  expect(host.ranges.length).toBe(3);
});

test("a download continues the partial file of a killed process, or replaces a wrong file", async () => {
  using host = new CorpusHost();
  const part = corpora(`${hash}.labc.fetching`);
  mkdirSync(corpora());
  writeFileSync(part, bytes.subarray(0, 2_000_001));
  let first = 0;
  await fetchFrom(host.url, { report: (at) => void (first ||= at) });
  expect(first).toBeGreaterThan(2_000_001);
  for (const length of [1000, bytes.length, bytes.length + 1]) {
    rmSync(corpora(`${hash}.labc`));
    writeFileSync(part, Buffer.alloc(length));
    told.length = 0;
    expect(isWhole(await fetchFrom(host.url))).toBe(true);
    expect(told.join(" ")).toMatch(/Continuing after.*discarded and fetched again/);
  }
});

test("discards a file with a wrong hash and tries the next server", async () => {
  using bad = new CorpusHost(wrong);
  using good = new CorpusHost();
  expect(await refusal(bad.url)).toContain(`${bad.url} sent a file for ${hash} that is not that corpus`);
  expect(remaining()).toEqual([]);
  told.length = 0;
  const path = await fetchFrom(["http://127.0.0.1:9", bad.url, good.url]);
  expect(isWhole(path)).toBe(true);
  expect(told.filter((text) => text.endsWith("Trying the next server.")).length).toBe(2);
  // A file that is damaged later is found, too.
  writeFileSync(path, readFileSync(wrong));
  expect(isWhole(await fetchFrom(good.url))).toBe(true);
});

test("downloads once for simultaneous requests", async () => {
  using host = new CorpusHost();
  const paths = await Promise.all(Array.from({ length: 8 }, () => fetchFrom(host.url)));
  expect([new Set(paths).size, host.ranges.length]).toEqual([1, 1]);
  rmSync(paths[0]);
  const lock = lockFile(`${paths[0]}.lock`)!;
  const waiting = fetchFrom(host.url);
  await waitFor(() => told.at(-1) === "Waiting for another download of this corpus.");
  writeFileSync(paths[0], bytes);
  lock.release();
  expect(await waiting).toBe(paths[0]);
  expect(host.ranges.length).toBe(1);
});

test("rejects wrong tokens, addresses, hashes and corpora before writing anything", async () => {
  using host = new CorpusHost();
  host.token = "secret";
  expect(await refusal(host.url)).toContain("requires a token");
  expect(await refusal(host.url, { token: "other" })).toContain("rejected the token");
  expect(await refusal(host.url, { token: "secret" }, "0".repeat(64))).toContain("has no such corpus");
  expect(await refusal(host.url.slice(0, -4), { token: "secret" })).toContain("302");
  expect(await refusal(host.url, {}, "abc")).toContain("is not the hash of a corpus");
  expect(await refusal([])).toContain("No server offers");
  for (const address of ["s3://lab", "ftp://x", "https://u:p@x", "corpora", "https://x/?a=b", "https://x/#a"])
    expect(await refusal(address)).toContain("is not the address of a server");
  expect(remaining()).toEqual([]);
});

test("rejects a corpus larger than the free disk space", async () => {
  using large = Bun.serve({
    port: 0,
    fetch: () =>
      new Response(Buffer.from(bytes.subarray(0, 1000)), {
        status: 206,
        headers: { "Content-Range": "bytes 0-999/900000000000000" },
      }),
  });
  expect(await refusal(large.url.href)).toMatch(/has .* MB free, but the corpus needs .* MB more\./);
  expect(remaining()).toEqual([]);
});
