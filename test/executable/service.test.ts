import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import {
  ask,
  E7,
  element,
  ended,
  inEnvelope,
  labd,
  NAMESPACE,
  post,
  runJobMessage,
  scratch,
  seenBy,
  serve,
  type Server,
} from "./labd.ts";

describe("one server, hostile and friendly callers", () => {
  const place = scratch();
  let server: Server;
  let token: string;
  beforeAll(async () => {
    const env = { LABD_DATA_DIR: place.directory };
    await labd(["corpus", "add", "--sample"], { env });
    await labd(["user", "add", "kim", "--admin"], { env });
    token = (await labd(["token", "add", "kim"], { env })).stdout.trim();
    server = await serve(place.directory, ["--max-message-bytes", "100000"]);
  });
  afterAll(async () => {
    await server[Symbol.asyncDispose]();
    place[Symbol.dispose]();
  });

  test("RunJob, GetStatus, GetResult: the published motif of E7 is conserved", async () => {
    const accepted = await post(
      server.url,
      runJobMessage({ sequence: E7, patterns: ["L.C.E", "W{3}"], names: ["LIG_SH3_1"] }),
    );
    expect(accepted.status).toBe(200);
    const job = element(accepted.text, "JobIdentifier")!;
    expect(await ended(server.url, job)).toBe("finished");
    const { text } = await ask(server.url, "GetResult", job);
    expect(element(text, "matchedText")).toBe("LYCYE");
    expect(element(text, "verdict")).toBe("conserved");
    expect(element(text, "firstResidue")).toBe("22");
    expect([...text.matchAll(/<(?:\w+:)?expression>([^<]*)</g)].map((match) => match[1]).slice(0, 2)).toEqual(
      ["L.C.E", "W{3}"],
    );
    expect(text).toContain("LIG_SH3_1");
  });

  const FAULTS: [string, string | Uint8Array<ArrayBuffer>, string][] = [
    ["not XML", "this is no XML", "Client"],
    ["malformed XML", "<s:Envelope", "Client"],
    ["a DOCTYPE", `<!DOCTYPE x [<!ENTITY a "b">]>${inEnvelope("")}`, "Client"],
    ["an unknown operation", inEnvelope(`<DropJobs xmlns="${NAMESPACE}"/>`), "Client"],
    ["another namespace", inEnvelope('<RunJob xmlns="urn:other"/>'), "Client"],
    ["a foreign envelope", '<Envelope xmlns="urn:other"><Body/></Envelope>', "VersionMismatch"],
    ["lower case in the sequence", runJobMessage({ sequence: "MKlT" }), "Client"],
    ["a foreign character in a pattern", runJobMessage({ sequence: "MKLT", patterns: ["P\\d"] }), "Client"],
    ["a pattern without sense", runJobMessage({ sequence: "MKLT", patterns: ["P((A"] }), "Client"],
    ["six patterns", runJobMessage({ sequence: "MKLT", patterns: ["A", "A", "A", "A", "A", "A"] }), "Client"],
    ["an unknown scoring model", runJobMessage({ sequence: "MKLT", model: "Continuous" }), "Client"],
    ["an unknown motif class", runJobMessage({ sequence: "MKLT", names: ["LIG_SH3_11"] }), "Client"],
    ["invalid UTF-8", new Uint8Array([0x3c, 0x61, 0xff, 0x3e]), "Client"],
  ];
  test.each(FAULTS)("SOAP: %s is a fault, not a stack trace", async (_, message, code) => {
    const { status, text, headers } = await post(server.url, message);
    expect(status).toBe(500);
    expect(headers.get("content-type")).toBe("text/xml; charset=utf-8");
    expect(element(text, "faultcode")).toEndWith(`:${code}`);
    expect(element(text, "faultstring")!.length).toBeGreaterThan(20);
    expect(text).not.toMatch(/\bat \S+:\d+:\d+/);
  });

  test("SOAP: an unknown job is the typed fault", async () => {
    for (const operation of ["GetStatus", "GetResult"]) {
      const { status, text } = await ask(server.url, operation, "nobody's");
      expect(status).toBe(500);
      expect(text).toContain("JobIdentifierFault");
      expect(element(text, "FaultDescription")).toContain("no job");
    }
  });

  const inventory = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${server.url}/api/v2/${path}`, {
      ...init,
      headers: { authorization: `Token ${token}`, ...init.headers },
    });
  const write = (
    method: string,
    path: string,
    body: string,
    headers = { "content-type": "application/json" },
  ): Promise<Response> => inventory(path, { method, body, headers });

  const ERRORS: [string, () => Promise<Response>, number, string][] = [
    ["malformed JSON", () => write("POST", "locations/", '{"label": '), 400, "JSON parse error"],
    [
      "another media type",
      () => write("POST", "locations/", "label=x", { "content-type": "text/csv" }),
      415,
      "text/csv",
    ],
    ["an unknown id", () => inventory("locations/00000000-0000-4000-8000-000000000000/"), 404, "Not found"],
    ["an id that is none", () => inventory("locations/..%2fetc/"), 404, "Not found"],
    ["an unknown filter", () => inventory("locations/?labl=x"), 400, "label"],
    [
      "an unknown ordering term",
      () => inventory("locations/?ordering=owner__password_hash"),
      400,
      "ordering",
    ],
    [
      "an unknown operator",
      () => inventory('locations/?query_expression={"category":"label","operator":"~","value":"x"}'),
      400,
      "icontains",
    ],
    ["can_view", () => inventory("locations/?can_view=true"), 406, "can_view"],
    ["an unknown method", () => inventory("locations/", { method: "DELETE" }), 405, "DELETE"],
    ["an unknown address", () => inventory("nothing/"), 404, "Not found"],
    [
      "no credentials",
      () => fetch(`${server.url}/api/v2/locations/`, { method: "POST", body: "{}" }),
      401,
      "credentials",
    ],
    [
      "a wrong token",
      () => inventory("locations/", { headers: { authorization: "Token x" } }),
      401,
      "Invalid token",
    ],
    [
      "a body past the limit",
      () => write("POST", "locations/", JSON.stringify({ label: "x".repeat(200_000) })),
      413,
      "100000",
    ],
  ];
  test.each(ERRORS)("REST: %s is a clear error", async (_, call, status, text) => {
    const response = await call();
    const body = await response.text();
    expect({ status: response.status, body }).toEqual({ status, body: expect.stringContaining(text) });
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(typeof JSON.parse(body).message).toBe("string");
    expect(body).not.toMatch(/\bat \S+:\d+:\d+/);
    if (status === 405) expect(response.headers.get("allow")).toBe("GET, POST, PUT, PATCH, HEAD, OPTIONS");
  });

  test("REST: create, read, change, filter, delete", async () => {
    const address = await (
      await write("POST", "addresses/", '{"name":"Main campus","city":"Heidelberg"}')
    ).json();
    const place = await (
      await write(
        "POST",
        "places/",
        JSON.stringify({ building: "B", room: "12", address: (address as { id: number }).id }),
      )
    ).json();
    const made = await write(
      "POST",
      "locations/",
      JSON.stringify({ label: "Shelf 1", place: (place as { id: string }).id }),
    );
    expect(made.status).toBe(201);
    const { id } = (await made.json()) as { id: string };
    expect(made.headers.get("location")).toContain(id);
    const changed = await write("PATCH", `locations/${id}/`, '{"label":"Shelf 2"}');
    expect([changed.status, ((await changed.json()) as { label: string }).label]).toEqual([200, "Shelf 2"]);
    const list = (await (
      await inventory(`locations/?place__room=12&ordering=-place__building,label`)
    ).json()) as { total: number; results: { label: string; created_by: string }[] };
    expect(list).toMatchObject({
      total: 1,
      current: 1,
      total_pages: 1,
      next: null,
      previous: null,
      results: [{ label: "Shelf 2", created_by: "kim" }],
    });
    expect((await inventory(`locations/${id}/`, { method: "DELETE" })).status).toBe(204);
    expect(((await (await inventory("locations/")).json()) as { total: number }).total).toBe(0);
  });

  test("the reference, the WSDL and the pages come from the executable itself", async () => {
    for (const [path, type, text] of [
      ["/", "text/html", "labd"],
      ["/docs", "text/html", "/docs/operations/"],
      ["/docs/json", "application/json", "/api/v2/locations/"],
      ["/soap/ConservationScorer?wsdl", "text/xml", "ConservationScorerBinding"],
      ["/soap/ConservationScorer", "text/html", "wsdl"],
    ]) {
      const response = await fetch(server.url + path);
      expect([path, response.status]).toEqual([path, 200]);
      expect(response.headers.get("content-type")).toStartWith(type);
      expect(await response.text()).toContain(text);
    }
  });

  test("answers carry the id of their log line; large ones are compressed", async () => {
    const response = await fetch(`${server.url}/docs/json`, { headers: { "accept-encoding": "gzip" } });
    expect(response.headers.get("content-encoding")).toBe("gzip");
    const id = response.headers.get("x-request-id")!;
    while (!new RegExp(`${id}.*\n`).test(server.log())) await Bun.sleep(5);
    const line = server
      .log()
      .split("\n")
      .find((line) => line.includes(id))!;
    expect(JSON.parse(line)).toMatchObject({ method: "GET", path: "/docs/json", status: 200 });
    expect(server.log()).not.toContain(token);
  });

  test("a second server on the same data directory does not start", async () => {
    const second = await labd(["serve", "--data-dir", place.directory, "--port", "0"]);
    expect([second.code, second.stdout]).toEqual([75, ""]);
    expect(second.stderr).toContain("Another labd serves the data directory");
  });

  test("a port in use is named", async () => {
    using other = scratch();
    const ended = await labd(["serve", "--data-dir", other.directory, "--port", new URL(server.url).port]);
    expect(ended.code).toBe(78);
    expect(ended.stderr).toContain("is in use; choose another with --port");
  });

  test("after all of that the server lives", async () => {
    expect(await (await fetch(`${server.url}/healthz`)).json()).toEqual({ status: "ok" });
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
  });
});

test("SIGTERM lets a running request finish, puts the running job back, and ends with 0", async () => {
  using place = scratch();
  await labd(["corpus", "add", "--sample"], { env: { LABD_DATA_DIR: place.directory } });
  const server = await serve(place.directory, ["--workers", "1"]);
  // Half a request: it is running, and stays so until its rest arrives.
  const message = runJobMessage({ sequence: E7, patterns: ["L.C.E"] });
  const { hostname, port } = new URL(server.url);
  const socket = connect(Number(port), hostname);
  let received = "";
  socket.on("data", (chunk) => (received += chunk));
  const closed = new Promise((resolve) => socket.once("close", resolve));
  socket.write(
    `POST /soap/ConservationScorer HTTP/1.1\r\nHost: ${hostname}\r\nContent-Type: text/xml\r\nContent-Length: ${message.length}\r\n\r\n${message.slice(0, 300)}`,
  );
  await seenBy(server.url);
  server.process.kill("SIGTERM");
  // Nobody else gets in any more.
  const getsIn = (): Promise<boolean> =>
    fetch(`${server.url}/healthz`).then(
      () => true,
      () => false,
    );
  while (await getsIn()) await Bun.sleep(5);
  socket.write(message.slice(300));
  expect(await server.process.exited).toBe(0);
  await closed;
  expect(received).toStartWith("HTTP/1.1 200");
  const job = element(received, "JobIdentifier")!;

  await using again = await serve(place.directory);
  expect(await ended(again.url, job)).toBe("finished");
});

test("what was accepted survives kill -9 the moment after", async () => {
  using place = scratch();
  const env = { LABD_DATA_DIR: place.directory };
  await labd(["corpus", "add", "--sample"], { env });
  await labd(["user", "add", "kim"], { env });
  const token = (await labd(["token", "add", "kim"], { env })).stdout.trim();
  const jobs: string[] = [];
  for (let round = 0; round < 5; round++) {
    const server = await serve(place.directory);
    const accepted = await post(
      server.url,
      runJobMessage({ sequence: E7 + "ACDEFGHIKL".slice(0, round), patterns: ["L.C.E"] }),
    );
    const made = await fetch(`${server.url}/api/v2/addresses/`, {
      method: "POST",
      headers: { authorization: `Token ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ name: `Address ${round}` }),
    });
    server.process.kill("SIGKILL");
    expect(made.status).toBe(201);
    jobs.push(element(accepted.text, "JobIdentifier")!);
    await server.process.exited;
  }
  await using server = await serve(place.directory);
  for (const job of jobs) expect(await ended(server.url, job)).toBe("finished");
  const list = await fetch(`${server.url}/api/v2/addresses/?page_size=max&ordering=name`, {
    headers: { authorization: `Token ${token}` },
  });
  expect(((await list.json()) as { results: { name: string }[] }).results.map(({ name }) => name)).toEqual(
    [0, 1, 2, 3, 4].map((round) => `Address ${round}`),
  );
});

test("a newer and an altered database refuse to start and stay as they are", async () => {
  using place = scratch();
  const path = join(place.directory, "labd.sqlite");
  await labd(["user", "add", "kim"], { env: { LABD_DATA_DIR: place.directory } });
  for (const [sql, text] of [
    ["INSERT INTO migration VALUES ('9999-future.sql', 'x', 0)", "written by a newer version"],
    [
      "DELETE FROM migration WHERE name = '9999-future.sql'; UPDATE migration SET checksum = 'x' WHERE name = '0001-baseline.sql'",
      "0001-baseline.sql differs",
    ],
  ]) {
    const database = new Database(path);
    database.run(sql);
    database.run("PRAGMA wal_checkpoint(TRUNCATE)");
    database.close(true);
    const before = readFileSync(path);
    const ended = await labd(["serve", "--data-dir", place.directory, "--port", "0"]);
    expect([ended.code, ended.stdout]).toEqual([76, ""]);
    expect(ended.stderr).toContain(text);
    expect(readFileSync(path).equals(before)).toBe(true);
  }
});
