import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as options from "../../src/motif/options.ts";

test("docs/method.md names the method and only existing constants", () => {
  const page = readFileSync(join(import.meta.dir, "../../docs/method.md"), "utf8");
  expect(page).toContain(`\`${options.METHOD}\``);
  const named = [...page.matchAll(/`([A-Z][A-Z_]{3,})`/g)].map(([, name]) => name!);
  expect(named.length).toBeGreaterThan(15);
  expect(named.filter((name) => !name.startsWith("UPDATE_KERNEL") && !(name in options))).toEqual([]);
});
