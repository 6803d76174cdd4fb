/** Types that shrink; pictures and archives do not. Events are for now, and would wait for each other. */
const COMPRESSIBLE = /^(text\/(?!event-stream)|application\/(json|javascript|xml|[a-z.+-]+\+(json|xml)))/i;

/**
 * The response as gzip where the client accepts it, the type shrinks and the body reaches `threshold` bytes.
 * A body that is a stream stays one: only its first `threshold` bytes are held back.
 */
export function compressed(
  request: Request,
  response: Response,
  threshold: number,
): Response | Promise<Response> {
  const headers = response.headers;
  if (!COMPRESSIBLE.test(headers.get("content-type") ?? "") || headers.has("content-encoding")) {
    return response;
  }
  headers.append("Vary", "Accept-Encoding");
  if (!acceptsGzip(request.headers.get("accept-encoding"))) return response;
  // Looked at last: it makes a stream of a text, which is sent more slowly.
  return response.body ? squeezed(response, response.body, threshold) : response;
}

async function squeezed(
  response: Response,
  body: ReadableStream<Uint8Array>,
  threshold: number,
): Promise<Response> {
  const { headers } = response;
  const reader = body.getReader();
  const head: Uint8Array[] = [];
  let size = 0;
  let ended = false;
  while (!ended && size < threshold) {
    const { done, value } = await reader.read();
    ended = done;
    if (value) size += head.push(value) && value.byteLength;
  }
  // Most bodies come in one piece: when nothing follows it, they are compressed in one piece too.
  if (!ended && size < threshold * 64) {
    const { done, value } = await reader.read();
    ended = done;
    if (value) head.push(value);
  }
  const init = { status: response.status, statusText: response.statusText, headers };
  if (ended && size < threshold) return new Response(Buffer.concat(head), init);
  headers.set("Content-Encoding", "gzip");
  // Other bytes than those that a strong tag stands for (RFC 9110, section 8.8.1).
  const tag = headers.get("etag");
  if (tag !== null && !tag.startsWith("W/")) headers.set("ETag", `W/${tag}`);
  headers.delete("Content-Length");
  if (ended) return new Response(Bun.gzipSync(Buffer.concat(head)), init);
  const rest = new ReadableStream<Uint8Array<ArrayBuffer>>({
    start(controller) {
      for (const chunk of head) controller.enqueue(chunk as Uint8Array<ArrayBuffer>);
    },
    async pull(controller) {
      const { done, value } = await reader.read();
      if (done) controller.close();
      else controller.enqueue(value as Uint8Array<ArrayBuffer>);
    },
    cancel: (reason) => reader.cancel(reason),
  });
  return new Response(rest.pipeThrough(new CompressionStream("gzip")), init);
}

/** RFC 9110, section 12.5.3: gzip is acceptable where it, or `*`, is named without `q=0`. */
function acceptsGzip(accept: string | null): boolean {
  if (accept === null) return false;
  const weights = new Map(
    accept.split(",").map((part) => {
      const [name, ...parameters] = part
        .trim()
        .toLowerCase()
        .split(/\s*;\s*/);
      const q = parameters.find((parameter) => parameter.startsWith("q="));
      return [name, q === undefined ? 1 : Number(q.slice(2))] as const;
    }),
  );
  return (weights.get("gzip") ?? weights.get("*") ?? 0) > 0;
}
