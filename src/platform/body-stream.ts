import { currentRequest } from "./request-context.ts";

/** The body of a response that is made while it is sent, and may fail meanwhile. `http.ts` logs the failure. */
export class BodyStream extends ReadableStream<Uint8Array<ArrayBuffer>> {
  constructor(
    source: UnderlyingDefaultSource<Uint8Array<ArrayBuffer>>,
    strategy?: QueuingStrategy<Uint8Array<ArrayBuffer>>,
  ) {
    super(source, strategy);
    const context = currentRequest();
    if (context) context.hasStream = true;
  }
}

/**
 * Wraps the response so that its body fails with the error that `onError` returns. `onRead` is called when the client begins
 * to read the body, and when that ends.
 */
export function guardBody(
  response: Response,
  onError: (error: unknown) => unknown,
  onRead: (isReading: boolean) => void = () => {},
): Response {
  const { body } = response;
  if (!(body instanceof BodyStream)) return response;
  const reader = body.getReader();
  let isReading = false;
  const guarded = new ReadableStream<Uint8Array>(
    {
      async pull(sink) {
        // Not before: a response to HEAD is never pulled.
        if (!isReading) onRead((isReading = true));
        try {
          const { done, value } = await reader.read();
          if (!done) return sink.enqueue(value);
          onRead(false);
          sink.close();
        } catch (error) {
          onRead(false);
          sink.error(onError(error));
        }
      },
      cancel(reason) {
        onRead(false);
        return reader.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
  return new Response(guarded, response);
}
