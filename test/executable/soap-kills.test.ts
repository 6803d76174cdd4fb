import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { pick, random, type Random } from "../scoring/contract/random-message.ts";
import { ask, E7, element, ended, labd, post, runJobMessage, scratch, serve } from "./labd.ts";
import { waitFor } from "../wait.ts";

/**
 * The service is killed at random moments while clients submit, ask and fetch. Whatever identifier a client ever held
 * answers afterwards, and every prediction is that of a service that was never disturbed. `LABD_KILLS=200` is the
 * long form; docs/reliability.md has its figures.
 */

const KILLS = Number(process.env.LABD_KILLS ?? 8);
const SEED = Number(process.env.LABD_KILLS_SEED ?? 1);
const CLIENTS = 6;

interface Question {
  sequence: string;
  patterns: string[];
}

/** Few questions are asked by many, so that results are shared; the others are asked once. */
function question(next: Random, number: number): Question {
  const sequence = number % 3 === 0 ? E7 : E7 + pick(next, [..."ACDEFGHIKLMNPQRSTVWY"]).repeat(number % 40);
  return { sequence, patterns: [pick(next, ["L.C.E", "[ST]P", "D[DE]E", "C..C"])] };
}

interface Held extends Question {
  job: string;
  /** The prediction, once it was seen. */
  prediction: string | null;
}

const key = ({ sequence, patterns }: Question): string => `${patterns[0]} ${sequence}`;
const makeMessage = ({ sequence, patterns }: Question): string => runJobMessage({ sequence, patterns });

/** The work of a client until the service stops. Its connection may break anywhere. */
async function visit(url: string, next: Random, held: Held[], counts: Counts): Promise<void> {
  for (;;) {
    const asked = question(next, counts.submissions++);
    const accepted = await post(url, makeMessage(asked));
    if (accepted.status !== 200) throw new Error(accepted.text);
    const mine = { ...asked, job: element(accepted.text, "JobIdentifier")!, prediction: null };
    held.push(mine);
    const other = pick(next, held);
    expect((await ask(url, "GetStatus", other.job)).status).toBe(200);
    await look(url, pick(next, held), counts);
    await look(url, mine, counts);
  }
}

/** Fetches a prediction; one that was there before must be there still, and the same. */
async function look(url: string, one: Held, counts: Counts): Promise<void> {
  const { status, text } = await ask(url, "GetResult", one.job);
  if (status !== 200) throw new Error(text);
  const prediction = /<p:ConScorePrediction .*<\/p:ConScorePrediction>/s.exec(text)?.[0] ?? null;
  if (one.prediction !== null && one.prediction !== prediction) counts.changed.push(one.job);
  counts.looks++;
  one.prediction ??= prediction;
}

interface Counts {
  submissions: number;
  looks: number;
  changed: string[];
}

/** Errors of a connection whose other end was killed; others are errors. */
const isBroken = (error: unknown): boolean =>
  /closed|refused|reset|terminated|unable to connect|socket/i.test(String(error));

test(
  `loses no identifier and no prediction when killed ${KILLS} times under load (LABD_KILLS=n)`,
  async () => {
    using place = scratch();
    await labd(["corpus", "add", "--sample"], { env: { LABD_DATA_DIR: place.directory } });
    const next = random(SEED);
    const held: Held[] = [];
    const counts: Counts = { submissions: 0, looks: 0, changed: [] };
    let slowestStart = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      const begun = performance.now();
      const server = await serve(place.directory, ["--workers", "2", "--log", "off"]);
      slowestStart = Math.max(slowestStart, performance.now() - begun);
      // Ask first for the results held over the kill, the newest above all.
      for (const { job } of held.slice(-20))
        expect((await ask(server.url, "GetStatus", job)).status).toBe(200);
      const errors: unknown[] = [];
      const clients = Array.from({ length: CLIENTS }, () =>
        visit(server.url, next, held, counts).catch((error) => {
          if (!isBroken(error)) errors.push(error);
        }),
      );
      // On a machine that is busy otherwise the moment comes later: a kill before anything was accepted would try nothing.
      const enough = held.length + 2;
      await Bun.sleep(next() * 300);
      await waitFor(() => held.length >= enough || errors.length > 0 || server.process.exitCode !== null);
      await server.end("SIGKILL");
      await Promise.all(clients);
      expect(errors).toEqual([]);
    }

    const server = await serve(place.directory, ["--workers", "2", "--log", "off"]);
    const statuses: Record<string, number> = {};
    for (const { job } of held) {
      const status = await ended(server.url, job);
      statuses[status] = (statuses[status] ?? 0) + 1;
    }
    expect(statuses).toEqual({ finished: held.length });
    for (const one of held) await look(server.url, one, counts);
    expect(counts.changed).toEqual([]);
    await server.end("SIGTERM");

    const database = new Database(join(place.directory, "labd.sqlite"), { readonly: true });
    expect(database.query("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
    database.close();

    // The oracle: the same questions to a service of its own that nobody disturbs.
    using calm = scratch();
    await labd(["corpus", "add", "--sample"], { env: { LABD_DATA_DIR: calm.directory } });
    await using oracle = await serve(calm.directory, ["--workers", "2", "--log", "off"]);
    const questions = new Map(held.map((one) => [key(one), one]));
    const answers = new Map<string, Held>();
    for (const [name, one] of questions) {
      const { text } = await post(oracle.url, makeMessage(one));
      answers.set(name, { ...one, job: element(text, "JobIdentifier")!, prediction: null });
    }
    for (const one of answers.values()) {
      expect(await ended(oracle.url, one.job)).toBe("finished");
      await look(oracle.url, one, counts);
    }
    const differing = held.filter((one) => one.prediction !== answers.get(key(one))!.prediction);
    expect(differing.map(({ job }) => job)).toEqual([]);
    expect(held.length).toBeGreaterThan(KILLS);
    process.stderr.write(
      `${KILLS} kills, ${held.length} identifiers, ${counts.looks} predictions compared, ${questions.size} questions; slowest start ${Math.round(slowestStart)} ms\n`,
    );
  },
  120_000 + KILLS * 10_000,
);

test("repeating RunJob with its Idempotency-Key after kills creates one job", async () => {
  using place = scratch();
  const next = random(SEED);
  const jobs = new Set<string>();
  const submit = async (url: string): Promise<void> => {
    const { text } = await post(url, runJobMessage({ sequence: "MKLV" }), { "Idempotency-Key": "one" });
    jobs.add(element(text, "JobIdentifier")!);
  };
  for (let kill = 0; kill < 6; kill++) {
    const server = await serve(place.directory, ["--workers", "1", "--log", "off"]);
    const submitted = submit(server.url).catch((error: unknown) => expect(isBroken(error)).toBe(true));
    await Bun.sleep(next() * 20);
    await server.end("SIGKILL");
    await submitted;
  }
  await using server = await serve(place.directory, ["--workers", "1", "--log", "off"]);
  await submit(server.url);
  expect([...jobs]).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
  using database = new Database(join(place.directory, "labd.sqlite"), { readonly: true });
  expect(database.query("SELECT id FROM job").all()).toEqual([...jobs].map((id) => ({ id })));
}, 120_000);
