import { Problem } from "../problem.ts";
import type { Shard } from "../scoring/index.ts";
import type { Call } from "./command.ts";

const MAX_SHARDS = 1_000_000;

/** The value of --shard; null without it. @throws Problem usage */
export function parseShard(call: Call, help: string): Shard | null {
  const given = call.value("--shard");
  if (given === undefined) return null;
  const [, shard, of] = (/^(\d{1,7})\/(\d{1,7})$/.exec(given) ?? []).map(Number);
  if (of === undefined || shard < 1 || shard > of || of > MAX_SHARDS)
    throw new Problem(
      "usage",
      `--shard: expected I/N such as 2/8, I from 1 to N, N at most ${MAX_SHARDS}; "${given}" was given. ${help}`,
    );
  return { shard, of };
}
