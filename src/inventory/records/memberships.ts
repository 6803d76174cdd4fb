import type { Actor } from "../model/access.ts";
import { SUB_RESOURCES } from "../resources/index.ts";
import type { Statements } from "./statements.ts";
import { openStore } from "./store.ts";
import type { RecordWriter } from "./record-writer.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/sqlite.ts";

/** Writing memberships so that they have their history. */
export interface Memberships {
  /** Runs work in one transaction; what it sets becomes one batch of the history, on behalf of the program. */
  write<T>(work: (set: (user: number, group: number, member: boolean) => void) => T): T;
}

/** Made by the migrations: on whose behalf the program itself writes. */
const PROGRAM: Actor = {
  user: 1,
  username: "system",
  superuser: true,
  groups: [1],
  primaryGroup: 1,
  token: null,
};

/** Memberships of a database, for whoever follows what others say of groups. */
export function openMemberships(database: Database, clock: Clock): Memberships {
  const store = openStore(database, clock);
  const { set } = membershipsOf(store.statements);
  return {
    write<T>(work: (set: (user: number, group: number, member: boolean) => void) => T): T {
      const manner = { kind: "update", actor: PROGRAM, dryRun: false, confirm: null } as const;
      const outcome = store.run(manner, (writing) =>
        work((user, group, member) => set(writing, user, group, member, PROGRAM)),
      );
      return (outcome as { value: T }).value;
    },
  };
}

export function membershipsOf(statements: Statements) {
  const recordOf = (user: number, group: number) =>
    statements.get({
      text: "SELECT rid, deleted FROM membership_record WHERE user_rid = ? AND group_rid = ?",
      args: [user, group],
    });
  return {
    /** The record of a membership, ended or not. */
    recordOf,
    /** Makes somebody a member, or no longer one. */
    set(writing: RecordWriter, user: number, group: number, member: boolean, actor: Actor): void {
      const known = recordOf(user, group);
      if (member && known) writing.setValues(SUB_RESOURCES.membership, Number(known.rid), {}, actor);
      else if (member) writing.insert(SUB_RESOURCES.membership, { user, group }, actor);
      else if (known?.deleted === 0)
        writing.endSubResource(SUB_RESOURCES.membership, Number(known.rid), actor);
    },
  };
}
