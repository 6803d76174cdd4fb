import { expect, test } from "bun:test";
import { Elysia } from "elysia";
import { completeMethods } from "../../src/platform/complete-methods.ts";

const app = new Elysia({ strictPath: true })
  .get("/api/boxes/boxes/", ({ request }) => request.url)
  .post("/api/boxes/boxes/", async ({ request }) => `${request.url} ${await request.text()}`, {
    parse: "none",
  })
  .get("/api/boxes/boxes/:id/", ({ params, query }) => `${params.id} ${JSON.stringify(query)}`)
  .get("/boxes", () => "a page")
  .onError(({ code, error }) => new Response(`${code} ${(error as Error).message}`, { status: 418 }));
completeMethods(app, [
  ["/api/boxes/", "/api/boxes/boxes/"],
  ["/api/crates/", "/api/boxes/boxes/"],
]);
const ask = async (method: string, path: string, body?: string) =>
  (await app.fetch(new Request(`http://localhost${path}`, { method, ...(body ? { body } : {}) }))).text();

test.each([
  ["GET", "/api/boxes/", "http://localhost/api/boxes/boxes/"],
  ["GET", "/api/crates", "http://localhost/api/boxes/boxes/"],
  ["GET", "/api/crates/7/?a=/api/boxes/", '7 {"a":"/api/boxes/"}'],
  ["GET", "/api/boxes/7", "7 {}"],
  ["POST", "/api/crates/?a=1", "http://localhost/api/boxes/boxes/?a=1 sent"],
  ["GET", "/boxes", "a page"],
])("%s %s is answered by the address for which it is an alias", async (method, path, expected) => {
  expect(await ask(method, path, method === "POST" ? "sent" : undefined)).toBe(expected);
});

test.each([
  ["GET", "/api/boxes/7/8/9", "NOT_FOUND"],
  ["GET", "/api/crates/7/8", "NOT_FOUND"],
  ["GET", "/api/crates//", "NOT_FOUND"],
  ["DELETE", "/api/crates/7/", 'Method "DELETE" not allowed. Allowed: GET, HEAD, OPTIONS.'],
])("%s %s is an error", async (method, path, message) => {
  expect(await ask(method, path)).toContain(message);
});
