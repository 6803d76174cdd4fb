import { expect, setDefaultTimeout, test } from "bun:test";
import { FarmStage, questionsOf, resultsOfOne } from "./farm-stage.ts";
import { scratch } from "./labd.ts";
import { whyNoHosts } from "./network-hosts.ts";

// A busy machine takes its time.
setDefaultTimeout(240_000);

/**
 * A farm on machines of its own while its parts are killed and cut off. `bun run test/bench/farm-storm.ts` does the same for
 * as long as one likes.
 */

const why =
  Bun.which("redis-server") === null
    ? "redis-server missing: apt-get install redis-server"
    : await whyNoHosts();

test.skipIf(why !== null)(
  `every job ends once, with the results of one machine, whatever is killed or cut off${why === null ? "" : ` (SKIPPED: ${why})`}`,
  async () => {
    using place = scratch();
    const questions = questionsOf(120);
    const expected = await resultsOfOne(`${place.directory}/one`, questions);
    await using stage = await FarmStage.open({
      directory: place.directory,
      local: "never",
      redisKeeps: true,
    });
    const submitting = stage.submitAll(questions, 250);
    await Bun.sleep(1000);
    await stage.kill("worker1");
    stage.wipe("worker1");
    await Bun.sleep(500);
    await stage.kill("server");
    stage.start("worker1");
    await Bun.sleep(500);
    stage.start("server");
    await stage.untilAnswers();
    await stage.cut("worker2", "unplugged");
    await stage.kill("redis");
    await Bun.sleep(1000);
    stage.start("redis");
    await stage.heal("worker2");
    await Bun.sleep(2000);
    await stage.cut("redis", "black hole");
    await Bun.sleep(2000);
    await stage.heal("redis");

    const ids = await submitting;
    await stage.untilDone();
    expect(await stage.account(ids, expected)).toEqual({
      accepted: questions.length,
      lost: 0,
      besides: expect.any(Number),
      unfinished: 0,
      endedTwice: 0,
      endUntold: 0,
      differing: 0,
    });
    const workers = Object.keys(stage.byWorker());
    expect(workers.some((name) => name.startsWith("pool"))).toBe(false);
    expect(workers.length).toBeGreaterThan(2);
  },
);
