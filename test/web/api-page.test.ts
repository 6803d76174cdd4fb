import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type App, open } from "../../src/app/open.ts";
import { resolveConfig } from "../../src/config.ts";
import { printJson } from "../../src/web/print-json.ts";

/** JSON of the API as a browser shows it, without running its scripts. */

const BROWSER = "text/html,application/xhtml+xml,*/*;q=0.8";
let app: App;
let directory: string;
let token: string;

const ask = (address: string, headers: Record<string, string> = {}): Promise<Response> =>
  app.answer(
    new Request(new URL(address, "http://lab/api/v2/"), {
      headers: { Accept: BROWSER, Authorization: `Token ${token}`, ...headers },
    }),
  );

async function add(list: string, body: object): Promise<{ id: string }> {
  const headers = { Authorization: `Token ${token}`, "Content-Type": "application/json" };
  const url = `http://lab/api/v2/${list}/`;
  const made = await app.answer(new Request(url, { method: "POST", headers, body: JSON.stringify(body) }));
  expect(made.status).toBe(201);
  return (await made.json()) as { id: string };
}

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "labd-api-page-"));
  app = await open(resolveConfig({ flags: { data_dir: directory, log: "off" }, environment: {} }).config);
  await app.accounts.addUser({ username: "ada", superuser: true });
  token = app.accounts.addToken("ada", "test");
});
afterAll(async () => {
  await app.close();
  rmSync(directory, { recursive: true, force: true });
});

test("shows a list with links to its records and to referenced records", async () => {
  const room = await add("locations", { label: "Room 1" });
  const { id } = await add("locations", { label: "Shelf <1>", parent: room.id });
  const response = await ask("locations/?ordering=label&fields=id,label,parent");
  const { headers, status } = response;
  expect([status, headers.get("content-type")]).toEqual([200, "text/html; charset=utf-8"]);
  expect([headers.get("etag"), headers.get("cache-control")]).toEqual([null, "private, no-cache"]);
  const html = await response.text();
  expect(html).toContain("GET /api/v2/locations/?ordering=label&amp;fields=id,label,parent\nHTTP 200\n");
  expect(html).toContain(`&quot;id&quot;: <a href="/api/v2/locations/${id}/">`);
  expect(html).toContain(`&quot;parent&quot;: <a href="/api/v2/locations/${room.id}/">`);
  expect(html).toContain("&quot;Shelf &lt;1&gt;&quot;");
  expect(html).toContain('<nav class="rail"');
  expect(html).not.toMatch(/<form[^>]* method="post"/i);
});

test("links only to pages that exist", async () => {
  const seen = new Set<string>();
  const wait = ["http://lab/api/v2/?format=api"];
  while (wait.length > 0 && seen.size < 60) {
    const address = wait.shift()!;
    if (seen.has(address)) continue;
    seen.add(address);
    const response = await ask(address);
    expect([address, response.status]).toEqual([address, 200]);
    if (!response.headers.get("content-type")?.startsWith("text/html")) continue;
    const [, content] = /<main.*?>(.*)<\/main>/s.exec(await response.text())!;
    for (const [, link] of content.matchAll(/href="([^"]+)"/g))
      wait.push(new URL(link.replaceAll("&amp;", "&"), address).href);
  }
  expect(seen.size).toBeGreaterThan(30);
});

test.each<[accept: string, query: string, isPage: boolean]>([
  [BROWSER, "", true],
  [BROWSER, "?format=json", false],
  ["*/*", "?format=api", true],
  ["application/json", "?format=api", false],
  ["application/json", "", false],
])("Accept: %s with %p: page %p", async (Accept, query, isPage) => {
  const { headers } = await ask(`locations/${query}`, { Accept });
  expect(headers.get("content-type")).toBe(isPage ? "text/html; charset=utf-8" : "application/json");
});

test("a cached JSON response is not reused for the page", async () => {
  const tag = (await ask("locations/?format=json")).headers.get("etag")!;
  expect((await ask("locations/?format=json", { "If-None-Match": tag })).status).toBe(304);
  expect((await ask("locations/", { "If-None-Match": tag })).status).toBe(200);
});

test.each<[value: unknown, html: string]>([
  [null, "null"],
  [[], "[]"],
  [{}, "{}"],
  [[1, true], "[\n    1,\n    true\n]"],
  [{ a: { b: "x" } }, "{\n    &quot;a&quot;: {\n        &quot;b&quot;: &quot;x&quot;\n    }\n}"],
  [
    "https://a.example/?a=1&b=2",
    '<a href="https://a.example/?a=1&amp;b=2">&quot;https://a.example/?a=1&amp;b=2&quot;</a>',
  ],
  ['https://a.example/"onclick="x', "&quot;https://a.example/\\&quot;onclick=\\&quot;x&quot;"],
  ["javascript:alert(1)", "&quot;javascript:alert(1)&quot;"],
  [{ id: 7 }, '{\n    &quot;id&quot;: <a href="/labd/records/7">7</a>\n}'],
])("%j is printed as %p", (value, html) => {
  const findLink = (key: string, id: string | number) => (key === "id" ? `/records/${id}` : undefined);
  expect(printJson(value, findLink, "/labd")).toBe(html);
});

test("shows the reference of the API in the shell, and each operation", async () => {
  const index = await (await ask("/docs")).text();
  expect(index).toContain('<a href="/docs/operations/checkThatProcessRuns"><code>/healthz</code></a>');
  expect(await (await ask("/docs?q=takes%20READYZ")).text()).toContain("1 of ");
  expect(await (await ask("/docs?q=%22%3E%3Cb")).text()).toContain('value="&quot;>&lt;b"');
  const operation = await (await ask("/docs/operations/checkThatServiceTakesRequests")).text();
  expect(operation).toContain("<code>GET /readyz</code>");
  expect(operation).toContain(
    "<strong>503</strong> The service takes no requests; <code>reasons</code> say why.",
  );
  expect((await ask("/docs/operations/nothing")).status).toBe(404);
});
