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

/** The same response, whose body fails with what `onError` returns for its error. */
export function guardBody(response: Response, onError: (error: unknown) => unknown): Response {
  const { body } = response;
  if (!(body instanceof BodyStream)) return response;
  const reader = body.getReader();
  const guarded = new ReadableStream<Uint8Array>(
    {
      async pull(sink) {
        try {
          const { done, value } = await reader.read();
          if (done) sink.close();
          else sink.enqueue(value);
        } catch (error) {
          sink.error(onError(error));
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  return new Response(guarded, response);
}
