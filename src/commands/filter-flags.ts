import { Problem } from "../problem.ts";
import type { PlaceFilter, Scoring } from "../scoring/index.ts";
import type { Call } from "./command.ts";

/** The flags that limit the printed matches. */
export const MATCH_FILTERS = {
  "--disordered": "Print only matches in regions predicted to be disordered.",
  "--max-q Q": "Print only matches with at most this q-value, 0 to 1.",
  "--inside-domains": "Print only matches that lie in a domain (labd features add).",
  "--outside-domains": "Print only matches that lie in no domain.",
  "--near-phosphosite 0-1000": "Print only matches with a phosphosite at most this many residues away.",
  "--known": "Print only matches that are known instances of their motif.",
  "--unknown": "Print only matches that are no known instances.",
};

/** The value of --max-q. @throws Problem usage */
export function maxQOf(call: Call, help: string): number | undefined {
  const given = call.value("--max-q");
  if (given === undefined) return undefined;
  const maxQ = given.trim() === "" ? NaN : Number(given);
  if (maxQ >= 0 && maxQ <= 1) return maxQ;
  throw new Problem("usage", `--max-q: expected a number from 0 to 1; "${given}" was given. ${help}`);
}

/** The filters by features. @throws Problem usage for opposite ones */
export function placeFilterOf(call: Call, help: string): PlaceFilter {
  for (const [one, other] of [
    ["--inside-domains", "--outside-domains"],
    ["--known", "--unknown"],
  ])
    if (call.has(one) && call.has(other))
      throw new Problem("usage", `${one} and ${other} exclude each other. ${help}`);
  const phosphosite = call.number("--near-phosphosite");
  return {
    ...(call.has("--inside-domains") ? { domain: "inside" } : {}),
    ...(call.has("--outside-domains") ? { domain: "outside" } : {}),
    ...(phosphosite === undefined ? {} : { phosphosite }),
    ...(call.has("--known") ? { known: true } : {}),
    ...(call.has("--unknown") ? { known: false } : {}),
  };
}

/** Says that filters by features have no meaning without any. */
export function warnWithoutFeatures(call: Call, { features }: Scoring): void {
  if (features.isEmpty && Object.keys(placeFilterOf(call, "")).length > 0)
    call.warn(
      "no features are imported, so that filters by them find none. Import some: labd features add FILE",
    );
}
