import { afterAll, afterEach, beforeEach, expect, setSystemTime } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { recordEvents, reminders } from "../../src/inventory/index.ts";
import { jobCompletions } from "../../src/scoring/index.ts";
import { openWebhooks, type Webhooks } from "../../src/webhooks/index.ts";
import { type Json, openService } from "../fixtures/service.ts";
import { type Lab, openLab } from "../inventory/harness.ts";
import { IDS } from "../inventory/sample.ts";
import { openReceiver, type Receiver } from "./receiver.ts";

export const HOUR = 3_600_000;

/** Opened again for each test, except the folder. */
interface Stage {
  folder: string;
  lab: Lab;
  receiver: Receiver;
  webhooks: Webhooks;
  keyFile: string;
  /** Problems that were logged. */
  logged: string[];
}

/** Before each test of the file: an installation with webhooks, and a receiver on this machine. */
export function webhookStage() {
  const stage = { folder: mkdtempSync(join(tmpdir(), "labd-test-")) } as Stage;
  afterAll(() => rmSync(stage.folder, { recursive: true }));

  const open = (plain = true): Webhooks =>
    openWebhooks({
      database: stage.lab.database,
      clock: stage.lab.clock,
      log: { info: () => {}, problem: (event) => void stage.logged.push(event) },
      sources: {
        records: recordEvents(stage.lab.database, stage.lab.clock, "https://lab.example/labd"),
        jobs: jobCompletions(stage.lab.database),
        reminders: reminders(stage.lab.database, stage.lab.clock, "https://lab.example/labd"),
      },
      accounts: stage.lab.accounts,
      allow: "127.0.0.0/8",
      plain,
      base: "https://lab.example/labd",
      version: "1",
      keyFile: stage.keyFile,
      random: () => 1,
    });
  beforeEach(async () => {
    stage.keyFile = join(stage.folder, crypto.randomUUID());
    stage.lab = await openLab({ path: join(stage.folder, crypto.randomUUID()) });
    stage.receiver = openReceiver();
    stage.logged = [];
    stage.webhooks = open();
    setSystemTime(stage.lab.clock.now());
  });
  afterEach(async () => {
    await stage.webhooks.deliverer.close();
    await stage.receiver[Symbol.asyncDispose]();
    stage.lab.database.close();
    setSystemTime();
  });

  const ask = (method: string, path: string, as?: string, body?: unknown) =>
    openService(stage.lab.accounts, [stage.webhooks.routes]).ask(method, `/api/webhooks/${path}`, {
      ...(as === undefined ? {} : { as: stage.lab.tokens[as] }),
      ...(body === undefined ? {} : { body }),
    });
  return Object.assign(stage, {
    ask,
    async reopen(plain = true): Promise<void> {
      await stage.webhooks.deliverer.close();
      stage.webhooks = open(plain);
    },
    async add(as: string, input: object = {}): Promise<Json> {
      const { status, body } = await ask("POST", "", as, { url: stage.receiver.url, ...input });
      expect({ status, body }).toMatchObject({ status: 201 });
      return body;
    },
    change: (description: string, id: string = IDS.bench) =>
      stage.lab.ask("PATCH", `locations/${id}/`, { as: "admin", body: { description } }),
    deliver: () => stage.webhooks.deliverer.deliverAll(),
    /** Events received, in order. */
    types: () => stage.receiver.got.map(({ type }) => type),
    states: async (id: string) =>
      (await ask("GET", `${id}/deliveries/`, "admin")).body.results.map((one: Json) => one.state),
    advance(milliseconds: number): void {
      stage.lab.clock.set(stage.lab.clock.now() + milliseconds);
      setSystemTime(stage.lab.clock.now());
    },
  });
}
