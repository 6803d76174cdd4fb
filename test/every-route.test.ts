import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type App, open } from "../src/app/open.ts";
import { resolveConfig } from "../src/config.ts";
import { exampleCall, type Operation, operationsOf } from "./described.ts";

/** What holds for every operation of the OpenAPI document, whatever the service. */

setDefaultTimeout(300_000);

const directory = mkdtempSync(join(tmpdir(), "labd-routes-"));
const PASSWORD = "correct horse battery";

let app: App;
let listed: { method: string; path: string; operation: Operation }[] = [];
beforeAll(async () => {
  const flags = { data_dir: directory, backup_hours: "0", log: "off", workers: "1" };
  app = await open(resolveConfig({ flags, environment: {} }).config);
  await app.accounts.addUser({ username: "ada", superuser: true, password: PASSWORD });
  await app.accounts.addUser({ username: "kim", password: PASSWORD });
  const document: unknown = await (await app.answer(new Request("http://lab/docs/json"))).json();
  listed = Object.entries(operationsOf(document)).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
});
afterAll(async () => {
  await app.close();
  rmSync(directory, { recursive: true });
});

const send = (method: string, address: string, headers: Record<string, string> = {}, body = "{}") =>
  app.answer(new Request(`http://lab${address}`, { method, headers, ...(method === "GET" ? {} : { body }) }));

/** Operations of the services; health is the same for everyone. */
const ofServices = () => listed.filter(({ path }) => /^\/(api|soap)\//.test(path));

test("every operation refuses credentials that do not count, and never takes them for none", async () => {
  const { accounts } = app;
  const [revoked, expired] = [accounts.addToken("kim", "revoked"), accounts.addToken("kim", "expired", 1)];
  accounts.tokens.revokeAll(accounts.userId("kim"));
  await accounts.addUser({ username: "max", superuser: false });
  const disabled = accounts.addToken("max", "of a disabled user");
  accounts.setActive(accounts.userId("max"), false);
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
  const job = JSON.stringify({ identifier: "x", querySequence: "MKLVACDEF", patterns: ["K.V"] });
  const message = `<Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/"><Body>
    <RunJob xmlns="http://labd.example/conservation-scorer"><identifier>x</identifier>
    <querySequence>MKLVACDEF</querySequence><scoringModel/></RunJob></Body></Envelope>`;
  const calls = [
    ["/api/scoring/jobs", "application/json", job],
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
  expect(names.map(({ client }) => client)).toEqual(["user kim", "", "user kim", ""]);
});
