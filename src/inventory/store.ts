import { type Bulk, openBulk } from "./bulk.ts";
import type { Resources } from "./model/resource.ts";
import { openReading, type Reading } from "./reading.ts";
import { DECLARED } from "./resources/index.ts";
import { openWriting, type Writing } from "./writing.ts";
import { Statements } from "./statements.ts";
import type { Clock } from "../shell/clock.ts";
import type { Database } from "../shell/sqlite.ts";

/** The records of one database. */
export interface Store {
  resources: Resources;
  reading: Reading;
  bulk: Bulk;
  /** Runs writes of single records in one transaction, and lets go of what was kept. */
  write<T>(work: (writing: Writing) => T): T;
  statements: Statements;
}

/** The store of this connection; the same one for whoever asks, because it keeps what it has read. */
export function openStore(database: Database, clock: Clock): Store {
  const known = stores.get(database);
  if (known) return known;
  const store = makeStore(database, clock);
  stores.set(database, store);
  return store;
}

const stores = new WeakMap<Database, Store>();

function makeStore(database: Database, clock: Clock): Store {
  const statements = new Statements(database);
  const reading = openReading(statements, DECLARED);
  const writing = openWriting(statements, DECLARED, clock);
  const bulk = openBulk(statements, reading, writing);
  const afterwards = <T>(work: () => T): T => {
    try {
      return work();
    } finally {
      reading.forget();
    }
  };
  return {
    resources: DECLARED,
    statements,
    reading,
    bulk: {
      create: (resource, body, actor) => afterwards(() => bulk.create(resource, body, actor)),
      update: (resource, body, mode, actor) => afterwards(() => bulk.update(resource, body, mode, actor)),
      remove: (resource, ids, actor) => afterwards(() => bulk.remove(resource, ids, actor)),
    },
    write: (work) => afterwards(() => statements.writing(() => work(writing))),
  };
}
