import { afterEach, beforeEach, expect, test } from "bun:test";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { FAMILY_METHOD } from "../../src/motif/index.ts";
import { FamilyDispatcher } from "../../src/farm/family-dispatcher.ts";
import {
  decodeDelivery,
  encodeDelivery,
  type FamilyDelivery,
  type FamilyMessages,
  type FamilyRequest,
} from "../../src/farm/family-messages.ts";
import { FamilyWorker } from "../../src/farm/family-worker.ts";
import type { WorkerRecord } from "../../src/farm/redis-records.ts";
import { BackgroundQueue } from "../../src/scoring/jobs/background.ts";
import { buildFamilies, type TaskRunner } from "../../src/scoring/proteome/build.ts";
import { familiesPath } from "../../src/scoring/corpus/families-file.ts";
import { planBuild } from "../../src/scoring/proteome/plan.ts";
import type { FamiliesReport, FamiliesTask } from "../../src/scoring/jobs/worker-messages.ts";
import { proteomeStage } from "../scoring/proteome-stage.ts";
import { runPending } from "../wait.ts";

/** In place of families: real ones take long, and farm-families.test.ts compares them. */
const compute = (members: readonly number[]): FamiliesReport => ({
  ticket: 0,
  kind: "families",
  families: members.map((protein) => ({
    protein,
    record: new Uint8Array(10 + protein).fill(protein),
    sizes: [protein, 1000 + protein],
  })),
});

const LOG = { info: () => {}, problem: () => {} };

/** Messages in memory in place of Redis. */
class FakeMessages implements FamilyMessages {
  readonly queue = "jobs-1";
  readonly requests: string[] = [];
  readonly dropped: string[] = [];
  readonly #deliveries: Buffer[] = [];

  async clear(): Promise<void> {}
  async offer(request: string): Promise<void> {
    this.requests.push(request);
  }
  async waiting(): Promise<string[]> {
    return [...this.requests];
  }
  async withdraw(request: string): Promise<boolean> {
    const at = this.requests.indexOf(request);
    return at >= 0 && this.requests.splice(at, 1).length === 1;
  }
  async collect(): Promise<Buffer[]> {
    return this.#deliveries.splice(0);
  }
  async drop(worker: string, id: string): Promise<void> {
    this.dropped.push(`${worker} ${id}`);
  }
  async take(): Promise<string | null> {
    return this.requests.shift() ?? null;
  }
  async deliver(delivery: Buffer): Promise<void> {
    this.#deliveries.push(delivery);
  }
}

let stage: ReturnType<typeof proteomeStage>;
let messages: FakeMessages;
let background: BackgroundQueue;
let stop: AbortController;
beforeEach(() => {
  stage = proteomeStage();
  [messages, background, stop] = [new FakeMessages(), new BackgroundQueue(), new AbortController()];
});
afterEach(() => stage.remove());

/** A remote worker with one thread, which is this one. */
class Machine {
  readonly worker: FamilyWorker;
  idle = 1;

  /** @param interrupted how many tasks a job interrupts after the first family */
  constructor(
    readonly name: string,
    readonly hash = stage.corpus.hash,
    private interrupted = 0,
  ) {
    this.worker = new FamilyWorker({ name, log: LOG, idle: () => this.idle, wake: () => this.#work() });
  }

  turn(): Promise<void> {
    return this.worker.turn(messages, { hash: this.hash, path: stage.corpus.path });
  }

  #work(): void {
    for (let task; (task = this.idle > 0 ? this.worker.take() : null);) {
      const message = task.message(1) as FamiliesTask;
      const report = compute(message.members);
      const isInterrupted = this.interrupted-- > 0;
      task.report(
        isInterrupted ? { ...report, families: report.families.slice(0, 1), isInterrupted } : report,
      );
    }
  }
}

const makeRecord = ({ name, worker }: Machine): WorkerRecord =>
  ({ name, concurrency: 1, jobs: [], families: worker.ids }) as unknown as WorkerRecord;

const turn = (dispatcher: FamilyDispatcher, machines: readonly Machine[], idle = machines.length) =>
  dispatcher.turn(messages, stage.corpus, machines.map(makeRecord), idle);

const local: TaskRunner = async function* (tasks) {
  for (const [ticket, task] of tasks.entries()) yield { ...compute((task as FamiliesTask).members), ticket };
};

/** Builds all families, and returns the files by name. */
async function build(run: TaskRunner): Promise<Record<string, string>> {
  const { path } = stage.corpus;
  rmSync(familiesPath(path), { recursive: true, force: true });
  await buildFamilies(planBuild({ corpus: stage.corpus, selection: {}, others: [] }), run);
  const directory = familiesPath(path);
  return Object.fromEntries(
    readdirSync(directory).map((name) => [name, readFileSync(join(directory, name)).toString("base64")]),
  );
}

/** A build by these machines alone. @param step called before their turns */
async function buildRemotely(
  dispatcher: FamilyDispatcher,
  machines: readonly Machine[],
  step?: () => unknown,
) {
  const over = new AbortController();
  const files = build((tasks) => background.run(tasks, stop.signal)).finally(() => over.abort());
  while (!over.signal.aborted) {
    await turn(dispatcher, machines);
    await step?.();
    for (const machine of machines) await machine.turn();
    await Bun.sleep(0);
  }
  return files;
}

/** Starts a task for these proteins. */
function start(...members: number[]): Promise<FamiliesReport> {
  const tasks = [{ ticket: 0, corpusPath: stage.corpus.path, members }];
  return background
    .run(tasks, stop.signal)
    .next()
    .then(({ value }) => value as FamiliesReport);
}

test("remote workers write the same files as a local build, also when jobs interrupt them", async () => {
  const expected = await build(local);
  const machines = [new Machine("one"), new Machine("two", undefined, 2)];
  const files = await buildRemotely(new FamilyDispatcher(background, LOG), machines);
  expect(files).toEqual(expected);
});

test("gives the task of a vanished worker to another worker, and ignores late deliveries", async () => {
  const expected = await build(local);
  const dispatcher = new FamilyDispatcher(background, LOG, 20);
  const given: number[][] = [];
  let taken: FamilyRequest | undefined;
  const files = await buildRemotely(dispatcher, [new Machine("other")], async () => {
    const request = messages.requests.map((text) => JSON.parse(text) as FamilyRequest)[0];
    if (request) given.push(request.members);
    if (request && !taken) {
      taken = JSON.parse((await messages.take())!) as FamilyRequest;
      return;
    }
    if (messages.requests.length > 0 || !taken) return;
    dispatcher.expire();
    if (given.length > 1) await messages.deliver(encodeDelivery(deliver(taken)));
    await Bun.sleep(10);
  });
  expect(files).toEqual(expected);
  expect(given.filter((members) => String(members) === String(taken!.members))).toHaveLength(2);
});

/** The result that a worker delivers for a request. */
const deliver = (request: FamilyRequest, other: Partial<FamilyDelivery> = {}): FamilyDelivery => {
  const { families } = compute(request.members);
  const { id, method } = request;
  const facts = { id, worker: "w", corpus: stage.corpus.hash, method, isInterrupted: false, failure: null };
  return { ...facts, families, ...other };
};

test.each([
  ["another corpus", () => ({ corpus: "0".repeat(64) })],
  ["another method", () => ({ method: "labd-2" })],
  [
    "other proteins",
    () => ({ families: deliver({ id: "", corpus: "", method: "", members: [5] }).families }),
  ],
  ["a reason for its failure", () => ({ failure: "The disk is full.", families: [] })],
])("leaves a task to the server after three workers delivered %s", async (_, other) => {
  const problems: unknown[] = [];
  const log = { info: () => {}, problem: (event: string) => void problems.push(event) };
  const dispatcher = new FamilyDispatcher(background, log);
  const report = start(3, 4);
  for (let i = 0; i < 3; i++) {
    await turn(dispatcher, [], 1);
    const request = JSON.parse((await messages.take())!) as FamilyRequest;
    await messages.deliver(encodeDelivery(deliver(request, other())));
    await turn(dispatcher, [], 0);
  }
  await turn(dispatcher, [], 1);
  expect(messages.requests).toEqual([]);
  expect(problems).toHaveLength(3);
  const task = background.take()!;
  task.report(compute((task.message(1) as FamiliesTask).members));
  expect((await report).families.map(({ protein }) => protein)).toEqual([3, 4]);
});

test("a worker with another corpus computes nothing and reports the reason", async () => {
  const machine = new Machine("odd", "f".repeat(64));
  await messages.offer(
    JSON.stringify({ id: "1", corpus: stage.corpus.hash, method: FAMILY_METHOD, members: [1] }),
  );
  await machine.turn();
  await runPending();
  const [bytes] = await messages.collect();
  expect(decodeDelivery(bytes)).toMatchObject({ id: "1", families: [], corpus: machine.hash });
  expect(decodeDelivery(bytes)!.failure).toContain("the worker has ffff");
});

test("offers one task per idle worker, and withdraws the tasks when jobs arrive", async () => {
  const dispatcher = new FamilyDispatcher(background, LOG);
  for (let i = 0; i < 4; i++) start(i).catch(() => {});
  await turn(dispatcher, [], 3);
  expect(messages.requests).toHaveLength(3);
  await turn(dispatcher, [], 3);
  expect(messages.requests).toHaveLength(3);
  await messages.take();
  await turn(dispatcher, [], 2);
  expect(messages.requests).toHaveLength(1);
  await turn(dispatcher, [], 0);
  expect(messages.requests).toHaveLength(0);
  expect([background.take(), background.take(), background.take(), background.take()]).toContain(null);
  stop.abort(new Error("over"));
});

test("a cancelled build leaves no tasks behind", async () => {
  const dispatcher = new FamilyDispatcher(background, LOG);
  const reports = [start(1), start(2)];
  const holder = new Machine("holder");
  await turn(dispatcher, [holder], 2);
  const { id } = JSON.parse((await messages.take())!) as FamilyRequest;
  const ends = reports.map((report) => report.catch(String));
  stop.abort(new Error("cancelled"));
  expect(await Promise.all(ends)).toEqual(["Error: cancelled", "Error: cancelled"]);
  const record = { ...makeRecord(holder), families: [id] };
  await dispatcher.turn(messages, stage.corpus, [record], 2);
  expect([messages.requests, messages.dropped]).toEqual([[], [`holder ${id}`]]);
  expect(background.take()).toBeNull();
});

test("offers no tasks for another corpus than that in use", async () => {
  const dispatcher = new FamilyDispatcher(background, LOG);
  start(1).catch(() => {});
  await dispatcher.turn(messages, { ...stage.corpus, path: "other" }, [], 1);
  expect(messages.requests).toEqual([]);
  stop.abort(new Error("over"));
});

test("a worker returns a task that no thread has started if jobs need all", async () => {
  const wake = { calls: 0 };
  let idle = 1;
  const options = { name: "w", log: LOG, idle: () => idle, wake: () => void wake.calls++ };
  const worker = new FamilyWorker(options);
  const report = start(1, 2);
  const dispatcher = new FamilyDispatcher(background, LOG);
  await turn(dispatcher, [], 1);
  const theirs = { hash: stage.corpus.hash, path: stage.corpus.path };
  await worker.turn(messages, theirs);
  expect([worker.ids.length, wake.calls]).toEqual([1, 1]);
  idle = 0;
  await worker.turn(messages, theirs);
  await runPending();
  expect([worker.ids, worker.take()]).toEqual([[], null]);
  await turn(dispatcher, [], 0);
  const task = background.take()!;
  expect((task.message(1) as FamiliesTask).members).toEqual([1, 2]);
  task.report(compute((task.message(1) as FamiliesTask).members));
  expect((await report).families).toHaveLength(2);
});

test("a stopping worker delivers complete families", async () => {
  const options = { name: "w", log: LOG, idle: () => 2, wake: () => {} };
  const worker = new FamilyWorker(options);
  for (const members of [[1], [2, 3]])
    await messages.offer(
      JSON.stringify({ id: String(members), corpus: stage.corpus.hash, method: FAMILY_METHOD, members }),
    );
  await worker.turn(messages, { hash: stage.corpus.hash, path: stage.corpus.path });
  const running = worker.take()!;
  const { stop: flag, members } = running.message(1) as FamiliesTask;
  const stopped = worker.stop();
  expect(Atomics.load(flag!, 0)).toBe(1);
  const { families } = compute(members);
  running.report({ ticket: 1, kind: "families", families, isInterrupted: true });
  await stopped;
  const delivered = (await messages.collect()).map((bytes) => decodeDelivery(bytes)!);
  expect(delivered.map(({ id, families }) => [id, families.length]).sort()).toEqual([
    ["1", 1],
    ["2,3", 0],
  ]);
});

test("reads a delivery back to the byte, and rejects a damaged one", () => {
  const delivery = deliver({ id: "1", corpus: "", method: FAMILY_METHOD, members: [0, 7] });
  const bytes = encodeDelivery(delivery);
  expect(decodeDelivery(bytes)).toEqual(delivery);
  for (const at of [3, bytes.length - 1]) {
    const damaged = Buffer.from(bytes);
    damaged[at] ^= 1;
    expect(decodeDelivery(damaged)).toBeNull();
  }
});
