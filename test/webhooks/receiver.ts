import { Webhook } from "standardwebhooks";

/** A real server that webhooks call, on this machine; its signatures are verified by the specification's own library. */
export interface Receiver extends AsyncDisposable {
  url: string;
  /** Received deliveries, in order: the header webhook-id and the body. */
  got: { id: string; type: string; data: Record<string, unknown>; headers: Headers; text: string }[];
  /** Statuses to answer with, one after the other; 200 when there are none left. */
  answers: number[];
  headers: Record<string, string>;
}

export function openReceiver(): Receiver {
  const got: Receiver["got"] = [];
  const answers: number[] = [];
  const headers: Record<string, string> = {};
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const text = await request.text();
      const { type, data } = JSON.parse(text);
      got.push({ id: request.headers.get("webhook-id")!, type, data, headers: request.headers, text });
      return new Response("thank you", { status: answers.shift() ?? 200, headers });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/hook?key=1`,
    got,
    answers,
    headers,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

/** True if a request is signed with the secret; the library refuses what is five minutes old. */
export function isSigned(secret: string, { headers, text }: Receiver["got"][number]): boolean {
  try {
    new Webhook(secret).verify(text, Object.fromEntries(headers));
    return true;
  } catch {
    return false;
  }
}
