import { expect, test } from "bun:test";
import { connect } from "node:net";
import { readText, receive } from "../../src/platform/body.ts";
import { IdleTimeouts } from "../../src/platform/idle-timeout.ts";
import { RequestContext, runInRequest } from "../../src/platform/request-context.ts";

/** Ends of connections, on a server whose own end would come after a second or two. */

const LENGTH = 12;
const WORK = 5000;
/** Seconds of silence that are allowed: less than all of a body takes, and more than a busy machine makes of a pause in it. */
const SILENT = 3;

test("closes idle connections, but not during slow work or slow uploads", async () => {
  const timeouts = new IdleTimeouts();
  await using server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 1,
    fetch: (request, own) =>
      timeouts.whileAnswered(
        own,
        request,
        runInRequest(makeContext(request), () => answer(request)),
      ),
  });
  const makeContext = (request: Request): RequestContext => {
    const limits = { receiveTimeout: request.url.endsWith("/late") ? 1 : 3600, maxMessageBytes: 100 };
    return new RequestContext(request, "test", undefined, undefined, limits);
  };
  const answer = async (request: Request): Promise<Response> => {
    const what = new URL(request.url).pathname;
    if (what === "/work") await Bun.sleep(WORK);
    try {
      if (what === "/upload") {
        let bytes = 0;
        await receive(request, (chunk) => void (bytes += chunk.length), SILENT);
        return new Response(String(bytes));
      }
      return new Response(what === "/work" ? "done" : (await readText(request, 100)).toUpperCase());
    } catch (error) {
      return new Response((error as Error).message, { status: 408 });
    }
  };
  /** Sends a byte every so many milliseconds, so many times. */
  const send = (path: string, every: number, times = LENGTH): Promise<string> => {
    const socket = connect(server.port!, "127.0.0.1");
    const { promise, resolve } = Promise.withResolvers<string>();
    let text = "";
    let sent = 0;
    socket.on("data", (chunk) => {
      text += chunk.toString();
      resolve(text.slice(text.indexOf("\r\n\r\n") + 4));
    });
    socket.on("error", () => {});
    socket.on("close", () => resolve(text));
    socket.write(`POST ${path} HTTP/1.1\r\nHost: lab\r\nContent-Length: ${LENGTH}\r\n\r\n`);
    const timer = setInterval(() => sent++ < times && socket.write("a"), every);
    return promise.finally(() => {
      clearInterval(timer);
      socket.destroy();
    });
  };
  const answers = await Promise.all([
    send("/work", 1),
    send("/body", WORK / LENGTH),
    send("/upload", WORK / LENGTH),
    send("/upload", 100, 3),
    send("/late", WORK / LENGTH),
  ]);
  expect(answers).toEqual([
    "done",
    "A".repeat(LENGTH),
    String(LENGTH),
    `No data of the body arrived for ${SILENT} seconds.`,
    "The body did not arrive within 1 seconds.",
  ]);
}, 300_000);
