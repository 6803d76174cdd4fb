import {
  accountNameOf,
  type Admission,
  isInAnyGroup,
  membershipsBy,
  type Person,
  type Provider,
  type Subject,
} from "./person.ts";
import { Problem } from "../../problem.ts";
import type { Accounts } from "../accounts.ts";
import type { Clock } from "../../platform/clock.ts";
import type { Database } from "../../platform/sqlite.ts";
import { checkUsername } from "../username.ts";

/** Sets memberships so that they have their history; all within one transaction. */
export interface Memberships {
  write<T>(work: (set: (user: number, group: number, member: boolean) => void) => T): T;
}

/** Whom an account is bound to. */
export interface Identity extends Subject {
  /** Row of the account. */
  user: number;
  created: number;
  last_used: number | null;
  /** When the provider was found to have its owner no longer; null where it has. */
  suspended: number | null;
}

/** Why somebody who has shown who they are does not come in. */
export type Rejection = "not_allowed" | "disabled" | "no_account" | "name_taken" | "name_unusable";

const WORDS: Readonly<Record<Rejection, string>> = {
  not_allowed: "You are in none of the groups that may sign in. An administrator can say which these are.",
  disabled: "Your account is disabled. An administrator can enable it.",
  no_account: "There is no account for you yet. An administrator can make one and link it to you.",
  name_taken: "There is an account of your name that is not linked to you. An administrator can link it.",
  name_unusable: "Your name cannot be that of an account. An administrator can make one and link it to you.",
};

/** Which accounts others vouch for, and what becomes of an account when its owner signs in that way. */
export class Identities {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly accounts: Accounts,
    private readonly memberships: Memberships,
  ) {}

  /** The identity of somebody; undefined where no account is bound to it. */
  find({
    provider,
    issuer,
    subject,
  }: Pick<Subject, "provider" | "issuer" | "subject">): Identity | undefined {
    return this.select("provider = ? AND issuer = ? AND subject = ?", provider, issuer, subject)[0];
  }

  /** All by one provider. */
  byProvider(provider: Provider): Identity[] {
    return this.select("provider = ?", provider);
  }

  /** Those of an account. */
  ofUser(user: number): Identity[] {
    return this.select("user_rid = ?", user);
  }

  /** Whether an account may sign in by a provider: it is active and bound to it. */
  canSignIn(user: number, provider: Provider): boolean {
    return (
      this.database
        .query(
          "SELECT 1 FROM external_identity AS e JOIN user_account AS u ON u.rid = e.user_rid WHERE u.rid = ? AND e.provider = ? AND u.is_active",
        )
        .get(user, provider) !== null
    );
  }

  /**
   * Whether a name that was typed may be somebody elsewhere: not where it is that of an account that is bound to
   * nobody, whose password is its own or none.
   */
  mayBeExternal(username: string, provider: Provider): boolean {
    const user = this.accountOf(accountNameOf(username));
    return user === undefined || this.ofUser(user).some((identity) => identity.provider === provider);
  }

  /**
   * Lets somebody in who has shown who they are: finds or makes the account, and has it follow what the provider says.
   * @returns the row of the account @throws Problem forbidden, which is in the audit log with its reason
   */
  admit(person: Person, admission: Admission): number {
    const known = this.find(person);
    const refusal = this.refusalOf(person, admission, known);
    if (refusal !== undefined) {
      this.noteRefusal(person, refusal, known);
      throw new Problem("forbidden", WORDS[refusal], { more: { reason: refusal } });
    }
    return this.memberships.write((set) => {
      const user = known?.user ?? this.add(person, admission, set);
      if (known && known.suspended !== null) this.accounts.setActive(user, true, { by: person.provider });
      this.follow(user, person, admission, known !== undefined, set);
      this.database
        .query("UPDATE external_identity SET last_used = ?, label = ? WHERE user_rid = ? AND provider = ?")
        .run(this.clock.now(), person.label, user, person.provider);
      return user;
    });
  }

  /** Has an account follow what the provider says now, without a sign-in; of somebody whom it lets in. */
  refresh(person: Person, admission: Admission): void {
    const { user, suspended } = this.find(person)!;
    this.memberships.write((set) => {
      if (suspended !== null) this.accounts.setActive(user, true, { by: person.provider });
      this.follow(user, person, admission, true, set);
    });
  }

  /** Shuts an account out until the provider lets its owner in again. @throws Problem conflict for the last administrator */
  suspend({ user, provider }: Identity, reason: "gone" | "not_allowed"): void {
    this.database
      .transaction(() => {
        this.accounts.setActive(user, false, { by: provider, reason });
        this.database
          .query("UPDATE external_identity SET suspended = ? WHERE user_rid = ? AND provider = ?")
          .run(this.clock.now(), user, provider);
      })
      .immediate();
  }

  /** Whether and as whom somebody would come in: nothing is changed. `account` is null where it would be made. */
  preview(person: Person, admission: Admission): { refusal: Rejection | undefined; account: string | null } {
    const known = this.find(person);
    const account = known ? this.accounts.actorOf(known.user).username : null;
    return { refusal: this.refusalOf(person, admission, known), account };
  }

  /** Binds an account to somebody. @throws Problem conflict where either is bound already */
  link(user: number, { provider, issuer, subject, label }: Subject): void {
    this.database
      .transaction(() => {
        const bound = this.find({ provider, issuer, subject });
        if (bound)
          throw new Problem(
            "conflict",
            `${label} is linked to ${this.accounts.actorOf(bound.user).username} already.`,
          );
        const other = this.ofUser(user).find((identity) => identity.provider === provider);
        if (other)
          throw new Problem("conflict", `The account is linked to ${other.label} already. Unlink it first.`);
        this.bind(user, { provider, issuer, subject, label });
      })
      .immediate();
  }

  /** Frees an account, and ends its sessions. @returns from whom @throws Problem not_found */
  unlink(user: number, provider: Provider): Identity {
    const found = this.ofUser(user).find((identity) => identity.provider === provider);
    if (!found) throw new Problem("not_found", `The account is not linked by ${provider}.`);
    this.database
      .transaction(() => {
        this.database
          .query("DELETE FROM external_identity WHERE user_rid = ? AND provider = ?")
          .run(user, provider);
        this.accounts.sessions.closeAll(user);
        this.accounts.audit.recordUser(user, "account.unlink", { provider, label: found.label });
      })
      .immediate();
    return found;
  }

  private select(condition: string, ...values: (string | number)[]): Identity[] {
    return this.database
      .query(
        `SELECT provider, issuer, subject, label, user_rid AS user, created, last_used, suspended FROM external_identity
         WHERE ${condition} ORDER BY provider`,
      )
      .all(...values) as Identity[];
  }

  /** The account of a name, whatever the case of its letters. */
  private accountOf(name: string): number | undefined {
    const rows = this.database.query("SELECT rid, username FROM user_account").all() as {
      rid: number;
      username: string;
    }[];
    return rows.find(({ username }) => accountNameOf(username) === name)?.rid;
  }

  private refusalOf(
    person: Person,
    admission: Admission,
    known: Identity | undefined,
  ): Rejection | undefined {
    // Whom the provider shut out, it lets in again.
    if (known && known.suspended === null && !this.canSignIn(known.user, person.provider)) return "disabled";
    if (admission.allowed.length > 0 && !isInAnyGroup(person.groups, admission.allowed)) return "not_allowed";
    if (known) return undefined;
    const name = accountNameOf(person.username);
    if (this.accountOf(name) !== undefined) return "name_taken";
    if (!admission.newAccounts) return "no_account";
    try {
      checkUsername(name);
      return undefined;
    } catch {
      return "name_unusable";
    }
  }

  private noteRefusal(person: Person, reason: Rejection, known: Identity | undefined): void {
    const id = known
      ? (this.database.query("SELECT id FROM user_account WHERE rid = ?").get(known.user) as { id: string })
          .id
      : null;
    this.accounts.audit.log.record({
      action: "sign_in",
      outcome: "refused",
      subject: { kind: "user", id },
      detail: { by: person.provider, label: person.label, subject: person.subject, reason },
    });
  }

  private bind(user: number, { provider, issuer, subject, label }: Subject): void {
    this.database
      .query(
        "INSERT INTO external_identity (provider, issuer, subject, label, user_rid, created) VALUES (?, ?, ?, ?, ?, ?)",
      )
      .run(provider, issuer, subject, label, user, this.clock.now());
    this.accounts.audit.recordUser(user, "account.link", { provider, label });
  }

  private add(person: Person, admission: Admission, set: SetMember): number {
    const [first] = [...membershipsBy(admission.map, person.groups)].find(([, isIn]) => isIn) ?? [];
    const account = {
      username: accountNameOf(person.username),
      fullName: person.fullName,
      email: person.email,
      group: first ?? admission.firstGroup,
    };
    const user = this.accounts.insertUser(account, null, false);
    set(user, this.accounts.addGroup(account.group), true);
    this.bind(user, person);
    return user;
  }

  /** Name, address, groups and administration as the provider has them. */
  private follow(user: number, person: Person, admission: Admission, isKnown: boolean, set: SetMember): void {
    const before = this.database
      .query("SELECT full_name, email, is_superuser, primary_group FROM user_account WHERE rid = ?")
      .get(user) as { full_name: string; email: string; is_superuser: number; primary_group: number };
    const after = { ...before };
    // What the provider does not say stays.
    if (person.fullName !== "") after.full_name = person.fullName;
    if (person.email !== "") after.email = person.email;
    if (admission.administrators.length > 0)
      after.is_superuser = isInAnyGroup(person.groups, admission.administrators) ? 1 : 0;

    const wanted = [...membershipsBy(admission.map, person.groups)].map(
      ([name, isIn]) => [this.accounts.addGroup(name), isIn] as const,
    );
    // Nobody leaves the own primary group: where that has to be, another takes its place.
    if (wanted.some(([group, isIn]) => group === before.primary_group && !isIn)) {
      const next = wanted.find(([, isIn]) => isIn)?.[0] ?? this.accounts.addGroup(admission.firstGroup);
      after.primary_group = next;
      set(user, next, true);
    }
    const changed = (Object.keys(after) as (keyof typeof after)[]).filter(
      (name) => after[name] !== before[name],
    );
    if (changed.length > 0) {
      this.database
        .query(
          `UPDATE user_account SET full_name = ?1, email = ?2, is_superuser = ?3,
             is_staff = iif(is_superuser = ?3, is_staff, ?3), primary_group = ?4 WHERE rid = ?5`,
        )
        .run(after.full_name, after.email, after.is_superuser, after.primary_group, user);
      const isAboutRights = changed.includes("is_superuser");
      if (isKnown || isAboutRights)
        this.accounts.audit.recordUser(user, "account.change", {
          changed,
          by: person.provider,
          ...(isAboutRights ? { administrator: after.is_superuser === 1 } : {}),
        });
    }
    for (const [group, isIn] of wanted) if (isIn || group !== after.primary_group) set(user, group, isIn);
  }
}

type SetMember = (user: number, group: number, member: boolean) => void;
