import type { Query } from "../model/operator.ts";
import { fieldProblem } from "../model/parse-body.ts";
import type { Actor } from "../model/access.ts";
import { type Field, type Json, KINDS, parseUuid, quoted, text } from "../model/field.ts";
import type { WriteMode } from "../model/parse-body.ts";
import { membershipsOf } from "./memberships.ts";
import { PEOPLE } from "../resources/index.ts";
import type { Statements } from "./statements.ts";
import type { Store } from "./store.ts";
import { forbidden, type RecordWriter } from "./record-writer.ts";
import { nearest, Problem } from "../../problem.ts";
import type { Accounts } from "../../accounts/accounts.ts";
import { EMAIL, LONGEST_EMAIL } from "../../accounts/username.ts";

/** Writing accounts, groups and memberships. Administrators may do everything, others change some of their own. */
export interface People {
  /** The row of an account or a group, by name or id. @throws Problem not_found */
  find(kind: Kind, typed: string): number;
  /** Makes an account or a group. @throws Problem forbidden, invalid_request, conflict; what `confirm` throws */
  create(kind: Kind, body: Json, actor: Actor, confirm: Confirm): Promise<PersonWrite>;
  update(
    kind: Kind,
    rid: number,
    body: Json,
    mode: WriteMode,
    actor: Actor,
    confirm: Confirm,
  ): Promise<PersonWrite>;
  /** A group goes; an account is disabled, for records tell who made them. @throws Problem forbidden, conflict */
  remove(kind: Kind, rid: number, actor: Actor): void;
  /** Rows of the members of a group, by name; those of a past time with its statements. */
  members(group: number, from?: Query): number[];
  /** Sets who is a member. @throws Problem forbidden, invalid_request, conflict */
  setMembers(
    writing: RecordWriter,
    group: number,
    change: (before: ReadonlySet<number>) => ReadonlySet<number>,
    actor: Actor,
  ): void;
  /** Row of a membership, ended or not. @throws Problem not_found */
  membership(group: number, user: number): number;
  /** The rows of the accounts or groups that a list in a body names. @throws Problem invalid_request */
  readList(kind: Kind, field: string, value: Json): Set<number>;
}

export type Kind = "user" | "group";

/** Has an administrator show again who it is, maybe by the password, before what opens an account. @throws Problem */
type Confirm = (password: string) => Promise<void>;

/** Row of an account or a group, and the batch of the memberships that were written; null where none were. */
export interface PersonWrite {
  rid: number;
  batch: string | null;
}

/** The row of an account or a group, by name or id. */
function rowOf(statements: Statements, kind: Kind, typed: string): number | undefined {
  const { table, key } = PEOPLE[kind];
  const id = parseUuid(typed);
  const text = `SELECT rid FROM ${table} WHERE ${id === undefined ? key : "id"} = ?`;
  const row = statements.get({ text, args: [id ?? typed] });
  return row === null ? undefined : Number(row.rid);
}

/** The row of the account or group that a value in a body names, or what is wrong with it. */
export function resolvePerson(statements: Statements, kind: Kind, value: Json): number | string {
  const { key } = PEOPLE[kind];
  const plain =
    value !== null && typeof value === "object" && !Array.isArray(value)
      ? (value.id ?? value[key] ?? value.name ?? value.value ?? null)
      : value;
  if (typeof plain !== "string" || KINDS.text.parse(plain) === undefined)
    return `Expected an id, a ${key}, or an object with one of them.`;
  const name = plain.trim();
  return rowOf(statements, kind, name) ?? `Object with ${key}=${quoted(name)} does not exist.`;
}

/** What a body says, checked as far as it can be without looking at the record. */
type Given = Map<string, Json>;
type Errors = Map<string, string[]>;

/** What accounts change of their own. */
const OWN = new Set(["full_name", "email", "password", "current_password"]);
const SECRETS = ["password", "current_password"];
const FLAGS = ["is_active", "is_superuser", "is_staff"];
const MAIL: Field = text("", { maxLength: LONGEST_EMAIL, pattern: EMAIL });
const NOT_YOURS = "Only an administrator may change this.";
/** Made by the migrations. */
const SYSTEM_GROUP = 1;

export function openPeople(store: Store, accounts: Accounts): People {
  const { statements } = store;
  const get = (text: string, ...args: (string | number | null)[]) => statements.get({ text, args });
  const run = (text: string, ...args: (string | number | null)[]) => void statements.run({ text, args });
  /** Memberships that are written become one batch of the history. */
  const write = (actor: Actor, work: (writing: RecordWriter) => void): string | null => {
    const outcome = store.run({ kind: "update", actor, dryRun: false, confirm: null }, work);
    return "batch" in outcome ? outcome.batch : null;
  };

  const lookUp = (kind: Kind, typed: string) => rowOf(statements, kind, typed);
  const readOne = (kind: Kind, value: Json) => resolvePerson(statements, kind, value);

  const readMany = (kind: Kind, value: Json): Set<number> | string => {
    if (!Array.isArray(value)) return "Expected a list of items.";
    const found = value.map((item) => readOne(kind, item));
    const wrong = found.find((item) => typeof item === "string");
    return wrong === undefined ? new Set(found as number[]) : String(wrong);
  };

  const groupsOf = (user: number): number[] =>
    statements
      .all({ text: "SELECT group_rid FROM membership WHERE user_rid = ?", args: [user] })
      .map(({ group_rid }) => Number(group_rid));

  const { recordOf, set: setMembership } = membershipsOf(statements);

  const refuseTaken = (kind: Kind, name: string, rid: number, errors: Errors): void => {
    const { table, key } = PEOPLE[kind];
    if (get(`SELECT 1 FROM ${table} WHERE ${key} = ? AND rid <> ?`, name, rid))
      errors.set(key, [`${kind} with this ${key} already exists.`]);
  };

  /** The account as it is, in the form of a body. */
  const userNow = (rid: number): Record<string, Json> => {
    const row = get(
      "SELECT username, full_name, email, is_active, is_superuser, is_staff, primary_group FROM user_account WHERE rid = ?",
      rid,
    )!;
    return { ...row, ...Object.fromEntries(FLAGS.map((name) => [name, row[name] === 1])) };
  };

  const writeUser = async (
    rid: number | undefined,
    body: Json,
    mode: WriteMode,
    actor: Actor,
    confirm: Confirm,
  ): Promise<PersonWrite> => {
    const errors: Errors = new Map();
    const given = readBody("user", SECRETS, body, mode, errors);
    const before = rid === undefined ? {} : userNow(rid);
    const groups = given.has("groups") ? readMany("group", given.get("groups")!) : undefined;
    if (typeof groups === "string") errors.set("groups", [groups]);
    const primary = given.has("primary_group") ? readOne("group", given.get("primary_group")!) : undefined;
    if (typeof primary === "string") errors.set("primary_group", [primary]);
    if (errors.size > 0 || typeof groups === "string" || typeof primary === "string")
      throw fieldProblem(errors);
    given.delete("groups");
    given.delete("primary_group");

    if (!actor.superuser) {
      // What was read can be sent back as it was.
      const same = (name: string) => OWN.has(name) || before[name] === given.get(name);
      for (const name of given.keys()) if (!same(name)) errors.set(name, [NOT_YOURS]);
      if (primary !== undefined && primary !== before.primary_group) errors.set("primary_group", [NOT_YOURS]);
      if (groups !== undefined && new Set(groupsOf(rid!)).symmetricDifference(groups).size > 0)
        errors.set("groups", [NOT_YOURS]);
      if (given.has("password")) {
        const current = given.get("current_password") ?? "";
        const wrong = await accounts.passwordError(String(before.username), String(current));
        if (wrong !== undefined) errors.set("current_password", [wrong]);
      }
    }
    if (rid !== undefined && given.has("username") && given.get("username") !== before.username)
      errors.set("username", ["A username stays as it is."]);
    if (errors.size > 0) throw fieldProblem(errors);

    const makesAdministrator = given.get("is_superuser") === true && before.is_superuser !== true;
    if (actor.superuser && (given.has("password") || makesAdministrator))
      await confirm(String(given.get("current_password") ?? ""));

    const password = given.get("password");
    const hash = typeof password === "string" ? await accounts.passwords.hash(password) : undefined;
    const first = primary ?? (rid === undefined ? groups?.values().next().value : undefined);
    let user = rid ?? -1;
    const batch = write(actor, (writing) => {
      const setMember = (group: number, member: boolean) =>
        setMembership(writing, user, group, member, actor);
      if (rid === undefined) {
        const username = String(given.get("username"));
        refuseTaken("user", username, -1, errors);
        if (errors.size > 0) throw fieldProblem(errors);
        user = accounts.insertUser({ username }, null, false);
      }
      const sets: [string, string | number][] = [];
      for (const name of ["full_name", "email"])
        if (given.has(name)) sets.push([name, String(given.get(name))]);
      for (const name of ["is_superuser", "is_staff"])
        if (given.has(name)) sets.push([name, given.get(name) === true ? 1 : 0]);
      if (given.get("is_superuser") === false) accounts.requireOtherAdministrator(user);
      if (first !== undefined) sets.push(["primary_group", first]);
      if (sets.length > 0)
        run(
          `UPDATE user_account SET ${sets.map(([name]) => `${name} = ?`).join(", ")} WHERE rid = ?`,
          ...sets.map(([, value]) => value),
          user,
        );
      const own = Number(userNow(user).primary_group);
      setMember(own, true);
      if (groups !== undefined) {
        if (!groups.has(own) && rid !== undefined && primary === undefined) throw primaryGroupStays("groups");
        for (const group of groupsOf(user)) if (!groups.has(group) && group !== own) setMember(group, false);
        for (const group of groups) setMember(group, true);
      }
      if (rid !== undefined) {
        const now = userNow(user);
        const changed = Object.keys(now).filter((name) => now[name] !== before[name]);
        if (changed.length > 0)
          accounts.audit.recordUser(user, "account.change", {
            changed,
            ...(changed.includes("is_superuser") ? { administrator: now.is_superuser === true } : {}),
          });
      } else if (given.get("is_superuser") === true)
        accounts.audit.recordUser(user, "account.change", { changed: ["is_superuser"], administrator: true });
      if (given.has("is_active") && given.get("is_active") !== before.is_active)
        accounts.setActive(user, given.get("is_active") === true);
      if (hash !== undefined) accounts.setPasswordHash(user, hash);
    });
    return { rid: user, batch };
  };

  const members = (group: number, from: Query = statements): number[] =>
    from
      .all({
        text:
          "SELECT u.rid FROM membership_record AS m JOIN user_account AS u ON u.rid = m.user_rid" +
          " WHERE m.group_rid = ? AND m.deleted = 0 ORDER BY u.username",
        args: [group],
      })
      .map(({ rid }) => Number(rid));

  const applyMembers = (
    writing: RecordWriter,
    group: number,
    wanted: ReadonlySet<number>,
    actor: Actor,
  ): void => {
    for (const user of members(group)) {
      if (wanted.has(user)) continue;
      if (Number(userNow(user).primary_group) === group) throw primaryGroupStays("members");
      setMembership(writing, user, group, false, actor);
    }
    for (const user of wanted) setMembership(writing, user, group, true, actor);
  };

  const writeGroup = (rid: number | undefined, body: Json, mode: WriteMode, actor: Actor): PersonWrite => {
    const errors: Errors = new Map();
    const given = readBody("group", [], body, mode, errors);
    const wanted = given.has("members") ? readMany("user", given.get("members")!) : undefined;
    if (typeof wanted === "string") {
      errors.set("members", [wanted]);
      throw fieldProblem(errors);
    }
    const name = given.get("name");
    if (typeof name === "string") refuseTaken("group", name, rid ?? -1, errors);
    if (rid === SYSTEM_GROUP && typeof name === "string" && name !== "SYSTEM_GROUP")
      errors.set("name", ["This group keeps its name."]);
    if (errors.size > 0) throw fieldProblem(errors);
    let group = rid ?? -1;
    const batch = write(actor, (writing) => {
      if (rid === undefined) group = accounts.addGroup(String(name));
      else if (name !== undefined) {
        // Lists hold names; they have no history, like the name itself.
        run(
          `UPDATE field_type SET mandatory_owned_by = (SELECT json_group_array(iif(value = old.name, ?1, value))
             FROM json_each(mandatory_owned_by)) FROM (SELECT name FROM user_group WHERE rid = ?2) AS old
           WHERE EXISTS (SELECT 1 FROM json_each(mandatory_owned_by) WHERE value = old.name)`,
          String(name),
          group,
        );
        run("UPDATE user_group SET name = ? WHERE rid = ?", String(name), group);
      }
      if (given.has("description"))
        run("UPDATE user_group SET description = ? WHERE rid = ?", String(given.get("description")), group);
      if (wanted !== undefined) applyMembers(writing, group, wanted, actor);
      const changed = ["name", "description"].filter((field) => given.has(field));
      if (rid !== undefined && changed.length > 0)
        accounts.audit.recordGroup(group, "group.change", { changed });
    });
    return { rid: group, batch };
  };

  return {
    members,
    find(kind, typed) {
      const rid = lookUp(kind, typed);
      if (rid === undefined) throw new Problem("not_found", "Not found.");
      return rid;
    },
    readList(kind, field, value) {
      const found = readMany(kind, value);
      if (typeof found === "string") throw fieldProblem(new Map([[field, [found]]]));
      return found;
    },
    async create(kind, body, actor, confirm) {
      if (!actor.superuser) throw forbidden();
      return kind === "user"
        ? writeUser(undefined, body, "create", actor, confirm)
        : writeGroup(undefined, body, "create", actor);
    },
    async update(kind, rid, body, mode, actor, confirm) {
      if (!actor.superuser && !(kind === "user" && rid === actor.user)) throw forbidden();
      return kind === "user"
        ? writeUser(rid, body, mode, actor, confirm)
        : writeGroup(rid, body, mode, actor);
    },
    remove(kind, rid, actor) {
      if (!actor.superuser) throw forbidden();
      write(actor, () => {
        if (kind === "user") return accounts.setActive(rid, false);
        if (rid === SYSTEM_GROUP)
          throw new Problem("conflict", "This group stays: it owns what every installation has.");
        if (get("SELECT 1 FROM user_account WHERE primary_group = ?", rid))
          throw new Problem(
            "conflict",
            "The group is the primary group of accounts. Give them another first.",
          );
        const types =
          "SELECT 1 FROM field_type, json_each(mandatory_owned_by) WHERE value = (SELECT name FROM user_group WHERE rid = ?)";
        if (get(types, rid))
          throw new Problem(
            "conflict",
            "The group is in mandatory_owned_by of types. Take it out there first.",
          );
        accounts.audit.recordGroup(rid, "group.delete");
        // What was done to memberships and rights of the group stays known, under numbers that nothing else gets.
        for (const [kind, table] of [
          ["membership", "membership_record"],
          ["grant", "object_permission"],
        ])
          run(
            `UPDATE record_change SET object_rid = -object_rid WHERE object_kind = '${kind}' AND object_rid IN (SELECT rid FROM ${table} WHERE group_rid = ?)`,
            rid,
          );
        run("UPDATE record_change SET host_rid = -host_rid WHERE host_kind = 'group' AND host_rid = ?", rid);
        try {
          run("DELETE FROM user_group WHERE rid = ?", rid);
        } catch (cause) {
          if (!String((cause as { code?: string }).code).startsWith("SQLITE_CONSTRAINT")) throw cause;
          throw new Problem("conflict", "The group owns records. Give them to another first.", { cause });
        }
      });
    },
    setMembers(writing, group, change, actor) {
      if (!actor.superuser) throw forbidden();
      applyMembers(writing, group, change(new Set(members(group))), actor);
    },
    membership(group, user) {
      const found = recordOf(user, group);
      if (!found) throw new Problem("not_found", "Not found.");
      return Number(found.rid);
    },
  };
}

const primaryGroupStays = (field: string): Problem =>
  fieldProblem(new Map([[field, ["Nobody leaves the own primary group. Set primary_group first."]]]));

/** The fields of a body that can be written, each of the right kind. Read-only ones are left out. */
function readBody(kind: Kind, more: readonly string[], body: Json, mode: WriteMode, errors: Errors): Given {
  const given: Given = new Map();
  const { fields } = PEOPLE[kind];
  if (body === null || typeof body !== "object" || Array.isArray(body)) {
    const got = Array.isArray(body) ? "list" : body === null ? "null" : typeof body;
    errors.set("non_field_errors", [`Invalid data. Expected a dictionary, but got ${got}.`]);
    return given;
  }
  const writable = [
    ...Object.keys(fields).filter(
      (name) => fields[name].write !== "never" && fields[name].shown !== "internal",
    ),
    ...more,
  ];
  for (const [name, value] of Object.entries(body)) {
    if (!writable.includes(name)) {
      if (Object.hasOwn(fields, name) && fields[name].shown !== "internal") continue;
      const near = nearest(name, writable);
      const hint = near.length > 0 ? ` Did you mean ${near.join(" or ")}?` : "";
      const key = /^\w{1,60}$/.test(name) ? name : "non_field_errors";
      errors.set(key, [`${quoted(name)} is not a field of ${kind}.${hint} Choices: ${writable.join(", ")}.`]);
      continue;
    }
    const read = readValue(name, value, fields[name]);
    if ("error" in read) errors.set(name, [read.error]);
    else given.set(name, read.value);
  }
  for (const name of writable)
    if (mode !== "merge" && fields[name]?.write === "required" && !Object.hasOwn(body, name))
      errors.set(name, ["This field is required."]);
  return given;
}

function readValue(name: string, value: Json, field: Field | undefined): { value: Json } | { error: string } {
  if (FLAGS.includes(name)) {
    const read = KINDS.flag.decode(value, MAIL);
    return "error" in read ? read : { value: read.value === 1 };
  }
  if (SECRETS.includes(name)) return typeof value === "string" ? { value } : { error: "Not a valid string." };
  if (name === "email") return KINDS.text.decode(value, MAIL) as { value: Json };
  if (field?.kind === "text") return KINDS.text.decode(value, field) as { value: Json };
  return { value };
}
