import { describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { compress } from "../../src/platform/compression.ts";
import { runPending } from "../wait.ts";

const MEGABYTE = 1024 * 1024;
const request = new Request("http://labd.example/", { headers: { "Accept-Encoding": "gzip" } });
const compressBody = async (body: BodyInit): Promise<Response> =>
  compress(request, new Response(body, { headers: { "Content-Type": "application/json" } }));
const unpacked = async (response: Response): Promise<Uint8Array> => Bun.gunzipSync(await response.bytes());
/** Text of so many bytes that shrinks, as answers do. */
const text = (bytes: number): string => randomBytes(bytes / 2).toString("hex");

describe("compression of a complete response", () => {
  test.each([
    ["of a few bytes more than the threshold", 1100],
    ["that is compressed at once", 65_536],
    ["that goes to another thread", 65_538],
    ["of megabytes", 5 * MEGABYTE],
  ])("%s arrives unchanged", async (_, size) => {
    const body = text(size);
    const response = await compressBody(body);
    expect(response.headers.get("content-encoding")).toBe("gzip");
    expect(Buffer.from(await unpacked(response)).toString()).toBe(body);
  });
});

describe("compression of a stream", () => {
  /** Pieces of 64 kB that do not shrink, without end unless `most` says so; what was asked for and whether it was ended is counted. */
  function source(most = Infinity) {
    const cancelled = Promise.withResolvers<unknown>();
    const counted = { pieces: 0 };
    const piece = randomBytes(65_536);
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (counted.pieces++ < most) controller.enqueue(piece);
        else controller.close();
      },
      cancel: (reason) => cancelled.resolve(reason),
    });
    return { stream, counted, piece, cancelled: cancelled.promise };
  }

  test("a compressed stream arrives unchanged", async () => {
    const { stream, piece } = source(50);
    expect(await unpacked(await compressBody(stream))).toEqual(
      new Uint8Array(Buffer.concat(Array.from({ length: 50 }, () => piece))),
    );
  });

  test("other work runs during compression", async () => {
    const { stream } = source(100);
    let turns = 0;
    let isDone = false;
    const count = (): void => {
      turns++;
      if (!isDone) setImmediate(count);
    };
    setImmediate(count);
    await (await compressBody(stream)).bytes();
    isDone = true;
    // One at least for each piece that another thread has; on this thread they come in one go.
    expect(turns).toBeGreaterThan(20);
  });

  test("reads a stream no faster than the client, and stops when the client disconnects", async () => {
    const { stream, counted, cancelled } = source();
    const response = await compressBody(stream);
    const reader = response.body!.getReader();
    await reader.read();
    await runPending();
    expect(counted.pieces).toBeLessThan(20);
    await reader.cancel("gone");
    expect(await cancelled).toBe("gone");
  });

  test("an error of the stream reaches the client", async () => {
    let pieces = 0;
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (pieces++ < 10) controller.enqueue(randomBytes(65_536));
        else controller.error(new Error("the disk is gone"));
      },
    });
    const response = await compressBody(stream);
    const failed = await response.bytes().then(
      () => "",
      (error: Error) => error.message,
    );
    expect(failed).toBe("the disk is gone");
  });
});
