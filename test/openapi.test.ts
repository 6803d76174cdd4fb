import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import SwaggerParser from "@apidevtools/swagger-parser";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { familyRecords } from "../src/motif/index.ts";
import { writeFamilies } from "../src/scoring/corpus/families-file.ts";
import { type App, open } from "../src/app/open.ts";
import { resolveConfig } from "../src/config.ts";
import {
  complaints,
  defaultForm,
  findErrors,
  exampleCall,
  exampleErrors,
  hasExample,
  type Operation,
  listOperations,
  listProperties,
  type Paths,
} from "./described.ts";
import { waitFor } from "./wait.ts";

/**
 * The OpenAPI document of the whole program, and the examples of all but the inventory, which has its own test. Run with
 * GOLDEN=write to accept new names of operations.
 */

setDefaultTimeout(300_000);

const NAMES = join(import.meta.dir, "golden/operations.txt");
const FASTA = new Response(">A OX=9606\nMKLVACDEFGHIK\n").body!;
const PASSWORD = "correct horse battery";
const directory = mkdtempSync(join(tmpdir(), "labd-openapi-"));

interface Document {
  openapi: string;
  tags: { name: string; description: string }[];
  "x-tagGroups": { name: string; tags: string[] }[];
  servers: { url: string }[];
  components: Record<string, object>;
}

let app: App;
let text = "";
let document: Document;
let paths: Paths = {};
let listed: { method: string; path: string; operation: Operation }[] = [];
beforeAll(async () => {
  const flags = { data_dir: directory, backup_hours: "0", log: "off", workers: "1" };
  app = await open(resolveConfig({ flags, environment: {} }).config);
  await app.accounts.addUser({ username: "ada", superuser: true, password: PASSWORD });
  await app.accounts.addUser({ username: "carol" });
  app.accounts.addToken("ada", "test");
  text = await (await app.answer(new Request("http://labd/docs/json"))).text();
  document = JSON.parse(text);
  paths = listOperations(document);
  listed = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
});
afterAll(async () => {
  await app.close();
  rmSync(directory, { recursive: true });
});

test("the document is valid OpenAPI of less than 1 MB, without empty lists of required properties", async () => {
  expect(document.openapi).toBe("3.1.0");
  expect(document.servers).toEqual([{ url: "/" }]);
  expect(Buffer.byteLength(text)).toBeLessThan(1_000_000);
  expect(text).not.toContain('"required":[]');
  expect(Object.keys(document.components).sort()).toEqual([
    "parameters",
    "requestBodies",
    "responses",
    "schemas",
    "securitySchemes",
  ]);
  await SwaggerParser.validate(JSON.parse(text));
});

/** Segments of a path; those of parameters are null. */
const segments = (path: string): (string | null)[] =>
  path.split("/").map((part) => (part.startsWith("{") ? null : part));

/** Pairs of paths that fit one address, of which neither is more concrete (OpenAPI 3.1, 4.8.8). */
function findAmbiguous(found: readonly string[]): string[] {
  const fits = (a: (string | null)[], b: (string | null)[]): boolean =>
    a.length === b.length && a.every((part, i) => part === null || b[i] === null || part === b[i]);
  const isConcreter = (a: (string | null)[], b: (string | null)[]): boolean =>
    a.some((part, i) => part !== null && b[i] === null);
  return found.flatMap((path, i) =>
    found
      .slice(i + 1)
      .filter((other) => {
        const [a, b] = [segments(path), segments(other)];
        return fits(a, b) && isConcreter(a, b) === isConcreter(b, a);
      })
      .map((other) => `${path} ${other}`),
  );
}

test("parts of the document are valid, without ambiguous paths, and name operations once", async () => {
  expect(findAmbiguous(Object.keys(paths))).not.toEqual([]);
  const inParts = new Set<string>();
  for (const part of ["inventory", "scoring", "administration"]) {
    const answer = await send("GET", `/docs/json?part=${part}`);
    const selected = (await answer.json()) as Document & { paths: Paths };
    const names = Object.values(listOperations(selected)).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    );
    expect({ part, ambiguous: findAmbiguous(Object.keys(selected.paths)) }).toEqual({ part, ambiguous: [] });
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) inParts.add(name);
    await SwaggerParser.validate(selected as never);
  }
  expect([...inParts]).toContainValues(["listNotesOfConsumable", "submitScoringJob", "listBackups"]);
  const { status, headers } = await send("GET", "/docs/json?part=scoring");
  const other = await send("GET", "/docs/json?part=inventory");
  expect([status, headers.get("etag") === other.headers.get("etag")]).toEqual([200, false]);
  const unknown = await send("GET", "/docs/json?part=farm");
  expect([unknown.status, await unknown.json()]).toEqual([
    400,
    expect.objectContaining({ part: ["Must be one of: inventory, scoring, administration."] }),
  ]);
});

test("names of operations are unique and do not change", () => {
  const names = listed.map(
    ({ method, path, operation: { operationId } }) => `${operationId} ${method} ${path}\n`,
  );
  expect(new Set(listed.map(({ operation }) => operation.operationId)).size).toBe(listed.length);
  for (const { operation } of listed) expect(operation.operationId).toMatch(/^[a-z][A-Za-z0-9]+$/);
  if (process.env.GOLDEN === "write") writeFileSync(NAMES, names.join(""));
  // Names may be added, but not changed.
  const expected = readFileSync(NAMES, "utf8").match(/.+\n/g)!;
  expect(expected.filter((name) => !names.includes(name))).toEqual([]);
  expect(names.filter((name) => !expected.includes(name))).toEqual([]);
});

test("every operation has one tag, which is described and in one group", () => {
  const tags = document.tags.map(({ name }) => name).sort();
  expect(listed.filter(({ operation }) => operation.tags.length !== 1)).toEqual([]);
  expect([...new Set(listed.flatMap(({ operation }) => operation.tags))].sort()).toEqual(tags);
  expect(document["x-tagGroups"].flatMap((group) => group.tags).sort()).toEqual(tags);
  for (const { description } of document.tags) expect(description).toMatch(/\.$/);
});

test("every parameter has a type and a description, and page_size takes 5 and max", () => {
  for (const { path, operation } of listed)
    for (const { name, description, schema } of operation.parameters)
      expect({ path, name, description, isTyped: Object.keys(schema).length > 0 }).toEqual({
        path,
        name,
        description: expect.stringMatching(/\S/),
        isTyped: true,
      });
  const { schema } = paths["/api/v2/locations"].get.parameters.find(({ name }) => name === "page_size")!;
  const accepted = [5, 1000, "max", 0, 1001, "5", "many"].filter(
    (size) => findErrors(schema, size).length === 0,
  );
  expect(accepted).toEqual([5, 1000, "max"]);
});

/** Operations whose results are not the records of a list, or follow a cursor. */
const OTHER_SHAPES =
  /^list(Resources|FilesByAppAndModel|FieldValues|References|Grants|ChangesSinceCursor|AuditEntries|JobsAndWorkers|Backups)/;

test("all lists have one shape", () => {
  const members = ["previous", "next", "current", "total", "total_pages", "results"];
  const lists = listed.filter(
    ({ operation: { operationId } }) => operationId.startsWith("list") && !OTHER_SHAPES.test(operationId),
  );
  expect(lists.length).toBeGreaterThan(50);
  for (const { path, operation } of lists) {
    const { schema } = operation.responses[200].content!["application/json"];
    const properties = listProperties(defaultForm(schema));
    expect({ path, members: members.filter((name) => name in properties) }).toEqual({ path, members });
  }
});

const send = (method: string, address: string, init: RequestInit = {}): Promise<Response> =>
  Promise.resolve(app.answer(new Request(`http://labd${address}`, { method, ...init })));

test("operations that need credentials, and only these, reject anonymous callers", async () => {
  const wrong: string[] = [];
  // One list stands for all, which come from the same declaration.
  const isOtherList = (path: string): boolean =>
    /\/v2\/(?!locations)[\w/]+\/(\{id\}|search|import|labels|values)/.test(path);
  for (const { method, path, operation } of listed.filter((each) => !isOtherList(each.path))) {
    const { address } = exampleCall(path, operation);
    const { status } = await send(method, address, method === "GET" ? {} : { body: "{}" });
    const needs = operation.security === undefined;
    // Of a session that there is not.
    if (path !== "/api/v2/session" && needs !== (status === 401)) wrong.push(`${method} ${path} ${status}`);
  }
  expect(wrong).toEqual([]);
});

test("every operation has an example, which conforms to its schema", () => {
  expect(listed.filter(({ operation }) => !hasExample(operation)).map(({ path }) => path)).toEqual([]);
  expect(listed.flatMap(({ operation }) => exampleErrors(operation))).toEqual([]);
});

/** Statuses of examples that cannot succeed here, with the reasons. */
const OTHER_STATUSES: Record<string, [status: number, reason: string]> = {
  cancelScoringJob: [409, "the job has ended"],
  cancelJob: [409, "the job has ended"],
  addStructureModel: [400, "the file is no model"],
  getStructureModelFile: [404, "the job has no model"],
  addModelOfProtein: [400, "the file is no model"],
  getModelFileOfProtein: [404, "the protein has no model"],
  getClassModel: [404, "no instances are imported"],
  scoreKnownInstances: [404, "no instances are imported"],
  cancelScoringBatch: [409, "the batch has ended"],
  cancelProteomeSearch: [409, "the search has ended"],
  cancelBuildOfFamilies: [409, "the build has ended"],
  createFirstAdministrator: [404, "there is an administrator"],
  enableSecondFactor: [400, "the code is not of an app"],
  replaceRecoveryCodes: [409, "there is no second factor"],
  removeSecondFactor: [409, "there is no second factor"],
  sendTestMessage: [409, "there is no mail server"],
  sendVerificationLink: [409, "there is no mail server"],
  verifyYourAddress: [404, "no link was sent"],
  resetSecondFactor: [404, "there is no second factor"],
  linkAccount: [400, "no directory is configured"],
  unlinkAccount: [404, "no account is linked"],
  repeatDelivery: [409, "only a test event was sent"],
  verifyBackup: [404, "there is no backup"],
};

/** Ids of records that the examples made, by the beginning of the paths in which they stand for the ids of examples. */
const made = new Map<string, string>();
const withMadeIds = (path: string, part: string): string => {
  const [, id] = [...made].find(([start]) => path.startsWith(start)) ?? [];
  return id === undefined ? part : part.replaceAll(/0f0e0d0c-0b0a-4908-8706-050403020100|0{64}|P04637/g, id);
};

let session: Record<string, string> = {};
/** Keeps the session that a response opens. */
function keepSession(response: Response, body: string): void {
  const cookie = response.headers.get("set-cookie")?.split(";")[0];
  if (cookie) session = { Cookie: cookie, "X-CSRFToken": JSON.parse(body).csrf_token };
}

/** Values from an example's response that later examples need. */
const KEEP: Record<string, (body: { id: string }) => void | Promise<void>> = {
  async submitScoringJob({ id }) {
    const starts = [
      "/api/scoring/jobs",
      "/api/scoring/comparison",
      "/api/scoring/scans",
      "/api/scoring/watched-queries",
      "/api/admin/jobs",
      "/soap",
    ];
    for (const start of starts) made.set(start, id);
    await waitFor(() => app.scoring.counts().finished > 0);
  },
  async startProteomeSearch({ id }) {
    made.set("/api/scoring/proteome", id);
    const path = `/api/scoring/proteome/searches/${id}`;
    await waitFor(async () => (await (await send("GET", path)).text()).includes('"state":"finished"'));
  },
  async submitScoringBatch({ id }) {
    made.set("/api/scoring/batches", id);
    await waitFor(
      async () => (await (await send("GET", `/api/scoring/batches/${id}`)).json()).state !== "running",
    );
  },
  watchQuery: ({ id }) => void made.set("/api/scoring/watched-queries", id),
  async buildFamiliesOfProteins({ id }) {
    made.set("/api/admin/proteome", id);
    await waitFor(() => app.scoring.builds.find(id).ended !== null);
  },
  // One in use can only be removed if there is no other.
  async addCorpus() {
    const { corpora } = app.scoring;
    await waitFor(() => corpora.list().length !== 1);
    corpora.remove(corpora.list().find(({ active }) => !active)!.hash);
  },
  addWebhook: ({ id }) => void made.set("/api/webhooks", id),
  sendTestEvent: ({ id }) => void made.set("delivery", id),
  examineServer: ({ id }) => void ["/api/admin/tasks", "/api/tasks"].map((path) => made.set(path, id)),
};

async function signIn(): Promise<void> {
  const body = JSON.stringify({ username: "ada", password: PASSWORD });
  const headers = { "Content-Type": "application/json" };
  const response = await send("POST", "/api/v2/session", { headers, body });
  keepSession(response, await response.text());
}

/** Id of the first entry of a list. */
async function fetchFirst(path: string, holds: (entry: { current?: boolean }) => boolean = () => true) {
  const response = await send("GET", path, { headers: session });
  const { results } = (await response.json()) as { results: { id: string; current?: boolean }[] };
  return results.find(holds)!.id;
}

async function runExample({ method, path, operation }: (typeof listed)[number]): Promise<string[]> {
  if (path === "/api/account/sessions/{id}") {
    await signIn();
    made.set(path, await fetchFirst("/api/account/sessions", ({ current }) => !current));
  }
  // A task that has ended cannot be cancelled.
  if (operation.operationId.startsWith("cancelTask")) {
    const started = await send("POST", "/api/admin/health/examination", { headers: session });
    if (started.ok) KEEP.examineServer(await started.json());
  }
  const call = exampleCall(path, operation);
  const address = withMadeIds(path, call.address).replace(/msg_\w+/, made.get("delivery") ?? "");
  const headers = { ...session, ...(call.type ? { "Content-Type": call.type } : {}) };
  const body = typeof call.body === "string" ? withMadeIds(path, call.body) : call.body;
  const response = await send(method, address, { headers, ...(body === undefined ? {} : { body }) });
  const answer = { status: response.status, headers: response.headers, text: await response.text() };
  const [status] = OTHER_STATUSES[operation.operationId] ?? [];
  if (status === undefined ? !response.ok : response.status !== status)
    return [`${method} ${path} ${response.status}: ${answer.text.slice(0, 300)}`];
  if (path.startsWith("/api/account")) keepSession(response, answer.text);
  if (response.ok) await KEEP[operation.operationId]?.(JSON.parse(answer.text));
  return complaints(operation, method, path, answer);
}

test("every example outside the inventory gets the documented response", async () => {
  await app.scoring.corpora.add({ name: "yeast", bytes: FASTA });
  const corpus = app.scoring.corpora.active()!;
  made.set("/api/scoring/corpora", corpus.hash);
  const { accession } = app.scoring.corpora.open();
  made.set("/api/scoring/proteins", accession(0));
  await app.scoring.importFeatures({ source: `${accession(0)}\t0\t5\n`, name: "elm_instances.tsv" });
  writeFamilies(corpus, [...familyRecords(app.scoring.corpora.open(), [0])]);
  await signIn();
  made.set("/api/admin/tokens", await fetchFirst("/api/admin/tokens"));
  const order = ["POST", "PUT", "GET", "DELETE"];
  const found: string[] = [];
  const others = listed
    .filter(({ path }) => !path.startsWith("/api/v2"))
    // Needs a job.
    .toSorted((a, b) => Number(a.path.startsWith("/soap")) - Number(b.path.startsWith("/soap")));
  for (const method of order)
    for (const example of others.filter((each) => each.method === method))
      found.push(...(await runExample(example)));
  expect(found).toEqual([]);
  expect(others.length).toBeGreaterThan(55);
});
