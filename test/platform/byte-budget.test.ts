import { afterEach, describe, expect, test } from "bun:test";
import { readBytes } from "../../src/platform/body.ts";
import { paced, releaseBody } from "../../src/platform/byte-budget.ts";
import { exceeded, LIMITS, SMALL_BODY } from "../../src/platform/limits.ts";
import { RequestContext, runInRequest } from "../../src/platform/request-context.ts";

/** Bytes of bodies in flight, at the limit and one above. */

const MAX_MESSAGE = LIMITS.bodies.max;
const contexts: RequestContext[] = [];
const release = () => contexts.splice(0).forEach(releaseBody);
afterEach(release);

const perClient = (limit: keyof typeof LIMITS, max = LIMITS[limit].max / 2): string =>
  exceeded({ ...LIMITS[limit], max, of: `${LIMITS[limit].of} for one client` });

/** A request of a client; its body stays open after the given bytes. */
function open(
  address: string,
  maxMessageBytes = 1,
  headers: Record<string, string> = {},
): { context: RequestContext; send(bytes: number): Promise<unknown> } {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const request = new Request("http://lab/", { method: "POST", body: readable, headers });
  const arrival = { address: () => address, origin: () => "http://lab" };
  const limits = { maxMessageBytes, receiveTimeout: 60 };
  const context = new RequestContext(request, "id", arrival, undefined, limits);
  contexts.push(context);
  const failed = runInRequest(context, () => readBytes(request, Infinity)).then(
    () => "read",
    (error: Error) => error.message,
  );
  const writer = writable.getWriter();
  return {
    context,
    send: (bytes) => Promise.race([failed, writer.write(new Uint8Array(bytes)).then(() => Bun.sleep(1))]),
  };
}

describe("bodies in flight", () => {
  test("bodies of one client take at most half of the limit, and small bodies take nothing", async () => {
    const first = open("10.0.0.1");
    expect(await first.send(LIMITS.bodies.max / 2 + SMALL_BODY)).toBeUndefined();
    const other = open("10.0.0.1");
    expect(await other.send(SMALL_BODY)).toBeUndefined();
    expect(await other.send(1)).toBe(perClient("bodies"));
    releaseBody(first.context);
    expect(await open("10.0.0.1").send(SMALL_BODY + 1)).toBeUndefined();
  });

  test("bodies are refused by their declared length, before anything arrives", async () => {
    const declared = (bytes: number) => ({ "Content-Length": String(bytes) });
    const first = open("10.0.0.1", 1, declared(LIMITS.bodies.max / 2));
    expect(await first.send(LIMITS.bodies.max / 2)).toBeUndefined();
    expect(await open("10.0.0.1", 1, declared(2 * SMALL_BODY + 1)).send(0)).toBe(perClient("bodies"));
    expect(await open("10.0.0.1", 1, declared(SMALL_BODY)).send(SMALL_BODY)).toBeUndefined();
    // One that is longer than declared is counted where it is.
    expect(await first.send(SMALL_BODY + 1)).toBe(perClient("bodies"));
  });

  test("bodies of all clients together take at most the limit", async () => {
    for (const address of ["10.0.0.1", "10.0.0.2"])
      expect(await open(address).send(LIMITS.bodies.max / 2 + SMALL_BODY)).toBeUndefined();
    expect(await open("10.0.0.3").send(SMALL_BODY)).toBeUndefined();
    expect(await open("10.0.0.3").send(SMALL_BODY + 1)).toBe(exceeded(LIMITS.bodies));
  });

  test("large bodies leave room for one message of the maximum size", async () => {
    expect(await open("10.0.0.1", MAX_MESSAGE).send(MAX_MESSAGE + SMALL_BODY)).toBeUndefined();
    expect(await open("10.0.0.1", MAX_MESSAGE).send(SMALL_BODY + 1)).toBe(perClient("bodies", MAX_MESSAGE));
  });
});

describe("responses that clients have yet to read", () => {
  const respond = (address: string, bytes: number): Response => {
    const arrival = { address: () => address, origin: () => "http://lab" };
    const context = new RequestContext(new Request("http://lab/"), "id", arrival);
    return runInRequest(context, () => new Response(paced(new Uint8Array(bytes))));
  };

  test("bodies of one client take at most half of the limit", async () => {
    const reader = respond("10.0.0.1", LIMITS.responses.max / 2).body!.getReader();
    await reader.read();
    expect(() => respond("10.0.0.1", SMALL_BODY + 1)).toThrow(perClient("responses"));
    expect(await respond("10.0.0.1", SMALL_BODY).bytes()).toHaveLength(SMALL_BODY);
    expect(await respond("10.0.0.2", SMALL_BODY + 1).bytes()).toHaveLength(SMALL_BODY + 1);
    await reader.cancel();
    expect(await respond("10.0.0.1", SMALL_BODY + 1).bytes()).toHaveLength(SMALL_BODY + 1);
  });

  test("bodies of all clients together take at most the limit", async () => {
    const readers = ["10.0.0.1", "10.0.0.2"].map((address) =>
      respond(address, LIMITS.responses.max / 2).body!.getReader(),
    );
    for (const reader of readers) await reader.read();
    expect(() => respond("10.0.0.3", SMALL_BODY + 1)).toThrow(exceeded(LIMITS.responses));
    // Bodies that were read to the end no longer count.
    while (!(await readers[0].read()).done);
    expect(await respond("10.0.0.3", SMALL_BODY + 1).bytes()).toHaveLength(SMALL_BODY + 1);
    await readers[1].cancel();
  });

  test("bodies count nothing before the first byte is requested", () => {
    for (let i = 0; i < 4; i++) respond("10.0.0.1", LIMITS.responses.max / 2);
    expect(() => respond("10.0.0.1", SMALL_BODY + 1)).not.toThrow();
  });

  test("bodies arrive unchanged", async () => {
    const text = "ä😀".repeat(100_000);
    expect(await new Response(paced(text)).text()).toBe(text);
  });
});
