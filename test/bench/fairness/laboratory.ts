import { Database } from "bun:sqlite";
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  element,
  ended,
  labd,
  post,
  runJobMessage,
  scratch,
  serve,
  type Server,
} from "../../executable/labd.ts";

/** The data that all loads start from: 100,000 public records of one user, and what single loads need. */

const RECORDS = 100_000;
const DEPTH = 2500;
const WORDS = [
  "frozen",
  "rabbit",
  "antibody",
  "buffer",
  "plasmid",
  "primer",
  "kinase",
  "serum",
  "gel",
  "human",
];

export interface Laboratory {
  server: Server;
  url: string;
  token: string;
  /** Ids: an annotation type with choices, a location, a stocktake of nested locations, and a finished job. */
  ids: Record<"type" | "location" | "stocktake" | "job", string>;
}

/** Requests as the owner of the records, or without credentials. */
export function request(
  { url, token }: Pick<Laboratory, "url" | "token">,
  path: string,
  {
    anonymous = false,
    type = "application/json",
    ...init
  }: RequestInit & { anonymous?: boolean; type?: string } = {},
): Promise<Response> {
  const credentials = anonymous ? {} : { Authorization: `Token ${token}` };
  const headers = {
    ...credentials,
    ...(init.body ? { "Content-Type": type } : {}),
    ...(init.headers as object),
  };
  return fetch(`${url}/api/v2/${path}`, { ...init, headers });
}

async function create(
  laboratory: Pick<Laboratory, "url" | "token">,
  path: string,
  body: unknown,
): Promise<string[]> {
  const response = await request(laboratory, path, { method: "POST", body: JSON.stringify(body) });
  if (!response.ok)
    throw new Error(`POST ${path}: ${response.status} ${(await response.text()).slice(0, 300)}`);
  const created = (await response.json()) as { id: string } | { id: string }[];
  return [created].flat().map(({ id }) => id);
}

/** A directory with the data, and the ids of single records. Made once; each load gets a copy. */
export async function prepare(): Promise<{ directory: string; token: string; ids: Laboratory["ids"] }> {
  const directory = mkdtempSync(join(tmpdir(), "labd-fairness-"));
  const env = { LABD_DATA_DIR: directory };
  await addCorpus(env);
  await labd(["user", "add", "ada", "--password-stdin"], { env, stdin: "a password for ada\n" });
  const token = (await labd(["token", "add", "ada"], { env })).stdout.trim();
  const server = await serve(directory, ["--log", "problems"]);
  const here = { url: server.url, token };
  const rows = Array.from({ length: RECORDS }, (_, i) => {
    const text = [3, 7, 11].map((step) => WORDS[Math.floor(i / step) % WORDS.length]).join(" ");
    return `Consumable ${i},OTHER,${text} number ${i},AVAILABLE,true`;
  });
  const body = `name,model_type,description,status,public\n${rows.join("\n")}\n`;
  const imported = await request(here, "stocks/consumables/import/?match=none", {
    method: "POST",
    body,
    type: "text/csv",
  });
  if (!imported.ok) throw new Error(`Import: ${imported.status} ${await imported.text()}`);
  await imported.arrayBuffer();
  const nested = await create(
    here,
    "locations/",
    Array.from({ length: DEPTH }, (_, i) => ({ label: `Nested ${i}`, public: true })),
  );
  const [type] = await create(here, "annotationtypes/", {
    name: "choices",
    type: "TEXT",
    value_choices: [["a", "A"]],
  });
  const [location] = await create(here, "locations/", { label: "Tested" });
  const [stocktake] = await create(here, "stocktakes/", { name: "Deep", location: nested[0] });
  const job = await largestPrediction(server.url);
  await server.end("SIGTERM");
  // Deeper than requests may nest them, as in data from before there was a limit.
  using database = new Database(join(directory, "labd.sqlite"));
  database.run("UPDATE location SET parent = rid - 1 WHERE label LIKE 'Nested %' AND label <> 'Nested 0'");
  return { directory, token, ids: { type, location, stocktake, job } };
}

/** Starts a server on a copy of the data. */
export async function open(
  prepared: Awaited<ReturnType<typeof prepare>>,
): Promise<Laboratory & AsyncDisposable> {
  const directory = mkdtempSync(join(tmpdir(), "labd-fairness-"));
  cpSync(prepared.directory, directory, { recursive: true });
  const server = await serve(directory, ["--log", "problems"]);
  return {
    ...prepared,
    server,
    url: server.url,
    async [Symbol.asyncDispose]() {
      if (server.process.exitCode === null) await server.end("SIGKILL");
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** Near relatives of one protein, so that a query has many homologs. */
const LENGTH = 1400;
const RELATIVES = 100;

function* relatives(): Generator<string> {
  const letters = "ACDEFGHIKLMNPQRSTVWY";
  let seed = 1;
  const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
  const letter = (): string => letters[Math.floor(random() * letters.length)];
  const first = Array.from({ length: LENGTH }, letter);
  yield first.join("");
  for (let i = 0; i < RELATIVES; i++) yield first.map((own) => (random() < 0.3 ? letter() : own)).join("");
}

async function addCorpus(env: Record<string, string>): Promise<void> {
  using place = scratch();
  const path = join(place.directory, "relatives.fasta");
  await Bun.write(
    path,
    [...relatives()].map((sequence, i) => `>sp|P${i}|R${i}_SPECIES${i}\n${sequence}\n`).join(""),
  );
  const { code, stderr } = await labd(["corpus", "add", path], { env });
  if (code !== 0) throw new Error(`labd corpus add: ${stderr}`);
}

/** A job whose result is tens of megabytes. */
async function largestPrediction(url: string): Promise<string> {
  const [sequence] = relatives();
  const { text } = await post(url, runJobMessage({ sequence, patterns: ["..", "..."] }));
  const job = element(text, "JobIdentifier");
  if (job === undefined) throw new Error(text);
  const status = await ended(url, job);
  if (status !== "finished") console.error(`The largest prediction ${status}.`);
  return job;
}

/** Megabytes of the server and its processes; pages that they share count once. */
export function memory(server: Server): number {
  let kilobytes = 0;
  for (const pid of family(server.process.pid))
    try {
      kilobytes += Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? 0);
    } catch {
      // It has ended.
    }
  return kilobytes / 1024;
}

function family(pid: number): number[] {
  const children = (): number[] =>
    readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
      readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8")
        .trim()
        .split(" ")
        .filter(Boolean)
        .map(Number),
    );
  try {
    return [pid, ...children().flatMap(family)];
  } catch {
    return [];
  }
}
