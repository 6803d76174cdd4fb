import { expect, test } from "bun:test";
import { isAllowedAddress, readNetworks } from "../../src/webhooks/address.ts";
import { post } from "../../src/webhooks/post.ts";

const NONE = readNetworks("");

const REFUSED = [
  ["unspecified", "0.0.0.0"],
  ["this network", "0.1.2.3"],
  ["private", "10.0.0.1"],
  ["private", "172.16.0.1"],
  ["private", "172.31.255.255"],
  ["private", "192.168.1.1"],
  ["carrier-grade NAT", "100.64.0.1"],
  ["carrier-grade NAT", "100.127.255.255"],
  ["loopback", "127.0.0.1"],
  ["loopback", "127.255.255.254"],
  ["link-local, where clouds keep credentials", "169.254.169.254"],
  ["IETF protocol assignments", "192.0.0.170"],
  ["documentation", "192.0.2.1"],
  ["documentation", "198.51.100.7"],
  ["documentation", "203.0.113.9"],
  ["6to4 relay", "192.88.99.1"],
  ["benchmarks", "198.19.255.255"],
  ["multicast", "224.0.0.1"],
  ["multicast", "239.255.255.255"],
  ["reserved", "240.0.0.1"],
  ["broadcast", "255.255.255.255"],
  ["unspecified", "::"],
  ["loopback", "::1"],
  ["loopback, written out", "0:0:0:0:0:0:0:1"],
  ["IPv4 in IPv6", "::ffff:127.0.0.1"],
  ["IPv4 in IPv6, hexadecimal", "::ffff:7f00:1"],
  ["IPv4 in IPv6, written out", "0:0:0:0:0:ffff:a00:1"],
  ["IPv4 in IPv6", "::ffff:169.254.169.254"],
  ["IPv4-compatible", "::127.0.0.1"],
  ["NAT64", "64:ff9b::7f00:1"],
  ["local NAT64", "64:ff9b:1::a00:1"],
  ["discard", "100::1"],
  ["Teredo", "2001:0:1:2::3"],
  ["ORCHID", "2001:20::1"],
  ["documentation", "2001:db8::1"],
  ["6to4 around loopback", "2002:7f00:1::1"],
  ["documentation", "3fff::1"],
  ["unique local", "fc00::1"],
  ["unique local", "fd12:3456::1"],
  ["link-local", "fe80::1"],
  ["link-local with a zone", "fe80::1%eth0"],
  ["site-local", "fec0::1"],
  ["multicast", "ff02::1"],
  ["a name", "localhost"],
  ["a number", "2130706433"],
  ["nothing", ""],
] as const;

test.each(REFUSED)("%s: %s is not called", (_, address) => {
  expect(isAllowedAddress(address, NONE)).toBe(false);
});

test.each([
  "1.1.1.1",
  "9.255.255.255",
  "11.0.0.0",
  "100.63.255.255",
  "100.128.0.0",
  "172.15.255.255",
  "172.32.0.0",
  "192.167.255.255",
  "223.255.255.255",
  "2606:4700::1111",
  "2a00:1450:4001::200e",
  "::ffff:1.1.1.1",
])("%s is called", (address) => {
  expect(isAllowedAddress(address, NONE)).toBe(true);
});

test("a laboratory's own networks are called, and no others", () => {
  const own = readNetworks("10.1.0.0/16, fd00:1::/32");
  for (const address of ["10.1.2.3", "::ffff:10.1.2.3", "fd00:1::5", "8.8.8.8"])
    expect([address, isAllowedAddress(address, own)]).toEqual([address, true]);
  for (const address of ["10.2.0.1", "::ffff:10.2.0.1", "fd00:2::5", "127.0.0.1", "::1"])
    expect([address, isAllowedAddress(address, own)]).toEqual([address, false]);
});

test.each(["10.0.0.0/33", "10.0.0/8", "fd00::/129", "10.0.0.0", "/8", "10.0.0.0/8/8"])(
  "%s is no network",
  (text) => {
    expect(() => readNetworks(text)).toThrow("webhook_allow");
  },
);

test("a name is looked up once, and what was looked at is what is called", async () => {
  let asked = 0;
  using server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => new Response(`${request.headers.get("host")} ${await request.text()}`),
  });
  const url = new URL(`http://rebinding.example:${server.port}/x`);
  const headers = { "Content-Type": "application/json" };
  const resolve = async () => [["127.0.0.1"], ["127.0.0.1"]][Math.min(asked++, 1)];
  const refusal = post(url, headers, "{}", { allowed: NONE, timeout: 5000, resolve });
  expect(refusal).rejects.toThrow("rebinding.example resolves to 127.0.0.1, which may not be called");
  await refusal.catch(() => {});
  asked = 0;
  // 198.51.100.1 is nowhere: whoever looked the name up again would not arrive.
  const changing = async () => (asked++ === 0 ? ["127.0.0.1"] : ["198.51.100.1"]);
  const answer = await post(url, headers, "{}", {
    allowed: readNetworks("127.0.0.0/8"),
    timeout: 5000,
    resolve: changing,
  });
  expect([answer.status, answer.text, asked]).toEqual([200, `rebinding.example:${server.port} {}`, 1]);
});

test("redirections are not followed, long answers are cut, silence ends", async () => {
  let followed = 0;
  using server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === "/to") return Response.redirect("/secret", 307);
      if (pathname === "/secret") followed++;
      if (pathname === "/long") return new Response("x".repeat(5_000_000));
      if (pathname === "/chunked")
        return new Response(
          new ReadableStream({
            start(controller) {
              controller.enqueue(new TextEncoder().encode("one "));
              controller.enqueue(new TextEncoder().encode("two"));
              controller.close();
            },
          }),
        );
      if (pathname === "/silent") await Bun.sleep(60_000);
      return new Response("ok");
    },
  });
  const call = (path: string, timeout = 5000) =>
    post(new URL(`http://127.0.0.1:${server.port}${path}`), {}, "{}", {
      allowed: readNetworks("127.0.0.0/8"),
      timeout,
    });
  expect((await call("/to")).status).toBe(307);
  expect(followed).toBe(0);
  expect((await call("/long")).text).toBe("x".repeat(500));
  expect((await call("/chunked")).text).toBe("one two");
  expect(call("/silent", 100)).rejects.toThrow("no answer within 0.1 s");
  await server.stop(true);
});

const openssl = Bun.which("openssl");
// oxlint-disable-next-line no-console
if (openssl === null) console.warn("skipped: certificates of webhooks (no openssl)");
test.skipIf(openssl === null)(
  "a certificate that nobody vouches for is refused, and one of another name",
  async () => {
    const made =
      await Bun.$`${openssl} req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=lab.example -addext subjectAltName=DNS:lab.example -keyout - -out -`
        .quiet()
        .text();
    const certificate = made.slice(made.indexOf("-----BEGIN CERTIFICATE"));
    let called = 0;
    using server = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      tls: { key: made, cert: certificate },
      fetch: () => {
        called++;
        return new Response("ok");
      },
    });
    const url = new URL(`https://lab.example:${server.port}/`);
    const resolve = async () => ["127.0.0.1"];
    const refusal = post(url, {}, "{}", { allowed: readNetworks("127.0.0.0/8"), timeout: 5000, resolve });
    expect(refusal).rejects.toThrow(/self.signed/i);
    await refusal.catch(() => {});
    const vouched = { allowed: readNetworks("127.0.0.0/8"), timeout: 5000, resolve, ca: certificate };
    const other = post(new URL(`https://other.example:${server.port}/`), {}, "{}", vouched);
    expect(other).rejects.toThrow(/other\.example/);
    await other.catch(() => {});
    expect(called).toBe(0);
    expect((await post(url, {}, "{}", vouched)).text).toBe("ok");
  },
);
