import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, normalize, relative } from "node:path";

/** The house rules of docs/architecture.md, held by a test and not by discipline. */

const ROOT = join(import.meta.dir, "..");

interface Rule {
  /** Folders and files under src/ (or `db`) that may be imported besides the folder itself. */
  rooms: string[];
  /** Packages and built-in modules (`node:` for all of Node's). */
  packages: string[];
}

/** The rule of a file is that of the longest prefix. */
const RULES: Record<string, Rule> = {
  "src/motif": { rooms: ["src/kernel"], packages: [] },
  "src/kernel": { rooms: [], packages: [] },
  "src/scoring": {
    rooms: ["src/motif", "src/accounts", "src/platform", "src/problem.ts"],
    packages: ["elysia", "typebox", "node:"],
  },
  "src/scoring/contract": { rooms: ["src/platform", "src/problem.ts"], packages: ["saxes", "xmlbuilder2"] },
  "src/inventory": {
    rooms: ["src/accounts", "src/platform", "src/problem.ts"],
    packages: ["elysia", "typebox", "hucre", "node:"],
  },
  "src/inventory/labels": {
    rooms: ["src/inventory", "src/platform", "src/problem.ts"],
    packages: ["pdfkit", "dejavu-fonts-ttf", "typebox"],
  },
  "src/inventory/model": {
    rooms: ["src/accounts/actor.ts", "src/platform", "src/problem.ts"],
    packages: ["typebox"],
  },
  "src/inventory/resources": { rooms: ["src/inventory/model"], packages: ["typebox"] },
  "src/accounts": {
    rooms: ["src/platform", "src/problem.ts"],
    packages: ["elysia", "typebox", "jose", "ldapts", "oauth4webapi", "node:"],
  },
  "src/webhooks": {
    rooms: [
      "src/accounts",
      "src/platform",
      "src/problem.ts",
      "src/scoring/index.ts",
      "src/inventory/index.ts",
    ],
    packages: ["elysia", "typebox", "node:"],
  },
  "src/farm": {
    rooms: ["src/accounts", "src/motif", "src/platform", "src/problem.ts", "src/scoring/index.ts"],
    packages: ["bullmq", "ioredis", "node:"],
  },
  "src/operations": {
    rooms: [
      "src/accounts",
      "src/farm",
      "src/platform",
      "src/problem.ts",
      "src/scoring/index.ts",
      "src/inventory/index.ts",
      "src/webhooks",
    ],
    packages: ["elysia", "typebox", "node:"],
  },
  "src/platform": {
    rooms: ["db", "src/problem.ts"],
    packages: ["elysia", "typebox", "@elysiajs/swagger", "bun:sqlite", "bwip-js", "node:"],
  },
  "src/sample": { rooms: [], packages: [] },
  "src/problem.ts": { rooms: [], packages: [] },
  "src/removed-settings.ts": { rooms: [], packages: [] },
  "src/version.ts": { rooms: ["package.json"], packages: [] },
  "src/config.ts": {
    rooms: ["src/removed-settings.ts", "src/accounts", "src/platform", "src/problem.ts"],
    packages: ["node:"],
  },
  "src/web": { rooms: [], packages: ["preact"] },
  "src/web/inventory": { rooms: ["src/web"], packages: ["preact", "zxing-wasm"] },
  "src/web/document.tsx": { rooms: ["src/web"], packages: ["preact-render-to-string"] },
  "src/web/route.ts": { rooms: ["src/web", "src/problem.ts"], packages: ["elysia"] },
  "src/web/make-bundle.ts": { rooms: ["src/web"], packages: ["node:"] },
  db: { rooms: [], packages: [] },
};
/** These put the rooms together and may import anything. */
const COMPOSERS = ["src/app", "src/app.ts", "src/main.ts", "src/commands"];

const SPECIFIER =
  /^(?:import|export)\b[^"';]*?\bfrom\s*"([^"]+)"|^import\s*"([^"]+)"|\bimport\(\s*"([^"]+)"|new URL\("([^"]+\.ts)"/gm;

function filesUnder(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? filesUnder(path) : [path];
  });
}

/** Imports of one file: paths from the root for our own files, names for packages. Types count, except in pages. */
function importsOf(path: string): string[] {
  let text = readFileSync(join(ROOT, path), "utf8").replace(/^\s*(\/\/|\*|\/\*).*$/gm, "");
  if (within(path, "src/web")) text = text.replace(/^import type [^;]*;/gm, "");
  return [...text.matchAll(SPECIFIER)].map((match) => {
    const specifier = match.slice(1).find((group) => group !== undefined)!;
    const isOwn = specifier.startsWith(".") && !specifier.includes("/node_modules/");
    if (isOwn) return normalize(join(dirname(path), specifier));
    return specifier.replace(/^.*node_modules\//, "");
  });
}

const within = (path: string, room: string): boolean => path === room || path.startsWith(`${room}/`);
const isComposer = (path: string): boolean => COMPOSERS.some((room) => within(path, room));
// AssemblyScript is another language with its own compiler.
const SOURCES = [...filesUnder("src"), ...filesUnder("db")].filter(
  (path) => /\.tsx?$/.test(path) && !path.includes("/assembly/") && !path.endsWith(".d.ts"),
);

function ruleOf(path: string): [string, Rule] {
  const room = Object.keys(RULES)
    .filter((candidate) => within(path, candidate))
    .sort((a, b) => b.length - a.length)[0];
  if (room === undefined) throw new Error(`${path} lies in no room: give it a rule or move it.`);
  return [room, RULES[room]];
}

test("every file imports only what its room may", () => {
  const trespasses: string[] = [];
  for (const path of SOURCES.filter((path) => !isComposer(path))) {
    const [room, rule] = ruleOf(path);
    for (const imported of importsOf(path)) {
      const isFile = existsSync(join(ROOT, imported)) && !imported.startsWith("@");
      const allowed = isFile
        ? [room, ...rule.rooms].some((candidate) => within(imported, candidate))
        : rule.packages.some(
            (name) => imported === name || imported.startsWith(name.endsWith(":") ? name : `${name}/`),
          );
      if (!allowed) trespasses.push(`${path} imports ${imported}`);
    }
  }
  expect(trespasses).toEqual([]);
});

test("the import scan sees what it should", () => {
  expect(importsOf("src/app/listen.ts")).toContain("src/problem.ts");
  expect(importsOf("src/platform/sqlite.ts")).toContain("bun:sqlite");
  expect(SOURCES.length).toBeGreaterThan(30);
});

test("no cycles", () => {
  const graph = new Map(
    SOURCES.map((path) => [path, importsOf(path).filter((imported) => SOURCES.includes(imported))]),
  );
  const done = new Set<string>();
  const visit = (path: string, trail: string[]): void => {
    if (trail.includes(path))
      throw new Error(`cycle: ${[...trail.slice(trail.indexOf(path)), path].join(" → ")}`);
    if (done.has(path)) return;
    for (const next of graph.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of SOURCES) visit(path, []);
});

test("Elysia and SQLite stay behind their doors", () => {
  const users = (name: string): string[] => SOURCES.filter((path) => importsOf(path).includes(name));
  for (const path of users("elysia")) {
    expect(path).toMatch(
      /\/(route(-[a-z-]+)?|[a-z-]+-routes)\.ts$|^src\/platform\/(http|complete-methods|documentation)\.ts$/,
    );
  }
  expect(users("bun:sqlite")).toEqual(["src/platform/sqlite.ts"]);
});

test("pages speak to the server through one function, and no address is written out", () => {
  for (const path of SOURCES.filter((path) => within(path, "src/web"))) {
    const text = readFileSync(join(ROOT, path), "utf8");
    const fetches = path !== "src/web/request.ts" && /\bfetch\(/.test(text);
    // Else the service could not be put below a path.
    const written = text.match(/\b(?:href|src|action)=(?:"\/[^"]*"|\{`\/)/)?.[0];
    // What is in the HTML is refused by the policy, and what is made of text may be made of a stranger's.
    const inline = text.match(/dangerouslySetInnerHTML|\.innerHTML\b|\bstyle=/)?.[0];
    expect({ path, fetches, written, inline }).toEqual({
      path,
      fetches: false,
      written: undefined,
      inline: undefined,
    });
  }
});

test("one service compiles without the other", () => {
  const crossing = SOURCES.filter((path) => !isComposer(path)).flatMap((path) =>
    importsOf(path)
      .filter(
        (imported) =>
          (within(path, "src/scoring") && within(imported, "src/inventory")) ||
          (within(path, "src/inventory") &&
            (within(imported, "src/scoring") || within(imported, "src/motif"))),
      )
      .map((imported) => `${path} → ${imported}`),
  );
  expect(crossing).toEqual([]);
});

test("files are named for the one thing they hold", () => {
  const tests = filesUnder("test").filter((path) => path.endsWith(".ts"));
  for (const path of [...SOURCES, ...tests]) {
    const name = basename(path).replace(/\.(test|bench|d)?\.?tsx?$/, "");
    expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
    expect(["utils", "util", "helpers", "helper", "common", "base", "misc", "types"]).not.toContain(name);
  }
});

test("exports are named, and not Service, Manager, Helper or Impl", () => {
  for (const path of SOURCES) {
    const text = readFileSync(join(ROOT, path), "utf8");
    expect({ path, defaultExport: /^export default/m.test(text) }).toEqual({ path, defaultExport: false });
    const bad = text.match(
      /^export (?:abstract )?(?:class|interface|type|function|const) \w*(Service|Manager|Helper|Impl)\b/m,
    );
    expect({ path, bad: bad?.[0] }).toEqual({ path, bad: undefined });
  }
});

test("every file fits in a head", () => {
  const long = SOURCES.map((path) => ({
    path,
    lines: readFileSync(join(ROOT, path), "utf8").split("\n").length,
  }));
  expect(long.filter(({ lines }) => lines > 500)).toEqual([]);
});

test("the top level holds what it should and nothing else", async () => {
  const tracked = (await Bun.$`git ls-files`.cwd(ROOT).quiet().nothrow().text()).trim().split("\n");
  const names =
    tracked.length > 1 ? [...new Set(tracked.map((path) => path.split("/")[0]))] : readdirSync(ROOT);
  const visible = names.filter(
    (name) => !name.startsWith(".") && !["node_modules", "dist", "test-artefacts"].includes(name),
  );
  const expected =
    "CHANGELOG.md CONTRIBUTING.md LICENSE README.md build.ts bun.lock bunfig.toml db docs package.json packaging src test tsconfig.json";
  expect(visible.sort()).toEqual(expected.split(" "));
});

test("one lock file pins every version and holds no registry address", () => {
  const lock = readFileSync(join(ROOT, "bun.lock"), "utf8");
  expect(lock).not.toMatch(/https?:\/\//);
  for (const other of ["package-lock.json", "yarn.lock", "pnpm-lock.yaml", "bun.lockb"]) {
    expect(existsSync(join(ROOT, other))).toBe(false);
  }
  const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  for (const version of Object.values({ ...manifest.dependencies, ...manifest.devDependencies })) {
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
  }
  for (const script of Object.values<string>(manifest.scripts)) {
    for (const [, version] of script.matchAll(/bun@(\S+)/g)) expect(version).toBe(manifest.engines.bun);
  }
});

test("no file names a machine's path or a registry's host", async () => {
  const tracked = (await Bun.$`git ls-files`.cwd(ROOT).quiet().nothrow().text()).trim().split("\n");
  for (const path of tracked.filter(
    (path) => /\.(ts|md|json|toml|sql|tsv|xml)$/.test(path) && existsSync(join(ROOT, path)),
  )) {
    if (path === relative(ROOT, import.meta.path) || statSync(join(ROOT, path)).size > 1_000_000) continue;
    const text = readFileSync(join(ROOT, path), "utf8");
    expect({ path, found: text.match(/\/work\/|registry\.npmjs|(?<!\$bunfs)\/root\//)?.[0] }).toEqual({
      path,
      found: undefined,
    });
  }
});
