import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as options from "../../src/motif/options.ts";

const page = readFileSync(join(import.meta.dir, "../../docs/method.md"), "utf8");
const documented = new Map(
  [...page.matchAll(/^\| `([A-Za-z_.]+)` \| (\S+) \| (.+) \|$/gm)].map(([, name, value]) => [name, value]),
);

function printed(value: unknown): string {
  return typeof value === "number" && value < 1e-3 ? value.toFixed(6).replace(/0+$/, "") : String(value);
}

test("docs/method.md lists every constant and option with its value, and nothing else", () => {
  const { DEFAULTS, METHOD, METHODS, ...constants } = options;
  const expected = new Map([
    ...Object.entries(DEFAULTS).map(([name, value]) => [`DEFAULTS.${name}`, printed(value)] as const),
    ...Object.entries(constants).map(([name, value]) => [name, printed(value)] as const),
  ]);
  expect(new Map([...documented].sort())).toEqual(new Map([...expected].sort()));
  expect(METHODS).toContain(METHOD);
  for (const method of METHODS) expect(page).toContain(`\`${method}\``);
});

test("every constant of the method is used where the page describes it", () => {
  const text = page.slice(page.indexOf("## From a query"), page.indexOf("## Constants"));
  const named = [...text.matchAll(/`([A-Z][A-Z_]{3,})`/g)].map(([, name]) => name);
  expect(named.length).toBeGreaterThan(15);
  for (const name of named) expect(Object.keys(options)).toContain(name);
});
