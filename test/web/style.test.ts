import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Rules of the style sheets. */

const WEB = join(import.meta.dir, "../../src/web");
const SHEETS = readdirSync(join(WEB, "style")).map((name) => ({
  name,
  css: readFileSync(join(WEB, "style", name), "utf8").replace(/\/\*[^]*?\*\/|"[^"]*"/g, ""),
}));
const PAGES = [...new Bun.Glob("**/*.{ts,tsx}").scanSync(WEB)]
  .map((path) => readFileSync(join(WEB, path), "utf8"))
  .join("\n");

test("every class in a style sheet is a class of a page", () => {
  const names = SHEETS.flatMap(({ css }) =>
    [...css.matchAll(/\.(-?[a-z_][\w-]*)/gi)].map(([, name]) => name),
  );
  const isUsed = (name: string): boolean =>
    new RegExp(`(?<![\\w-])${name}(?![\\w-])`).test(PAGES) ||
    // Made of a prefix and a value, such as `tag-${tone}`.
    PAGES.includes(`${name.slice(0, name.lastIndexOf("-"))}-\${`);
  expect([...new Set(names)].filter((name) => !isUsed(name))).toEqual([]);
});

test("each CSS class is defined in one style sheet only", () => {
  const own = SHEETS.flatMap(({ name, css }) =>
    [...css.matchAll(/(?<!,\n)^\.([\w-]+) \{/gm)].map(([, each]) => [each, name] as const),
  );
  const sheets = Map.groupBy(own, ([each]) => each);
  const several = [...sheets].filter(([, rows]) => new Set(rows.map(([, name]) => name)).size > 1);
  expect(several.map(([each]) => each)).toEqual([]);
});
