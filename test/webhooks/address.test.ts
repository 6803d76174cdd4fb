import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isAllowedAddress, readNetworks } from "../../src/webhooks/address.ts";
import { post } from "../../src/webhooks/post.ts";
import { OPENSSL, selfSigned } from "../executable/certificate.ts";

const NONE = readNetworks("");
const LOOPBACK = readNetworks("127.0.0.0/8");

test.each([
  ["this network", "0.0.0.0 0.1.2.3 0.255.255.255 ::"],
  ["private", "10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 192.168.0.0 192.168.255.255"],
  ["carrier-grade NAT", "100.64.0.1 100.127.255.255"],
  ["loopback", "127.0.0.1 127.255.255.254 ::1 0:0:0:0:0:0:0:1"],
  ["link-local, where clouds keep credentials", "169.254.0.0 169.254.169.254 fe80::1 fe80::1%eth0"],
  ["protocol assignments", "192.0.0.170 2001:20::1 100::1"],
  ["documentation", "192.0.2.1 198.51.100.7 203.0.113.9 2001:db8::1 3fff::1"],
  ["6to4 and Teredo", "192.88.99.1 2002:7f00:1::1 2001:0:1:2::3"],
  ["benchmarks", "198.18.0.0 198.19.255.255"],
  ["multicast", "224.0.0.1 239.255.255.255 ff02::1"],
  ["reserved", "240.0.0.1 255.255.255.255"],
  ["IPv4 in IPv6", "::ffff:127.0.0.1 ::ffff:7f00:1 0:0:0:0:0:ffff:a00:1 ::ffff:169.254.169.254"],
  ["other ways to IPv4", "::127.0.0.1 64:ff9b::7f00:1 64:ff9b:1::a00:1"],
  ["unique local and site-local", "fc00::1 fd12:3456::1 fec0::1"],
  ["not an address", "localhost 2130706433 1.2.3 -"],
])("rejects the address %s: %s", (_, addresses) => {
  expect(addresses.split(" ").filter((address) => isAllowedAddress(address, NONE))).toEqual([]);
});

test("allows public addresses next to private ranges", () => {
  const addresses =
    "1.0.0.0 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255 " +
    "169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.167.255.255 192.169.0.0 198.17.255.255 198.20.0.0 " +
    "223.255.255.255 2606:4700::1111 2a00:1450:4001::200e 2003::1 ::ffff:1.1.1.1";
  expect(addresses.split(" ").filter((address) => !isAllowedAddress(address, NONE))).toEqual([]);
});

test("allows only addresses in allowed networks", () => {
  const own = readNetworks("10.1.0.0/16, fd00:1::/32");
  const may = (addresses: string) =>
    addresses.split(" ").filter((address) => isAllowedAddress(address, own)).length;
  expect(may("10.1.2.3 ::ffff:10.1.2.3 fd00:1::5 8.8.8.8")).toBe(4);
  expect(may("10.2.0.1 ::ffff:10.2.0.1 fd00:2::5 127.0.0.1 ::1")).toBe(0);
});

test.each(["10.0.0.0/33", "10.0.0/8", "fd00::/129", "10.0.0.0", "/8", "10.0.0.0/8/8", "10.0.0.0/-1", "x/8"])(
  "webhook_allow rejects %s",
  (text) => {
    expect(() => readNetworks(text)).toThrow("webhook_allow");
  },
);
test.each(["10.0.0.0/32", "fd00::/128", " 10.0.0.0/0 , ::/0,"])("webhook_allow accepts %s", (text) => {
  expect(isAllowedAddress("10.0.0.0", readNetworks(text)) || text.startsWith("fd")).toBe(true);
});

const failure = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "",
    (error: Error) => error.message,
  );

test("resolves a name once and connects to the checked address", async () => {
  using server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => new Response(`${request.headers.get("host")} ${await request.text()}`),
  });
  const url = new URL(`http://rebinding.example:${server.port}/x`);
  let lookups = 0;
  // 198.51.100.1 does not answer: a second lookup would fail.
  const resolve = async () => (lookups++ === 0 ? ["10.0.0.1", "127.0.0.1"] : ["198.51.100.1"]);
  const answer = await post(url, {}, "{ü}", { allowed: LOOPBACK, timeout: 5000, resolve });
  expect(answer).toEqual({
    status: 200,
    text: `rebinding.example:${server.port} {ü}`,
    retryAfter: undefined,
  });
  expect(lookups).toBe(1);
  lookups = 0;
  expect(await failure(post(url, {}, "{}", { allowed: NONE, timeout: 5000, resolve }))).toBe(
    "rebinding.example has no allowed address. Allowed are public addresses, and those in networks of the setting webhook_allow.",
  );
  const never = { allowed: NONE, timeout: 50, resolve: () => new Promise<string[]>(() => {}) };
  expect(await failure(post(url, {}, "{}", never))).toBe("There was no response within 0.05 s.");
});

test("does not follow redirects, truncates long responses, and times out", async () => {
  let followed = 0;
  using server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === "/to") return Response.redirect("/secret", 307);
      if (pathname === "/secret") followed++;
      if (pathname === "/long") return new Response("x".repeat(5_000_000));
      if (pathname === "/later") return new Response("", { headers: { "Retry-After": "7" }, status: 503 });
      if (pathname === "/date") return new Response("", { headers: { "Retry-After": "Sun, 22 Nov 2026" } });
      if (pathname === "/silent") await Bun.sleep(60_000);
      return new Response("ok");
    },
  });
  const call = (path: string, timeout = 5000) =>
    post(new URL(`http://127.0.0.1:${server.port}${path}`), {}, "{}", { allowed: LOOPBACK, timeout });
  expect(await call("/to")).toMatchObject({ status: 307 });
  expect(followed).toBe(0);
  expect((await call("/long")).text).toBe("x".repeat(500));
  expect(await call("/later")).toEqual({ status: 503, retryAfter: 7000, text: "" });
  expect((await call("/date")).retryAfter).toBeUndefined();
  expect(await failure(call("/silent", 100))).toContain("no response within 0.1 s");
  await server.stop(true);
  const refused = await call("/x").catch((error: Error) => error);
  // The owner learns no address; the log does.
  expect(refused).toMatchObject({
    message: "The connection was refused.",
    cause: expect.stringContaining("127.0.0.1"),
  });
});

test.skipIf(OPENSSL === null)("requires trusted certificates for the host", async () => {
  const directory = mkdtempSync(join(tmpdir(), "labd-test-"));
  const files = { certificate: join(directory, "lab.crt"), key: join(directory, "lab.key") };
  selfSigned(files, "lab.example", 2);
  const [ca, key] = [files.certificate, files.key].map((path) => readFileSync(path, "utf8"));
  rmSync(directory, { recursive: true });
  let calls = 0;
  using server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    tls: { key, cert: ca },
    fetch: () => new Response(`call ${++calls}`),
  });
  const call = (name: string, trust: object) =>
    post(new URL(`https://${name}:${server.port}/`), {}, "{}", {
      allowed: LOOPBACK,
      timeout: 5000,
      resolve: async () => ["127.0.0.1"],
      ...trust,
    });
  expect(await failure(call("lab.example", {}))).toMatch(/self.signed/i);
  expect(await failure(call("other.example", { ca }))).toContain("ERR_TLS_CERT_ALTNAME_INVALID");
  expect((await call("lab.example", { ca })).text).toBe("call 1");
});
