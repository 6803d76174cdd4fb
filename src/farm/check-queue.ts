import { Problem } from "../problem.ts";
import { type CheckResult, ok, problem, warning } from "../platform/check-result.ts";
import { readStatus } from "./farm-status.ts";
import type { QueueAddress } from "./connection.ts";

const ABOUT = "queue";
/** The oldest Redis that BullMQ is made for. */
const OLDEST = [6, 2];

/** What `labd doctor` says of the queue between server and workers, and of the farm. */
export async function checkQueue(place: QueueAddress): Promise<CheckResult[]> {
  try {
    const { queue, redis, server, farm, workers, mixed } = await readStatus(place);
    const found: CheckResult[] = lookAtAddress(place);
    const [major = 0, minor = 0] = redis.version.split(".").map(Number);
    if (redis.product === "Redis" && (major < OLDEST[0] || (major === OLDEST[0] && minor < OLDEST[1])))
      found.push(
        problem(ABOUT, `Redis ${redis.version} is too old.`, `Install ${OLDEST.join(".")} or newer.`),
      );
    if (redis.policy !== "noeviction")
      found.push(
        problem(
          ABOUT,
          `maxmemory-policy ${redis.policy} throws jobs away where memory is short.`,
          "Set maxmemory-policy noeviction in redis.conf.",
        ),
      );
    if (!redis.appendonly)
      found.push(
        warning(
          ABOUT,
          "Without appendonly a Redis that ends takes the work of its workers along; the server has it done again.",
          "Set appendonly yes in redis.conf.",
        ),
      );
    if (redis.limit > 0 && redis.memory > redis.limit * 0.9)
      found.push(
        warning(
          ABOUT,
          `Redis has ${Math.round((100 * redis.memory) / redis.limit)} % of the memory that it may have.`,
          "Raise maxmemory in redis.conf.",
        ),
      );
    if (farm && farm.state !== "there") found.push(problem(ABOUT, `${farm.cause}`, "labd farm status"));
    for (const sentence of mixed) found.push(warning("farm", sentence, "labd farm status"));
    if (server !== null && !workers.some(({ fits }) => fits))
      found.push(warning("farm", "No worker takes work.", "labd worker on another machine; docs/farm.md."));
    if (found.length > 0) return found;
    const places = workers.reduce((sum, { concurrency }) => sum + concurrency, 0);
    return [
      ok(
        ABOUT,
        `${redis.product} ${redis.version} at ${queue}; ${workers.length} workers with ${places} places.`,
      ),
    ];
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const remedy =
      "See to Redis, its address and password (setting queue); the server scores for itself meanwhile.";
    return [problem(ABOUT, error.message, remedy)];
  }
}

/** Who may read along, or come in. */
function lookAtAddress({ url }: QueueAddress): CheckResult[] {
  if (url.startsWith("unix:")) return [];
  const { protocol, hostname, password } = new URL(url);
  if (/^(127\.|localhost$|\[::1\]$)/.test(hostname)) return [];
  const found: CheckResult[] = [];
  if (password === "")
    found.push(
      warning(
        ABOUT,
        `Whoever reaches ${hostname} can read jobs and hand in results: there is no password.`,
        "Set requirepass in redis.conf, and the password in the setting queue.",
      ),
    );
  if (protocol === "redis:")
    found.push(
      warning(
        ABOUT,
        `Sequences, results and the password go to ${hostname} as they are.`,
        "Use rediss:// (TLS), or a network that nobody else has.",
      ),
    );
  return found;
}
