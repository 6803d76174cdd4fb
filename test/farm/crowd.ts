import { Redis } from "ioredis";
import {
  readServer,
  registerWorker,
  type ServerRecord,
  type WorkerRecord,
} from "../../src/farm/redis-records.ts";
import { waitFor } from "../wait.ts";

export interface Crowd extends Disposable {
  /** The server's report about itself. */
  server: ServerRecord;
  link: Redis;
}

/**
 * Records of as many workers as one likes, that are there and compute nothing, until the crowd is disposed of.
 * @param refusing how many of them, the last ones, take no work
 */
export async function gather(redis: string, workers: number, refusing = 0): Promise<Crowd> {
  const link = new Redis(redis, { maxRetriesPerRequest: null, replyMapping: "legacy" });
  const server = await waitFor(() => readServer(link));
  const { queue, version, commit, scoringVersion } = server;
  const records = Array.from({ length: workers }, (_, i): WorkerRecord => {
    const refusal = i < workers - refusing ? null : "There is no source for the corpus.";
    return {
      name: `crowd-${i}`,
      host: "crowd",
      pid: 1,
      version,
      commit,
      method: "labd-3",
      concurrency: 1,
      corpora: [scoringVersion.corpus],
      queue: refusal === null ? queue : null,
      refusal,
      draining: false,
      jobs:
        refusal === null
          ? [{ id: crypto.randomUUID(), stage: "homologs", fraction: 0.5, since: Date.now() }]
          : [],
      families: [],
      counts: { finished: 0, failed: 0, returned: 0 },
      memory: 500_000_000,
      since: Date.now(),
    };
  });
  const register = (): Promise<unknown> => Promise.all(records.map((one) => registerWorker(link, one)));
  await register();
  const registering = setInterval(() => void register(), 1000);
  return {
    server,
    link,
    [Symbol.dispose]() {
      clearInterval(registering);
      link.disconnect();
    },
  };
}
