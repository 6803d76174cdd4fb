import { expect, test } from "bun:test";
import { nextAddress, withPageContext } from "../../src/web/address.ts";

test("nextAddress stays on this server", () => {
  const after = (next: string | null): string =>
    withPageContext({ base: "/labd", session: false, person: "" }, () => nextAddress(next));
  for (const next of ["/", "/labd/inventory?name=a%20b#c", "/a/../b", "/a//b"])
    expect(after(next)).toBe(next);
  for (const next of [
    null,
    "",
    "https://evil.example/",
    "//evil.example/",
    "/\\evil.example/",
    "/\t/evil.example/",
    "/\n/evil.example/",
    "/\r\\evil.example/",
    "\t//evil.example/",
    "javascript:alert(1)",
    " /inventory",
    "/a b",
    "/ü",
  ])
    expect([next, after(next)]).toEqual([next, "/labd/"]);
  // As browsers resolve them.
  for (const next of ["/.//evil.example", "/a/..//evil.example", "/@evil.example", "/;//evil.example"])
    expect(new URL(after(next), "https://lab.example/").host).toBe("lab.example");
});
