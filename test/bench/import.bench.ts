/**
 * Large imports, exports and bulk changes by the executable, and their effect on other clients.
 *
 *   bun run build.ts && bun run test/bench/import.bench.ts     100,000 consumables
 *   ROWS=5000 bun run test/bench/import.bench.ts               quick
 *   PARTS=annotations,samples …                                some of: files, annotations, samples
 *
 * Meanwhile one client reads a list and one creates a record every 50 ms. Prints duration, latency of these
 * clients, and peak memory of a fresh process for every line.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { median, readMemory, processorTime, say, sum } from "./harness.ts";
import { withChildren } from "./rest/service.ts";

const ROWS = Number(process.env.ROWS ?? 100_000);
const LABD = process.env.LABD ?? "dist/labd";
const PARTS = (process.env.PARTS ?? "files,annotations,samples").split(",");
const directory = mkdtempSync(join(tmpdir(), "labd-import-"));
const data = join(directory, "data");

async function labd(...words: string[]): Promise<string> {
  const child = Bun.spawn([LABD, ...words, "--data-dir", data], { stdout: "pipe", stderr: "inherit" });
  const text = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`labd ${words.join(" ")}`);
  return text.trim();
}

interface Service {
  send(path: string, init?: RequestInit): Promise<Response>;
}

/** Of the server and all processes that it started, in milliseconds. */
const readProcessorTime = (pid: number): number =>
  sum(withChildren(pid).map((each) => processorTime(each, "with ended children")));

/** Runs an operation on a fresh process with a reader and a writer. */
async function underLoad(
  what: string,
  token: string,
  work: (service: Service) => Promise<string>,
): Promise<void> {
  const port = 20_000 + Math.floor(Math.random() * 20_000);
  const command = [LABD, "serve", "--data-dir", data, "--port", String(port), "--log", "off"];
  const child = Bun.spawn([...command, "--max-message-bytes", "100000000"], {
    stdout: "ignore",
    stderr: "ignore",
  });
  const base = `http://127.0.0.1:${port}/api/v2/`;
  const send = (path: string, init: RequestInit = {}) =>
    fetch(base + path, { ...init, headers: { Authorization: `Token ${token}`, ...init.headers } });
  try {
    for (;;) {
      try {
        if ((await send("version/")).ok) break;
      } catch {
        await Bun.sleep(20);
      }
    }
    const [reads, writes]: number[][] = [[], []];
    const under = { done: false };
    let refused = 0;
    const client = async (times: number[], pause: number, ask: () => Promise<Response>): Promise<void> => {
      while (!under.done) {
        const start = performance.now();
        const response = await ask();
        await response.arrayBuffer();
        // Writers are refused after ten seconds.
        if (!response.ok && response.status !== 503) throw new Error(`${response.status} during ${what}`);
        refused += Number(!response.ok);
        times.push(performance.now() - start);
        await Bun.sleep(pause);
      }
    };
    const body = JSON.stringify({ label: "Meanwhile" });
    const headers = { "Content-Type": "application/json" };
    const others = [
      client(reads, 5, () => send("locations/")),
      client(writes, 50, () => send("locations/", { method: "POST", headers, body })),
    ];
    await Bun.sleep(300);
    const atRest = readMemory(child.pid, "VmRSS");
    for (const times of [reads, writes]) times.length = 0;
    const start = performance.now();
    const before = readProcessorTime(child.pid);
    const outcome = await work({ send });
    const seconds = (performance.now() - start) / 1000;
    const busy = (readProcessorTime(child.pid) - before) / 1000;
    under.done = true;
    await Promise.all(others);
    const waits = [reads, writes].map(
      (times) => `${median(times).toFixed(0)}/${Math.max(...times).toFixed(0)}`,
    );
    say(
      `${what}: ${seconds.toFixed(1)} s, ${outcome}; reads took ${waits[0]} ms, writes ${waits[1]} ms (median/maximum), ${refused} refused; processor time ${busy.toFixed(1)} s; memory ${atRest.toFixed(0)} MB before, ${readMemory(child.pid, "VmHWM").toFixed(0)} MB peak, ${readMemory(child.pid, "VmRSS").toFixed(0)} MB after`,
    );
  } finally {
    child.kill();
    await child.exited;
  }
}

const makeCsv = (rows: number): string =>
  `name,description,amount,model_type\n${Array.from(
    { length: rows },
    (_, i) => `Item ${i},Description of thing ${i} of its kind,${i % 100},OTHER\n`,
  ).join("")}`;

const AS_NEW = '?match=none&mapping={"id":null}';

/** Exports a list, and returns the file. */
async function exported(
  token: string,
  format: string,
  list = "stocks/consumables",
): Promise<Uint8Array<ArrayBuffer>> {
  let file = new Uint8Array(0);
  await underLoad(`export as ${format.toUpperCase()}`, token, async ({ send }) => {
    file = (await (await send(`${list}/?format=${format}`)).bytes()) as Uint8Array<ArrayBuffer>;
    return `${(file.length / 1e6).toFixed(1)} MB`;
  });
  return file;
}

/** Imports a file. */
const imported =
  (file: BodyInit, { list = "stocks/consumables", query = "" } = {}) =>
  async ({ send }: Service) => {
    const answer = await send(`${list}/import/${query}`, { method: "POST", body: file });
    const report = (await answer.json()) as Record<string, number>;
    if (!answer.ok) throw new Error(JSON.stringify(report).slice(0, 300));
    return `${report.created} created, ${report.updated} changed, ${report.unchanged} unchanged`;
  };

async function measureFiles(token: string): Promise<void> {
  await exported(token, "csv");
  const file = await exported(token, "xlsx");
  await underLoad("import of that XLSX, unchanged", token, imported(file));
  await underLoad("import of that XLSX, as new", token, imported(file, { query: AS_NEW }));
}

async function measureSamples(token: string, rows: number): Promise<void> {
  const list = "stocks/samples";
  const file = `name,description\n${Array.from({ length: rows }, (_, i) => `Sample ${i},Description of thing ${i} of its kind\n`).join("")}`;
  await underLoad(`import of ${rows} samples`, token, imported(file, { list }));
  const sheet = await exported(token, "xlsx", list);
  await underLoad("import of that XLSX, as new", token, imported(sheet, { list, query: AS_NEW }));
}

/** Sets an annotation of all consumables, changes it, and undoes that. */
async function measureAnnotations(token: string): Promise<void> {
  let batch = "";
  const json = { "Content-Type": "application/json" };
  const annotated =
    (value: string | null, query = "") =>
    async ({ send }: Service) => {
      const body = JSON.stringify({ annotations__genotype: value });
      const path = `stocks/consumables/?deleted=false${query}`;
      const response = await send(path, { method: "PATCH", headers: json, body });
      if (!response.ok) throw new Error((await response.text()).slice(0, 300));
      batch = response.headers.get("Batch-Id") ?? "";
      return `${((await response.bytes()).length / 1e6).toFixed(1)} MB`;
    };
  await underLoad("(annotation type)", token, async ({ send }) => {
    const body = JSON.stringify({ name: "genotype", type: "TEXT", public: true });
    return String((await send("annotationtypes/", { method: "POST", headers: json, body })).status);
  });
  await underLoad("dry run of annotating all", token, annotated("wild type", "&dry_run=1"));
  await underLoad("annotating all", token, annotated("wild type"));
  await underLoad("dry run of changing these annotations", token, annotated("flox", "&dry_run=1"));
  await underLoad("changing these annotations", token, annotated("flox"));
  await underLoad("undoing that", token, async ({ send }) =>
    String((await send(`batches/${batch}/undo/`, { method: "POST" })).status),
  );
  await underLoad("removing these annotations", token, annotated(null));
}

try {
  await labd("user", "add", "bench", "--admin");
  const token = await labd("token", "add", "bench");
  await underLoad("dry run of CSV", token, imported(makeCsv(ROWS), { query: "?dry_run=1" }));
  await underLoad("import of CSV", token, imported(makeCsv(ROWS)));
  if (PARTS.includes("annotations")) await measureAnnotations(token);
  if (PARTS.includes("files")) await measureFiles(token);
  if (PARTS.includes("samples")) await measureSamples(token, Math.ceil(ROWS / 5));
} finally {
  rmSync(directory, { recursive: true, force: true });
}
