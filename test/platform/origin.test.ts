import { expect, test } from "bun:test";
import {
  findBaseUrl,
  findBasePath,
  DIRECT,
  isFromOwnPage,
  isUnsafe,
  parseOwnPage,
} from "../../src/platform/origin.ts";

const from = (headers: Record<string, string>): Request =>
  new Request("http://127.0.0.1:8480/api/v2/", { headers });
const FORWARDED = {
  "X-Forwarded-Proto": "https",
  "X-Forwarded-Host": "inner.example, lab.example:8443",
  "X-Forwarded-Prefix": "/labd/",
};

test("links begin with the public URL of the settings, of a trusted proxy, or of the request, in this order", () => {
  const trusting = { ...DIRECT, trustProxy: true };
  expect(findBaseUrl(from(FORWARDED), DIRECT)).toBe("http://127.0.0.1:8480");
  expect(findBaseUrl(from(FORWARDED), trusting)).toBe("https://lab.example:8443/labd");
  expect(findBaseUrl(from({}), trusting)).toBe("http://127.0.0.1:8480");
  const set = { publicUrl: "https://set.example", basePath: "/set", trustProxy: true };
  expect(findBaseUrl(from(FORWARDED), set)).toBe("https://set.example/set");
});

test.each<[string, Record<string, string>, string]>([
  ["completes the host of the request", { "X-Forwarded-Port": "9443" }, "http://127.0.0.1:9443"],
  [
    "completes X-Forwarded-Host",
    { "X-Forwarded-Proto": "https", "X-Forwarded-Host": "lab.example", "X-Forwarded-Port": "8443" },
    "https://lab.example:8443",
  ],
  [
    "is left out where it is the scheme's own",
    { "X-Forwarded-Proto": "https", "X-Forwarded-Host": "lab.example", "X-Forwarded-Port": "443" },
    "https://lab.example",
  ],
  [
    "gives way to a port in X-Forwarded-Host",
    { "X-Forwarded-Host": "lab.example:8080", "X-Forwarded-Port": "80" },
    "http://lab.example:8080",
  ],
  ["is ignored if it is no port", { "X-Forwarded-Port": "99999" }, "http://127.0.0.1:8480"],
])("X-Forwarded-Port of a trusted proxy %s", (_, headers, expected) => {
  expect(findBaseUrl(from(headers), { ...DIRECT, trustProxy: true })).toBe(expected);
  expect(findBaseUrl(from(headers), DIRECT)).toBe("http://127.0.0.1:8480");
});

test.each(["//evil.example", "/..", "/a/../b", "/a//b", "evil", "/a b", "/<b>", "https://evil.example", ""])(
  "ignores the invalid prefix %p",
  (prefix) => {
    const request = from({ "X-Forwarded-Prefix": prefix });
    expect(findBasePath(request, { ...DIRECT, trustProxy: true })).toBe("");
  },
);

test.each(["evil.example/x", "a b", '"><b>', "user@evil.example", ""])(
  "ignores the invalid host %p",
  (host) => {
    const request = from({ "X-Forwarded-Host": host });
    expect(findBaseUrl(request, { ...DIRECT, trustProxy: true })).toBe("http://127.0.0.1:8480");
  },
);

test.each<[headers: Record<string, string>, own: boolean | undefined]>([
  [{}, undefined],
  [{ Origin: "http://127.0.0.1:8480" }, true],
  [{ Origin: "HTTP://127.0.0.1:8480" }, true],
  [{ Origin: "http://127.0.0.1" }, false],
  [{ Origin: "https://evil.example" }, false],
  [{ Origin: "null" }, false],
  [{ Origin: "https://evil.example", "Sec-Fetch-Site": "same-origin" }, false],
  [{ "Sec-Fetch-Site": "same-origin" }, true],
  [{ "Sec-Fetch-Site": "none" }, true],
  [{ "Sec-Fetch-Site": "same-site" }, false],
  [{ "Sec-Fetch-Site": "cross-site" }, false],
])("whether a request with %j comes from a page of this server: %p", (headers, own) => {
  expect(isFromOwnPage(from(headers), DIRECT)).toBe(own);
});

test.each([
  ["/inventory?page=2", "/inventory?page=2"],
  ["/", "/"],
  ["//evil.example", undefined],
  ["/\\evil.example", undefined],
  ["https://evil.example", undefined],
  ["/a b", undefined],
  ["", undefined],
  [["/x"], undefined],
])("the path %j is followed as %p", (next, page) => {
  expect(parseOwnPage(next)).toBe(page);
});

test("GET, HEAD and OPTIONS are the safe methods", () => {
  const methods = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"];
  expect(methods.filter((method) => !isUnsafe(method))).toEqual(["GET", "HEAD", "OPTIONS"]);
});
