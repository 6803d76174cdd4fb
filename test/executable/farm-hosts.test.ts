import { expect, setDefaultTimeout, test } from "bun:test";
import { FarmStage, makeQuestions, resultsOfOne } from "./farm-stage.ts";
import { scratch } from "./labd.ts";
import { whyNoHosts } from "./network-hosts.ts";

setDefaultTimeout(300_000);

/**
 * A farm on simulated machines while its parts are killed and disconnected. `bun run test/bench/farm-storm.ts` does the same
 * for any time.
 */

const why =
  Bun.which("redis-server") === null
    ? "redis-server missing: apt-get install redis-server"
    : await whyNoHosts();

test.skipIf(why !== null)(
  `every job ends once with the right result, whatever is killed or cut off${why === null ? "" : ` (SKIPPED: ${why})`}`,
  async () => {
    using place = scratch();
    const questions = makeQuestions(100);
    const expected = await resultsOfOne(`${place.directory}/one`, questions);
    await using stage = await FarmStage.open({
      directory: place.directory,
      local: "never",
      redisKeeps: true,
    });
    const before = stage.submitAll(questions.slice(0, 50), 250);
    await stage.untilHandedIn(2);
    await stage.kill("worker1");
    // Another machine takes its place, without the corpus.
    stage.wipe("worker1");
    await stage.kill("server");
    await Bun.sleep(500);
    stage.start("server");
    stage.start("worker1");
    await stage.untilTakesWork("worker1", 2);
    await stage.cut("worker2", "unplugged");
    const after = stage.submitAll(questions.slice(50), 250);
    await stage.kill("redis");
    await Bun.sleep(1000);
    stage.start("redis");
    // Only the new one can do that.
    await stage.untilHandedIn(3);
    await stage.heal("worker2");
    await stage.cut("redis", "black hole");
    await Bun.sleep(1000);
    await stage.heal("redis");
    const ids = (await Promise.all([before, after])).flat();
    await stage.untilDone();
    expect(await stage.account(ids, expected)).toEqual({
      accepted: questions.length,
      lost: 0,
      besides: expect.any(Number),
      unfinished: 0,
      endedTwice: 0,
      endUnreported: 0,
      differing: 0,
    });
    expect(Object.keys(stage.byWorker())).not.toContain("pool");
  },
);
