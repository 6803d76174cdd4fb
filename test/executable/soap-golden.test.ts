import { afterAll, beforeAll, expect, test } from "bun:test";
import { CASES, FINISHED, requestOf, settled } from "../scoring/contract/golden-case.ts";
import { element, ended, scratch, serve, type Server } from "./labd.ts";

/** Every golden message over HTTP to the executable. */

const place = scratch();
let server: Server;
let finished: string;

const send = (init: RequestInit): Promise<Response> => fetch(`${server.url}/soap/ConservationScorer`, init);

beforeAll(async () => {
  server = await serve(place.directory, ["--workers", "1", "--log", "problems"]);
  const accepted = CASES.find(({ name }) => name === "RunJob__accepted")!;
  finished = element(await (await send(requestOf(accepted, FINISHED))).text(), "JobIdentifier")!;
  expect(await ended(server.url, finished)).toBe("finished");
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  place[Symbol.dispose]();
});

for (const golden of CASES) {
  test(golden.name, async () => {
    const response = await send(requestOf(golden, finished));
    expect(settled(await response.text())).toBe(golden.response);
    expect(response.status).toBe(golden.status);
  });
}

test("after all of them nothing was logged, and the server answers", async () => {
  expect(server.log()).not.toContain('"cause"');
  expect((await fetch(`${server.url}/healthz`)).status).toBe(200);
});
