import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { makeHelp } from "../../src/web/make-help.ts";
import { CHAPTERS, findHelp, HELP_TOPICS } from "../../src/web/help-topics.ts";

const DOCS = join(import.meta.dir, "../../docs");
const texts = new Map(
  await Promise.all(
    HELP_TOPICS.map(async ({ name }) => [name, await makeHelp(name, (path) => path)] as const),
  ),
);

test("help lists every page of the documentation except the map of the code, by its heading", () => {
  const files = readdirSync(DOCS).filter((name) => name.endsWith(".md") && name !== "architecture.md");
  expect(HELP_TOPICS.map(({ name }) => `${name}.md`).sort()).toEqual(files.sort());
  for (const { name, title } of HELP_TOPICS)
    expect(readFileSync(join(DOCS, `${name}.md`), "utf8")).toStartWith(`# ${title}\n`);
});

test.each(HELP_TOPICS)("links of $name lead to headings that exist", ({ name }) => {
  const html = texts.get(name)!;
  expect(html).not.toMatch(/<h1|<!--|<script|\son\w+=/);
  for (const [, address] of html.matchAll(/<a href="([^"]*)"/g)) {
    if (address.startsWith("https://")) continue;
    const [, topic, anchor] = /^(?:\/help\/([\w-]+))?(?:#(.+))?$/.exec(address)!;
    expect([address, texts.has(topic ?? name)]).toEqual([address, true]);
    if (anchor) expect(texts.get(topic ?? name)).toContain(` id="${anchor}"`);
  }
});

test.each(CHAPTERS)("the help for %s opens at %s, which exists", (_, chapter) => {
  const [topic, anchor] = chapter.split("#");
  expect(texts.has(topic)).toBe(true);
  if (anchor) expect(texts.get(topic)).toContain(` id="${anchor}"`);
});

test.each([
  ["/", "biologist"],
  ["/inventory/stocks-consumables/1", "lab-manager#stock"],
  ["/inventory/stocks-consumables/import", "lab-manager#import-and-export"],
  ["/inventory/stocktakes", "lab-manager#stocktakes"],
  ["/inventory/locations/1", "lab-manager#boxes-and-positions"],
  ["/inventory/running-out", "lab-manager#stock"],
  ["/inventory", "lab-manager"],
  ["/score", "biologist"],
  ["/score/1", "biologist#reading-a-result"],
  ["/proteins/P04637", "biologist#everything-about-one-protein"],
  ["/administration/farm", "farm"],
])("help on %s opens at %s", (path, chapter) => {
  expect(findHelp(path)).toBe(`/help/${chapter}`);
});
