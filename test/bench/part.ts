/** A value of a group, and whether it is a hit. */
export interface Count {
  group: string | number;
  isHit: boolean;
}

/** Fraction of hits and its standard error, clustered by group (ratio estimator). */
function computePart(counts: readonly Count[]): { part: number; error: number } {
  const part = counts.filter(({ isHit }) => isHit).length / counts.length;
  const groups = Map.groupBy(counts, ({ group }) => group);
  let squares = 0;
  for (const members of groups.values()) {
    squares += (members.filter(({ isHit }) => isHit).length - part * members.length) ** 2;
  }
  return { part, error: Math.sqrt((squares * groups.size) / (groups.size - 1)) / counts.length };
}

/** Percentage with standard error: "5.0 ± 0.4". */
export function percent(counts: readonly Count[]): string {
  const { part, error } = computePart(counts);
  return `${(100 * part).toFixed(1)} ± ${(100 * error).toFixed(1)}`;
}
