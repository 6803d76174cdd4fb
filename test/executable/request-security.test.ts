import { expect, setDefaultTimeout, test } from "bun:test";
import { ask, E7, element, labd, post, runJobMessage, scratch, serve } from "./labd.ts";

setDefaultTimeout(60_000);

/** Status of a GET with a Host header. */
const statusFor = async (url: string, host: string): Promise<number> =>
  (await fetch(url, { headers: { Host: host } })).status;

test("serves only the hosts in allowed_hosts, and metrics without a token only by an address or localhost", async () => {
  using place = scratch();
  {
    await using server = await serve(place.directory, ["--public-url", "https://public.example/labd"]);
    for (const path of ["/readyz", "/api/v2/", "/soap/ConservationScorer?wsdl", "/"])
      expect([path, await statusFor(server.url + path, "evil.example")]).toEqual([path, 200]);
    for (const [host, status] of [
      ["evil.example", 403],
      ["127.0.0.1", 200],
      ["[::1]:8480", 200],
      ["localhost:1", 200],
      ["public.example", 200],
    ] as const)
      expect([host, await statusFor(`${server.url}/metrics`, host)]).toEqual([host, status]);
  }
  await using server = await serve(place.directory, ["--allowed-hosts", "Lab.example, other.example"]);
  for (const path of ["/readyz", "/api/v2/", "/soap/ConservationScorer?wsdl", "/", "/metrics", "/nonsense"])
    expect([path, await statusFor(server.url + path, "evil.example")]).toEqual([path, 421]);
  for (const host of ["lab.example", "LAB.EXAMPLE.:8480", "other.example", "localhost", "[::1]", "10.1.2.3"])
    expect([host, await statusFor(`${server.url}/metrics`, host)]).toEqual([host, 200]);
  const refused = await fetch(`${server.url}/api/v2/`, { headers: { Host: "sub.lab.example" } });
  expect(await refused.json()).toMatchObject({
    code: "unknown_host",
    message: expect.stringContaining(
      "Host: sub.lab.example is not a name of this service. Use one of lab.example,",
    ),
  });
});

test("a proxy's X-Forwarded-Host counts where the proxy is trusted", async () => {
  using place = scratch();
  await using server = await serve(place.directory, [
    "--allowed-hosts",
    "lab.example",
    "--trust-proxy",
    "true",
  ]);
  const status = async (host: string): Promise<number> =>
    (await fetch(`${server.url}/api/v2/`, { headers: { "X-Forwarded-Host": host } })).status;
  expect([await status("lab.example"), await status("evil.example")]).toEqual([200, 421]);
});

test("a read-only token can read jobs, but cannot start or cancel jobs", async () => {
  using place = scratch();
  const env = { LABD_DATA_DIR: place.directory };
  await labd(["user", "add", "kim"], { env });
  const token = async (...flags: string[]) =>
    (await labd(["token", "add", "kim", ...flags], { env })).stdout.trim();
  const [read, write] = [await token("--read-only"), await token()];
  await using server = await serve(place.directory);
  const jobs = `${server.url}/api/scoring/jobs`;
  const send = (method: string, url: string, token: string, body?: string) =>
    fetch(url, {
      method,
      headers: { Authorization: `Token ${token}`, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body }),
    });
  const job = JSON.stringify({ identifier: "E7", querySequence: E7, patterns: ["L.C.E"] });
  const refused = await send("POST", jobs, read, job);
  expect([refused.status, await refused.json()]).toEqual([
    403,
    expect.objectContaining({ code: "forbidden" }),
  ]);
  const { id } = (await (await send("POST", jobs, write, job)).json()) as { id: string };
  expect((await send("GET", `${jobs}/${id}`, read)).status).toBe(200);
  expect((await send("DELETE", `${jobs}/${id}`, read)).status).toBe(403);
  const message = runJobMessage({ sequence: E7, patterns: ["L.C.E"] });
  const fault = await post(server.url, message, { Authorization: `Bearer ${read}` });
  expect([fault.status, fault.text]).toEqual([
    500,
    expect.stringContaining("This token is read-only (scope read)."),
  ]);
  const accepted = await post(server.url, message, { Authorization: `Token ${write}` });
  expect(element(accepted.text, "JobIdentifier")).toBeString();
  expect(element((await ask(server.url, "GetStatus", id)).text, "Status")).toBeString();
});

test("lists, changes, records and files may be kept by the caller's browser only, and are revalidated", async () => {
  using place = scratch();
  await using server = await serve(place.directory);
  for (const path of [
    "",
    "locations/",
    "locations/?page_size=max",
    "locations/?format=csv",
    "changes/",
    "locations/?format=api",
  ]) {
    const { status, headers } = await fetch(`${server.url}/api/v2/${path}`);
    expect([path, status, headers.get("cache-control")]).toEqual([path, 200, "private, no-cache"]);
  }
});
