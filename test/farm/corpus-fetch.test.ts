import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { calibrationName, fetchCorpus, type FetchOptions, objectName } from "../../src/farm/corpus-fetch.ts";
import { METHOD, openCorpus, packCorpus } from "../../src/motif/index.ts";
import { calibrationPath, readCalibration, verifyCorpusFile } from "../../src/scoring/index.ts";
import { corpusFile } from "../../src/scoring/corpus/corpus-download.ts";
import { ObjectStore } from "../../src/platform/object-store.ts";
import { lockFile } from "../../src/platform/sqlite.ts";
import { harmfulProxy, type ObjectServer, objectServer } from "../platform/object-server.ts";
import { random, randomProtein } from "../fixtures/random-protein.ts";

let server: ObjectServer;
let directory: string;
const place = mkdtempSync(join(tmpdir(), "labd-fetch-"));
/** A corpus of some megabytes. */
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
  () => new Bun.CryptoHasher("sha256"),
);
const { hash } = openCorpus(bytes);
const file = join(place, objectName(hash));
writeFileSync(file, bytes);
const sha256 = new Bun.CryptoHasher("sha256").update(bytes).digest("hex");

beforeAll(async () => {
  server = await objectServer();
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  rmSync(place, { recursive: true });
});
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "labd-fetch-"));
});
afterEach(() => {
  server.faults.length = 0;
  rmSync(directory, { recursive: true });
});

const told: string[] = [];
const options = (more: Partial<FetchOptions> = {}): FetchOptions => ({
  access: server.access,
  tell: (sentence) => void told.push(sentence),
  pause: 1,
  ...more,
});
/** A store that has it. */
async function filled(): Promise<string> {
  const address = server.address();
  await new ObjectStore(address, server.access).put(objectName(hash), file, sha256);
  return address;
}
const isWhole = (path: string): boolean => readFileSync(path).equals(bytes);
const lies = (): string[] => readdirSync(join(directory, "corpora")).sort();
const isGet = (method: string, url: string): boolean => method === "GET" && url.endsWith(".labc");
const downloads = (from: number): string[] =>
  server.asked.slice(from).filter((line) => /^GET .*\.labc$/.test(line));

test("from a store, with what was cut off gone on with; nothing is left beside it", async () => {
  const address = await filled();
  server.faults.push({ when: isGet, cutAnswer: 700_000 }, { when: isGet, cutAnswer: 1_000_000 });
  const seen: number[] = [];
  const path = await fetchCorpus(hash, [address], directory, options({ report: (at) => void seen.push(at) }));
  expect(isWhole(path)).toBe(true);
  expect(seen.at(-1)).toBe(bytes.length);
  expect(seen).toEqual(seen.toSorted((a, b) => a - b));
  expect(lies()).toEqual([objectName(hash)]);
  expect(server.faults).toEqual([]);
  const before = server.asked.length;
  for (const more of [{}, { calibration: null }])
    expect(await fetchCorpus(hash, [address], directory, options(more))).toBe(path);
  expect(server.asked.length).toBe(before);
});

test("what a killed process had begun is gone on with, or thrown away where it is something else", async () => {
  const address = await filled();
  const part = join(directory, "corpora", `${objectName(hash)}.fetching`);
  mkdirSync(join(directory, "corpora"));
  writeFileSync(part, bytes.subarray(0, 2_000_001));
  let first = 0;
  const report = (at: number): void => void (first ||= at);
  await fetchCorpus(hash, [address], directory, options({ report }));
  expect(first).toBeGreaterThan(2_000_001);
  for (const wrong of [Buffer.alloc(1000), Buffer.alloc(bytes.length + 1), Buffer.alloc(bytes.length)]) {
    rmSync(join(directory, "corpora", objectName(hash)));
    writeFileSync(part, wrong);
    told.length = 0;
    expect(isWhole(await fetchCorpus(hash, [address], directory, options()))).toBe(true);
    expect(told.join(" ")).toMatch(/Going on behind.*thrown away, and all of it fetched anew/);
  }
});

test("a wrong file is thrown away with its hash and source, and the next source is asked", async () => {
  const [wrong, right] = [server.address(), await filled()];
  const other = join(place, "other");
  const changed = Buffer.from(bytes);
  changed[bytes.length >> 1] ^= 1;
  writeFileSync(other, changed);
  const sum = new Bun.CryptoHasher("sha256").update(changed).digest("hex");
  await new ObjectStore(wrong, server.access).put(objectName(hash), other, sum);
  const refused = await fetchCorpus(hash, [wrong], directory, options()).catch(
    (error: Error) => error.message,
  );
  expect(refused).toContain(`${wrong} gave a file for ${hash} that is not that corpus`);
  expect(lies().filter((name) => !name.endsWith(".lock"))).toEqual([]);
  told.length = 0;
  const sources = [server.address(), "http://127.0.0.1:9", wrong, right];
  const path = await fetchCorpus(hash, sources, directory, options());
  expect(isWhole(path)).toBe(true);
  expect(told.filter((sentence) => sentence.endsWith("Trying the next source.")).length).toBe(3);
  // One that was damaged later is found, too.
  writeFileSync(path, changed);
  expect(isWhole(await fetchCorpus(hash, [right], directory, options()))).toBe(true);
}, 300_000);

test("many who ask at once share one download, and another process is waited for", async () => {
  const address = await filled();
  const before = server.asked.length;
  const paths = await Promise.all(
    Array.from({ length: 8 }, () => fetchCorpus(hash, [address], directory, options())),
  );
  expect(new Set(paths).size).toBe(1);
  expect(downloads(before).length).toBe(1);
  rmSync(paths[0]);
  const lock = lockFile(`${paths[0]}.lock`)!;
  told.length = 0;
  let done = false;
  const waiting = fetchCorpus(hash, [address], directory, options()).then(() => (done = true));
  await Bun.sleep(50);
  expect([done, told]).toEqual([false, ["Another process fetches this corpus: waiting for it."]]);
  // What it waited for is there.
  writeFileSync(paths[0], bytes);
  lock.release();
  await waiting;
  expect(downloads(before).length).toBe(1);
});

test("the calibration comes with it, and has to be the one that is wanted", async () => {
  const address = await filled();
  const store = new ObjectStore(address, server.access);
  const make = (corpus: string, lambda: number): { text: string; own: string } => {
    const body = JSON.stringify({ format: 2, method: METHOD, corpus, calibration: { lambda } });
    const own = new Bun.CryptoHasher("sha256").update(body).digest("hex");
    return { text: `${body}\n${own}\n`, own };
  };
  const { text, own } = make(hash, 1);
  const refused = (wanted: string): Promise<string> =>
    fetchCorpus(hash, [address], directory, options({ calibration: wanted })).then(
      () => "",
      (error: Error) => error.message,
    );
  expect(await refused(own)).toContain(`${address} has no calibration ${own}`);
  await store.putText(calibrationName(hash), "half of i");
  // Without the null that the source has, the corpus does not count as there.
  await fetchCorpus(hash, [address], directory, options()).then(
    () => expect.unreachable(),
    (error: Error) => expect(error.message).toContain("was altered"),
  );
  await store.putText(calibrationName(hash), text);
  const path = await fetchCorpus(hash, [address], directory, options());
  expect(readCalibration(path)?.hash).toBe(own);
  expect(await fetchCorpus(hash, [address], directory, options({ calibration: own }))).toBe(path);
  expect(await refused("0".repeat(64))).toContain(`gave the calibration ${own} instead of 000`);
  for (const wrong of [text.replace("1}", "2}"), make("0".repeat(64), 1).text]) {
    await store.putText(calibrationName(hash), wrong);
    expect(await refused("1".repeat(64))).toMatch(/was altered|does not belong/);
  }
  expect(readCalibration(path)?.hash).toBe(own);
  await fetchCorpus(hash, [address], directory, options({ calibration: null }));
  expect(existsSync(calibrationPath(path))).toBe(false);
});

test("a disk without room, sources that are none, and hashes that are none are refused before anything is written", async () => {
  const refusal = (wanted: string, source: string): Promise<string> =>
    fetchCorpus(wanted, [source], directory, options()).then(
      () => "",
      (error: Error) => error.message,
    );
  using large = serving(
    (request) =>
      new Response(Buffer.from(bytes.subarray(0, 1000)), {
        status: 206,
        headers: { "Content-Range": `bytes 0-999/900000000000000`, "X-Method": request.method },
      }),
  );
  expect(await refusal(hash, large.url)).toMatch(/has room for .* MB, and .* MB are to come\. Make room/);
  expect(lies().filter((name) => !name.endsWith(".lock"))).toEqual([]);
  expect(await refusal("abc", "s3://lab")).toContain("is no hash of a corpus");
  for (const source of ["ftp://x", "https://u:p@x", "corpora", "https://x/?a=b"])
    expect(await refusal(hash, source)).toMatch(/is no source of corpora/);
});

test("from a server: ranges, its token, and what it says no to", async () => {
  const asked: (string | null)[] = [];
  using http = serving((request) => {
    const { pathname } = new URL(request.url);
    if (!pathname.startsWith("/lab/api/scoring/corpora/"))
      return new Response(null, { status: 302, headers: { Location: "/" } });
    if (request.headers.get("authorization") !== "Token secret") return new Response("{}", { status: 401 });
    if (!pathname.endsWith(hash)) return new Response("{}", { status: 404 });
    asked.push(request.headers.get("range"));
    return corpusFile(request, { path: file, hash } as never);
  });
  using proxy = await harmfulProxy(() => Number(new URL(http.url).port));
  const refusal = (wanted: string, source: string, token?: string): Promise<string> =>
    fetchCorpus(wanted, [source], directory, options({ token })).then(
      () => "",
      (error: Error) => error.message,
    );
  const base = `http://127.0.0.1:${proxy.port}/lab`;
  expect(await refusal(hash, base)).toContain("wants a token");
  expect(await refusal(hash, base, "other")).toContain("not valid there");
  expect(await refusal("0".repeat(64), base, "secret")).toContain("has no such corpus");
  expect(await refusal(hash, http.url, "secret")).toContain("302");
  for (let i = 0; i < 3; i++) proxy.faults.push({ when: () => true, cutAnswer: 900_000 });
  proxy.faults.push({ when: () => true, status: 503 });
  expect(isWhole(await fetchCorpus(hash, [`${base}/`], directory, options({ token: "secret" })))).toBe(true);
  expect(proxy.faults).toEqual([]);
  const starts = asked.map((range) => Number(/\d+/.exec(range ?? "0")));
  expect(starts.length).toBe(4);
  expect(starts).toEqual([...new Set(starts)].toSorted((a, b) => a - b));
});

test.each([
  ["bytes=0-9", 206, "bytes 0-9/"],
  ["bytes=-10", 206, `bytes ${bytes.length - 10}-${bytes.length - 1}/`],
  ["bytes=100-", 206, `bytes 100-${bytes.length - 1}/`],
  ["bytes=5-999999999999", 206, `bytes 5-${bytes.length - 1}/`],
  [`bytes=${bytes.length}-`, 416, "bytes */"],
  ["bytes=-0", 416, "bytes */"],
  ["bytes=9-5", 200, null],
  ["bytes=0-1,5-6", 200, null],
  ["lines=1-2", 200, null],
  ["bytes=-", 200, null],
])("Range: %s", async (range, status, expected) => {
  const answer = corpusFile(new Request("http://x/", { headers: { Range: range } }), {
    path: file,
    hash,
  } as never);
  expect(answer.status).toBe(status);
  const given = answer.headers.get("content-range");
  expect(given === null ? null : given.slice(0, given.indexOf("/") + 1)).toBe(expected);
  const length = Number(answer.headers.get("content-length") ?? 0);
  expect((await answer.arrayBuffer()).byteLength).toBe(length);
});

test("If-Range and If-None-Match go by the hash", () => {
  const ask = (headers: Record<string, string>): number =>
    corpusFile(new Request("http://x/", { headers }), { path: file, hash } as never).status;
  expect(ask({ Range: "bytes=1-", "If-Range": `"${hash}"` })).toBe(206);
  expect(ask({ Range: "bytes=1-", "If-Range": '"other"' })).toBe(200);
  expect(ask({ "If-None-Match": `"other", W/"${hash}"` })).toBe(304);
  expect(statSync(file).size).toBe(bytes.length);
  expect(verifyCorpusFile(file, hash).sequenceCount).toBe(6000);
});

function serving(answer: (request: Request) => Response): { url: string } & Disposable {
  const http = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer });
  return { url: `http://127.0.0.1:${http.port}`, [Symbol.dispose]: () => void http.stop(true) };
}
