import type { Random } from "../../scoring/contract/random-message.ts";
import type { Ledger, Outcome } from "./ledger.ts";

/** What a client process is told. */
export interface ClientConfig {
  number: number;
  seed: number;
  url: string;
  ledger: string;
  /** Where the account is written at the end. */
  account: string;
  token: string;
  username: string;
  password: string;
  lanes: { records: number; jobs: number; readers: number; signIns: number };
}

/** An answer, or null where the connection broke before it came. */
export interface Answer {
  status: number;
  text: string;
  headers: Headers;
  milliseconds: number;
}

/** Who sends one request after the other over a connection. */
export interface Lane {
  name: string;
  number: number;
  config: ClientConfig;
  ledger: Ledger;
  next: Random;
  /** True once no more are to be begun. */
  stopped(): boolean;
}

export const json = (answer: Answer): any => JSON.parse(answer.text); // oxlint-disable-line no-explicit-any

/** Sends a request, as soon as somebody listens. Null: it may have been done or not. */
export async function send(
  { config, number }: Lane,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer | null> {
  const isRaw = typeof body === "string" || body instanceof FormData;
  const init: RequestInit = {
    method,
    headers: {
      Authorization: `Token ${config.token}`,
      // Sign-ins are counted by network: here every lane is one.
      "X-Forwarded-For": `10.1.${config.number}.${number}`,
      ...(body === undefined || body instanceof FormData ? {} : { "Content-Type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: isRaw ? (body as string) : JSON.stringify(body) }),
  };
  await listening(config.url);
  try {
    const begun = performance.now();
    const response = await fetch(config.url + path, init);
    const text = await response.text();
    return {
      status: response.status,
      text,
      headers: response.headers,
      milliseconds: performance.now() - begun,
    };
  } catch {
    return null;
  }
}

/** Waits until the server takes requests, after a kill. */
async function listening(url: string): Promise<void> {
  for (let i = 0; i < 2000; i++) {
    if (!isDown.has(url)) return;
    try {
      if ((await fetch(`${url}/readyz`)).ok) isDown.delete(url);
    } catch {
      await Bun.sleep(20);
    }
  }
}

const isDown = new Set<string>();

/** Notes what became of a request that has to be accepted, unless the server is busy. */
export function judge(lane: Lane, what: string, answer: Answer | null, wanted: readonly number[]): Outcome {
  const outcome: Outcome =
    answer === null
      ? "unknown"
      : wanted.includes(answer.status)
        ? answer.status < 400
          ? "accepted"
          : "refused"
        : answer.status === 503
          ? "refused"
          : "wrong";
  if (answer === null) isDown.add(lane.config.url);
  const about = answer === null ? "" : `${answer.status}${outcome === "wrong" ? ` ${answer.text}` : ""}`;
  lane.ledger.note(lane.name, what, outcome, about.slice(0, 500), answer?.milliseconds);
  return outcome;
}

export const wrong = (lane: Lane, what: string, about: string): void =>
  lane.ledger.note(lane.name, what, "wrong", about.slice(0, 500));
