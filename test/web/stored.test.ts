import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const WEB = join(import.meta.dir, "../../src/web");

/** The files that may keep something in the browser, so that signing out removes it. */
const OWNERS: Record<string, string[]> = {
  localStorage: ["stored.ts"],
  sessionStorage: ["stored.ts"],
  indexedDB: ["offline/device-store.ts"],
  caches: ["offline/device.ts", "offline/service-worker.ts"],
  "document.cookie": [],
};

test.each(Object.entries(OWNERS))("only the declared files use %s", (name, files) => {
  const sources = (readdirSync(WEB, { recursive: true }) as string[]).filter((file) =>
    /\.(?:ts|tsx|js)$/.test(file),
  );
  const use = new RegExp(`(?<![\\w.'"])(?:globalThis\\.|window\\.)?${name.replace(".", "\\.")}\\b(?!['":])`);
  const code = (file: string): string =>
    readFileSync(join(WEB, file), "utf8").replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*|"[^"\n]*"/g, "");
  expect(sources.filter((file) => use.test(code(file))).toSorted()).toEqual(files);
});
