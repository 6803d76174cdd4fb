import { addOrthology } from "../../motif/orthology.ts";
import { readTree } from "../../motif/rooted-tree.ts";
import type { MatchScore, PatternScores, Prediction, RandomMatches } from "../../motif/index.ts";

/** A match as labd-3 and earlier methods stored it: `verdict` was the level of conservation, `kept` included nearby homologs. */
interface EarlierMatch {
  verdict: MatchScore["conservationLevel"];
  overallVerdict?: MatchScore["overallVerdict"];
  kept?: number;
  atHomologs?: MatchScore["atHomologs"];
}

/** A stored match with the members that matches have now; one without homologs has no number of those nearby. */
export function currentMatch<Match extends { conservationLevel: unknown }>(match: Match): Match {
  if ("conservationLevel" in match) return match;
  const { verdict, overallVerdict = null, kept, atHomologs } = match as unknown as EarlierMatch;
  const nearby = atHomologs?.filter(({ state }) => state === "shifted").length;
  const counts = nearby === undefined || kept === undefined ? {} : { kept: kept - nearby, nearby };
  const verdicts = { conservationLevel: verdict, verdict: overallVerdict ?? "not scored" };
  return Object.assign({}, match as Match, verdicts, counts);
}

/** A stored pattern with the members that patterns have now: each match used to have a copy of `randomMatches`. */
function currentPattern(pattern: PatternScores): PatternScores {
  const matches = pattern.matches.map((match) => currentMatch(match));
  const copies = matches as readonly { randomMatches?: RandomMatches }[];
  const copy = copies.find(({ randomMatches }) => randomMatches)?.randomMatches;
  return { ...(copy && { randomMatches: copy }), ...pattern, matches };
}

/**
 * A stored prediction with the members that predictions have now.
 * @param organism species of the query, if it is known
 */
export function currentPrediction<Stored extends Prediction>(
  prediction: Stored,
  organism?: string | null | undefined,
): Stored {
  const current = { ...prediction, patterns: prediction.patterns.map(currentPattern) };
  const { homologs, tree } = prediction;
  if (homologs.every(({ relation }) => relation !== undefined)) return current;
  return addOrthology(current, readTree(tree, homologs), [organism]);
}
