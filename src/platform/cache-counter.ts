/** Hits and misses of a cache, for the metrics. */
export interface CacheCounter {
  hits: number;
  misses: number;
}

const tallies = new Map<string, CacheCounter>();

/** The counter of this name, one for the process. */
export function cacheCounter(name: string): CacheCounter {
  let found = tallies.get(name);
  if (!found) tallies.set(name, (found = { hits: 0, misses: 0 }));
  return found;
}

export const cacheCounters = (): ReadonlyMap<string, CacheCounter> => tallies;
