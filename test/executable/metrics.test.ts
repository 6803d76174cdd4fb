import { expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ask, E7, element, ended, labd, post, runJobMessage, scratch, serve } from "./labd.ts";

setDefaultTimeout(300_000);

const TOKEN = "0123456789abcdefgh";
const PROMTOOL = Bun.which("promtool");

test("metrics count requests and jobs, and include everything that the dashboard shows", async () => {
  using place = scratch();
  const env = { LABD_DATA_DIR: place.directory };
  await labd(["corpus", "add", "--sample"], { env });
  await using server = await serve(place.directory);
  const read = async (): Promise<string> => {
    const answer = await fetch(`${server.url}/metrics`);
    expect(answer.headers.get("content-type")).toBe("text/plain; version=0.0.4; charset=utf-8");
    return answer.text();
  };
  for (let i = 0; i < 3; i++) await (await fetch(`${server.url}/api/v2/locations/?strict=0&x=${i}`)).text();
  for (let i = 0; i < 2; i++) await (await fetch(`${server.url}/nonsense/${i}`)).text();
  const job = element(
    (await post(server.url, runJobMessage({ sequence: E7, patterns: ["L.C.E"] }))).text,
    "JobIdentifier",
  )!;
  expect(await ended(server.url, job)).toBe("finished");
  await ask(server.url, "GetResult", job);
  const text = await read();
  const figure = (name: string): number =>
    Number(text.match(new RegExp(`^${RegExp.escape(name)} (\\S+)$`, "m"))?.[1]);
  expect(figure('labd_http_requests_total{route="/api/v2/locations/",method="GET",status="200"}')).toBe(3);
  expect(figure('labd_http_requests_total{route="none",method="GET",status="404"}')).toBe(2);
  expect(figure('labd_http_request_duration_seconds_count{route="/api/v2/locations/"}')).toBe(3);
  expect(figure('labd_jobs{state="finished"}')).toBe(1);
  expect(figure("labd_job_queue_age_seconds")).toBe(0);
  expect(figure("labd_ready")).toBe(1);
  expect(figure("labd_database_bytes")).toBeGreaterThan(4096);
  expect(figure("labd_backup_last_timestamp_seconds")).toBe(0);
  expect(figure('labd_cache_hits_total{cache="counts"}')).toBe(2);
  expect(figure("process_resident_memory_bytes")).toBeGreaterThan(1e7);
  expect(figure("labd_memory_bytes")).toBeGreaterThan(1e7);
  // Nothing that was asked for, and nobody who asked, is in a label.
  expect(text).not.toContain(job);
  expect(text).not.toContain("nonsense");
  const dashboard = readFileSync(join(import.meta.dir, "../../packaging/grafana.json"), "utf8");
  const alerts = readFileSync(join(import.meta.dir, "../../packaging/prometheus-alerts.yml"), "utf8");
  const wanted = new Set((dashboard + alerts).match(/\b(?:labd|process)_[a-z_]+\b(?=[{ [\\)])/g));
  expect(wanted.size).toBeGreaterThan(15);
  expect([...wanted].filter((name) => !text.includes(`\n${name}`))).toEqual([]);
  if (PROMTOOL !== null) {
    const checked = Bun.spawnSync([PROMTOOL, "check", "metrics"], { stdin: Buffer.from(text) });
    expect([checked.exitCode, checked.stdout.toString() + checked.stderr.toString()]).toEqual([0, ""]);
  }
});

test("metrics require the token, except on this machine without a proxy", async () => {
  using place = scratch();
  const status = async (url: string, headers: Record<string, string> = {}): Promise<number> =>
    (await fetch(`${url}/metrics`, { headers })).status;
  const forwarded = { "X-Forwarded-For": "127.0.0.1" };
  {
    await using server = await serve(place.directory, ["--metrics-token", TOKEN]);
    expect(await status(server.url)).toBe(200);
    expect(await status(server.url, forwarded)).toBe(403);
    expect(await status(server.url, { ...forwarded, Authorization: "Bearer 0123456789abcdefgX" })).toBe(403);
    expect(await status(server.url, { ...forwarded, Authorization: `Bearer ${TOKEN}` })).toBe(200);
    const written = await fetch(`${server.url}/metrics`, { method: "POST" });
    expect([written.status, written.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
    expect(server.log()).not.toContain(TOKEN);
  }
});

interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  attributes: { key: string; value: Record<string, unknown> }[];
  events: { name: string }[];
  status: { code: number };
}

test("traces of requests, jobs and processes reach a collector, without what was asked for", async () => {
  using place = scratch();
  const bodies: string[] = [];
  await using collector = Bun.serve({
    port: 0,
    async fetch(request) {
      bodies.push(`${new URL(request.url).pathname} ${await request.text()}`);
      return Response.json({});
    },
  });
  const env = { LABD_DATA_DIR: place.directory };
  await labd(["corpus", "add", "--sample"], { env });
  await using server = await serve(place.directory, [
    "--otlp-endpoint",
    `http://127.0.0.1:${collector.port}/`,
  ]);
  const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
  const traceparent = `00-${trace}-00f067aa0ba902b7-01`;
  const list = `${server.url}/api/v2/locations/?label__icontains=secretword&strict=0`;
  const listed = await fetch(list, { headers: { traceparent } });
  const job = element(
    (await post(server.url, runJobMessage({ sequence: E7, patterns: ["L.C.E"] }))).text,
    "JobIdentifier",
  )!;
  expect(await ended(server.url, job)).toBe("finished");
  expect(await server.end("SIGTERM")).toBe(0);

  expect(bodies.every((body) => body.startsWith("/v1/traces "))).toBe(true);
  expect(bodies.join("")).not.toContain("secretword");
  const spans = bodies.flatMap((body) => {
    const { resourceSpans } = JSON.parse(body.slice(body.indexOf(" "))) as {
      resourceSpans: { scopeSpans: { spans: ReceivedSpan[] }[] }[];
    };
    return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
  });
  const valueOf = (span: ReceivedSpan | undefined, key: string): unknown =>
    Object.values(span?.attributes.find((attribute) => attribute.key === key)?.value ?? {})[0];
  const request = spans.find(({ name }) => name === "GET /api/v2/locations/");
  expect(request).toMatchObject({ traceId: trace, parentSpanId: "00f067aa0ba902b7" });
  expect(valueOf(request, "http.response.status_code")).toBe(200);
  expect(valueOf(request, "labd.request")).toBe(listed.headers.get("x-request-id"));
  const scored = spans.find((span) => span.name === "job" && valueOf(span, "labd.job") === job);
  const submission = spans.find(({ spanId }) => spanId === scored?.parentSpanId);
  expect(submission?.name).toStartWith("POST /soap/");
  expect(scored!.events.map(({ name }) => name)).toContain("tree");
  expect(scored!.status.code).toBe(0);
});
