/** Seconds after which an idle connection is closed. */
export const IDLE = 60;

/**
 * Bun closes a connection after `idleTimeout` even while its handler runs, a body arrives or a stream is written
 * (Bun 1.4.5). The timeout is therefore off while a request is handled: `receive` limits the time of a body. It is on
 * again while the response is sent, except for event streams, which write regularly so that TCP detects a lost client.
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
