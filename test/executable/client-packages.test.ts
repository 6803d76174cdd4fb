import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { buildClients } from "../../packaging/clients/build-clients.ts";
import { readZip, unzip } from "../../src/platform/zip-file.ts";
import { busyProxy, cuttingProxy } from "./cutting-proxy.ts";
import { waitFor } from "../wait.ts";
import { labd, scratch, serve, type Server } from "./labd.ts";

setDefaultTimeout(300_000);

/** The clients that the executable serves, installed by pip, R and npm, and the examples of docs/clients.md. */

const GUIDE = readFileSync(join(import.meta.dir, "../../docs/clients.md"), "utf8");
const CLIENTS = join(import.meta.dir, "clients");
const PASSWORD = "correct horse battery staple";
const place = scratch();
const env = { LABD_DATA_DIR: place.directory };
let server: Server;
let token: string;
let served: Served;
/** A server that redirects every request to the other, as proxies redirect to https. */
let moved: Bun.Server<undefined>;

interface Served {
  version: string;
  results: { name: string; language: string; url: string; bytes: number; sha256: string; install: string }[];
}

beforeAll(async () => {
  await labd(["demo", "--once", "--port", "0", "--log", "off", "--data-dir", place.directory]);
  await labd(["proteome", "build", "--organism", "9606"], { env });
  server = await serve(place.directory, ["--admin-password", PASSWORD]);
  const signedIn = await fetch(`${server.url}/api/v2/token-auth/`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ username: "admin", password: PASSWORD }),
  });
  ({ token } = (await signedIn.json()) as { token: string });
  served = (await (await fetch(`${server.url}/clients/`)).json()) as Served;
  moved = Bun.serve({
    port: 0,
    fetch: ({ url }) => Response.redirect(server.url + new URL(url).pathname, 301),
  });
});
afterAll(async () => {
  await moved.stop(true);
  await server[Symbol.asyncDispose]();
  place[Symbol.dispose]();
});

/** The examples in a language, with the address and the token of the server. */
const examples = (language: string): string[] =>
  [...GUIDE.matchAll(new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``, "g"))].map(([, code]) =>
    code.replaceAll("http://127.0.0.1:8480", server.url).replaceAll("…", token),
  );

const findClient = (language: string) => served.results.find((client) => client.language === language)!;

async function run(command: string[], variables: Record<string, string> = {}) {
  const child = Bun.spawn(command, {
    cwd: place.directory,
    stdout: "pipe",
    stderr: "pipe",
    env: {
      ...process.env,
      LABD_URL: server.url,
      LABD_TOKEN: token,
      MOVED: moved.url.origin,
      ...variables,
    },
  });
  const [stdout, stderr, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  return { code, stdout, stderr };
}

/** Runs a command that has to succeed. @returns its standard output */
async function succeed(command: string[], variables: Record<string, string> = {}): Promise<string> {
  const { code, stdout, stderr } = await run(command, variables);
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}:\n${stdout}\n${stderr}`);
  return stdout;
}

interface Batches {
  results: { id: string; state: string }[];
}

/** Interrupts a command that waits for a batch, as Ctrl-C does, and waits until the batch is cancelled. */
async function expectCancelled(command: string[], variables: Record<string, string> = {}): Promise<void> {
  const headers = { Authorization: `Token ${token}` };
  const running = async (): Promise<string[]> => {
    const response = await fetch(`${server.url}/api/tasks/?kind=batch`, { headers });
    return ((await response.json()) as Batches).results
      .filter(({ state }) => state === "running" || state === "queued")
      .map(({ id }) => id);
  };
  const child = Bun.spawn(command, {
    cwd: place.directory,
    stdout: "ignore",
    stderr: "ignore",
    env: { ...process.env, LABD_URL: server.url, LABD_TOKEN: token, ...variables },
  });
  const [id] = await waitFor(async () => {
    const found = await running();
    return found.length > 0 && found;
  });
  // It has the answer once it asks for the state.
  await waitFor(() => server.log().includes(`/batches/${id}`));
  child.kill("SIGINT");
  expect(await child.exited).not.toBe(0);
  const batch = await fetch(`${server.url}/api/scoring/batches/${id}`, { headers });
  expect(((await batch.json()) as { state: string }).state).toBe("cancelled");
}

const works = (...command: string[]): boolean => {
  try {
    return Bun.spawnSync(command, { stdout: "ignore", stderr: "ignore" }).exitCode === 0;
  } catch {
    return false;
  }
};

describe("/clients/", () => {
  test("lists the clients with address, checksum and command, and serves them", async () => {
    expect(served.version).toBe((await labd(["--version"])).stdout.split(" ")[1]);
    for (const { name, url, bytes, sha256, install } of served.results) {
      expect(url).toBe(`${server.url}/clients/${name}`);
      expect(install).toContain(url);
      const response = await fetch(url);
      expect(response.headers.get("content-type")).toBe(
        name.endsWith(".whl") ? "application/zip" : "application/gzip",
      );
      const content = await response.bytes();
      expect(content.length).toBe(bytes);
      expect(new Bun.CryptoHasher("sha256").update(content).digest("hex")).toBe(sha256);
      const again = await fetch(url, { headers: { "If-None-Match": response.headers.get("etag")! } });
      expect(again.status).toBe(304);
    }
    expect((await fetch(`${server.url}/clients/labd-0.0.1.tgz`)).status).toBe(404);
  });

  test("is a page for browsers, with the commands", async () => {
    for (const path of ["/clients", "/clients/"]) {
      const html = await (
        await fetch(server.url + path, { headers: { Accept: "text/html,*/*;q=0.8" } })
      ).text();
      for (const { install, sha256 } of served.results) {
        expect(html).toContain(Bun.escapeHTML(install));
        expect(html).toContain(sha256);
      }
    }
  });

  test("the same sources give the same bytes", async () => {
    const folder = join(import.meta.dir, "../../dist/clients-again");
    const members = readZip(await buildClients(served.version, folder));
    rmSync(folder, { recursive: true });
    const again = await Promise.all(
      members.map(async (member) => [
        member.name,
        new Bun.CryptoHasher("sha256").update(await unzip(member)).digest("hex"),
      ]),
    );
    expect(again).toEqual(served.results.map(({ name, sha256 }) => [name, sha256]));
  });

  test("labd clients writes the same files", async () => {
    const directory = join(place.directory, "written");
    const { code, stdout } = await labd(["clients", directory]);
    expect(code).toBe(0);
    expect(stdout.split("\n").filter(Boolean)).toEqual(
      served.results.map(({ name }) => join(directory, name)),
    );
    for (const { name, sha256 } of served.results) {
      const content = readFileSync(join(directory, name));
      expect(new Bun.CryptoHasher("sha256").update(content).digest("hex")).toBe(sha256);
    }
  });
});

/** Debian's, which has pandas; a virtual environment sees the packages of the system. */
const PYTHON = "/usr/bin/python3";
const hasPython = works(PYTHON, "-c", "import ensurepip, requests, pandas");

describe.skipIf(!hasPython)("the Python client (SKIPPED without Python, pip, requests and pandas)", () => {
  const python = join(place.directory, "venv/bin/python");
  const call = (name: string, variables: Record<string, string> = {}): Promise<string> =>
    succeed([python, join(CLIENTS, "python-client.py"), name], variables);

  beforeAll(async () => {
    await succeed([PYTHON, "-m", "venv", "--system-site-packages", join(place.directory, "venv")]);
    await succeed([python, "-m", "pip", "install", "--no-deps", "--quiet", findClient("Python").url]);
  });

  test("pip installs it, also from the list, and finds nothing missing", async () => {
    const pip = [python, "-m", "pip"];
    expect(await succeed([...pip, "show", "labd"])).toContain(`Version: ${served.version}\n`);
    await succeed([...pip, "uninstall", "--yes", "--quiet", "labd"]);
    await succeed([...pip, "install", "--no-index", "--find-links", `${server.url}/clients/`, "labd"]);
    expect(await succeed([python, "-c", "import labd; print(labd.__version__)"])).toBe(`${served.version}\n`);
  });

  test("runs the examples of the guide", async () => {
    const outputs = await Promise.all(examples("python").map((code) => succeed([python, "-c", code])));
    expect(outputs.length).toBeGreaterThan(1);
    const text = outputs.join("");
    expect(text).toMatch(/F\.\.\.W\.\.\[LIV\] +19 +26 +FSDLWKLL +likely functional/);
    expect(text).toMatch(/Box oligos 1 +A 101/);
    expect(text).toContain("admin used 20 µL of ACTB forward, 160 µL left");
  });

  test.each([
    ["fetches pages as they are needed", "pages"],
    ["takes Python values, and changes records", "values"],
    ["uses stock, makes aliquots, and undoes", "stock"],
    ["warns if the server has another version", "version"],
    ["raises typed errors with the words of the server", "errors"],
    ["shows the token nowhere", "secrets"],
    ["returns lists of dicts without pandas", "plain"],
    ["has docstrings with the fields of this version", "documented"],
  ])("%s", async (_, name) => {
    await call(name);
  });

  test("makes a change once although the answer was lost", async () => {
    using proxy = await cuttingProxy(server.url, "/consume/");
    await call("retried", { PROXY: proxy.url });
    expect(proxy.seen).toHaveLength(2);
    const [first, second] = proxy.seen.map((text) => /idempotency-key: (\S+)/i.exec(text)?.[1]);
    expect(first).toBeString();
    expect(second).toBe(first);
  });

  test("tries again when the server is busy", async () => {
    using proxy = busyProxy(server.url, 2);
    using busy = busyProxy(server.url, Number.POSITIVE_INFINITY);
    await call("busy", { PROXY: proxy.url, BUSY: busy.url });
    expect(proxy.refused.get("POST /api/v2/stocks/consumables/")).toBe(3);
    expect(busy.refused.get("GET /api/v2/version/")).toBe(2);
  });

  test("cancels the work when it is interrupted", async () => {
    await expectCancelled([python, join(CLIENTS, "python-client.py"), "interrupted"]);
  });

  test("does not repeat an import whose answer was lost", async () => {
    using proxy = await cuttingProxy(server.url, "/import/");
    await call("unrepeatable", { PROXY: proxy.url });
    expect(proxy.seen).toHaveLength(1);
  });

  test("shows progress where it is asked for", async () => {
    const { code, stderr } = await run([python, join(CLIENTS, "python-client.py"), "progress"]);
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^Importing stocks\/consumables \[.* of 5000 rows\n.*Scanning P04637 \[.*100% finished\n$/s,
    );
  });

  const mypy = Bun.which("mypy");
  test.skipIf(!mypy)("type checkers know fields and choices (SKIPPED without mypy)", async () => {
    const folder = join(place.directory, "typed");
    mkdirSync(folder, { recursive: true });
    const file = join(folder, "typed.py");
    writeFileSync(
      file,
      'import labd\nlab = labd.connect("http://server")\nlab.orders(state="REQUESTED", limit=3)\nlab.orders(state="LOST")\nlab.score("TP53", 3)\n',
    );
    const { stdout } = await run([mypy!, "--python-executable", python, "--cache-dir", folder, file]);
    expect([...stdout.matchAll(/typed\.py:(\d+): error/g)].map(([, line]) => line)).toEqual(["4", "5"]);
  });
});

const hasNpm = works("npm", "--version") && works("node", "--version");

describe.skipIf(!hasNpm)("the npm package (SKIPPED without Node.js and npm)", () => {
  const folder = join(place.directory, "npm");
  const call = async (name: string, variables: Record<string, string> = {}) => {
    cpSync(join(CLIENTS, "npm-client.mjs"), join(folder, "npm-client.mjs"));
    return run(["node", join(folder, "npm-client.mjs"), name], variables);
  };

  beforeAll(async () => {
    mkdirSync(folder);
    writeFileSync(join(folder, "package.json"), '{"type": "module"}');
    const { url } = findClient("TypeScript");
    await succeed(["npm", "install", "--no-audit", "--no-fund", "--prefix", folder, url]);
  });

  test("runs the examples of the guide", async () => {
    const outputs = await Promise.all(
      examples("ts").map((code, at) => {
        const file = join(folder, `example-${at}.mjs`);
        writeFileSync(file, code);
        return succeed(["node", file]);
      }),
    );
    const text = outputs.join("");
    expect(text).toMatch(/^F\.\.\.W\.\.\[LIV\] 19 FSDLWKLL likely functional 0\.\d+$/m);
    expect(text).toContain("160 microliter\n");
    expect(text).toMatch(/^amount: .* \{ amount: \[/m);
  });

  test("compiles strictly, with fields and choices of this version", async () => {
    writeFileSync(
      join(folder, "wrong.ts"),
      'import { connect } from "labd";\nconst lab = await connect();\nawait lab.orders.list({ state: "LOST" });\nawait lab.places.create({});\n',
    );
    for (const [at, code] of examples("ts").entries()) writeFileSync(join(folder, `example-${at}.ts`), code);
    const options = { strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, noEmit: true };
    const target = {
      module: "nodenext",
      target: "es2022",
      lib: ["es2023", "dom", "dom.iterable"],
      types: [],
    };
    writeFileSync(
      join(folder, "tsconfig.json"),
      JSON.stringify({ compilerOptions: { ...options, ...target }, include: ["*.ts"] }),
    );
    const compiler = join(import.meta.dir, "../../node_modules/typescript/bin/tsc");
    const { stdout } = await run(["node", compiler, "--project", folder]);
    expect(
      [...stdout.matchAll(/(\S+)\((\d+),\d+\): error/g)].map(([, file, line]) => `${basename(file)}:${line}`),
    ).toEqual(["wrong.ts:3", "wrong.ts:4"]);
  });

  test.each([
    ["fetches pages as they are needed", "pages"],
    ["changes records, and refuses old versions", "changes"],
    ["uses stock, and makes aliquots", "stock"],
    ["throws typed errors with the words of the server", "errors"],
    ["shows the token nowhere", "secrets"],
  ])("%s", async (_, name) => {
    expect(await call(name)).toEqual({ code: 0, stdout: "", stderr: "" });
  });

  test("makes a change once although the answer was lost", async () => {
    using proxy = await cuttingProxy(server.url, "/consume/");
    expect(await call("retried", { PROXY: proxy.url })).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(proxy.seen).toHaveLength(2);
  });

  test("tries again when the server is busy", async () => {
    using proxy = busyProxy(server.url, 2);
    using busy = busyProxy(server.url, Number.POSITIVE_INFINITY);
    expect(await call("busy", { PROXY: proxy.url, BUSY: busy.url })).toEqual({
      code: 0,
      stdout: "",
      stderr: "",
    });
    expect(proxy.refused.get("POST /api/v2/stocks/consumables/")).toBe(3);
    expect(busy.refused.get("GET /api/v2/version/")).toBe(2);
  });

  test("does not repeat an import whose answer was lost", async () => {
    using proxy = await cuttingProxy(server.url, "/import/");
    expect(await call("unrepeatable", { PROXY: proxy.url })).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(proxy.seen).toHaveLength(1);
  });

  test("shows progress where it is asked for", async () => {
    const { code, stderr } = await call("progress");
    expect(code).toBe(0);
    expect(stderr).toMatch(/^P04637 \[.*100% finished\n$/s);
  });
});

const hasR = works("Rscript", "-e", "library(httr2); library(jsonlite)");

describe.skipIf(!hasR)("the R package (SKIPPED without R, httr2 and jsonlite)", () => {
  const library = join(place.directory, "r-library");
  const call = (name: string, variables: Record<string, string> = {}): Promise<string> =>
    succeed(["Rscript", join(CLIENTS, "r-client.R"), name], { R_LIBS: library, ...variables });

  beforeAll(async () => {
    mkdirSync(library);
    await succeed(["Rscript", "-e", findClient("R").install], { R_LIBS_USER: library, R_LIBS: library });
  });

  test("runs the examples of the guide", async () => {
    const outputs = await Promise.all(
      examples("r").map((code, at) => {
        const file = join(place.directory, `example-${at}.R`);
        writeFileSync(file, code);
        return succeed(["Rscript", file], { R_LIBS: library });
      }),
    );
    const text = outputs.join("");
    expect(text).toMatch(/F\.\.\.W\.\.\[LIV\] +19 +FSDLWKLL +likely functional/);
    expect(text).toContain('"160 microliter"');
    expect(text).toContain("$amount");
  });

  test.each([
    ["fetches pages as they are needed", "pages"],
    ["changes records, and refuses old versions", "changes"],
    ["uses stock, and makes aliquots", "stock"],
    ["signals typed conditions with the words of the server", "errors"],
    ["shows the token nowhere", "secrets"],
    ["has help pages with the fields of this version", "documented"],
  ])("%s", async (_, name) => {
    await call(name);
  });

  test("makes a change once although the answer was lost", async () => {
    using proxy = await cuttingProxy(server.url, "/consume/");
    await call("retried", { PROXY: proxy.url });
    expect(proxy.seen).toHaveLength(2);
  });

  test("tries again when the server is busy", async () => {
    using proxy = busyProxy(server.url, 2);
    using busy = busyProxy(server.url, Number.POSITIVE_INFINITY);
    await call("busy", { PROXY: proxy.url, BUSY: busy.url });
    expect(proxy.refused.get("POST /api/v2/stocks/consumables/")).toBe(3);
    expect(busy.refused.get("GET /api/v2/version/")).toBe(2);
  });

  test("cancels the work when it is interrupted", async () => {
    await expectCancelled(["Rscript", join(CLIENTS, "r-client.R"), "interrupted"], { R_LIBS: library });
  });

  test("does not repeat an import whose answer was lost", async () => {
    using proxy = await cuttingProxy(server.url, "/import/");
    await call("unrepeatable", { PROXY: proxy.url });
    expect(proxy.seen).toHaveLength(1);
  });

  test("shows progress where it is asked for", async () => {
    const script = ["Rscript", join(CLIENTS, "r-client.R"), "progress"];
    const { code, stderr } = await run(script, { R_LIBS: library });
    expect(code).toBe(0);
    expect(stderr).toMatch(/^Scanning P04637 \[.*100% finished\n$/s);
  });
});
