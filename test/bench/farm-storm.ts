/**
 * Fault injection on a farm: a server, Redis and two workers in network namespaces are killed and
 * disconnected at random while jobs are submitted. Every job must end exactly once with the same bytes as on
 * one machine.
 *
 *   bun run build && bun run test/bench/farm-storm.ts [JOBS] [SEED] [never|away|always] [keeps|forgets] [PROTEINS.fasta]
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FarmStage, type Part, makeQuestions, resultsOfOne } from "../executable/farm-stage.ts";
import { whyNoHosts } from "../executable/network-hosts.ts";

const [count = "400", seed = "1", local = "never", memory = "keeps", proteins] = process.argv.slice(2);
const why = Bun.which("redis-server") === null ? "redis-server missing" : await whyNoHosts();
if (why !== null) throw new Error(why);

let state = Number(seed) * 7919;
/** Park and Miller's generator. */
const random = (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
const one = <T>(choices: readonly T[]): T => choices[Math.floor(random() * choices.length)];

const directory = mkdtempSync(join(tmpdir(), "labd-storm-"));
const questions = makeQuestions(Number(count));
const events: Record<string, number> = {};
try {
  const started = performance.now();
  const expected = await resultsOfOne(join(directory, "one"), questions, proteins);
  const alone = (performance.now() - started) / 1000;
  await using stage = await FarmStage.open({
    directory,
    local: local as "never" | "away" | "always",
    redisKeeps: memory === "keeps",
    ...(proteins === undefined ? {} : { proteins }),
  });
  // Submission lasts at least half a minute, so that faults meet jobs in every state.
  const submitting = stage.submitAll(questions, Math.max(20, 120_000 / questions.length));
  const submission = { isOver: false };
  const down = new Set<Part>();
  const injectFaults = async (): Promise<void> => {
    while (!submission.isOver) {
      await Bun.sleep(300 + 2500 * random());
      const part = one<Part>(["server", "redis", "redis", "worker1", "worker2"]);
      if (down.has(part) || submission.isOver) continue;
      down.add(part);
      const what = one(["kill", "kill", "unplugged", "black hole"] as const);
      // From below every timeout to above a worker's lock.
      const time = one([100, 1000, 4000, 9000, 17_000]);
      events[`${part} ${what}`] = (events[`${part} ${what}`] ?? 0) + 1;
      if (what === "kill") {
        await stage.kill(part);
        if (part.startsWith("worker") && random() < 0.5) stage.wipe(part);
        await Bun.sleep(time);
        stage.start(part);
      } else {
        await stage.cut(part, what);
        await Bun.sleep(time);
        await stage.heal(part);
      }
      down.delete(part);
    }
  };
  const injectors = [injectFaults(), injectFaults()];
  const ids = await submitting;
  submission.isOver = true;
  await Promise.all(injectors);
  await stage.untilAnswers();
  await stage.untilDone(120);
  const took = (performance.now() - started) / 1000 - alone;
  const account = await stage.account(ids, expected);
  console.log({ seed, local, memory, alone: Math.round(alone), took: Math.round(took), events });
  console.log(account, { deliveries: stage.deliveredEvents.deliveries, by: stage.byWorker() });
  const { accepted, besides: _, ...faults } = account;
  if (accepted !== questions.length || Object.values(faults).some((number) => number > 0)) {
    console.log(stage.log());
    process.exitCode = 1;
  }
} finally {
  rmSync(directory, { recursive: true, force: true });
}
