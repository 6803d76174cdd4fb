import { Checks, type CheckResult } from "../platform/check-result.ts";
import { Problem } from "../problem.ts";
import type { QueueAddress } from "./connection.ts";
import { readStatus, type RedisInfo } from "./status.ts";

/** The oldest Redis that BullMQ supports. */
const MIN_VERSION = [6, 2];

/** Checks the queue between server and workers, and the farm, for `labd doctor`. */
export async function checkQueue(address: QueueAddress): Promise<CheckResult[]> {
  const queue = new Checks("queue");
  const farm = new Checks("farm");
  try {
    const status = await readStatus(address);
    checkAddress(queue, address);
    checkRedis(queue, status.redis);
    if (status.farm && status.farm.state !== "there")
      queue.problem(`${status.farm.cause}`, "labd farm status");
    for (const sentence of status.mixed) farm.warning(sentence, "labd farm status");
    if (status.server !== null && !status.workers.some(({ fits }) => fits))
      farm.warning("No worker accepts jobs.", "Run labd worker on another machine; see docs/farm.md.");
    if (farm.results.length > 0) return [...queue.results, ...farm.results];
    const slots = status.workers.reduce((sum, { concurrency }) => sum + concurrency, 0);
    const { product, version } = status.redis;
    return queue.orOk(
      `${product} ${version} at ${status.queue}; ${status.workers.length} workers with ${slots} slots.`,
    );
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    queue.problem(
      error.message,
      "Check Redis, its address and password (setting queue). Until then the server scores by itself.",
    );
    return queue.results;
  }
}

function checkRedis(checks: Checks, redis: RedisInfo): void {
  const [major = 0, minor = 0] = redis.version.split(".").map(Number);
  const isOld = major < MIN_VERSION[0] || (major === MIN_VERSION[0] && minor < MIN_VERSION[1]);
  if (redis.product === "Redis" && isOld)
    checks.problem(`Redis ${redis.version} is too old.`, `Install ${MIN_VERSION.join(".")} or newer.`);
  if (redis.policy !== "noeviction")
    checks.problem(
      `maxmemory-policy ${redis.policy} discards jobs when memory is short.`,
      "Set maxmemory-policy noeviction in redis.conf.",
    );
  if (!redis.appendonly)
    checks.warning(
      "Without appendonly a restart of Redis loses the workers' results; the server computes them again.",
      "Set appendonly yes in redis.conf.",
    );
  if (redis.limit > 0 && redis.memory > redis.limit * 0.9)
    checks.warning(
      `Redis uses ${Math.round((100 * redis.memory) / redis.limit)} % of its maxmemory.`,
      "Raise maxmemory in redis.conf.",
    );
}

/** Checks for addresses that let others read or join. */
function checkAddress(checks: Checks, { url }: QueueAddress): void {
  if (url.startsWith("unix:")) return;
  const { protocol, hostname, password } = new URL(url);
  if (/^(127\.|localhost$|\[::1\]$)/.test(hostname)) return;
  if (password === "")
    checks.warning(
      `Redis at ${hostname} has no password: everyone who can reach it can read jobs and deliver results.`,
      "Set requirepass in redis.conf, and the password in the setting queue.",
    );
  if (protocol === "redis:")
    checks.warning(
      `Sequences, results and the password are sent to ${hostname} unencrypted.`,
      "Use rediss:// (TLS), or a private network.",
    );
}
