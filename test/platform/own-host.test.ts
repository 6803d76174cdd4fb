import { expect, test } from "bun:test";
import { DIRECT } from "../../src/platform/origin.ts";
import { requireOwnHost } from "../../src/platform/own-host.ts";
import { catchCode } from "../fixtures/service.ts";

const names = ["labd.example"];
const reach = { ...DIRECT, publicUrl: "https://public.example/labd" };

test.each([
  ["127.0.0.1:8480", ""],
  ["[::1]:8480", ""],
  ["localhost", ""],
  ["labd.localhost", ""],
  ["labd.example", ""],
  ["labd.example.", ""],
  ["public.example", ""],
  ["other.example", "unknown_host"],
  ["labd.example.evil.example", "unknown_host"],
  ["notlocalhost", "unknown_host"],
  ["1.2.3.4.example", "unknown_host"],
])("the host check of a request for %s: %s", async (host, code) => {
  const request = new Request(`http://${host}/`);
  expect(await catchCode(() => requireOwnHost(request, names, reach))).toBe(code);
  expect(await catchCode(() => requireOwnHost(request, [], reach))).toBe("");
});

test("without a public URL, only the listed names are accepted", async () => {
  const request = new Request("http://public.example/");
  expect(await catchCode(() => requireOwnHost(request, names, { ...reach, publicUrl: "" }))).toBe(
    "unknown_host",
  );
});
