import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { OPENSSL, selfSigned } from "./certificate.ts";
import { ask, E7, element, ended, labd, post, runJobMessage, scratch, serve } from "./labd.ts";
import { waitFor } from "../wait.ts";

setDefaultTimeout(300_000);

/** The examples of packaging/ behind which SOAP, JSON, events, REST and pages work, with the servers themselves. */

const EXAMPLES = join(import.meta.dir, "../../packaging");
const example = (name: string): string => readFileSync(join(EXAMPLES, name), "utf8");

/** Replaces each, and fails where the example does not have it. */
function adapted(text: string, changes: readonly [string, string][]): string {
  return changes.reduce((whole, [from, to]) => {
    expect(whole).toContain(from);
    return whole.replaceAll(from, to);
  }, text);
}

interface Where {
  directory: string;
  /** Port of the proxy. */
  port: number;
  /** Host and port of labd. */
  upstream: string;
}

const PROXIES: Record<string, (where: Where) => string[]> = {
  nginx({ directory, port, upstream }) {
    const site = adapted(example("nginx.conf"), [
      ["listen 443 ssl", `listen 127.0.0.1:${port} ssl`],
      ["/etc/ssl/certs/lab.example.pem", join(directory, "lab.crt")],
      ["/etc/ssl/private/lab.example.key", join(directory, "lab.key")],
      ["server 127.0.0.1:8480;", `server ${upstream};`],
      ["server_name lab.example", "server_name localhost"],
    ]);
    const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
      (name) => `${name}_temp_path ${directory}/${name};`,
    );
    const user = process.getuid?.() === 0 ? "user root;\n" : "";
    writeFileSync(
      join(directory, "nginx.conf"),
      `${user}pid ${directory}/nginx.pid;\nevents {}\nhttp {\naccess_log off;\n${temporary.join("\n")}\n${site}\n}\n`,
    );
    return [
      "nginx",
      "-e",
      "stderr",
      "-p",
      directory,
      "-c",
      join(directory, "nginx.conf"),
      "-g",
      "daemon off;",
    ];
  },
  caddy({ directory, port, upstream }) {
    const tls = `\ttls ${join(directory, "lab.crt")} ${join(directory, "lab.key")}\n`;
    const site = adapted(example("Caddyfile"), [
      ["\nlab.example {\n", `\nhttps://localhost:${port} {\n${tls}`],
      ["reverse_proxy /labd/* 127.0.0.1:8480", `reverse_proxy /labd/* ${upstream}`],
    ]);
    writeFileSync(
      join(directory, "Caddyfile"),
      `{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n}\n${site}`,
    );
    return ["caddy", "run", "--adapter", "caddyfile", "--config", join(directory, "Caddyfile")];
  },
};

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address() as { port: number };
      probe.close(() => resolve(port));
    });
  });
}

const findProgram = (name: string): string | null =>
  Bun.which(name) ?? Bun.which(name, { PATH: "/usr/sbin:/usr/local/sbin" });
const isThere = (name: string): boolean => findProgram(name) !== null && OPENSSL !== null;

for (const name of Object.keys(PROXIES))
  test.skipIf(!isThere(name))(`${name} as packaging/ configures it (SKIPPED without it)`, () =>
    callThrough(name),
  );

async function callThrough(name: string): Promise<void> {
  const program = findProgram(name)!;
  using place = scratch();
  const { directory } = place;
  const data = join(directory, "data");
  mkdirSync(data);
  const env = { LABD_DATA_DIR: data };
  expect((await labd(["corpus", "add", "--sample"], { env })).code).toBe(0);
  await labd(["user", "add", "ada", "--admin", "--password-stdin"], { env, stdin: "correct horse\n" });
  const [certificate, key] = ["lab.crt", "lab.key"].map((file) => join(directory, file));
  selfSigned({ certificate, key }, "localhost", 2);
  const port = await freePort();
  const outside = `https://localhost:${port}`;
  await using server = await serve(data, ["--public-url", `${outside}/labd`, "--trust-proxy", "true"]);
  const [, ...words] = PROXIES[name]({ directory, port, upstream: new URL(server.url).host });
  const proxy = Bun.spawn([program, ...words], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
    env: { HOME: directory, PATH: "" },
  });
  const tls = { ca: readFileSync(join(directory, "lab.crt"), "utf8") };
  const own = globalThis.fetch;
  const read = (path: string, init: RequestInit = {}): Promise<Response> =>
    own(path.startsWith("http") ? path : `${outside}/labd${path}`, { ...init, tls } as RequestInit);
  try {
    const isUp = (): Promise<boolean> =>
      read("/healthz").then(
        () => true,
        () => false,
      );
    await waitFor(async () => proxy.exitCode !== null || (await isUp()));
    if (proxy.exitCode !== null) throw new Error(`${name}: ${await new Response(proxy.stderr).text()}`);
    // SOAP, as its clients begin: with the WSDL.
    const wsdl = await (await read("/soap/ConservationScorer?wsdl")).text();
    expect(wsdl).toContain(`location="${outside}/labd/soap/ConservationScorer"`);
    globalThis.fetch = Object.assign((input: string, init?: RequestInit) => read(input, init), own);
    const soap = `${outside}/labd`;
    const job = element(
      (await post(soap, runJobMessage({ sequence: E7, patterns: ["L.C.E"] }))).text,
      "JobIdentifier",
    )!;
    expect(await ended(soap, job)).toBe("finished");
    expect((await ask(soap, "GetResult", job)).text).toContain("LYCYE");
    globalThis.fetch = own;
    // JSON with its stream of events.
    const submitted = await read("/api/scoring/jobs", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({
        identifier: "E7",
        querySequence: E7,
        patterns: ["L.C.E"],
      }),
    });
    expect(submitted.status).toBe(202);
    const { links } = (await submitted.json()) as { links: { self: string; events: string } };
    expect(links.self).toStartWith(`${outside}/labd/api/scoring/jobs/`);
    const events = await read(links.events);
    expect(events.headers.get("content-type")).toStartWith("text/event-stream");
    expect(await events.text()).toContain('"state":"finished"');
    // An expression as long as a URL may be.
    const long = await read(`/api/v2/locations/?label=${"x".repeat(65_000)}`);
    expect(await long.json()).toMatchObject({ total: 0 });
    // REST: links lead on, and a session is for the path.
    const signIn = await read("/api/v2/session/", {
      method: "POST",
      redirect: "manual",
      headers: { Origin: outside, "Content-Type": "application/json" },
      body: JSON.stringify({ username: "ada", password: "correct horse" }),
    });
    expect(signIn.status).toBe(200);
    const cookie = signIn.headers.get("set-cookie")!;
    expect(cookie).toMatch(/; Path=\/labd;.*; Secure$/);
    for (const label of ["first", "second"]) {
      const written = await read("/api/v2/locations/", {
        method: "POST",
        headers: { Cookie: cookie.split(";")[0], Origin: outside, "Content-Type": "application/json" },
        body: JSON.stringify({ label }),
      });
      expect([written.status, written.headers.get("location")]).toEqual([
        201,
        expect.stringContaining(`${outside}/labd/api/v2/locations/`),
      ]);
    }
    const foreign = { Cookie: cookie.split(";")[0], Origin: "https://evil.example" };
    const refused = await read("/api/v2/locations/", { method: "POST", headers: foreign, body: "{}" });
    expect(refused.status).toBe(403);
    const list = await read("/api/v2/locations/?page_size=1", { headers: { Cookie: cookie.split(";")[0] } });
    const { next, results } = (await list.json()) as { next: string; results: { label: string }[] };
    expect(next).toStartWith(`${outside}/labd/api/v2/locations/?page=2`);
    const more = await read(next, { headers: { Cookie: cookie.split(";")[0] } });
    const second = (await more.json()) as typeof list & { results: { label: string }[] };
    expect([results[0].label, second.results[0].label].sort()).toEqual(["first", "second"]);
    // Pages: everything that they link to lies below the path, and is what labd has there.
    for (const path of ["/", "/soap/ConservationScorer", "/api/v2/?format=api", "/docs"]) {
      const page = await (await read(path)).text();
      const addresses = [...page.matchAll(/\b(?:href|src)="([^"#]+)"/g)].map(([, address]) => address);
      expect(addresses.length).toBeGreaterThan(0);
      for (const address of new Set(addresses)) {
        const { href } = new URL(address.replaceAll("&amp;", "&"), `${outside}/labd${path}`);
        expect(href).toStartWith(`${outside}/labd/`);
        const headers = { Cookie: cookie.split(";")[0] };
        const found = await read(href, { headers });
        const direct = await own(href.replace(`${outside}/labd`, server.url), { headers });
        expect([href, found.status]).toEqual([href, direct.status]);
        if (/\.(js|css|svg)$/.test(href)) expect([href, found.status]).toEqual([href, 200]);
        await Promise.all([found.body?.cancel(), direct.body?.cancel()]);
      }
    }
    expect((await read(`${outside}/labd`, { redirect: "manual" })).headers.get("location")).toBe("/labd/");
    expect((await read("/metrics")).status).toBe(403);
  } finally {
    globalThis.fetch = own;
    proxy.kill("SIGTERM");
    await proxy.exited;
  }
}
