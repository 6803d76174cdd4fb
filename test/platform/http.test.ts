import { expect, test } from "bun:test";
import { Elysia } from "elysia";
import { Problem } from "../../src/problem.ts";
import { openLog } from "../../src/platform/log.ts";
import { openBare } from "./bare-http.ts";

const lines: Record<string, unknown>[] = [];
const state = { notReadyReasons: [] as string[] };
const answer = openBare(
  [
    new Elysia({ strictPath: true })
      .get("/defect", () => {
        throw new Error("the secret is 42");
      })
      .get("/refused", () => {
        throw new Problem("invalid_request", "label: too long", { fields: { label: ["Too long."] } });
      })
      .post("/soap/echo", async ({ request }) => `${new URL(request.url).host} ${await request.text()}`, {
        parse: "none",
      })
      .get(
        "/large",
        () => new Response("ACDE".repeat(1000), { headers: { "Content-Type": "text/plain", ETag: '"1-a"' } }),
      )
      .get("/stream", () => {
        let left = 50;
        return new Response(
          new ReadableStream({
            pull(controller) {
              if (left-- === 0) controller.close();
              else controller.enqueue(new TextEncoder().encode("chunk of a stream ".repeat(100)));
            },
          }),
          { headers: { "Content-Type": "application/json" } },
        );
      }),
  ],
  {
    log: openLog(
      "requests",
      (line) => lines.push(JSON.parse(line)),
      () => 0,
    ),
    notReadyReasons: () => state.notReadyReasons,
    documentation: { version: "0", introduction: "", tags: [{ name: "service", description: "" }] },
  },
);

const ask = (path: string, init?: RequestInit): Promise<Response> =>
  answer(new Request(`http://lab${path}`, init));

test("every response has a request id, which the log contains too", async () => {
  const response = await ask("/healthz?token=secret");
  const id = response.headers.get("x-request-id");
  expect(id).toMatch(/^[0-9a-f-]{36}$/);
  const line = lines.find(({ request }) => request === id);
  expect(line).toMatchObject({ method: "GET", path: "/healthz", status: 200 });
  expect(JSON.stringify(line)).not.toContain("secret");
});

test("a defect returns 500 without details, and the log has the cause under the same id", async () => {
  const response = await ask("/defect");
  expect(response.status).toBe(500);
  const text = await response.text();
  expect(text).not.toContain("secret");
  expect(JSON.parse(text)).toMatchObject({ code: "internal" });
  const line = lines.find(({ request }) => request === response.headers.get("x-request-id"));
  expect(line?.cause).toContain("the secret is 42");
});

test("a field error becomes a field map with a message", async () => {
  const response = await ask("/refused");
  expect(response.status).toBe(400);
  expect(response.headers.get("content-type")).toBe("application/json");
  expect(await response.json()).toEqual({
    label: ["Too long."],
    message: "label: too long",
    code: "invalid_request",
  });
});

test("returns JSON with 404 for unknown paths, 405 with Allow for unknown methods, and 413 for large bodies", async () => {
  const missing = await ask("/nothing/here");
  expect([missing.status, ((await missing.json()) as { code: string }).code]).toEqual([404, "not_found"]);
  const method = await ask("/healthz", { method: "DELETE" });
  expect([method.status, method.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
  const large = await ask("/defect", { method: "GET", headers: { "content-length": "5001" } });
  expect([large.status, ((await large.json()) as { message: string }).message]).toEqual([
    413,
    expect.stringContaining("5000"),
  ]);
});

test("readiness lists the reasons for being unready", async () => {
  expect((await ask("/readyz")).status).toBe(200);
  state.notReadyReasons = ["stopping"];
  const response = await ask("/readyz");
  expect([response.status, await response.json()]).toEqual([
    503,
    { status: "not ready", reasons: ["stopping"] },
  ]);
  state.notReadyReasons = [];
});

test("compresses large responses if the client accepts it", async () => {
  const gzip = { headers: { "accept-encoding": "br;q=1, gzip;q=0.5" } };
  const large = await ask("/large", gzip);
  expect(large.headers.get("content-encoding")).toBe("gzip");
  expect(large.headers.get("vary")).toContain("Accept-Encoding");
  expect(large.headers.get("etag")).toBe('W/"1-a"');
  expect((await ask("/large")).headers.get("etag")).toBe('"1-a"');
  expect(new TextDecoder().decode(Bun.gunzipSync(await large.bytes()))).toBe("ACDE".repeat(1000));
  expect((await ask("/large")).headers.get("content-encoding")).toBeNull();
  expect(
    (await ask("/large", { headers: { "accept-encoding": "gzip;q=0" } })).headers.get("content-encoding"),
  ).toBeNull();
  const small = await ask("/healthz", gzip);
  expect(small.headers.get("content-encoding")).toBeNull();
  expect(await small.json()).toEqual({ status: "ok" });
});

test("compresses a stream as a stream, without losing data", async () => {
  const response = await ask("/stream", { headers: { "accept-encoding": "gzip" } });
  expect(response.headers.get("content-encoding")).toBe("gzip");
  const text = new TextDecoder().decode(Bun.gunzipSync(await response.bytes()));
  expect(text).toBe("chunk of a stream ".repeat(5000));
});

test("every response has security headers, including errors", async () => {
  for (const path of ["/", "/nothing", "/defect", "/docs/json"]) {
    const { headers } = await ask(path);
    expect(headers.get("x-content-type-options")).toBe("nosniff");
    expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
  }
});

test("the OpenAPI document is generated once and has an entity tag", async () => {
  expect(Object.keys(((await (await ask("/docs/json")).json()) as { paths: object }).paths)).toContain(
    "/healthz",
  );
  const [one, other] = [await ask("/docs/json"), await ask("/docs/json")];
  const tag = one.headers.get("etag")!;
  expect([other.headers.get("etag"), await other.text()]).toEqual([tag, await one.text()]);
  const again = await ask("/docs/json", { headers: { "if-none-match": tag } });
  expect([again.status, await again.text()]).toEqual([304, ""]);
});

test("returns Connection: close if the request contains it", async () => {
  const response = await ask("/healthz", { headers: { connection: "close" } });
  expect(response.headers.get("connection")).toBe("close");
});

/** As Bun hands over a request whose Host is missing or none: with a path for an address. */
function unaddressed(path: string, host: string | null, init: RequestInit = {}): Request {
  const request = new Request("http://lab", {
    ...init,
    headers: host === null ? {} : { Host: host },
  });
  Object.defineProperty(request, "url", { value: path });
  return request;
}
const ARRIVAL = { address: () => null, origin: () => "http://lab.example:8480" };

test("serves HTTP/1.0 requests without Host under the server's own address", async () => {
  expect((await answer(unaddressed("/healthz", null), ARRIVAL)).status).toBe(200);
  expect((await answer(unaddressed("//evil.example/healthz", null), ARRIVAL)).status).toBe(404);
  const posted = await answer(
    unaddressed("/soap/echo?x=http://a/b", null, { method: "POST", body: "hello" }),
    ARRIVAL,
  );
  expect(await posted.text()).toBe("lab.example:8480 hello");
  const line = lines.at(-1);
  expect(line).toMatchObject({ method: "POST", path: "/soap/echo", status: 200 });
});

test.each(["", "a b", "a<b", "[::1", "lab/x", "lab:99999"])(
  "rejects the Host %p with JSON, except below /soap/",
  async (host) => {
    const refused = await answer(unaddressed("/healthz", host), ARRIVAL);
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ code: "invalid_request" });
    const posted = await answer(unaddressed("/soap/echo", host, { method: "POST", body: "x" }), ARRIVAL);
    expect(await posted.text()).toBe("lab.example:8480 x");
  },
);

test.each(["a$(id).example", "a;id.example", "user@lab.example"])(
  "rejects the Host %p, which is no name",
  async (host) => {
    const request = new Request("http://lab/healthz");
    Object.defineProperty(request, "url", { value: `http://${host}/healthz` });
    expect((await answer(request, ARRIVAL)).status).toBe(400);
  },
);
