import { expect, test } from "bun:test";
import { Accounts } from "../../src/accounts/accounts.ts";
import { identifyCaller } from "../../src/platform/caller.ts";
import { systemClock } from "../../src/platform/clock.ts";
import { DIRECT, toNetwork, type PublicUrlOptions } from "../../src/platform/origin.ts";
import { RequestContext, runInRequest } from "../../src/platform/request-context.ts";
import { openMigrated } from "../database.ts";

test.each([
  ["192.0.2.7", "192.0.2.7"],
  ["::ffff:192.0.2.7", "192.0.2.7"],
  ["::FFFF:192.0.2.7", "192.0.2.7"],
  ["::1", "0:0:0:0::/64"],
  ["::", "0:0:0:0::/64"],
  ["2001:db8::1", "2001:db8:0:0::/64"],
  ["2001:db8:0:0:1:2:3:4", "2001:db8:0:0::/64"],
  ["2001:DB8:0000:0000::ffff", "2001:db8:0:0::/64"],
  ["2001:db8:a:b:c::", "2001:db8:a:b::/64"],
  ["2001:db8:a:c:c::", "2001:db8:a:c::/64"],
  ["fe80::1%eth0", "fe80:0:0:0::/64"],
  ["", ""],
])("the network of %p is %p", (address, network) => {
  expect(toNetwork(address)).toBe(network);
});

test("a valid token identifies the caller from any address; other callers are identified by network", async () => {
  const accounts = new Accounts(openMigrated(), systemClock);
  await accounts.addUser({ username: "kim" });
  const token = accounts.addToken("kim", "test");
  const from = (address: string | null, authorization?: string): string => {
    const request = new Request("http://lab/", authorization ? { headers: { authorization } } : {});
    const context = new RequestContext(request, "test", {
      address: () => address,
      origin: () => "http://lab",
    });
    return runInRequest(context, () => identifyCaller(request, accounts));
  };
  expect(from("192.0.2.7", `Token ${token}`)).toBe("user kim");
  expect(from("192.0.2.8", `Bearer ${token}`)).toBe("user kim");
  expect(from("192.0.2.7")).toBe("192.0.2.7");
  expect(from("192.0.2.7", "Token wrong")).toBe("192.0.2.7");
  expect(from("192.0.2.7", "Basic a2ltOmtpbQ==")).toBe("192.0.2.7");
  expect(from(null)).toBe("");
  expect(identifyCaller(new Request("http://lab/"), accounts)).toBe("");
});

test("a trusted proxy determines the network of the caller; otherwise its headers are ignored", () => {
  const accounts = new Accounts(openMigrated(), systemClock);
  const request = new Request("http://lab/", {
    headers: { "X-Forwarded-For": "203.0.113.1, 2001:db8:1:2:3::4", Cookie: "theme=dark" },
  });
  const arrival = { address: () => "127.0.0.1", origin: () => "http://lab" };
  const from = (reach: PublicUrlOptions): string =>
    runInRequest(new RequestContext(request, "test", arrival, reach), () =>
      identifyCaller(request, accounts),
    );
  expect(from(DIRECT)).toBe("127.0.0.1");
  expect(from({ ...DIRECT, trustProxy: true })).toBe("2001:db8:1:2::/64");
});
