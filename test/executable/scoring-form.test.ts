import { afterAll, beforeAll, expect, test } from "bun:test";
import { E7, labd, scratch, serve, type Server } from "./labd.ts";

/** The form on the endpoint's page, filled in and sent as a browser does. */

const place = scratch();
let server: Server;
beforeAll(async () => {
  await labd(["corpus", "add", "--sample"], { env: { LABD_DATA_DIR: place.directory } });
  server = await serve(place.directory);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  place[Symbol.dispose]();
});

const send = (fields: Record<string, string>): Promise<Response> =>
  fetch(`${server.url}/soap/ConservationScorer/try`, {
    method: "POST",
    body: new URLSearchParams(fields),
    redirect: "manual",
  });

/** Follows the page's own refresh until the job has ended. */
async function outcome(response: Response): Promise<{ status: number; html: string; address: string }> {
  expect(response.status).toBe(303);
  const address = server.url + response.headers.get("location")!;
  for (let i = 0; i < 10_000; i++) {
    const page = await fetch(address);
    const html = await page.text();
    if (!html.includes('http-equiv="refresh"')) return { status: page.status, html, address };
    await Bun.sleep(20);
  }
  throw new Error("the job did not end");
}

test("the page has the form, filled in with an example that works", async () => {
  const html = await (await fetch(`${server.url}/soap/ConservationScorer`)).text();
  expect(html).toContain('<form method="post" action="/soap/ConservationScorer/try">');
  const field = (name: string): string =>
    html.match(new RegExp(`<textarea[^>]*name="${name}"[^>]*>([^<]*)<`))![1].replaceAll("&gt;", ">");
  const fields = {
    protein: field("protein"),
    patterns: field("patterns"),
    motifClasses: "",
    scoringModel: "continuous",
  };
  const { status, html: result } = await outcome(await send(fields));
  expect(status).toBe(200);
  expect(result).toContain("<h1>p53</h1>");
  expect(result).toMatch(/FSDLWKLL<\/code><\/td>\s*<td><b>conserved/);
  expect(result).toContain("<code>P..P</code>");
});

test("an accession of the corpus, a motif class, a pattern without a match; the result in every form", async () => {
  const response = await send({
    protein: "P03129",
    patterns: "W{3}",
    motifClasses: "LxCxE\r\n",
    scoringModel: "discontinuous",
  });
  const { html } = await outcome(response);
  expect(html).toContain("<h1>P03129</h1>");
  expect(html).toContain("LYCYE");
  expect(html).toContain("no match");
  const forms = [...html.matchAll(/href="(\/api\/scoring\/jobs\/[^"]+)"/g)].map((match) => match[1]);
  expect(forms.length).toBeGreaterThan(4);
  for (const address of forms) expect((await fetch(server.url + address)).status).toBe(200);
});

test("what is wrong is said above the form, which keeps what was typed", async () => {
  const response = await send({
    protein: E7,
    patterns: 'P((A\n"><script>',
    motifClasses: "LIG_SH3_11",
    scoringModel: "continuous",
  });
  expect(response.status).toBe(400);
  const html = await response.text();
  expect(html).toContain('role="alert"');
  expect(html).toContain("pattern 1, character");
  expect(html).toContain(E7);
  expect(html).not.toContain("<script>");
});

test("an unknown job, another method, another type", async () => {
  const address = `${server.url}/soap/ConservationScorer/try`;
  expect((await fetch(`${address}/nobody`)).status).toBe(404);
  const method = await fetch(address, { method: "DELETE" });
  expect([method.status, method.headers.get("allow")]).toEqual([405, "GET, HEAD, POST"]);
  expect((await fetch(address, { method: "POST", body: "{}" })).status).toBe(415);
});
