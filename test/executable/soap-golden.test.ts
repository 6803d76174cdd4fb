import { afterAll, beforeAll, expect, test } from "bun:test";
import {
  expected,
  FINISHED,
  messageNamed,
  MESSAGES,
  readOutcome,
  makeRequest,
} from "../scoring/soap-messages.ts";
import { element, ended, scratch, serve, type Server } from "./labd.ts";

const place = scratch();
let server: Server;
let finished: string;

const send = (init: RequestInit): Promise<Response> => fetch(`${server.url}/soap/ConservationScorer`, init);

beforeAll(async () => {
  server = await serve(place.directory, ["--workers", "1", "--log", "problems"]);
  const accepted = await send(makeRequest(messageNamed("RunJob: accepted"), FINISHED));
  finished = element(await accepted.text(), "JobIdentifier")!;
  expect(await ended(server.url, finished)).toBe("finished");
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  place[Symbol.dispose]();
});

test.each(MESSAGES.filter((_, i) => i % 10 === 0))(
  "returns the same response over HTTP as in memory: $name",
  async (message) => {
    const response = await send(makeRequest(message, finished));
    expect(readOutcome(response.status, await response.text())).toEqual(expected(message));
  },
);

test("logs no defect, and keeps responding", async () => {
  expect(server.log()).not.toContain('"cause"');
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
});
