import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { expireJobs } from "../../src/scoring/jobs/expiry.ts";
import type { Database } from "../../src/platform/sqlite.ts";
import { openScoringAlone, type ScoringAlone } from "./scoring-harness.ts";

/** What jobs become and what settings forbid, as SOAP clients see it. No worker runs: jobs stay where they are put. */

const NAMESPACE = "urn:test:scorer";

let alone: ScoringAlone;
let database: Database;

beforeAll(async () => {
  alone = await openScoringAlone({
    namespace: NAMESPACE,
    retentionDays: 30,
    maxQueuedPerClient: 3,
    receiveTimeoutSeconds: 0.2,
    clientOf: (request) => request.headers.get("x-test-client") ?? "nobody",
  });
  ({ database } = alone);
});
afterAll(() => alone.close());

const message = (body: string): string =>
  `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>${body}</s:Body></s:Envelope>`;
const runJob = (sequence: string): string =>
  message(
    `<RunJob xmlns="${NAMESPACE}"><identifier>i</identifier><querySequence>${sequence}</querySequence><scoringModel>continuous</scoringModel></RunJob>`,
  );
const ask = (operation: string, id: string): string =>
  message(`<${operation} xmlns="${NAMESPACE}"><JobIdentifier>${id}</JobIdentifier></${operation}>`);

interface Answered {
  status: number;
  headers: Headers;
  /** Text of the first element of a name. */
  element(name: string): string | undefined;
}
async function post(body: BodyInit, headers: Record<string, string> = {}): Promise<Answered> {
  const request = new Request("http://localhost/soap/ConservationScorer", {
    method: "POST",
    body,
    headers: { "Content-Type": "text/xml", ...headers },
  });
  const response = await alone.send(request);
  const xml = await response.text();
  const element = (name: string) => new RegExp(`<(?:\\w+:)?${name}(?:\\s[^>]*)?>([^<]*)<`).exec(xml)?.[1];
  return { status: response.status, headers: response.headers, element };
}
let queries = 0;
async function submit(client: string, sequence = `MK${"L".repeat(++queries)}`): Promise<string> {
  const { status, element } = await post(runJob(sequence), { "x-test-client": client });
  expect(status).toBe(200);
  return element("JobIdentifier")!;
}
const end = (id: string, change: string): void =>
  void database.run(`UPDATE job SET ended = 0, expires = 1, ${change} WHERE id = ?`, [id]);

describe("states that GetResult has no prediction for", () => {
  test.each([
    ["cancelled", "state = 'cancelled', failure = 'The job was cancelled.'", "job_cancelled"],
    ["failed", "state = 'failed', failure = 'Too slow.'", "job_failed"],
  ])("%s", async (state, change, code) => {
    const id = await submit(state);
    end(id, change);
    const status = await post(ask("GetStatus", id));
    expect([status.status, status.element("Status")]).toEqual([200, state]);
    const result = await post(ask("GetResult", id));
    expect([result.status, result.element("code")]).toEqual([500, code]);
    expect(result.element("faultcode")).toMatch(state === "failed" ? /:Server$/ : /:Client$/);
    expireJobs(database, 2);
    expect((await post(ask("GetStatus", id))).element("Status")).toBe("expired");
  });

  test("expired: status and fault say when it ended", async () => {
    const id = await submit("expired");
    end(id, "state = 'cancelled', failure = 'The job was cancelled.'");
    expect(expireJobs(database, 2)).toBe(1);
    const status = await post(ask("GetStatus", id));
    expect(status.element("Status")).toBe("expired");
    expect(status.element("StatusDetails")).toContain("ended as cancelled on 1970-01-01");
    const result = await post(ask("GetResult", id));
    expect([result.status, result.element("code")]).toEqual([500, "job_expired"]);
    expect(result.element("faultcode")).toMatch(/:Client$/);
    expect(result.element("faultstring")).toContain("The prediction was removed. The job ended");
  });
});

test("clients are told apart: one's queue is full, another's is not; places follow the turns", async () => {
  const first = [];
  for (let i = 0; i < 3; i++) first.push(await submit("greedy"));
  const refused = await post(runJob("MMMM"), { "x-test-client": "greedy" });
  expect([refused.status, refused.element("code")]).toEqual([500, "busy"]);
  expect(refused.headers.get("retry-after")).toBe("60");
  const other = await submit("modest");
  const place = async (id: string): Promise<string | undefined> =>
    (await post(ask("GetStatus", id))).element("StatusDetails");
  expect(await place(first[0])).toBe("About place 1 in the queue, which is shared fairly between clients.");
  expect(await place(other)).toStartWith("About place 2 in");
  expect(await place(first[2])).toStartWith("About place 4 in");
});

test("a RunJob that is sent again has an identifier of its own and no turn of its own", async () => {
  const id = await submit("retries", "MRETRY");
  const again = await submit("retries", "MRETRY");
  expect(again).not.toBe(id);
  const place = async (one: string) => (await post(ask("GetStatus", one))).element("StatusDetails");
  expect(await place(again)).toBe((await place(id))!);
});

describe("limits", () => {
  /** A body that begins and never ends. */
  const endless = (text: string): ReadableStream<Uint8Array> =>
    new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(text)) });

  test.each([
    ["of unknown length", {}],
    ["of a small length", { "Content-Length": "900" }],
    ["of a large length", { "Content-Length": "90000" }],
  ])("a message %s that does not arrive is a fault with 408, and the connection ends", async (_, headers) => {
    const { status, headers: answered, element } = await post(endless(runJob("MKL").slice(0, 50)), headers);
    expect([status, element("code")]).toEqual([408, "timeout"]);
    expect(element("faultcode")).toMatch(/:Client$/);
    expect(element("faultstring")).toContain("within 0.2 seconds");
    expect(answered.get("connection")).toBe("close");
  });

  test("a body that breaks off is the sender's fault", async () => {
    const broken = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(runJob("MKL").slice(0, 50)));
        setTimeout(() => controller.error(new Error("gone")), 10);
      },
    });
    for (const headers of [{}, { "Content-Length": "900" }]) {
      const { element } = await post(broken, headers as Record<string, string>);
      expect(element("code")).toBe("malformed");
      if (!("Content-Length" in headers)) break;
    }
  });
});
