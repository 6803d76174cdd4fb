import { expect, test } from "bun:test";
import { Elysia } from "elysia";
import { Problem } from "../../src/problem.ts";
import type { Answer } from "../../src/platform/http.ts";
import { openBare } from "./bare-http.ts";

const open = (corsOrigins: string[] = []): Answer =>
  openBare(
    [new Elysia({ strictPath: true }).get("/api/x/", () => ({ done: true })).get("/page", () => "a page")],
    {
      corsOrigins,
      admit(request) {
        if (request.headers.has("x-refused")) throw new Problem("unauthenticated", "No.");
      },
    },
  );
const ELN = "https://eln.example";
const send = (answer: Answer, path: string, headers: Record<string, string>, method = "GET") =>
  answer(new Request(`http://lab${path}`, { method, headers }));
const allowed = (response: Response) => response.headers.get("access-control-allow-origin");
const PREFLIGHT = {
  "Access-Control-Request-Method": "PATCH",
  "Access-Control-Request-Headers": "authorization",
};

test("no origin may read responses by default", async () => {
  const answer = open();
  for (const method of ["GET", "OPTIONS"]) {
    const response = await send(answer, "/api/x/", { Origin: ELN, ...PREFLIGHT }, method);
    expect([...response.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    expect(response.headers.get("vary") ?? "").not.toContain("Origin");
  }
});

test("pages of allowed origins may read the APIs, errors included, without cookies", async () => {
  const answer = open([ELN, "http://localhost:3000"]);
  for (const origin of [ELN, "http://localhost:3000"]) {
    const response = await send(answer, "/api/x/", { Origin: origin });
    expect([response.status, allowed(response)]).toEqual([200, origin]);
    expect(response.headers.get("vary")).toContain("Origin");
    expect(response.headers.get("access-control-expose-headers")).toContain("ETag");
    expect(response.headers.has("access-control-allow-credentials")).toBe(false);
  }
  for (const path of ["/api/nothing/", "/docs/json"])
    expect(allowed(await send(answer, path, { Origin: ELN }))).toBe(ELN);
  const refused = await send(answer, "/api/x/", { Origin: ELN, "X-Refused": "1" });
  expect([refused.status, allowed(refused)]).toEqual([401, ELN]);
});

test("a preflight names methods and headers, before any credentials are read", async () => {
  const answer = open([ELN]);
  const response = await send(answer, "/api/x/", { Origin: ELN, ...PREFLIGHT, "X-Refused": "1" }, "OPTIONS");
  expect([response.status, allowed(response)]).toEqual([204, ELN]);
  expect(response.headers.get("access-control-allow-methods")).toContain("PATCH");
  expect(response.headers.get("access-control-allow-headers")).toMatch(/Authorization.*If-Match/);
});

test("other origins, and pages that are no API, get no permission", async () => {
  const answer = open([ELN]);
  for (const origin of [
    "https://eln.example.evil",
    "http://eln.example",
    "https://eln.example:8443",
    "null",
  ]) {
    for (const method of ["GET", "OPTIONS"]) {
      const response = await send(answer, "/api/x/", { Origin: origin, ...PREFLIGHT }, method);
      expect([origin, method, allowed(response)]).toEqual([origin, method, null]);
    }
    expect((await send(answer, "/api/x/", { Origin: origin })).headers.get("vary")).toContain("Origin");
  }
  expect(allowed(await send(answer, "/page", { Origin: ELN }))).toBeNull();
});
