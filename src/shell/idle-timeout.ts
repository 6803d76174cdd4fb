/**
 * Bun ends a connection that was idle for `idleTimeout` while its answer is under way, and what is written to a streamed
 * body does not count as life (Bun 1.4.5). A stream of events may last as long as its client wants it: it is exempt, and
 * whoever makes it has to write now and then, so that a client that went without a word is found out by TCP.
 *
 * @returns the response, as it is
 */
export function exemptEvents(
  server: { timeout(request: Request, seconds: number): void },
  request: Request,
  response: Response,
): Response {
  if (response.body && /^text\/event-stream\b/.test(response.headers.get("content-type") ?? "")) {
    server.timeout(request, 0);
  }
  return response;
}
