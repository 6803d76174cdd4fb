import { Problem } from "../problem.ts";
import type { Call } from "./command.ts";

/** The flags that limit the printed matches. */
export const MATCH_FILTERS = {
  "--disordered": "Print only matches in regions predicted to be disordered.",
  "--max-q Q": "Print only matches with at most this q-value, 0 to 1.",
};

/** The value of --max-q. @throws Problem usage */
export function maxQOf(call: Call, help: string): number | undefined {
  const given = call.value("--max-q");
  if (given === undefined) return undefined;
  const maxQ = given.trim() === "" ? NaN : Number(given);
  if (maxQ >= 0 && maxQ <= 1) return maxQ;
  throw new Problem("usage", `--max-q: expected a number from 0 to 1; "${given}" was given. ${help}`);
}
