import type { Random } from "../../scoring/contract/random-message.ts";
import type { Ledger, Outcome } from "./ledger.ts";

/** Configuration of a client process. */
export interface ClientConfig {
  number: number;
  seed: number;
  url: string;
  ledger: string;
  /** File for the final report. */
  report: string;
  token: string;
  username: string;
  password: string;
  lanes: { records: number; jobs: number; readers: number; signIns: number };
}

export interface Reply {
  status: number;
  text: string;
  headers: Headers;
  milliseconds: number;
}

/** A sequence of requests, one at a time. */
export interface Lane {
  name: string;
  number: number;
  config: ClientConfig;
  ledger: Ledger;
  next: Random;
  /** True once no more requests may start. */
  stopped(): boolean;
}

export const json = (reply: Reply): any => JSON.parse(reply.text); // oxlint-disable-line no-explicit-any

/** Sends a request once the server is ready. Null: the connection broke before the reply. */
export async function send(
  { config, number }: Lane,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Reply | null> {
  const isRaw = typeof body === "string" || body instanceof FormData;
  const init: RequestInit = {
    method,
    headers: {
      Authorization: `Token ${config.token}`,
      // Sign-ins are limited per network: each lane has its own.
      "X-Forwarded-For": `10.1.${config.number}.${number}`,
      ...(body === undefined || body instanceof FormData ? {} : { "Content-Type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isRaw ? (body as string) : JSON.stringify(body) }),
  };
  await untilReady(config.url);
  try {
    const start = performance.now();
    const response = await fetch(config.url + path, init);
    const text = await response.text();
    const milliseconds = performance.now() - start;
    return { status: response.status, text, headers: response.headers, milliseconds };
  } catch {
    isDown = true;
    return null;
  }
}

/** True if the server was killed and has not been seen ready since. */
let isDown = false;

async function untilReady(url: string): Promise<void> {
  for (let i = 0; i < 2000 && isDown; i++) {
    try {
      if ((await fetch(`${url}/readyz`)).ok) isDown = false;
    } catch {
      await Bun.sleep(20);
    }
  }
}

/** Records the outcome of a request. A busy server (503) may reject any request. */
export function recordOutcome(
  lane: Lane,
  request: string,
  reply: Reply | null,
  expected: readonly number[],
): Outcome {
  const outcome = judgeReply(reply, expected);
  const detail = reply === null ? "" : `${reply.status}${outcome === "wrong" ? ` ${reply.text}` : ""}`;
  lane.ledger.add(lane.name, request, outcome, detail.slice(0, 500), reply?.milliseconds);
  return outcome;
}

function judgeReply(reply: Reply | null, expected: readonly number[]): Outcome {
  if (reply === null) return "unknown";
  if (reply.status === 503) return "rejected";
  if (!expected.includes(reply.status)) return "wrong";
  return reply.status < 400 ? "accepted" : "rejected";
}

export const recordWrong = (lane: Lane, request: string, detail: string): void =>
  lane.ledger.add(lane.name, request, "wrong", detail.slice(0, 500));
