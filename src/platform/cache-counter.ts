/** How often something that is kept spared the work, and how often not. */
export interface Tally {
  hits: number;
  misses: number;
}

const tallies = new Map<string, Tally>();

/** The tally of what is kept under this name, one for the whole process. */
export function tallyOf(name: string): Tally {
  let found = tallies.get(name);
  if (!found) tallies.set(name, (found = { hits: 0, misses: 0 }));
  return found;
}

export const allTallies = (): ReadonlyMap<string, Tally> => tallies;
