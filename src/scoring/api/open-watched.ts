import type { Corpus } from "../../motif/index.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Log } from "../../platform/log.ts";
import { mount } from "../../platform/mount.ts";
import type { Guards } from "../../platform/operation.ts";
import type { Database } from "../../platform/sqlite.ts";
import type { FeatureSource } from "../features/annotation.ts";
import type { Handlers, JobRunner } from "../jobs/handlers.ts";
import type { Corpora } from "../corpus/corpus.ts";
import type { JobStore } from "../jobs/store.ts";
import { readBody } from "./json-schemas.ts";
import { Reruns } from "../watched/reruns.ts";
import { WatchedQueries } from "../watched/watched-queries.ts";
import { watchedOperations } from "./watched-routes.ts";

interface Options {
  database: Database;
  clock: Clock;
  log: Log;
  workers: number;
  identifyClient: (request: Request) => string;
  guards: Guards;
}

interface Dependencies {
  store: JobStore;
  runner: JobRunner;
  handlers: Handlers;
  featureSource: () => FeatureSource;
  corpora: Corpora;
  /** The corpus in use, opened. */
  openCorpus: () => Corpus;
}

/** Saved queries, and what scores them again; without workers nothing does. */
export function openWatched(options: Options, dependencies: Dependencies) {
  const { database, clock, log, identifyClient, guards } = options;
  const { corpora, openCorpus } = dependencies;
  const queries = new WatchedQueries(database, clock);
  const corpus = (): string | null => corpora.active()?.hash ?? null;
  const reruns = options.workers > 0 ? new Reruns({ ...dependencies, queries, corpus, log }) : null;
  return {
    routes: mount(watchedOperations, {
      tag: "scoring",
      guards,
      readBody,
      dependencies: { queries, reruns, corpus, openCorpus, identifyClient },
    }),
    /** Call it when a job has changed. */
    jobChanged: () => reruns?.jobChanged(),
    /** Looks at once whether another corpus is in use, and continues. */
    advance: async () => reruns?.advance(),
    close: () => reruns?.close(),
  };
}
