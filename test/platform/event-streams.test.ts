import { afterEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { Problem } from "../../src/problem.ts";
import { EventStreams, type EventStreamsOptions, type Snapshot } from "../../src/platform/event-streams.ts";
import { jobSnapshot } from "../../src/scoring/api/json-routes.ts";
import type { JobObject } from "../../src/scoring/api/json-schemas.ts";
import { runPending, waitFor } from "../wait.ts";

setDefaultTimeout(300_000);

const JOB: JobObject = {
  id: "j",
  identifier: "a\nb",
  state: "queued",
  stage: null,
  fraction: null,
  place: 2,
  submitted: "2026-01-01T00:00:00.000Z",
  started: null,
  ended: null,
  expires: null,
  failure: null,
  protein: null,
  queryLength: 3,
  scoringModel: "continuous",
  patterns: [],
  homologs: null,
  variant: null,
  hasOwnAlignment: false,
  mayChange: true,
  links: { self: "", events: "", result: "", scan: "" },
};
const running = (fraction: number): JobObject => ({
  ...JOB,
  state: "running",
  stage: "homologs",
  fraction,
  place: null,
});
const finished: JobObject = { ...JOB, state: "finished", place: null };

let events: EventStreams;
afterEach(() => events.close());

/** Events of the job `now`; null has been deleted. */
function open(options: Partial<EventStreamsOptions> = {}) {
  const job = { now: JOB as JobObject | null, checks: 0 };
  events = new EventStreams({
    interval: 5,
    ...options,
  });
  const read = (): Snapshot => {
    job.checks++;
    if (!job.now) throw new Problem("unknown_job", "Not found.");
    return jobSnapshot(job.now);
  };
  return Object.assign(job, { events, read });
}

const ask = (
  job: { events: EventStreams; read: () => Snapshot },
  lastId: string | null = null,
  signal = new AbortController().signal,
  client = "a",
) => job.events.open(job.read, client, lastId, signal);

interface Seen {
  event: string;
  id: string;
  job: JobObject;
}

/** Reads a stream as the standard says: fields of a block up to a blank line. Comments are left out. */
async function* read(response: Response): AsyncGenerator<Seen> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of response.body!) {
    text += decoder.decode(chunk, { stream: true });
    const blocks = text.split("\n\n");
    text = blocks.pop()!;
    for (const block of blocks) {
      const [, event, id, data] = /^event: (.*)\nid: (.*)\ndata: (.*)$/.exec(block) ?? [];
      if (event) yield { event, id, job: JSON.parse(data) as JobObject };
    }
  }
}

describe("a stream", () => {
  test("a stream sends every change once and ends with the final state", async () => {
    const job = open();
    const steps = [running(0), running(0.5), finished];
    const seen: Seen[] = [];
    for await (const event of read(ask(job))) {
      seen.push(event);
      if (event.id === "finished") continue;
      // Nothing is sent for a job that stays as it is.
      const { checks } = job;
      await waitFor(() => job.checks > checks + 2);
      job.now = steps[seen.length - 1];
    }
    expect(seen.map(({ event, id }) => `${event} ${id}`)).toEqual([
      "state queued-2",
      "state running-homologs-0",
      "progress running-homologs-50",
      "state finished",
    ]);
    expect(seen[0].job).toEqual(JOB);
    expect(job.events.size).toBe(0);
  });

  test("a stream for an ended job sends its state and ends", async () => {
    const job = open();
    for (const state of ["finished", "failed", "cancelled", "expired"] as const) {
      job.now = { ...finished, state };
      const seen = await Array.fromAsync(read(ask(job)));
      expect(seen.map(({ event, id }) => [event, id])).toEqual([["state", state]]);
    }
    expect(job.events.size).toBe(0);
  });

  test("a stream continues after the client's last event, and returns 204 after the final event", async () => {
    const job = open();
    const stream = read(ask(job, "queued-2"));
    const next = stream.next();
    await waitFor(() => job.checks > 4);
    job.now = { ...JOB, place: 1 };
    expect(((await next).value as Seen).id).toBe("queued-1");
    expect(job.events.size).toBe(1);
    job.now = finished;
    expect(((await stream.next()).value as Seen).id).toBe("finished");
    expect(ask(job, "finished").status).toBe(204);
    const [older] = await Array.fromAsync(read(ask(job, "running-tree-0")));
    expect(older).toMatchObject({ event: "state", id: "finished" });
  });

  test("a stream begins with the reconnection time, and sends comments during silence", async () => {
    const job = open({ heartbeat: 20 });
    const reader = ask(job).body!.getReader();
    let text = "";
    while ((text.match(/^:/gm) ?? []).length < 3)
      text += new TextDecoder().decode((await reader.read()).value);
    expect(text).toMatch(/^retry: \d+\n\nevent: state\nid: queued-2\ndata: \{.*\}\n\n(: .*\n\n)+$/);
  });

  test("a stream ends when its job is deleted", async () => {
    const job = open();
    const stream = read(ask(job));
    await stream.next();
    job.now = null;
    expect((await stream.next()).done).toBe(true);
    expect(job.events.size).toBe(0);
  });

  test("a stream buffers few events for a slow client, always including the final one", async () => {
    const job = open({ interval: 1 });
    const response = ask(job);
    for (let i = 0; i < 60; i++) {
      job.now = running(i / 100);
      const checks = job.checks;
      await waitFor(() => job.checks > checks);
    }
    job.now = finished;
    await waitFor(() => job.events.size === 0);
    const seen = await Array.fromAsync(read(response));
    expect(seen.length).toBeLessThan(15);
    expect(seen.at(-1)!.id).toBe("finished");
  });
});

describe("streams", () => {
  test("streams end when clients cancel or abort, and when the service stops", async () => {
    const job = open();
    const reader = ask(job).body!.getReader();
    const controller = new AbortController();
    ask(job, null, controller.signal);
    const last = ask(job);
    expect(job.events.size).toBe(3);
    await reader.cancel();
    expect(job.events.size).toBe(2);
    controller.abort();
    expect(job.events.size).toBe(1);
    job.events.close();
    expect(job.events.size).toBe(0);
    expect((await Array.fromAsync(read(last))).length).toBe(1);
    const { checks } = job;
    await runPending();
    // Nobody watches: the timer has stopped.
    expect(job.checks).toBe(checks);
    expect(() => ask(job)).toThrow(/is stopping/);
  });

  test.each([
    [{ maxStreams: 4 }, "c"],
    [{ maxStreamsPerClient: 2 }, "a"],
  ])("streams are limited by %p, and rejected for unknown jobs", (limits, client) => {
    const job = open(limits);
    const { signal } = new AbortController();
    for (const client of ["a", "b", "a", "b"]) ask(job, null, signal, client);
    expect(() => ask(job, null, signal, client)).toThrow(/Too many streams/);
    job.now = null;
    expect(() => ask(job, null, signal, "d")).toThrow(expect.objectContaining({ code: "unknown_job" }));
    expect(job.events.size).toBe(4);
  });

  test("streams are limited per client only", () => {
    const job = open({ maxStreamsPerClient: 1 });
    for (const client of ["a", "b", "c"]) ask(job, null, undefined, client);
    expect(job.events.size).toBe(3);
  });
});

test("checks for changes take at most a tenth of the time", async () => {
  const checks: { begun: number; ended: number }[] = [];
  events = new EventStreams({
    interval: 1,
  });
  const read = (): Snapshot => {
    const begun = performance.now();
    while (performance.now() < begun + 10);
    checks.push({ begun, ended: performance.now() });
    return jobSnapshot(JOB);
  };
  const reader = events.open(read, "a", null, new AbortController().signal).body!.getReader();
  await waitFor(() => checks.length >= 5);
  await reader.cancel();
  // The first one is that with which the stream begins. A timer may be a little early.
  for (let i = 2; i < checks.length; i++) {
    const { begun, ended } = checks[i - 1];
    expect(checks[i].begun - ended).toBeGreaterThan(8 * (ended - begun));
  }
});

test("event identifiers describe the content", () => {
  expect([JOB, running(0.29), finished].map((job) => jobSnapshot(job).id)).toEqual([
    "queued-2",
    "running-homologs-29",
    "finished",
  ]);
});

test("checkSoon sends a change immediately, but does not increase the load", async () => {
  const job = open({ interval: 60_000 });
  const text = ask(job).text();
  job.now = finished;
  job.events.checkSoon();
  expect(await text).toContain("event: state\nid: finished");
  expect(job.checks).toBe(2);
  job.now = JOB;
  const slow = ask(job).text();
  for (let i = 0; i < 100; i++) job.events.checkSoon();
  await Bun.sleep(20);
  expect(job.checks).toBeLessThan(6);
  job.now = finished;
  job.events.checkSoon();
  expect(await slow).toContain("id: finished");
});
