import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { formatHelp } from "../src/commands/help.ts";
import { SECTIONS } from "../src/config.ts";
import { LIMITS } from "../src/inventory/model/limits.ts";
import { loadCommands } from "../src/commands/main.ts";
import { LIMITS as PLATFORM_LIMITS } from "../src/platform/limits.ts";
import { PROBLEMS } from "../src/problem.ts";
import { REMOVED_SETTINGS } from "../src/removed-settings.ts";
import manifest from "../package.json";

/** Settings, commands and problems in the documentation are those of the program. */

const ROOT = join(import.meta.dir, "..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

/**
 * Holds the part of a document between two marks equal to what the program says. `DOCS=write bun test
 * test/docs.test.ts` writes it.
 */
function expectGenerated(path: string, mark: string, content: string): void {
  const [begin, end] = [`<!-- ${mark}: begin -->`, `<!-- ${mark}: end -->`];
  const document = read(path);
  expect(document).toContain(begin);
  expect(document).toContain(end);
  const before = document.slice(0, document.indexOf(begin) + begin.length);
  const wanted = `${before}\n\n${content.trim()}\n\n${document.slice(document.indexOf(end))}`;
  if (process.env.DOCS === "write") writeFileSync(join(ROOT, path), wanted);
  expect(read(path)).toBe(wanted);
}

const cell = (text: string): string => text.replaceAll("|", "\\|");
const table = (head: string[], rows: string[][]): string =>
  [head, head.map(() => "---"), ...rows].map((row) => `| ${row.map(cell).join(" | ")} |`).join("\n");

test("docs/settings.md lists every setting of the program", () => {
  const sections = Object.entries(SECTIONS).map(([section, settings]) => {
    const rows = Object.entries(settings).map(([name, { fallback, sentence, allowed }]) => {
      // Defaults that depend on the machine.
      const shown = name === "workers" ? "processors" : fallback === "" ? "empty" : `\`${fallback}\``;
      return [`\`${name}\``, shown, `${sentence} Allowed: ${allowed}.`];
    });
    return `## [${section}]\n\n${table(["Setting", "Default", "Meaning"], rows)}`;
  });
  expectGenerated("docs/settings.md", "settings", sections.join("\n\n"));
});

test("docs/problems.md lists every code with its HTTP status, SOAP fault and exit code", () => {
  const rows = Object.entries(PROBLEMS).map(([code, { status, soapFault, exitCode, meaning }]) => [
    `\`${code}\``,
    String(status),
    soapFault,
    String(exitCode),
    meaning,
  ]);
  expectGenerated(
    "docs/problems.md",
    "problems",
    table(["Code", "HTTP status", "SOAP 1.1 fault", "Exit code", "Meaning"], rows),
  );
});

test("docs/rest.md has every limit of a request", () => {
  const rows = Object.values({ ...LIMITS, ...PLATFORM_LIMITS }).map(({ max, of, instead }) => [
    `${of[0].toUpperCase()}${of.slice(1)}`,
    max.toLocaleString("en"),
    instead,
  ]);
  expectGenerated("docs/rest.md", "limits", table(["Limit", "Maximum", "If exceeded"], rows));
});

const documents = [
  "README.md",
  "CONTRIBUTING.md",
  "CHANGELOG.md",
  ...readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".md"))
    .map((path) => `docs/${path}`),
  ...new Bun.Glob("src/**/*.md").scanSync(ROOT),
];

test.each(documents)("%s: every link has a target", (path) => {
  const targets = [...read(path).matchAll(/\]\(([^)\s#]+)(?:#[^)]*)?\)/g)].map((match) => match[1]);
  const broken = targets.filter(
    (target) => !/^(https?:|mailto:|\/)/.test(target) && !existsSync(join(ROOT, dirname(path), target)),
  );
  expect(broken).toEqual([]);
});

test.each(documents)("%s: every command in an example exists", (path) => {
  const blocks = [...read(path).matchAll(/```(?:sh|bash|shell)\n([\s\S]*?)```/g)].map((match) => match[1]);
  for (const line of blocks.join("\n").split("\n")) {
    const script = line.match(/^\s*(?:npm|bun) run ([\w:-]+)/)?.[1];
    if (script) expect(Object.keys(manifest.scripts)).toContain(script);
    const called = line.match(/(?:^|[\s/|(])labd (\w[\w-]*)([^|]*)/);
    if (!called) continue;
    const verb = COMMANDS.find(({ name }) => name === called[1]);
    expect({ path, line, verb: verb?.name }).toEqual({ path, line, verb: called[1] });
    for (const [flag] of called[2].matchAll(/(?<=\s)--[a-z-]+/g))
      expect({ line, help: formatHelp(verb!) }).toEqual({ line, help: expect.stringContaining(flag) });
  }
});

const sources = [...new Bun.Glob("{.ci,db,docs,packaging,src,test}/**/*").scanSync({ cwd: ROOT, dot: true })];
const settings = new Set(Object.values(SECTIONS).flatMap((section) => Object.keys(section)));
const COMMANDS = await loadCommands();
const everyHelp = COMMANDS.map(formatHelp).join("\n");

/** True if a name in backticks, such as `model/sql.ts`, `labd score --shard` or `litestream = true`, exists. */
function nameExists(name: string): boolean {
  if (/^[\w./-]+\.(ts|tsx|sql|sbatch|sh|nf)$/.test(name))
    return sources.some((source) => `/${source}`.endsWith(`/${name}`));
  if (/^(src|test|db|packaging)\/[\w./-]*\/$/.test(name)) return existsSync(join(ROOT, name));
  const [setting, assigned] = name.split(/ = /);
  if (assigned !== undefined) return settings.has(setting);
  const verb = name.match(/^labd ([a-z]+)/)?.[1];
  if (verb === undefined && !name.startsWith("--")) return !(name in REMOVED_SETTINGS);
  const help =
    verb === undefined ? everyHelp : COMMANDS.filter((command) => command.name === verb).map(formatHelp)[0];
  return (
    [...name.matchAll(/(?<=^|\s)--[a-z-]+/g)].every(([flag]) => help?.includes(flag)) && help !== undefined
  );
}

test.each(documents.filter((path) => path !== "CHANGELOG.md"))(
  "%s: everything that it names exists",
  (path) => {
    const prose = read(path).replace(/```[\s\S]*?```/g, "");
    const names = [...prose.matchAll(/`([^`]+)`/g)].map((match) => match[1]);
    expect(names.filter((name) => !nameExists(name))).toEqual([]);
  },
);

test("npm start and npm test work without other set-up steps", () => {
  const readme = read("README.md");
  for (const command of ["npm start", "npm test"]) expect(readme).toContain(command);
  expect(Object.keys(manifest.scripts)).toEqual(expect.arrayContaining(["start", "test", "check", "build"]));
  expect(Object.keys(manifest.scripts).filter((name) => /^(pre|post)/.test(name))).toEqual([]);
  expect(read(".ci/run")).toContain("npm test");
});
