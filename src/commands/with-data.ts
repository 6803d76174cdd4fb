import { openData, openScoringFor, type Opened } from "../app/data-directory.ts";
import type { Config } from "../config.ts";
import type { Scoring } from "../scoring/index.ts";
import type { Call } from "./command.ts";

/** Opens the data directory that the settings name, for the time of `work`; a server may be running on it. */
export async function withData<T>(
  call: Call,
  work: (opened: Opened, config: Config) => T | Promise<T>,
): Promise<T> {
  const { config } = call.configuration();
  const opened = await openData(config);
  try {
    return await work(opened, config);
  } finally {
    opened.close();
  }
}

/** Runs work with the scoring service, which has no workers: corpora, motif classes, and scoring on this thread. */
export const withScoring = <T>(
  call: Call,
  work: (scoring: Scoring, opened: Opened, config: Config) => T | Promise<T>,
): Promise<T> =>
  withData(call, async (opened, config) => work(await openScoringFor(opened, config), opened, config));
