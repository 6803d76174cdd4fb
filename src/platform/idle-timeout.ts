/** Seconds after which a connection without a word on it ends. */
export const IDLE = 60;

/**
 * Bun ends a connection that was idle for `idleTimeout` while its answer is being made, and counts neither what arrives
 * of a long body nor what is written to a streamed one as life (Bun 1.4.5). So there is no such end while a request is
 * answered: whoever reads a body gives up on one that does not come (`receive`), and what is done takes the time it
 * needs. Sending the answer has its end again, after so many seconds in which the client took nothing. A stream of
 * events may last as long as its client wants it: whoever makes it has to write now and then, so that a client that
 * went without a word is found out by TCP.
 */
export async function withoutIdleTimeout(
  server: { timeout(request: Request, seconds: number): void },
  request: Request,
  answer: Promise<Response>,
): Promise<Response> {
  server.timeout(request, 0);
  const response = await answer;
  const isEvents = response.body && /^text\/event-stream\b/.test(response.headers.get("content-type") ?? "");
  if (!isEvents) server.timeout(request, IDLE);
  return response;
}
