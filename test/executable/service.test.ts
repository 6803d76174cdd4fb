import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { connect } from "node:net";
import {
  ask,
  E7,
  element,
  ended,
  labd,
  post,
  runJobMessage,
  scratch,
  seenBy,
  serve,
  type Server,
} from "./labd.ts";
import { waitFor } from "../wait.ts";

describe("one server", () => {
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

  test("RunJob, GetStatus and GetResult find the published motif of E7", async () => {
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

  test("serves reference, WSDL and pages from the executable", async () => {
    for (const [path, type, text] of [
      ["/", "text/html", "labd"],
      ["/docs", "text/html", "/docs/operations/"],
      ["/docs/json", "application/json", "/api/v2/locations"],
      ["/soap/ConservationScorer?wsdl", "text/xml", "ConservationScorerBinding"],
      ["/soap/ConservationScorer", "text/html", "wsdl"],
    ]) {
      const response = await fetch(server.url + path);
      expect([path, response.status]).toEqual([path, 200]);
      expect(response.headers.get("content-type")).toStartWith(type);
      expect(await response.text()).toContain(text);
    }
  });

  test("responses contain the id of their log line; large ones are compressed", async () => {
    const response = await fetch(`${server.url}/docs/json`, { headers: { "accept-encoding": "gzip" } });
    expect(response.headers.get("content-encoding")).toBe("gzip");
    const id = response.headers.get("x-request-id")!;
    await waitFor(() => new RegExp(`${id}.*\n`).test(server.log()));
    const line = server
      .log()
      .split("\n")
      .find((line) => line.includes(id))!;
    expect(JSON.parse(line)).toMatchObject({ method: "GET", path: "/docs/json", status: 200 });
    expect(server.log()).not.toContain(token);
  });

  test.skipIf(process.platform === "win32")("ignores SIGUSR1 and SIGUSR2", async () => {
    for (const signal of ["SIGUSR1", "SIGUSR2"] as const) {
      for (let i = 0; i < 3; i++) server.process.kill(signal);
      const accepted = await post(server.url, runJobMessage({ sequence: E7, patterns: ["L.C.E"] }));
      expect(await ended(server.url, element(accepted.text, "JobIdentifier")!)).toBe("finished");
    }
    expect(server.process.signalCode).toBeNull();
  });

  test("rejects a second server on the same data directory", async () => {
    const second = await labd(["serve", "--data-dir", place.directory, "--port", "0"]);
    expect([second.code, second.stdout]).toEqual([75, ""]);
    expect(second.stderr).toContain("Another labd server uses the data directory");
  });

  test("reports a port in use", async () => {
    using other = scratch();
    const ended = await labd(["serve", "--data-dir", other.directory, "--port", new URL(server.url).port]);
    // systemd tries again.
    expect(ended.code).toBe(75);
    expect(ended.stderr).toContain("is in use; choose another with --port");
  });
});

test("every line of the log is JSON, from the version at the start to the stop", async () => {
  using place = scratch();
  const env = { LABD_DATA_DIR: place.directory };
  await labd(["user", "add", "kim", "--admin"], { env });
  const token = (await labd(["token", "add", "kim"], { env })).stdout.trim();
  const logged = async (log: string) => {
    const server = await serve(place.directory, ["--log", log]);
    const headers = { Authorization: `Token ${token}` };
    await fetch(`${server.url}/api/v2/locations/`, { headers });
    await fetch(`${server.url}/healthz`);
    await server.end("SIGTERM");
    const lines = server.log().trimEnd().split("\n");
    return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  };
  const lines = await logged("requests");
  expect(lines.find(({ event }) => event === "start")).toMatchObject({
    severity: "info",
    version: expect.stringMatching(/^\d+\.\d+\.\d+/),
    commit: expect.any(String),
    url: expect.stringMatching(/^http:/),
  });
  expect(lines.map(({ event }) => event)).toContain("stop");
  const request = (path: string) => (line: Record<string, unknown>) => line.path === path;
  expect(lines.find(request("/api/v2/locations/"))).toMatchObject({
    client: "127.0.0.1",
    user: expect.any(Number),
  });
  const anonymous = lines.find(request("/healthz"))!;
  expect([anonymous.client, anonymous.user]).toEqual(["127.0.0.1", undefined]);
  for (const line of (await logged("anonymous")).filter(({ event }) => event === "request")) {
    expect(line).toMatchObject({ status: 200 });
    expect(line).not.toHaveProperty("client");
    expect(line).not.toHaveProperty("user");
  }
  const rejected = await labd(["serve", "--port", "0", "--host", "203.0.113.1"], { env });
  expect(JSON.parse(rejected.stderr.trimEnd().split("\n").at(-1)!)).toMatchObject({
    severity: "error",
    event: "not started",
    code: "cannot_listen",
  });
});

test("SIGTERM finishes running requests, requeues the running job, and exits with 0", async () => {
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
  await waitFor(async () => !(await getsIn()));
  socket.write(message.slice(300));
  expect(await server.process.exited).toBe(0);
  await closed;
  expect(received).toStartWith("HTTP/1.1 200");
  const job = element(received, "JobIdentifier")!;

  await using again = await serve(place.directory);
  expect(await ended(again.url, job)).toBe("finished");
});

test("accepted work survives SIGKILL right after the response", async () => {
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
