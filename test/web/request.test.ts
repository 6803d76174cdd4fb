import { afterEach, beforeEach, expect, type Mock, spyOn, test } from "bun:test";
import {
  send,
  ApiError,
  call,
  onConfirmationRequired,
  onWrite,
  setCsrfToken,
} from "../../src/web/request.ts";

const sent: { address: string; init: RequestInit }[] = [];
const replies: (Response | Error)[] = [];
let fetched: Mock<typeof fetch>;
beforeEach(() => {
  fetched = spyOn(globalThis, "fetch").mockImplementation((async (address: string, init: RequestInit) => {
    sent.push({ address, init });
    const reply = replies.shift() ?? Response.json({ done: true });
    if (reply instanceof Error) throw reply;
    return reply;
  }) as unknown as typeof fetch);
});
afterEach(() => {
  fetched.mockRestore();
  setCsrfToken(null);
  sent.length = 0;
});

const failing = (status: number, body: object, headers: Record<string, string> = {}) =>
  Response.json(body, { status, headers });
const catchError = (request: Promise<unknown>): Promise<ApiError> =>
  request.then(
    () => expect.unreachable(),
    (error) => error,
  );

const form = new FormData();
test.each<[body: unknown, data: unknown, type: string | undefined]>([
  [{ label: "x" }, '{"label":"x"}', "application/json"],
  [[], "[]", "application/json"],
  [null, "null", "application/json"],
  ["text", '"text"', "application/json"],
  [undefined, null, undefined],
  [form, form, undefined],
])("sends the body %j as %j", async (body, data, type) => {
  expect(await (await send("POST", "/api/x", { body })).json()).toEqual({ done: true });
  const [{ address, init }] = sent;
  expect([address, init.method, init.body, init.credentials]).toEqual([
    "/api/x",
    "POST",
    data as null,
    "same-origin",
  ]);
  expect(init.headers).toEqual({ Accept: "application/json", ...(type ? { "Content-Type": type } : {}) });
});

test("only requests that write carry the CSRF token", async () => {
  setCsrfToken("t1");
  await send("GET", "/api/x", { query: { a: 1, b: "", c: null } });
  await send("DELETE", "https://other.example/api/y?z=1");
  expect(sent.map(({ address }) => address)).toEqual(["/api/x?a=1", "/api/y?z=1"]);
  expect(sent.map(({ init }) => (init.headers as Record<string, string>)["X-CSRFToken"])).toEqual([
    undefined as unknown as string,
    "t1",
  ]);
});

test("calls listeners after requests that may write, until they are removed", async () => {
  const heard: string[] = [];
  const end = onWrite(() => heard.push("write"));
  await send("GET", "/api/x");
  await send("OPTIONS", "/api/x");
  replies.push(failing(400, { message: "wrong" }));
  await catchError(send("PATCH", "/api/x", { body: {} }));
  expect(heard).toEqual([]);
  await send("PATCH", "/api/x", { body: {} });
  end();
  await send("DELETE", "/api/x");
  expect(heard).toEqual(["write"]);
});

test("calls an operation by method and path, with encoded values in the path", async () => {
  await call("POST /api/webhooks/:id/secret/", { params: { id: "a/b c" }, body: { overlap_hours: 2 } });
  await call("GET /api/webhooks/:id/deliveries/", { params: { id: "1" }, query: { page_size: 5 } });
  await call("GET /api/webhooks/");
  expect(sent.map(({ address, init }) => [init.method, address, init.body])).toEqual([
    ["POST", "/api/webhooks/a%2Fb%20c/secret/", '{"overlap_hours":2}'],
    ["GET", "/api/webhooks/1/deliveries/?page_size=5", null],
    ["GET", "/api/webhooks/", null],
  ]);
});

test("an empty response is undefined", async () => {
  replies.push(new Response(null, { status: 204 }));
  expect(await call("DELETE /api/account/sessions")).toBeUndefined();
});

test("errors have status, code, messages by field and the time to wait", async () => {
  replies.push(failing(400, { code: "invalid_request", message: "label: Too long.", label: ["Too long."] }));
  expect(await catchError(send("GET", "/api/x"))).toMatchObject({
    status: 400,
    code: "invalid_request",
    message: "label: Too long.",
    fields: { label: ["Too long."] },
    retryAfter: null,
  });
  replies.push(failing(400, { message: "url: Wrong.", field: "url" }, { "Retry-After": "7" }));
  expect(await catchError(send("GET", "/api/x"))).toMatchObject({
    code: "internal",
    fields: { url: ["Wrong."] },
    retryAfter: 7,
  });
  replies.push(new Response("<html>", { status: 502 }));
  expect(await catchError(send("GET", "/api/x"))).toMatchObject({
    status: 502,
    code: "internal",
    fields: {},
  });
  const id = "10000000-0000-4000-8000-000000000021";
  replies.push(failing(409, { message: `annotation_type ${id} was changed later (label).` }));
  expect((await catchError(send("GET", "/api/x"))).message).toBe("The record was changed later (label).");
  replies.push(new TypeError("offline"));
  expect(await catchError(send("GET", "/api/x"))).toMatchObject({ status: 0, code: "unreachable" });
  const aborted = Object.assign(new Error("aborted"), { name: "AbortError" });
  replies.push(aborted);
  expect(await catchError(send("GET", "/api/x"))).toBe(aborted as ApiError);
});

test("asks for confirmation if the server requires it, and repeats the request", async () => {
  const wanted = () => failing(403, { code: "confirmation_required", message: "Confirm.", by: "password" });
  replies.push(wanted());
  expect(await catchError(send("GET", "/api/x"))).toMatchObject({ code: "confirmation_required" });
  const asked: string[] = [];
  let isConfirmed = true;
  const end = onConfirmationRequired("confirmation_required", async ({ body }) => {
    asked.push(String(body.by));
    return isConfirmed ? { confirm: "x" } : null;
  });
  replies.push(wanted());
  expect(await (await send("GET", "/api/x", { query: { page: "2" } })).json()).toEqual({ done: true });
  expect(sent.at(-1)?.address).toBe("/api/x?page=2&confirm=x");
  isConfirmed = false;
  replies.push(wanted());
  expect(await catchError(send("GET", "/api/x"))).toMatchObject({
    status: 403,
    body: { reason: "cancelled" },
  });
  replies.push(failing(403, { code: "forbidden", message: "No." }));
  expect(await catchError(send("GET", "/api/x"))).toMatchObject({ code: "forbidden" });
  expect(asked).toEqual(["password", "password"]);
  end();
  replies.push(wanted());
  expect(await catchError(send("GET", "/api/x"))).toMatchObject({ code: "confirmation_required" });
});
