import { readdirSync, readFileSync } from "node:fs";
import { processorTime, sum } from "../harness.ts";

/** A service with the records of the benchmark. */
export interface Service {
  readonly name: string;
  /** Base URL of its lists. */
  readonly base: string;
  /** Tokens by user name. */
  readonly tokens: Readonly<Record<string, string>>;
  /** All of its processes. */
  pids(): readonly number[];
  stop(): Promise<void>;
}

export interface Page {
  readonly total: number;
  readonly total_pages: number;
  readonly current: number;
  readonly results: unknown[];
}

interface Options {
  readonly user: string;
  readonly method?: string;
  readonly body?: object;
}

/** The response to one request. @throws if it is an error */
export async function send(
  service: Service,
  path: string,
  { user, method, body }: Options,
): Promise<Response> {
  const response = await fetch(service.base + path, {
    method: method ?? "GET",
    headers: {
      Authorization: `Token ${service.tokens[user]}`,
      "Content-Type": "application/json",
      // Compression is not measured.
      "Accept-Encoding": "identity",
    },
    body: body ? JSON.stringify(body) : null,
  });
  if (!response.ok) throw new Error(`${response.status} ${response.url}: ${await response.text()}`);
  return response;
}

/** The JSON of a response without the service's address. */
export async function readValue<T>(service: Service, response: Response): Promise<T> {
  return JSON.parse((await response.text()).replaceAll(service.base, "/")) as T;
}

/** A process and those that it started. */
export function withChildren(pid: number): number[] {
  const children = readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean).map(Number),
  );
  return [pid, ...children];
}

/** User and system time of each process of a service, in milliseconds. */
export const processorTimes = (service: Service): Map<number, number> =>
  new Map(service.pids().map((pid) => [pid, processorTime(pid)]));

/** Milliseconds since then, of the processes that still run. */
export const processorTimeSince = (service: Service, before: ReadonlyMap<number, number>): number =>
  sum([...processorTimes(service)].map(([pid, time]) => time - (before.get(pid) ?? 0)));
