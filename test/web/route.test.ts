import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { href, match, stripBasePath, withPageContext } from "../../src/web/address.ts";
import { bundle } from "../../src/web/bundle.ts";
import { renderMissingPage, webRoutes } from "../../src/web/index.ts";
import { PAGES } from "../../src/web/pages.ts";
import { openBare } from "../platform/bare-http.ts";

const serve = (base = "") => {
  const surroundings = (request: Request) => ({
    base,
    session: request.headers.has("cookie"),
    person: "",
  });
  return openBare([webRoutes(surroundings, (_page, key) => key === "good")], {
    missing: (request) => renderMissingPage(request, surroundings(request)),
  });
};
const answer = serve();
const ask = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
  answer(new Request(`http://lab${path}`, { headers }));
/** An address of a page: its path with something for what is left open. */
const readSample = (path: string): string => path.replace(/:\w+/g, "1");
/** Former addresses, which redirect. */
const MOVED: Readonly<Record<string, string>> = { "/inventory/tree": "/inventory/storage" };
const SHOWN = PAGES.flatMap((page) =>
  page.paths.filter((path) => !(path in MOVED)).map((path) => [path, page] as const),
);

test("PAGES lists every file of pages/ and no path twice", () => {
  const files = readdirSync(join(import.meta.dir, "../../src/web/pages")).map((name) =>
    name.replace(/\.tsx$/, ""),
  );
  expect(PAGES.map(({ name }) => name).sort()).toEqual(files.sort());
  const paths = PAGES.flatMap((page) => page.paths);
  expect(new Set(paths).size).toBe(paths.length);
});

test.each(SHOWN)("%s is rendered on the server and loads less than 150 KB of script", async (path, page) => {
  const response = await ask(readSample(path) + (page.keyed ? "?key=good" : ""));
  expect(response.status).toBe(200);
  expect(response.headers.get("content-type")).toBe("text/html; charset=utf-8");
  const policy = response.headers.get("content-security-policy")!;
  expect(policy).toContain(page.camera ? "script-src 'self' 'wasm-unsafe-eval';" : "script-src 'self';");
  expect(policy).toStartWith("default-src 'none'; ");
  expect(policy).not.toContain(" 'unsafe");
  const html = await response.text();
  expect(html).toContain(`<title>${page.title} · labd</title>`);
  expect(html).toMatch(/<main id="content"[^>]*>.*<h1/s);
  // The policy would refuse these; a block of data is no script.
  expect(html).not.toMatch(
    /<script(?! type="application\/ld\+json")(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=/,
  );
  const loaded = [...html.matchAll(/<(?:script|link)[^>]*(?:src|href)="([^"]+)"/g)].map((found) => found[1]);
  let bytes = 0;
  for (const address of loaded) {
    expect(address).toStartWith("/assets/");
    const asset = await ask(address, { "accept-encoding": "gzip" });
    expect([address, asset.status]).toEqual([address, 200]);
    if (address.endsWith(".js")) bytes += (await asset.arrayBuffer()).byteLength;
  }
  expect(bytes).toBeGreaterThan(5000);
  expect(bytes).toBeLessThan(150_000);
});

test("caches assets indefinitely and sends them compressed or plain", async () => {
  const { style, scripts } = await bundle();
  for (const name of [style, ...scripts.home]) {
    expect(name).toMatch(/^[a-z-]+-[a-z0-9]{8}\.(css|js)$/);
    const packed = await ask(`/assets/${name}`, { "accept-encoding": "br, gzip" });
    expect(packed.headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect([packed.headers.get("content-encoding"), packed.headers.get("vary")]).toEqual([
      "gzip",
      "Accept-Encoding",
    ]);
    const plain = await ask(`/assets/${name}`, { "accept-encoding": "gzip;q=0" });
    expect(plain.headers.get("content-encoding")).toBeNull();
    expect(Bun.gunzipSync(await packed.arrayBuffer())).toEqual(new Uint8Array(await plain.arrayBuffer()));
  }
  expect((await ask("/assets/home-00000000.js")).status).toBe(404);
  expect((await answer(new Request("http://lab/", { method: "POST" }))).status).toBe(405);
});

test("returns a page to browsers and a JSON problem to programs for unknown addresses", async () => {
  const page = await ask("/scor", { accept: "text/html,*/*;q=0.8" });
  expect([page.status, page.headers.get("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
  expect(await page.text()).toContain("Page not found");
  const problem = await ask("/scor", { accept: "application/json" });
  expect([problem.status, problem.headers.get("content-type")]).toEqual([404, "application/json"]);
});

test("the server renders a link to sign in without a session", async () => {
  expect(await (await ask("/")).text()).toContain('href="/sign-in"');
  const known = await (await ask("/", { cookie: "labd_session=x" })).text();
  expect(known).toContain("data-session");
  expect(known).not.toContain('href="/sign-in"');
});

test("all links begin with the base path", async () => {
  const response = await serve("/labd")(new Request("http://lab/"));
  const html = await response.text();
  const links = [...html.matchAll(/\s(?:href|src|action)="(\/[^"]*)"/g)].map((found) => found[1]);
  expect(links.length).toBeGreaterThan(8);
  expect(links.filter((link) => !link.startsWith("/labd/"))).toEqual([]);
  expect(html).toContain('data-base="/labd"');
  withPageContext({ base: "/labd", session: false, person: "" }, () => {
    expect(href("/score", { q: "a b", none: null, many: ["1", "2"] })).toBe(
      "/labd/score?q=a+b&many=1&many=2",
    );
    expect([stripBasePath("/labd/score"), stripBasePath("/labdx")]).toEqual(["/score", "/labdx"]);
  });
  expect(href("/")).toBe("/");
});

test.each(Object.entries(MOVED))("redirects the former address %s", async (former, current) => {
  const response = await serve("/labd")(new Request(`http://lab${former}`));
  expect([response.status, response.headers.get("location")]).toEqual([301, `/labd${current}`]);
  expect((await ask(current)).status).toBe(200);
});

test("the pages can be installed as an application below the base path", async () => {
  const below = serve("/labd");
  const html = await (await below(new Request("http://lab/"))).text();
  const [, address] = /<link rel="manifest" href="\/labd([^"]+)"/.exec(html)!;
  const response = await below(new Request(`http://lab${address}`));
  expect(response.headers.get("content-type")).toBe("application/manifest+json");
  const manifest = (await response.json()) as Record<string, string> & { icons: Record<string, string>[] };
  expect(manifest).toMatchObject({ start_url: "/labd/", scope: "/labd/", display: "standalone" });
  expect(manifest.icons.map(({ sizes, purpose }) => `${sizes} ${purpose}`)).toEqual([
    "192x192 any",
    "192x192 maskable",
    "512x512 any",
    "512x512 maskable",
  ]);
  for (const { src, sizes } of manifest.icons) {
    const picture = await ask(src.replace("/labd", ""));
    expect(picture.headers.get("content-type")).toBe("image/png");
    // Width and height follow the names of the file and of its first part.
    const bytes = new DataView(await picture.arrayBuffer());
    expect(`${bytes.getUint32(16)}x${bytes.getUint32(20)}`).toBe(sizes);
  }
});

test("the service worker caches the files that scanning needs, under a policy", async () => {
  const response = await ask("/service-worker.js");
  expect(response.headers.get("content-type")).toBe("text/javascript; charset=utf-8");
  expect(response.headers.get("cache-control")).toBe("no-cache");
  expect(response.headers.get("content-security-policy")).toBe(
    "default-src 'none'; script-src 'self'; connect-src 'self'",
  );
  const [, list] = /^const OFFLINE=(.*);\n/.exec(await response.text())!;
  const { assets } = JSON.parse(list) as { assets: string[] };
  const { scripts, style } = await bundle();
  const needed = [style, ...scripts.scan, ...scripts.stocktake, ...scripts.offline];
  expect(needed.filter((name) => !assets.includes(name))).toEqual([]);
  expect(assets.filter((name) => name.endsWith(".wasm"))).toHaveLength(1);
  let bytes = 0;
  for (const name of assets) {
    const asset = await ask(`/assets/${name}`, { "accept-encoding": "gzip" });
    expect([name, asset.status]).toEqual([name, 200]);
    bytes += (await asset.arrayBuffer()).byteLength;
  }
  expect(bytes).toBeLessThan(1_000_000);
});

test("a path template matches paths with equally many non-empty parts", () => {
  expect(match("/score/:job", "/score/a%20b")).toEqual({ job: "a b" });
  expect(match("/score/:job", "/score/%")).toEqual({ job: "%" });
  expect(match("/score/:job", "/score/")).toBeUndefined();
  expect(match("/score/:job", "/score")).toBeUndefined();
  expect(match("/score", "/batch")).toBeUndefined();
});

test("links and pictures of help lead below the service's path", async () => {
  const below = serve("/labd");
  const html = await (await below(new Request("http://lab/help/biologist"))).text();
  expect(html).toContain('<h2 id="how-to-cite">How to cite</h2>');
  expect(html).toContain('<a href="/labd/help/method">The method</a>');
  const [, picture] = /<img loading="lazy" src="\/labd(\/assets\/result-[^"]+)"/.exec(html)!;
  const image = await ask(picture);
  expect([image.status, image.headers.get("content-type")]).toEqual([200, "image/webp"]);
  expect((await ask("/help/none", { accept: "text/html" })).status).toBe(404);
});

test.each(["/setup", "/set-password", "/verify-email"])(
  "%s says that a link is used, and can be reloaded without its key",
  async (path) => {
    const used = await ask(`${path}?key=bad`);
    expect(used.status).toBe(404);
    expect(await used.text()).toContain("This link has been used or has expired");
    expect((await ask(path)).status).toBe(200);
  },
);

/** JSON-LD of a page; null if it has none. */
async function readData(path: string): Promise<Record<string, unknown> | null> {
  const [, json] =
    /<script type="application\/ld\+json">(.*?)<\/script>/s.exec(await (await ask(path)).text()) ?? [];
  return json === undefined ? null : (JSON.parse(json) as Record<string, unknown>);
}

test("the home page and pages of proteins say what they are about, for search engines", async () => {
  expect(await readData("/")).toMatchObject({
    "@context": "https://schema.org",
    "@type": "SoftwareApplication",
    "http://purl.org/dc/terms/conformsTo": {
      "@id": "https://bioschemas.org/profiles/ComputationalTool/1.0-RELEASE",
    },
    name: "labd",
    url: "/",
    description: expect.any(String),
  });
  expect(await readData("/proteins/P04637")).toMatchObject({
    "@type": "Protein",
    "@id": "/proteins/P04637",
    identifier: "P04637",
    sameAs: expect.arrayContaining(["https://www.uniprot.org/uniprotkb/P04637/entry"]),
  });
  const hostile = "</script><script>alert(1)</script>";
  expect(await readData(`/proteins/${encodeURIComponent(hostile)}`)).toMatchObject({
    identifier: hostile,
    sameAs: [],
  });
  expect(await readData("/sign-in")).toBeNull();
});
