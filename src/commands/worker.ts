import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import { fetchCorpus } from "../farm/corpus-fetch.ts";
import { FarmWorker, redactedAddress } from "../farm/index.ts";
import { openLog } from "../platform/log.ts";
import { Problem } from "../problem.ts";
import { COMMIT, VERSION } from "../version.ts";
import { announce, logEverything } from "./announcement.ts";
import type { Command } from "./command.ts";
import { stopSignal } from "./stop-signal.ts";
import { CORPUS_SOURCE_FLAGS, readToken } from "./token-file.ts";

/** Seconds that running jobs have to finish after a stop signal. */
const DRAIN_SECONDS = 60;

export const worker: Command = {
  name: "worker",
  summary: "Score jobs from a server's queue on this machine until stopped.",
  flags: {
    "--concurrency 1-256": "Concurrent jobs; by default one per processor.",
    "--drain 0-86400": `Seconds that running jobs have to finish after SIGTERM, ${DRAIN_SECONDS} by default; the others return to the queue.`,
    ...CORPUS_SOURCE_FLAGS,
  },
  settings: ["queue", "ca_file", "data_dir", "log"],
  example:
    "LABD_QUEUE=redis://:password@queue.example/0 labd worker --concurrency 8 --data-dir /var/lib/labd-worker \\\n  --from https://labd.example.org --token-file token.txt\n" +
    "Server and workers need the same labd; docs/farm.md explains how to set them up.",
  async run(call) {
    const { config } = call.configuration();
    const { queue: url, ca_file: ca } = config;
    if (url === "")
      throw new Problem(
        "usage",
        "labd worker needs the server's queue: --queue redis://user:password@host:6379/0, or LABD_QUEUE. See labd worker --help.",
      );
    logEverything(call.streams);
    const log = openLog(config.log, (line) => call.streams.stderr.write(line), Date.now);
    const token = await readToken(call);
    const dataDirectory = resolve(config.data_dir);
    const farmWorker = new FarmWorker({
      address: { url, ca },
      log,
      dataDirectory,
      provide: (hash, report) =>
        fetchCorpus(hash, call.values("--from"), dataDirectory, {
          token,
          report,
          tell: (sentence) => log.info("corpus", { message: sentence }),
        }),
      concurrency: call.number("--concurrency") ?? availableParallelism(),
      version: VERSION,
      commit: COMMIT,
    });
    await farmWorker.start();
    announce(
      call.streams,
      "start",
      `labd ${VERSION} works for ${redactedAddress(url)} as ${farmWorker.name}`,
      { version: VERSION, commit: COMMIT },
    );
    await stopSignal();
    announce(call.streams, "stop", "Stopping: running jobs finish, the others return to the queue.");
    if (await farmWorker.drain((call.number("--drain") ?? DRAIN_SECONDS) * 1000)) return;
    const lost = "The queue is unreachable; other workers take the jobs of this one when their locks expire.";
    announce(call.streams, "stop", lost);
    return 1;
  },
};
