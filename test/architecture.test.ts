import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { basename, dirname, join, normalize, relative } from "node:path";

/** The rules of docs/architecture.md. */

const ROOT = join(import.meta.dir, "..");

/** Allowed imports of a folder or file besides itself: folders and files, and packages (`node:` means all of Node's). */
interface Rule {
  files: string[];
  packages: string[];
}

const SERVICES = ["src/scoring/index.ts", "src/inventory/index.ts"];
const PLATFORM = ["src/platform", "src/problem.ts"];
const TASKS = "src/tasks";
/** Trees and what follows from them, which pages of stored results compute, too. */
const TREES = ["src/motif/rooted-tree.ts", "src/motif/orthology.ts", "src/motif/history.ts"];
const RECORD_DECLARATIONS = ["src/inventory/model", "src/inventory/resources"];

/** Folders of the scoring service, from the lowest: each may use those before it. And the packages that it may import. */
const SCORING_LAYERS: Record<string, string[]> = {
  table: [],
  prediction: ["typebox"],
  corpus: ["node:"],
  jobs: ["node:"],
  features: ["typebox", "node:"],
  structure: ["typebox", "node:"],
  batch: ["node:"],
  proteome: ["node:"],
  learning: ["node:"],
  results: ["typebox", "hucre", "saxes", "node:"],
  watched: [],
  api: ["elysia", "typebox", "node:"],
};
const SCORING_LAYER = ["src/motif", "src/accounts", "src/version.ts", TASKS, ...PLATFORM];
const SCORING_RULES: Record<string, Rule> = {
  ...Object.fromEntries(
    Object.entries(SCORING_LAYERS).map(([name, packages], i, layers) => {
      const lower = layers.slice(0, i).map(([folder]) => `src/scoring/${folder}`);
      if (name === "api") lower.push("src/scoring/contract");
      return [`src/scoring/${name}`, { files: [...lower, ...SCORING_LAYER], packages }];
    }),
  ),
  // The messages of SOAP, which only the API sends and reads.
  "src/scoring/contract": {
    files: ["src/scoring/prediction", "src/motif/index.ts", ...PLATFORM],
    packages: ["saxes", "typebox", "xmlbuilder2", "node:util"],
  },
};

/** The longest matching prefix applies. */
const RULES: Record<string, Rule> = {
  "src/kernel": { files: [], packages: [] },
  "src/motif": { files: ["src/kernel"], packages: [] },
  // The files that compose the service, and the entry point of its workers; its folders follow from SCORING_LAYERS.
  "src/scoring": {
    files: ["src/motif", "src/accounts", TASKS, ...PLATFORM],
    packages: ["node:"],
  },
  ...SCORING_RULES,
  // The registry of columns, filters and formats of matches, which pages import.
  "src/scoring/table": {
    files: [
      "src/motif/options.ts",
      "src/motif/match-disorder.ts",
      "src/motif/match-order.ts",
      "src/motif/overlap.ts",
      ...TREES,
    ],
    packages: [],
  },
  // In layers: model, resources, records, then imports and labels, then api. Each may use those before it.
  "src/inventory": {
    files: [],
    packages: [],
  },
  "src/inventory/model": { files: PLATFORM, packages: ["typebox"] },
  "src/inventory/resources": { files: ["src/inventory/model", "src/problem.ts"], packages: ["typebox"] },
  "src/inventory/records": { files: ["src/accounts", ...RECORD_DECLARATIONS, ...PLATFORM], packages: [] },
  "src/inventory/imports": {
    files: ["src/inventory/records", ...RECORD_DECLARATIONS, TASKS, ...PLATFORM],
    packages: ["typebox", "hucre"],
  },
  "src/inventory/labels": {
    files: ["src/inventory/records", ...RECORD_DECLARATIONS, ...PLATFORM],
    packages: ["pdfkit", "dejavu-fonts-ttf", "typebox"],
  },
  "src/inventory/api": {
    files: ["src/inventory", "src/accounts", ...PLATFORM],
    packages: ["elysia", "typebox", "node:"],
  },
  "src/accounts": {
    files: PLATFORM,
    packages: ["elysia", "typebox", "jose", "ldapts", "oauth4webapi", "node:"],
  },
  "src/tasks": { files: ["src/accounts", ...PLATFORM], packages: ["node:", "elysia", "typebox"] },
  "src/assistants": {
    files: ["src/accounts", ...PLATFORM],
    packages: ["@modelcontextprotocol/sdk", "elysia", "typebox"],
  },
  "src/webhooks": {
    files: ["src/accounts", ...PLATFORM, ...SERVICES],
    packages: ["elysia", "typebox", "node:"],
  },
  "src/reminders": {
    files: ["src/accounts", ...PLATFORM, ...SERVICES],
    packages: ["elysia", "typebox", "nodemailer", "node:"],
  },
  "src/farm": {
    files: ["src/accounts", "src/motif", ...PLATFORM, ...SERVICES],
    packages: ["bullmq", "ioredis", "node:"],
  },
  "src/operations": {
    files: ["src/accounts", "src/farm", "src/webhooks", TASKS, ...PLATFORM, ...SERVICES],
    packages: ["elysia", "typebox", "node:"],
  },
  "src/platform": {
    files: ["db", "src/problem.ts"],
    packages: [
      "elysia",
      "typebox",
      "hucre",
      "@elysiajs/swagger",
      "@opentelemetry",
      "bun:sqlite",
      "bun:ffi",
      "bwip-js",
      "node:",
    ],
  },
  "src/sample": { files: [], packages: [] },
  "src/problem.ts": { files: [], packages: [] },
  "src/version.ts": { files: ["package.json"], packages: [] },
  "src/removed-settings.ts": { files: [], packages: [] },
  "src/config.ts": {
    files: ["src/accounts", "src/removed-settings.ts", ...PLATFORM],
    packages: ["node:"],
  },
  "src/web": {
    files: ["src/motif/protein-text.ts", "src/platform/words.ts", "src/scoring/table"],
    packages: ["preact"],
  },
  "src/web/batch": {
    files: ["src/web", "src/motif/protein-text.ts", "src/scoring/table"],
    packages: ["preact"],
  },
  "src/web/score": {
    files: [
      "src/web",
      "src/motif/protein-text.ts",
      "src/motif/species.ts",
      "src/motif/variant.ts",
      "src/scoring/table",
      ...TREES,
    ],
    packages: ["preact", "3dmol"],
  },
  "src/web/inventory": {
    files: [
      "src/web",
      "src/inventory/model/grid.ts",
      "src/inventory/model/name-pattern.ts",
      "src/inventory/model/unit.ts",
      "src/inventory/resources/lists.ts",
      "src/inventory/resources/stock-views.ts",
      "src/platform/words.ts",
    ],
    packages: ["preact", "zxing-wasm"],
  },
  "src/web/offline": {
    files: ["src/web", "src/inventory/model/grid.ts", "src/inventory/model/unit.ts"],
    packages: ["preact"],
  },
  "src/web/document.tsx": { files: ["src/web", "src/version.ts"], packages: ["preact-render-to-string"] },
  "src/web/route.ts": { files: ["src/web", "src/platform", "src/problem.ts"], packages: ["elysia"] },
  "src/web/make-bundle.ts": { files: ["src/web"], packages: ["node:"] },
  "src/web/make-help.ts": { files: ["src/web"], packages: ["node:"] },
  db: { files: [], packages: ["node:"] },
};
/** These compose the program and may import anything. */
const COMPOSERS = ["src/app", "src/main.ts", "src/commands"];

const SPECIFIER =
  /^(?:import|export)\b[^"';]*?\bfrom\s*"([^"]+)"|^import\s*"([^"]+)"|\bimport\(\s*"([^"]+)"|new URL\("([^"]+\.ts)"/gm;

function filesUnder(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`;
    return entry.isDirectory() ? filesUnder(path) : [path];
  });
}

/** Folders whose code runs on pages. */
const ON_PAGES = ["src/web", "src/scoring/table"];

/** Imports of one file: paths from the root for our own files, names for packages. Types count, except in code of pages. */
function readImports(path: string): string[] {
  let text = readFileSync(join(ROOT, path), "utf8").replace(/^\s*(\/\/|\*|\/\*).*$/gm, "");
  if (ON_PAGES.some((folder) => within(path, folder))) text = text.replace(/^import type [^;]*;/gm, "");
  return [...text.matchAll(SPECIFIER)].map((match) => {
    const specifier = match.slice(1).find((group) => group !== undefined)!;
    const isOwn = specifier.startsWith(".") && !specifier.includes("/node_modules/");
    if (isOwn) return normalize(join(dirname(path), specifier));
    return specifier.replace(/^.*node_modules\//, "");
  });
}

const within = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);
const isComposer = (path: string): boolean => COMPOSERS.some((folder) => within(path, folder));
// AssemblyScript has its own compiler.
const SOURCES = [...filesUnder("src"), ...filesUnder("db")].filter(
  (path) => /\.tsx?$/.test(path) && !path.includes("/assembly/") && !path.endsWith(".d.ts"),
);

function findRule(path: string): [string, Rule] {
  const folder = Object.keys(RULES)
    .filter((candidate) => within(path, candidate))
    .toSorted((a, b) => b.length - a.length)[0];
  if (folder === undefined) throw new Error(`${path} has no rule: add one or move the file.`);
  return [folder, RULES[folder]];
}

test("every file imports only from the folders that its own folder may use", () => {
  const violations: string[] = [];
  for (const path of SOURCES.filter((path) => !isComposer(path))) {
    const [folder, rule] = findRule(path);
    for (const imported of readImports(path)) {
      const isFile = existsSync(join(ROOT, imported)) && !imported.startsWith("@");
      const allowed = isFile
        ? [folder, ...rule.files].some((candidate) => within(imported, candidate))
        : rule.packages.some(
            (name) => imported === name || imported.startsWith(name.endsWith(":") ? name : `${name}/`),
          );
      if (!allowed) violations.push(`${path} imports ${imported}`);
    }
  }
  expect(violations).toEqual([]);
});

test("every folder of the scoring service is a layer", () => {
  const folders = readdirSync(join(ROOT, "src/scoring"), { withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  const layers = [...Object.keys(SCORING_LAYERS), "contract"];
  expect(folders.map(({ name }) => name).sort()).toEqual(layers.sort());
});

test("finds imports of files and packages", () => {
  expect(readImports("src/app/listen.ts")).toContain("src/config.ts");
  expect(readImports("src/platform/sqlite.ts")).toContain("bun:sqlite");
});

/** Arrows of the pictures of docs/architecture.md: of folders, and of the files along a request. */
function readPictures(): [from: string, to: string][][] {
  const text = readFileSync(join(ROOT, "docs/architecture.md"), "utf8");
  return [...text.matchAll(/```mermaid\n([^`]*)```/g)].map(([, picture]) =>
    [...picture.matchAll(/^ *(\S+) --> (\S+)$/gm)].map(([, from, to]) => [from, to]),
  );
}

/** Everything that arrows lead to from one end, along any number of them. */
function reachableFrom(start: string, arrows: readonly [string, string][]): Set<string> {
  const found = new Set<string>();
  const visit = (from: string): void => {
    for (const [, to] of arrows.filter((arrow) => arrow[0] === from))
      if (!found.has(to)) visit((found.add(to), to));
  };
  visit(start);
  return found;
}

test("the picture of the folders shows their imports", () => {
  const [arrows] = readPictures();
  const parseFolder = (path: string): string => path.split("/").slice(1, -1)[0] ?? "";
  const real = new Set<string>();
  for (const path of SOURCES.filter((path) => within(path, "src")))
    for (const imported of readImports(path).filter((imported) => SOURCES.includes(imported)))
      if (within(imported, "src") && parseFolder(path) !== parseFolder(imported))
        real.add(`${parseFolder(path)} --> ${parseFolder(imported)}`);
  const pairs = [...real].map((pair) => pair.split(" --> ")).filter(([from, to]) => from && to);
  const hidden = pairs.filter(([from, to]) => !reachableFrom(from, arrows).has(to));
  expect(hidden).toEqual([]);
  expect(arrows.filter(([from, to]) => !real.has(`${from} --> ${to}`))).toEqual([]);
});

test("the picture of a request shows imports of files", () => {
  const [, arrows] = readPictures();
  expect(arrows.length).toBeGreaterThan(10);
  for (const [from, to] of arrows) expect(readImports(`src/${from}`)).toContain(`src/${to}`);
});

test("there are no import cycles", () => {
  const graph = new Map(
    SOURCES.map((path) => [path, readImports(path).filter((imported) => SOURCES.includes(imported))]),
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

/** Files that make routes without `operation()`, and why. */
const ROUTE_MAKERS: Record<string, string> = {
  "src/platform/mount.ts": "the routes of all declared operations",
  "src/platform/http.ts": "/healthz and /readyz, which answer before accounts and services are open",
  "src/platform/clients.ts": "/clients, files of the executable",
  "src/platform/documentation.ts": "/docs, which describes the operations",
  "src/platform/route-metrics.ts": "/metrics, text with a token of its own",
  "src/accounts/external/route.ts": "OpenID Connect: redirects of browsers, with parameters of the provider",
  "src/scoring/api/soap-routes.ts": "SOAP, which has a declaration of its own in contract/service.ts",
  "src/web/route.ts": "pages, scripts and styles",
};

test("operations are the only way to make routes, with few exceptions", () => {
  const makers = SOURCES.filter((path) =>
    /import \{[^}]*(?<!type )\bElysia\b[^}]*\} from "elysia"/.test(readFileSync(join(ROOT, path), "utf8")),
  );
  expect(makers.toSorted()).toEqual(Object.keys(ROUTE_MAKERS).toSorted());
});

test("only sqlite.ts imports the driver", () => {
  const users = SOURCES.filter((path) => readImports(path).includes("bun:sqlite"));
  expect(users).toEqual(["src/platform/sqlite.ts"]);
});

test("hooks of Elysia are arrow functions, whose source it can read when the build has minified them", () => {
  const method = /^\s*(?:async )?(?:transform|beforeHandle|afterHandle|mapResponse|parse|resolve|derive)\(/m;
  for (const path of SOURCES.filter((path) => readImports(path).includes("elysia")))
    expect([path, readFileSync(join(ROOT, path), "utf8").match(method)?.[0]]).toEqual([path, undefined]);
});

/** The function of the pages, and those of the service worker. */
const REQUESTERS = /^src\/web\/(request|offline\/(send-changes|service-worker))\.ts$/;

test("pages request data through one function and contain no hard-coded address", () => {
  for (const path of SOURCES.filter((path) => within(path, "src/web"))) {
    const text = readFileSync(join(ROOT, path), "utf8");
    const fetches = !REQUESTERS.test(path) && /\bfetch\(/.test(text);
    // Otherwise base_path would not work.
    const written = text.match(/\b(?:href|src|action)=(?:"\/[^"]*"|\{`\/)/)?.[0];
    // The CSP forbids inline styles, and HTML from text would allow injection; the server escapes its own.
    const own =
      path === "src/web/components/server-text.tsx" ? text.replace("dangerouslySetInnerHTML", "") : text;
    const inline = own.match(/dangerouslySetInnerHTML|\.innerHTML\b|\bstyle=/)?.[0];
    expect({ path, fetches, written, inline }).toEqual({
      path,
      fetches: false,
      written: undefined,
      inline: undefined,
    });
  }
});

test("file names are specific", () => {
  const tests = filesUnder("test").filter((path) => path.endsWith(".ts"));
  for (const path of [...SOURCES, ...tests]) {
    const name = basename(path).replace(/\.(test|bench|d)?\.?tsx?$/, "");
    expect(name).toMatch(/^[a-z0-9]+(-[a-z0-9]+)*$/);
    expect(["utils", "util", "helpers", "helper", "common", "base", "misc", "types"]).not.toContain(name);
  }
});

/**
 * Folders of tests that pause for a time, with the number of lines that may do so and the reason. Everywhere else `waitFor`
 * waits for a condition, and `runPending` for what is due.
 */
const PAUSES: Record<string, [lines: number, reason: string]> = {
  "test/wait.ts": [1, "between two looks at a condition"],
  accounts: [4, "work of a password check; timers of LDAP, which run faster; the start of a directory"],
  bench: [33, "the pace of a load, and the time over which it is measured"],
  browser: [2, "the time between the keys of a scanner, and a provider that is down"],
  commands: [1, "between tries to get the lock of a running command"],
  executable: [
    22,
    "moments of kills and faults, the pace of slow clients, and time in which nothing may come",
  ],
  farm: [4, "parts that arrive one after the other"],
  freeze: [2, "a page that changes no more, and streams without an end"],
  inventory: [8, "requests that run in other processes when they are killed, and the pace of readers"],
  operations: [1, "the pace of an upload"],
  platform: [6, "time limits of connections and locks of other processes"],
  scoring: [9, "workers that hang, and time over which memory is measured"],
  webhooks: [1, "a receiver that does not answer"],
};

test("tests pause for a time only where there is a reason", () => {
  const lines = filesUnder("test")
    .filter((path) => path.endsWith(".ts") || path.endsWith(".tsx"))
    .filter((path) => path !== "test/architecture.test.ts")
    .flatMap((path) => {
      const folder = path.split("/").length > 2 ? path.split("/")[1] : path;
      const pauses = readFileSync(join(ROOT, path), "utf8").match(/^.*(Bun\.sleep|setTimeout).*$/gm) ?? [];
      return pauses.map((line) => ({ folder, line: `${path}: ${line.trim()}` }));
    });
  for (const [folder, found] of Map.groupBy(lines, (line) => line.folder))
    expect(found.map(({ line }) => line).slice(PAUSES[folder]?.[0] ?? 0)).toEqual([]);
});

test("all exports are named exports, and no name contains Service, Manager, Helper or Impl", () => {
  for (const path of SOURCES) {
    const text = readFileSync(join(ROOT, path), "utf8");
    expect({ path, defaultExport: /^export default/m.test(text) }).toEqual({ path, defaultExport: false });
    const bad = text.match(
      /^export (?:abstract )?(?:class|interface|type|function|const) \w*(Service|Manager|Helper|Impl)\b/m,
    );
    expect({ path, bad: bad?.[0] }).toEqual({ path, bad: undefined });
  }
});

test("the top level contains exactly the expected entries", async () => {
  const tracked = (await Bun.$`git ls-files`.cwd(ROOT).quiet().nothrow().text()).trim().split("\n");
  const names =
    tracked.length > 1 ? [...new Set(tracked.map((path) => path.split("/")[0]))] : readdirSync(ROOT);
  const visible = names.filter(
    (name) => !name.startsWith(".") && !["node_modules", "dist", "test-artefacts"].includes(name),
  );
  const expected =
    "CHANGELOG.md CITATION.cff CONTRIBUTING.md LICENSE README.md build.ts bun.lock bunfig.toml db docs package.json packaging src test tsconfig.json";
  expect(visible.sort()).toEqual(expected.split(" "));
});

test("one lock file pins every version and names no registry", () => {
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

test("no file names a path of a machine or a registry host", async () => {
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
