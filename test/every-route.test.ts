import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { familyRecords } from "../src/motif/index.ts";
import { writeFamilies } from "../src/scoring/corpus/families-file.ts";
import { type App, open } from "../src/app/open.ts";
import { resolveConfig } from "../src/config.ts";
import { complaints, exampleCall } from "./described.ts";
import { EveryOperation, operationRank } from "./fixtures/every-operation.ts";
import type { Json } from "./fixtures/service.ts";
import { waitFor } from "./wait.ts";

/** Rules for every operation of the OpenAPI document, whatever the service, with records that exist. */

setDefaultTimeout(600_000);

const directory = mkdtempSync(join(tmpdir(), "labd-routes-"));
const PASSWORD = "correct horse battery";
const JOB = { identifier: "x", querySequence: "MKLVACDEFGHIK", patterns: ["K.V"] };

let app: App;
let every: EveryOperation;

beforeAll(async () => {
  const flags = { data_dir: directory, backup_hours: "0", log: "off", workers: "1" };
  app = await open(resolveConfig({ flags, environment: {} }).config);
  await app.accounts.addUser({ username: "ada", superuser: true, password: PASSWORD });
  for (const username of ["kim", "max"]) await app.accounts.addUser({ username, password: PASSWORD });
  app.accounts.addToken("ada", "another");
  const document: unknown = await (await app.answer(new Request("http://lab/docs/json"))).json();
  every = new EveryOperation(document, request);
  await makeOthers();
  await every.makeInventory();
});
afterAll(async () => {
  await app.close();
  rmSync(directory, { recursive: true });
});

type Body = string | FormData;
const send = (method: string, address: string, headers: Record<string, string> = {}, body: Body = "{}") =>
  app.answer(new Request(`http://lab${address}`, { method, headers, ...(method === "GET" ? {} : { body }) }));

/** Headers of an administrator's session. */
function administrator(): Record<string, string> {
  const opened = app.accounts.sessions.open(app.accounts.userId("ada"), new Request("http://lab/"));
  return { Cookie: opened.cookie.split(";")[0], Origin: "http://lab" };
}
const session = () => ({ ...administrator(), "Content-Type": "application/json" });

/** Sends a request as an administrator. */
async function request(
  method: string,
  address: string,
  body = "{}",
  type = "application/json",
): Promise<Json> {
  const response = await send(method, address, { ...administrator(), "Content-Type": type }, body);
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${address}: ${response.status} ${text}`);
  return text === "" ? {} : (JSON.parse(text) as Json);
}
const ask = (method: string, address: string, body: unknown = {}) =>
  request(method, address, JSON.stringify(body));

/** Jobs, searches, watched queries, webhooks and what administrators see. */
async function makeOthers(): Promise<void> {
  const { scoring } = app;
  await scoring.corpora.add({ name: "yeast", bytes: new Response(">A OX=9606\nMKLVACDEFGHIK\n").body! });
  const corpus = scoring.corpora.active()!;
  const opened = scoring.corpora.open();
  await scoring.importFeatures({ source: `${opened.accession(0)}\t0\t5\n`, name: "elm_instances.tsv" });
  writeFamilies(corpus, [...familyRecords(opened, [0])]);
  const { id: job } = await ask("POST", "/api/scoring/jobs", JOB);
  await waitFor(() => scoring.counts().finished > 0);
  await ask("POST", "/api/scoring/watched-queries", { job });
  const { id: search } = await ask("POST", "/api/scoring/proteome/searches", { pattern: "K.V" });
  const proteins = [{ querySequence: JOB.querySequence }];
  const { id: batch } = await ask("POST", "/api/scoring/batches", { proteins, patterns: JOB.patterns });
  const { id: build } = await ask("POST", "/api/admin/proteome/builds");
  await ask("POST", "/api/webhooks", { url: "https://lims.example/hook" });
  const [webhook] = (await ask("GET", "/api/webhooks")).results;
  await ask("POST", `/api/webhooks/${webhook.id}/ping`);
  await ask("POST", "/api/admin/backups");
  await waitFor(async () => (await ask("GET", "/api/admin/backups")).results.length > 0);
  Object.assign(every.named, {
    "/api/scoring/jobs": job,
    "/api/scoring/batches": batch,
    "/api/admin/jobs": job,
    "/api/scoring/corpora": corpus.hash,
    "/api/scoring/proteins": "A",
    "/api/admin/corpora": corpus.hash,
    "/api/scoring/proteome/searches": search,
    "/api/admin/proteome/builds": build,
    "/api/admin/features": "elm_instances.tsv",
    "/api/admin/backups": (await ask("GET", "/api/admin/backups")).results[0].name,
    "/soap": job,
  });
}

/** Operations of the services; health is the same for everyone. */
const ofServices = () => every.listed.filter(({ path }) => /^\/(api|soap)\//.test(path));

test("every operation refuses invalid credentials instead of ignoring them", async () => {
  const { accounts } = app;
  await accounts.addUser({ username: "eve" });
  const [revoked, expired] = [accounts.addToken("eve", "revoked"), accounts.addToken("kim", "expired", 1)];
  accounts.tokens.revokeAll(accounts.userId("eve"));
  const disabled = accounts.addToken("eve", "of a disabled user");
  accounts.setActive(accounts.userId("eve"), false);
  const headers = [
    "Token unknown",
    `Token ${revoked}`,
    `Bearer ${revoked}`,
    `Token ${expired}`,
    `Token ${disabled}`,
    "Token",
    "Token a b",
    "Basic a2lt",
    "Digest x",
    revoked,
  ];
  const wrong: string[] = [];
  for (const { method, path, operation } of ofServices())
    for (const Authorization of headers) {
      const { status, headers } = await send(method, exampleCall(path, operation).address, { Authorization });
      if (status !== 401 || headers.get("www-authenticate") !== "Token, Bearer")
        wrong.push(`${method} ${path} with ${Authorization.slice(0, 12)}: ${status}`);
    }
  expect(wrong).toEqual([]);
});

test("SOAP and scoring refuse a wrong password and a session that has ended", async () => {
  const { accounts } = app;
  const message = `<Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/"><Body>
    <RunJob xmlns="http://labd.example/conservation-scorer"><identifier>x</identifier>
    <querySequence>MKLVACDEF</querySequence><scoringModel/></RunJob></Body></Envelope>`;
  const calls = [
    ["/api/scoring/jobs", "application/json", JSON.stringify(JOB)],
    ["/soap/ConservationScorer", "text/xml", message],
  ];
  const opened = accounts.sessions.open(accounts.userId("kim"), new Request("http://lab/"));
  const Cookie = opened.cookie.split(";")[0];
  accounts.sessions.closeAll(accounts.userId("kim"));
  const basic = (password: string) => ({ Authorization: `Basic ${btoa(`kim:${password}`)}` });
  for (const [path, type, body] of calls) {
    const post = (headers: Record<string, string>) =>
      send("POST", path, { "Content-Type": type, Origin: "http://lab", ...headers }, body);
    const accepted = await post(basic(PASSWORD));
    expect([path, accepted.ok]).toEqual([path, true]);
    for (const headers of [basic("wrong"), { Cookie }]) {
      const refused = await post(headers as Record<string, string>);
      const text = await refused.text();
      expect([path, refused.status, text.includes("unauthenticated")]).toEqual([path, 401, true]);
      expect(text.includes("Fault>")).toBe(type === "text/xml");
    }
    // The refusal removes the cookie; without it, anybody may submit.
    expect((await post({ Cookie })).headers.get("set-cookie")).toContain("labd_session=; Path=/; Max-Age=0");
    expect((await post({})).ok).toBe(true);
  }
  // Nobody is locked out of what is public.
  expect((await send("GET", "/api/v2/locations/", { Cookie })).status).toBe(200);
  const names = app.database.query("SELECT client FROM job").all() as { client: string }[];
  expect(names.slice(-4).map(({ client }) => client)).toEqual(["user kim", "", "user kim", ""]);
});

/** Not SOAP, whose faults have status 500, and not /healthz, which only says that the process runs. */
const ofJson = () => every.listed.filter(({ path }) => !/^\/(soap|healthz)/.test(path));

test("every operation refuses a parameter that it does not have", async () => {
  const headers = session();
  const wrong: string[] = [];
  for (const each of ofJson()) {
    const { method, operation } = each;
    const { address, body, type } = await every.makeCall(each);
    const all = { ...headers, ...(type === undefined ? {} : { "Content-Type": type }) };
    const previews = operation.parameters.some(({ name }) => name === "dry_run");
    for (const name of ["no_such_parameter", ...(previews ? [] : ["dry_run"])]) {
      const asked = `${address}${address.includes("?") ? "&" : "?"}${name}=1`;
      const response = await send(method, asked, all, typeof body === "string" ? body : "{}");
      const answer = await response.text();
      const isNamed = answer.includes(`\\"${name}\\" is not a parameter of this`);
      if (response.status !== 400 || !isNamed)
        wrong.push(`${method} ${asked}: ${response.status} ${answer.slice(0, 200)}`);
    }
  }
  expect(wrong).toEqual([]);
});

test("every write that does not compare versions refuses If-Match", async () => {
  const headers = session();
  const wrong: string[] = [];
  for (const each of ofJson().filter(({ method, path }) => method !== "GET" && !path.endsWith("/search"))) {
    const { address, body, type } = await every.makeCall(each);
    const all = { ...headers, ...(type === undefined ? {} : { "Content-Type": type }) };
    const honours = each.operation.parameters.some(({ name }) => name === "If-Match");
    for (const name of honours ? ["If-Unmodified-Since"] : ["If-Match", "If-Unmodified-Since"]) {
      const sent = { ...all, [name]: '"1"' };
      const response = await send(each.method, address, sent, typeof body === "string" ? body : "{}");
      const answer = await response.text();
      if (response.status !== 400 || !answer.includes(`${name}: `))
        wrong.push(`${each.method} ${address} ${name}: ${response.status} ${answer.slice(0, 200)}`);
    }
  }
  expect(wrong).toEqual([]);
});

test("SOAP refuses a parameter with a fault", async () => {
  const headers = { "Content-Type": "text/xml" };
  const answered = async (query: string) => {
    const response = await send("POST", `/soap/ConservationScorer${query}`, headers, "<x/>");
    return [response.status, (await response.text()).includes("is not a parameter of this request")];
  };
  expect([await answered("?dry_run=1"), await answered("?wsdl")]).toEqual([
    [500, true],
    [500, false],
  ]);
});

test("every operation responds as documented to every caller, about records that exist", async () => {
  const token = (name: string, scope: "read" | "write") => ({
    Authorization: `Token ${app.accounts.tokens.add(app.accounts.userId(name), { name: "test", scope }).token}`,
  });
  const callers: (() => Record<string, string>)[] = [
    () => ({}),
    () => token("kim", "read"),
    () => token("kim", "write"),
    administrator,
  ];
  const wrong: string[] = [];
  for (const each of ofJson().toSorted((a, b) => operationRank(a) - operationRank(b))) {
    const { method, path, operation } = each;
    let call = await every.makeCall(each);
    for (const [i, caller] of callers.entries()) {
      // Earlier calls may have removed the record.
      if (i > 1 && method !== "GET") call = await every.makeCall(each);
      const { address, body, type } = call;
      for (const sent of i > 1 && typeof body === "string" ? ["{}", body] : [body]) {
        const headers = { ...caller(), ...(type === undefined ? {} : { "Content-Type": type }) };
        const response = await send(method, address, headers, sent ?? "");
        const answer = { status: response.status, headers: response.headers, text: await response.text() };
        wrong.push(...complaints(operation, method, path, answer));
      }
    }
  }
  expect([...new Set(wrong)]).toEqual([]);
});
