import { availableParallelism } from "node:os";
import { resolve } from "node:path";
import type { Command } from "./command-line.ts";
import { STORE_SETTINGS, storeAccess } from "../config.ts";
import { fetchCorpus } from "../farm/corpus-fetch.ts";
import { FarmWorker, redactedAddress } from "../farm/index.ts";
import { Problem } from "../problem.ts";
import { openLog } from "../platform/log.ts";
import { COMMIT, VERSION } from "../version.ts";
import { tokenOf } from "./corpus-transfer.ts";

/** Seconds that running jobs have to finish after a request to stop. */
const DRAIN = 60;

export const worker: Command = {
  name: "worker",
  summary: "Score jobs of a server on another machine, taken from its queue, until told to stop.",
  flags: [
    { name: "--concurrency", value: "N", sentence: "Jobs at a time; by default one per processor." },
    {
      name: "--drain",
      value: "SECONDS",
      sentence: `Seconds that running jobs have to finish after SIGTERM, ${DRAIN} by default; the rest goes back to the queue.`,
    },
    {
      name: "--from",
      value: "SOURCE",
      sentence:
        "Where corpora come from that are not here: https://server or s3://bucket/prefix, several in the order in which they are asked.",
    },
    {
      name: "--token-file",
      value: "FILE",
      sentence: "File with a token for the https:// sources; - reads standard input.",
    },
  ],
  settings: ["queue", "queue_ca", "data_dir", "worker_memory", "log", ...STORE_SETTINGS],
  example:
    "LABD_QUEUE=redis://:password@queue.example/0 labd worker --concurrency 8 --data-dir /var/lib/labd-worker \\\n  --from https://labd.example.org --token-file token.txt\n" +
    "Server and workers have the same labd; docs/farm.md sets both up in five minutes.",
  async run(call) {
    const { config } = call.configuration();
    if (config.queue === "") {
      throw new Problem(
        "usage",
        "labd worker needs the queue of the server: --queue redis://user:password@host:6379/0, or LABD_QUEUE. See labd worker --help.",
      );
    }
    const concurrency = whole("--concurrency", call.value("--concurrency"), availableParallelism(), 1, 256);
    const drain = whole("--drain", call.value("--drain"), DRAIN, 0, 86_400);
    const log = openLog(config.log, (line) => process.stderr.write(line), Date.now);
    const [sources, token] = [call.values("--from"), await tokenOf(call)];
    const tell = (sentence: string): void => log.info("corpus", { said: sentence });
    const access = storeAccess(config);
    const dataDirectory = resolve(config.data_dir);
    const place = { url: config.queue, ca: config.queue_ca };
    const farmWorker = new FarmWorker({
      place,
      log,
      dataDirectory,
      provide: (hash, calibration, report) =>
        fetchCorpus(hash, sources, dataDirectory, { access, token, calibration, report, tell }),
      concurrency,
      version: VERSION,
      commit: COMMIT,
      workerMemory: config.worker_memory,
    });
    await farmWorker.start();
    process.stderr.write(
      `labd ${VERSION} works for ${redactedAddress(config.queue)} as ${farmWorker.name}\n`,
    );
    await untilToldToStop();
    process.stderr.write("Stopping: running jobs finish, the rest goes back to the queue.\n");
    if (await farmWorker.drain(drain * 1000)) return 0;
    process.stderr.write("labd: the queue is away; what ran here is another's when it is missed.\n");
    return 1;
  },
};

function whole(
  flag: string,
  given: string | undefined,
  fallback: number,
  least: number,
  most: number,
): number {
  if (given === undefined) return fallback;
  const number = /^\d{1,9}$/.test(given) ? Number(given) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new Problem("usage", `${flag}: expected a whole number from ${least} to ${most}.`);
}

/** Waits for SIGINT or SIGTERM; a second one ends at once. */
async function untilToldToStop(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let asked = false;
  const stop = (): void => {
    if (asked) process.exit(1);
    asked = true;
    resolve();
  };
  process.on("SIGINT", stop);
  process.on("SIGTERM", stop);
  await promise;
}
