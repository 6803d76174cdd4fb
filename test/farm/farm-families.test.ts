import { expect, test } from "bun:test";
import { Redis } from "ioredis";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PREFIX, queueName, registerWorker } from "../../src/farm/redis-records.ts";
import { workerAddress } from "../../src/scoring/jobs/worker-entrypoints.ts";
import { buildFamilies, onThreads, type TaskRunner } from "../../src/scoring/proteome/build.ts";
import { familiesPath } from "../../src/scoring/corpus/families-file.ts";
import { planBuild } from "../../src/scoring/proteome/plan.ts";
import { PROTEOME } from "../scoring/proteome-stage.ts";
import { IDLE_WORKER, Laboratory, VERSION } from "./laboratory.ts";
import { hasRedis, RedisServer } from "./redis-server.ts";
import { waitFor } from "../wait.ts";

(hasRedis ? test : test.skip)(
  `remote workers build families between jobs, also if one vanishes with a task${hasRedis ? "" : " (SKIPPED without redis-server)"}`,
  async () => {
    const home = mkdtempSync(join(tmpdir(), "labd-redis-"));
    await using redis = await RedisServer.start(home);
    await using lab = new Laboratory(redis.url);
    const corpus = await lab.corpora.add({ name: "some", bytes: new Blob([PROTEOME]).stream() });
    const directory = familiesPath(corpus.path);
    /** Names of the files, which are hashes of their content. */
    const build = async (run: TaskRunner): Promise<string[]> => {
      await buildFamilies(planBuild({ corpus, selection: {}, others: [] }), run);
      return readdirSync(directory).toSorted();
    };
    const expected = await build(onThreads(1));
    rmSync(directory, { recursive: true });

    const farm = lab.serve({ lostAfter: 1500 });
    await waitFor(() => farm.state().state === "there");
    const queue = queueName({ version: VERSION, scoringVersion: lab.corpora.scoringVersion() });
    const connection = new Redis(lab.queue, { maxRetriesPerRequest: null });
    await registerWorker(connection, { ...IDLE_WORKER, name: "vanishing", queue });
    connection.disconnect();
    const built = build((tasks) => lab.background.run(tasks, new AbortController().signal));
    let taken: unknown = null;
    await waitFor(async () => (taken = await lab.command("LPOP", `${PREFIX}:families:${queue}`)) !== null);
    const provide = async (): Promise<string> => corpus.path;
    const workers = await Promise.all(
      ["one", "two"].map(() => lab.addWorker({ provide, workerUrl: workerAddress() })),
    );
    await waitFor(() => farm.state().workers.some(({ families }) => families.length > 0));
    // A job comes first.
    const prediction = await lab.store.insert(
      { identifier: "P", query: "MKTACDEFGHIKLMNPQRSTVWY", model: "continuous", patterns: [] },
      "",
    );
    farm.wake();
    await lab.reaches(prediction);
    expect(workers.map(({ name }) => name)).toContain(lab.row(prediction).worker!);
    expect(await built).toEqual(expected);
    expect(lab.logged.filter((line) => line.startsWith("families lost"))).toHaveLength(1);
    expect(JSON.parse(String(taken))).toMatchObject({ corpus: corpus.hash, method: "labd-3" });
    expect(lab.database.query("SELECT count(*) AS n FROM job").get()).toEqual({ n: 1 });
    rmSync(home, { recursive: true, force: true });
  },
  300_000,
);
