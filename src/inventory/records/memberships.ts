import type { Actor } from "../model/access.ts";
import type { Row } from "../model/operator.ts";
import { membership } from "../resources/membership.ts";
import type { RecordWriter } from "./record-writer.ts";
import { openStore, type Store } from "./store.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/sqlite.ts";

/** The account of the program itself; created by the migrations. */
const PROGRAM: Actor = { user: 1, username: "system", superuser: true, groups: [1], primaryGroup: 1 };

/** Writes memberships with their history. */
export class Memberships {
  constructor(private readonly store: Store) {}

  /** The record of a membership, ended or not. */
  find(user: number, group: number): Row | null {
    const text = "SELECT rid, deleted FROM membership_record WHERE user_rid = ? AND group_rid = ?";
    return this.store.statements.get({ text, args: [user, group] });
  }

  /** Starts or ends a membership. */
  set(writer: RecordWriter, of: { user: number; group: number }, member: boolean, actor: Actor): void {
    const known = this.find(of.user, of.group);
    if (member && known) writer.setValues(membership, Number(known.rid), {}, actor);
    else if (member) writer.insert(membership, of, actor);
    else if (known?.deleted === 0) writer.endSubResource(membership, Number(known.rid), actor);
  }

  /** Runs work in one transaction on behalf of the program; its changes become one batch of the history. */
  write<T>(work: (set: (user: number, group: number, member: boolean) => void) => T): T {
    return this.store.write(
      (writer) => work((user, group, member) => this.set(writer, { user, group }, member, PROGRAM)),
      { kind: "update" },
    );
  }
}

/** Membership changes for sources outside the program. */
export const openMemberships = (database: Database, clock: Clock): Memberships =>
  new Memberships(openStore(database, clock));
