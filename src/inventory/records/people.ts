import type { Actor } from "../model/access.ts";
import {
  flag,
  type Json,
  json,
  KINDS,
  parseUuid,
  reference,
  shownName,
  text,
  isObject,
} from "../model/field.ts";
import type { Query, Row } from "../model/operator.ts";
import {
  fieldProblem,
  invalidField,
  missingReference,
  parseBody,
  type WriteMode,
} from "../model/parse-body.ts";
import type { Resource } from "../model/resource.ts";
import { Memberships } from "./memberships.ts";
import { DECLARED, PEOPLE } from "../resources/index.ts";
import type { RecordWriter } from "./record-writer.ts";
import { forbidden } from "./rights.ts";
import type { Store } from "./store.ts";
import { Problem } from "../../problem.ts";
import type { Accounts } from "../../accounts/accounts.ts";
import { EMAIL, FULL_NAME, GROUP_NAME } from "../../accounts/username.ts";

export type Kind = "user" | "group";

/** Asks the caller to authenticate again, perhaps by password, before somebody gets lasting access. @throws Problem */
type Confirm = (password: string) => Promise<void>;

/** Row of an account or a group, and the batch of its written memberships, if any. */
export interface PersonWrite {
  rid: number;
  batch: string | null;
}

/** Passwords are not trimmed, unlike texts. */
const secret = () =>
  json("", { check: (value) => (typeof value === "string" ? undefined : "Not a valid string.") });
const list = () =>
  json("", { check: (value) => (Array.isArray(value) ? undefined : "Expected a list of items.") });

/** Members of bodies, besides read-only fields, which are ignored. */
const BODIES: Record<Kind, Resource> = {
  user: {
    ...PEOPLE.user,
    fields: {
      ...PEOPLE.user.fields,
      full_name: text("", { pattern: FULL_NAME }),
      email: text("", { pattern: EMAIL }),
      groups: list(),
      primary_group: reference("group", "", { nullable: false }),
      is_active: flag("", true),
      is_superuser: flag("", false),
      is_staff: flag("", false),
      password: secret(),
      current_password: secret(),
    },
  },
  group: {
    ...PEOPLE.group,
    fields: {
      ...PEOPLE.group.fields,
      name: { ...PEOPLE.group.fields.name, pattern: GROUP_NAME },
      members: list(),
    },
  },
};

/** Columns of an account that a body sets without conversion. */
const COLUMNS = ["full_name", "email", "is_superuser", "is_staff"];
/** Fields of their own account that users may change. */
const OWN_FIELDS = new Set(["full_name", "email", "password", "current_password"]);
/** Created by the migrations. */
const SYSTEM_GROUP = 1;
/** Columns of groups that bodies set, besides the name. */
const GROUP_COLUMNS = ["description", "members_may", "members_order", "due_back_days"];

/** The row of the account or group that a value in a body names, or an error message. */
export function resolvePerson(query: Query, kind: Kind, value: Json): number | string {
  const { key } = PEOPLE[kind];
  const plain = isObject(value) ? (value.id ?? value[key] ?? value.name ?? value.value ?? null) : value;
  if (typeof plain !== "string" || KINDS.text.parse(plain) === undefined)
    return `Expected an id, a ${key}, or an object with one of them.`;
  const name = plain.trim();
  return findRow(query, kind, name) ?? `Object with ${key}=${shownName(name)} does not exist.`;
}

/** The row of an account or a group, by name or id. */
function findRow(query: Query, kind: Kind, typed: string): number | undefined {
  const { table, key } = PEOPLE[kind];
  const id = parseUuid(typed);
  const text = `SELECT rid FROM ${table} WHERE ${id === undefined ? key : "id"} = ?`;
  const row = query.get({ text, args: [id ?? typed] });
  return row === null ? undefined : Number(row.rid);
}

/** The changes in the body of an account. */
interface UserChange {
  values: Map<string, string | number | null>;
  groups: Set<number> | undefined;
  primary: number | undefined;
  password: string | undefined;
  currentPassword: string;
}

/** Writes accounts, groups and memberships. Administrators may do everything; users may change some of their own. */
export class People {
  readonly #memberships: Memberships;

  constructor(
    private readonly store: Store,
    private readonly accounts: Accounts,
  ) {
    this.#memberships = new Memberships(store);
  }

  /** The row of an account or a group, by name or id. @throws Problem not_found */
  find(kind: Kind, typed: string): number {
    const rid = findRow(this.store.statements, kind, typed);
    if (rid === undefined) throw new Problem("not_found", "Not found.");
    return rid;
  }

  /** Row of a membership, ended or not. @throws Problem not_found */
  membership(group: number, user: number): number {
    const found = this.#memberships.find(user, group);
    if (!found) throw new Problem("not_found", "Not found.");
    return Number(found.rid);
  }

  /** Rows of the members of a group, by name; `from`: statements of a past time. */
  members(group: number, from: Query = this.store.statements): number[] {
    const text =
      "SELECT u.rid FROM membership_record AS m JOIN user_account AS u ON u.rid = m.user_rid" +
      " WHERE m.group_rid = ? AND m.deleted = 0 ORDER BY u.username";
    return from.all({ text, args: [group] }).map(({ rid }) => Number(rid));
  }

  /** The rows of the accounts or groups that a list in a body names. @throws Problem invalid_request */
  readList(kind: Kind, field: string, value: Json): Set<number> {
    if (!Array.isArray(value)) throw invalidField(field, "Expected a list of items.");
    const found = value.map((item) => resolvePerson(this.store.statements, kind, item));
    const wrong = found.find((item) => typeof item === "string");
    if (wrong !== undefined) throw invalidField(field, String(wrong));
    return new Set(found as number[]);
  }

  /** Creates an account or a group. @throws Problem forbidden, invalid_request, conflict; what `confirm` throws */
  async create(kind: Kind, body: Json, actor: Actor, confirm: Confirm): Promise<PersonWrite> {
    if (!actor.superuser) throw forbidden();
    return kind === "user"
      ? this.#writeUser(undefined, body, "create", actor, confirm)
      : this.#writeGroup(undefined, body, "create", actor, confirm);
  }

  async update(
    { kind, rid }: { kind: Kind; rid: number },
    body: Json,
    mode: WriteMode,
    actor: Actor,
    confirm: Confirm,
  ): Promise<PersonWrite> {
    if (!actor.superuser && !(kind === "user" && rid === actor.user)) throw forbidden();
    return kind === "user"
      ? this.#writeUser(rid, body, mode, actor, confirm)
      : this.#writeGroup(rid, body, mode, actor, confirm);
  }

  /** Deletes a group; disables an account, as records name their authors. @throws Problem forbidden, conflict */
  remove(kind: Kind, rid: number, actor: Actor): void {
    if (!actor.superuser) throw forbidden();
    this.#write(actor, () =>
      kind === "user" ? this.accounts.setActive(rid, false) : this.#removeGroup(rid),
    );
  }

  /** Requires confirmation of a change that adds members. @throws what `confirm` throws */
  async confirmJoining(
    group: number | undefined,
    members: ReadonlySet<number>,
    confirm: Confirm,
  ): Promise<void> {
    const before = new Set(group === undefined ? [] : this.members(group));
    if (members.difference(before).size > 0) await confirm("");
  }

  /** Sets the members of a group. @throws Problem forbidden, invalid_request, conflict */
  setMembers(
    writer: RecordWriter,
    group: number,
    change: (before: ReadonlySet<number>) => ReadonlySet<number>,
    actor: Actor,
  ): void {
    if (!actor.superuser) throw forbidden();
    this.#setMembers(writer, group, change(new Set(this.members(group))), actor);
  }

  async #writeUser(
    rid: number | undefined,
    body: Json,
    mode: WriteMode,
    actor: Actor,
    confirm: Confirm,
  ): Promise<PersonWrite> {
    const change = this.#readUser(body, mode);
    const { values, password, currentPassword } = change;
    const before = rid === undefined ? {} : this.#account(rid);
    if (!actor.superuser) await this.#checkOwnChange(rid!, before, change);
    if (rid !== undefined && values.has("username") && values.get("username") !== before.username)
      throw invalidField("username", "The username cannot be changed.");
    if (this.#givesAccess(rid, before, change, actor)) await confirm(currentPassword);
    const hash = password === undefined ? undefined : await this.accounts.passwords.hash(password);
    let user = rid ?? -1;
    const batch = this.#write(actor, (writer) => {
      if (rid === undefined) {
        const username = String(values.get("username"));
        this.#refuseTaken("user", username, -1);
        user = this.accounts.insertUser({ username }, null, false);
      }
      this.#storeAccount(user, change, rid === undefined);
      this.#joinGroups(writer, user, change, rid === undefined, actor);
      this.#noteChange(user, rid === undefined ? undefined : before);
      const active = values.get("is_active");
      if (active !== undefined && active !== before.is_active) this.accounts.setActive(user, active === 1);
      if (hash !== undefined) this.accounts.setPasswordHash(user, hash);
    });
    return { rid: user, batch };
  }

  /**
   * True if a change could give an intruder lasting access: a password, rights, an enabled account, a group, or the
   * e-mail address. Users give their current password with a new one.
   */
  #givesAccess(
    rid: number | undefined,
    before: Row,
    { values, password, groups, primary }: UserChange,
    actor: Actor,
  ): boolean {
    const differs = (name: string): boolean => values.has(name) && values.get(name) !== before[name];
    if (!actor.superuser) return password === undefined && differs("email");
    const isGranted = (name: string): boolean => differs(name) && values.get(name) === 1;
    if (password !== undefined || isGranted("is_superuser")) return true;
    if (rid === undefined) return false;
    const joined = new Set([...(groups ?? []), ...(primary === undefined ? [] : [primary])]);
    return (
      isGranted("is_active") || differs("email") || joined.difference(new Set(this.#listGroups(rid))).size > 0
    );
  }

  /** @throws Problem invalid_request */
  #readUser(body: Json, mode: WriteMode): UserChange {
    const { values, pending, errors } = parseBody(DECLARED, BODIES.user, body, mode);
    const [primary] = pending.map((given) => {
      const found = findRow(this.store.statements, "group", String(given.value));
      if (found === undefined) errors.set("primary_group", [missingReference(given)]);
      return found;
    });
    if (errors.size > 0) throw fieldProblem(errors);
    const takeMember = (name: string): Json | undefined => {
      const value = values.get(name);
      values.delete(name);
      return value === undefined ? undefined : (JSON.parse(String(value)) as Json);
    };
    const groups = takeMember("groups");
    return {
      values,
      groups: groups === undefined ? undefined : this.readList("group", "groups", groups),
      primary,
      password: takeMember("password") as string | undefined,
      currentPassword: String(takeMember("current_password") ?? ""),
    };
  }

  /** Values that only an administrator may change must be unchanged, so that an answer can be sent back. */
  async #checkOwnChange(user: number, before: Row, change: UserChange): Promise<void> {
    const { values, groups, primary, password, currentPassword } = change;
    const changed = [...values.keys()].filter(
      (name) => !OWN_FIELDS.has(name) && before[name] !== values.get(name),
    );
    if (primary !== undefined && primary !== before.primary_group) changed.push("primary_group");
    if (groups !== undefined && new Set(this.#listGroups(user)).symmetricDifference(groups).size > 0)
      changed.push("groups");
    const errors = new Map(changed.map((name) => [name, ["Only an administrator may change this field."]]));
    if (password !== undefined) {
      const wrong = await this.accounts.passwordError(String(before.username), currentPassword);
      if (wrong !== undefined) errors.set("current_password", [wrong]);
    }
    if (errors.size > 0) throw fieldProblem(errors);
  }

  #storeAccount(user: number, { values, primary, groups }: UserChange, isNew: boolean): void {
    if (values.get("is_superuser") === 0) this.accounts.requireOtherAdministrator(user);
    const sets = COLUMNS.filter((name) => values.has(name)).map((name) => [name, values.get(name)!] as const);
    const first = primary ?? (isNew ? groups?.values().next().value : undefined);
    const all = first === undefined ? sets : [...sets, ["primary_group", first] as const];
    if (all.length === 0) return;
    this.#run(
      `UPDATE user_account SET ${all.map(([name]) => `${name} = ?`).join(", ")} WHERE rid = ?`,
      ...all.map(([, value]) => value),
      user,
    );
  }

  #joinGroups(
    writer: RecordWriter,
    user: number,
    { groups, primary }: UserChange,
    isNew: boolean,
    actor: Actor,
  ): void {
    const set = (group: number, member: boolean) =>
      this.#memberships.set(writer, { user, group }, member, actor);
    const own = Number(this.#account(user).primary_group);
    set(own, true);
    if (groups === undefined) return;
    if (!groups.has(own) && !isNew && primary === undefined) throw primaryGroupStays("groups");
    for (const group of this.#listGroups(user)) if (!groups.has(group) && group !== own) set(group, false);
    for (const group of groups) set(group, true);
  }

  /** Adds an entry to the audit log; of a new account only if it is an administrator. */
  #noteChange(user: number, before: Row | undefined): void {
    const now = this.#account(user);
    const administrator = now.is_superuser === 1;
    const changed = before
      ? Object.keys(now).filter((name) => now[name] !== before[name])
      : administrator
        ? ["is_superuser"]
        : [];
    if (changed.length === 0) return;
    const rights = changed.includes("is_superuser") ? { administrator } : {};
    this.accounts.audit.recordUser(user, "account.change", { changed, ...rights });
  }

  async #writeGroup(
    rid: number | undefined,
    body: Json,
    mode: WriteMode,
    actor: Actor,
    confirm: Confirm,
  ): Promise<PersonWrite> {
    const { values, errors } = parseBody(DECLARED, BODIES.group, body, mode);
    if (errors.size > 0) throw fieldProblem(errors);
    const members = values.has("members")
      ? this.readList("user", "members", JSON.parse(String(values.get("members"))) as Json)
      : undefined;
    const days = Number(values.get("due_back_days") ?? 1);
    if (days < 1 || days > 365) throw invalidField("due_back_days", "Give a number from 1 to 365.");
    const name = values.get("name");
    if (name !== undefined) this.#refuseTaken("group", String(name), rid ?? -1);
    if (members !== undefined) await this.confirmJoining(rid, members, confirm);
    if (rid === SYSTEM_GROUP && name !== undefined && name !== "SYSTEM_GROUP")
      throw invalidField("name", "This group cannot be renamed.");
    let group = rid ?? -1;
    const batch = this.#write(actor, (writer) => {
      if (rid === undefined) group = this.accounts.addGroup(String(name));
      else if (name !== undefined) this.#renameGroup(group, String(name));
      for (const column of GROUP_COLUMNS)
        if (values.has(column))
          this.#run(`UPDATE user_group SET ${column} = ? WHERE rid = ?`, values.get(column)!, group);
      if (members !== undefined) this.#setMembers(writer, group, members, actor);
      const changed = ["name", ...GROUP_COLUMNS].filter((field) => values.has(field));
      if (rid !== undefined && changed.length > 0)
        this.accounts.audit.recordGroup(group, "group.change", { changed });
    });
    return { rid: group, batch };
  }

  #renameGroup(group: number, name: string): void {
    // Lists of groups hold names; like the name itself, they have no history.
    this.#run(
      `UPDATE field_type SET mandatory_owned_by = (SELECT json_group_array(iif(value = old.name, ?1, value))
         FROM json_each(mandatory_owned_by)) FROM (SELECT name FROM user_group WHERE rid = ?2) AS old
       WHERE EXISTS (SELECT 1 FROM json_each(mandatory_owned_by) WHERE value = old.name)`,
      name,
      group,
    );
    this.#run("UPDATE user_group SET name = ? WHERE rid = ?", name, group);
  }

  #removeGroup(rid: number): void {
    const refuse = (text: string, cause?: unknown) => new Problem("conflict", text, { cause });
    if (rid === SYSTEM_GROUP)
      throw refuse("This group owns the records of the system and cannot be deleted.");
    if (this.#get("SELECT 1 FROM user_account WHERE primary_group = ?", rid))
      throw refuse("The group is the primary group of accounts. Assign another group to them first.");
    const types =
      "SELECT 1 FROM field_type, json_each(mandatory_owned_by) WHERE value = (SELECT name FROM user_group WHERE rid = ?)";
    if (this.#get(types, rid))
      throw refuse("The group is in mandatory_owned_by of types. Remove it there first.");
    this.accounts.audit.recordGroup(rid, "group.delete");
    // The history of the group's memberships and rights stays, under numbers that are never used again.
    for (const [kind, table] of [
      ["membership", "membership_record"],
      ["grant", "object_permission"],
    ])
      this.#run(
        `UPDATE record_change SET object_rid = -object_rid WHERE object_kind = '${kind}' AND object_rid IN (SELECT rid FROM ${table} WHERE group_rid = ?)`,
        rid,
      );
    this.#run(
      "UPDATE record_change SET host_rid = -host_rid WHERE host_kind = 'group' AND host_rid = ?",
      rid,
    );
    try {
      this.#run("DELETE FROM user_group WHERE rid = ?", rid);
    } catch (error) {
      if (!String((error as { code?: string }).code).startsWith("SQLITE_CONSTRAINT")) throw error;
      throw refuse("The group owns records. Assign them to another group first.", error);
    }
  }

  #setMembers(writer: RecordWriter, group: number, wanted: ReadonlySet<number>, actor: Actor): void {
    for (const user of this.members(group)) {
      if (wanted.has(user)) continue;
      if (this.#account(user).primary_group === group) throw primaryGroupStays("members");
      this.#memberships.set(writer, { user, group }, false, actor);
    }
    for (const user of wanted) this.#memberships.set(writer, { user, group }, true, actor);
  }

  #listGroups(user: number): number[] {
    const text = "SELECT group_rid FROM membership WHERE user_rid = ?";
    return this.store.statements.all({ text, args: [user] }).map(({ group_rid }) => Number(group_rid));
  }

  #account(rid: number): Row {
    return this.#get(
      "SELECT username, full_name, email, is_active, is_superuser, is_staff, primary_group FROM user_account WHERE rid = ?",
      rid,
    )!;
  }

  #refuseTaken(kind: Kind, name: string, rid: number): void {
    const { table, key } = PEOPLE[kind];
    if (this.#get(`SELECT 1 FROM ${table} WHERE ${key} = ? AND rid <> ?`, name, rid))
      throw invalidField(key, `${kind} with this ${key} already exists.`);
  }

  /** One transaction, whose memberships become one batch of the history. */
  #write(actor: Actor, work: (writer: RecordWriter) => void): string | null {
    const outcome = this.store.run({ kind: "update", actor, dryRun: false, confirm: null }, work);
    // Accounts and groups have no history.
    this.store.reader.forget();
    return "batch" in outcome ? outcome.batch : null;
  }

  #get(text: string, ...args: (string | number | null)[]): Row | null {
    return this.store.statements.get({ text, args });
  }

  #run(text: string, ...args: (string | number | null)[]): void {
    this.store.statements.run({ text, args });
  }
}

const primaryGroupStays = (field: string): Problem =>
  invalidField(field, "Users cannot leave their primary group. Set another primary_group first.");
