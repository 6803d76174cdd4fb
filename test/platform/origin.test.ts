import { expect, test } from "bun:test";
import { baseOf, basePathOf, DIRECT } from "../../src/platform/origin.ts";

const from = (headers: Record<string, string>): Request =>
  new Request("http://127.0.0.1:8480/api/v2/", { headers });
const FORWARDED = {
  "X-Forwarded-Proto": "https",
  "X-Forwarded-Host": "inner.example, lab.example:8443",
  "X-Forwarded-Prefix": "/labd/",
};

test("links begin with the public URL of the settings, of a trusted proxy, or of the request, in this order", () => {
  const trusting = { ...DIRECT, trustProxy: true };
  expect(baseOf(from(FORWARDED), DIRECT)).toBe("http://127.0.0.1:8480");
  expect(baseOf(from(FORWARDED), trusting)).toBe("https://lab.example:8443/labd");
  expect(baseOf(from({}), trusting)).toBe("http://127.0.0.1:8480");
  const set = { publicUrl: "https://set.example", basePath: "/set", trustProxy: true };
  expect(baseOf(from(FORWARDED), set)).toBe("https://set.example/set");
});

test.each(["//evil.example", "/..", "/a/../b", "/a//b", "evil", "/a b", "/<b>", "https://evil.example", ""])(
  "ignores the invalid prefix %p",
  (prefix) => {
    const request = from({ "X-Forwarded-Prefix": prefix });
    expect(basePathOf(request, { ...DIRECT, trustProxy: true })).toBe("");
  },
);

test.each(["evil.example/x", "a b", '"><b>', "user@evil.example", ""])(
  "ignores the invalid host %p",
  (host) => {
    const request = from({ "X-Forwarded-Host": host });
    expect(baseOf(request, { ...DIRECT, trustProxy: true })).toBe("http://127.0.0.1:8480");
  },
);
