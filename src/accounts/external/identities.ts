import type { Clock } from "../../platform/clock.ts";
import { withReserve } from "../../platform/disk-reserve.ts";
import type { Database } from "../../platform/sqlite.ts";
import { Problem } from "../../problem.ts";
import type { Accounts } from "../accounts.ts";
import { checkUsername } from "../username.ts";
import {
  normalizeUsername,
  type Admission,
  isAllowed,
  isInAnyGroup,
  mapMemberships,
  type Person,
  type Provider,
  type Subject,
} from "./person.ts";

type SetMember = (user: number, group: number, member: boolean) => void;

/** Writes memberships with their history, in one transaction. */
export interface Memberships {
  write<T>(work: (set: SetMember) => T): T;
}

export interface Identity extends Subject {
  user: number;
  created: number;
  last_used: number | null;
  /** Time of the first refusal by the provider; null if it admits the person. */
  suspended: number | null;
}

/** Why an authenticated person may not sign in. */
export type Rejection = "not_allowed" | "disabled" | "no_account" | "name_taken" | "name_unusable";

const REJECTIONS: Readonly<Record<Rejection, string>> = {
  not_allowed: "Your groups do not have permission to sign in. Ask an administrator.",
  disabled: "Your account is disabled. An administrator can enable it.",
  no_account: "There is no account for you yet. An administrator can add one and link it to you.",
  name_taken: "An account with your name exists, but is not linked to you. An administrator can link it.",
  name_unusable:
    "Your name cannot be used as a username. An administrator can add an account and link it to you.",
};

export class Identities {
  constructor(
    private readonly database: Database,
    private readonly clock: Clock,
    private readonly accounts: Accounts,
    private readonly memberships: Memberships,
  ) {}

  find({ provider, issuer, subject }: Omit<Subject, "label">): Identity | undefined {
    return this.select("provider = ? AND issuer = ? AND subject = ?", provider, issuer, subject)[0];
  }

  listByProvider(provider: Provider): Identity[] {
    return this.select("provider = ?", provider);
  }

  listByUser(user: number): Identity[] {
    return this.select("user_rid = ?", user);
  }

  private findByUser(user: number, provider: Provider): Identity | undefined {
    return this.listByUser(user).find((identity) => identity.provider === provider);
  }

  private select(condition: string, ...values: (string | number)[]): Identity[] {
    return this.database
      .query(
        `SELECT provider, issuer, subject, label, user_rid AS user, created, last_used, suspended FROM external_identity
         WHERE ${condition} ORDER BY provider`,
      )
      .all(...values) as Identity[];
  }

  /** True if an account is active and linked by a provider. */
  canSignIn(user: number, provider: Provider): boolean {
    const row = this.database
      .query(
        `SELECT 1 FROM external_identity AS e JOIN user_account AS u ON u.rid = e.user_rid
         WHERE u.rid = ? AND e.provider = ? AND u.is_active`,
      )
      .get(user, provider);
    return row !== null;
  }

  /** True if a typed name may be that of an external person: it is not that of an account without a link. */
  mayBeExternal(username: string, provider: Provider): boolean {
    const user = this.findAccount(normalizeUsername(username));
    return user === undefined || this.findByUser(user, provider) !== undefined;
  }

  private findAccount(name: string): number | undefined {
    const rows = this.database.query("SELECT rid, username FROM user_account").all();
    return (rows as { rid: number; username: string }[]).find(
      ({ username }) => normalizeUsername(username) === name,
    )?.rid;
  }

  /**
   * Signs in an authenticated person: finds or creates the account, and updates it from the provider.
   * @returns the row of the account @throws Problem forbidden, recorded in the audit log with its reason
   */
  admit(person: Person, admission: Admission): number {
    const known = this.find(person);
    const rejection = this.checkAdmission(person, admission, known);
    if (rejection !== undefined) {
      this.recordRejection(person, rejection, known);
      throw new Problem("forbidden", REJECTIONS[rejection], { more: { reason: rejection } });
    }
    const write = () =>
      this.memberships.write((set) => {
        const user = known?.user ?? this.add(person, admission, set);
        this.update(user, person, admission, known, set);
        this.database
          .query("UPDATE external_identity SET last_used = ?, label = ? WHERE user_rid = ? AND provider = ?")
          .run(this.clock.now(), person.label, user, person.provider);
        return user;
      });
    return withReserve(this.database, write);
  }

  /** Updates the account of an admitted person from the provider, without a sign-in. */
  refresh(person: Person, admission: Admission): void {
    const known = this.find(person)!;
    this.memberships.write((set) => this.update(known.user, person, admission, known, set));
  }

  /** Disables an account until the provider admits the person again. @throws Problem conflict for the last administrator */
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

  /** The reason why a person could not sign in, if any, and the account; null if the account would be created. */
  preview(person: Person, admission: Admission): { refusal: Rejection | undefined; account: string | null } {
    const known = this.find(person);
    const account = known ? this.accounts.readActor(known.user).username : null;
    return { refusal: this.checkAdmission(person, admission, known), account };
  }

  /** Links an account to a person. @throws Problem conflict if either has a link */
  link(user: number, subject: Subject): void {
    this.database
      .transaction(() => {
        const known = this.find(subject);
        if (known) {
          const { username } = this.accounts.readActor(known.user);
          throw new Problem("conflict", `${subject.label} is already linked to ${username}.`);
        }
        const other = this.findByUser(user, subject.provider);
        if (other)
          throw new Problem("conflict", `The account is already linked to ${other.label}. Unlink it first.`);
        this.insert(user, subject);
      })
      .immediate();
  }

  /** Unlinks an account and ends its sessions. @returns the former link @throws Problem not_found */
  unlink(user: number, provider: Provider): Identity {
    const found = this.findByUser(user, provider);
    if (!found) throw new Problem("not_found", `The account has no ${provider} link.`);
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

  private checkAdmission(person: Person, admission: Admission, known?: Identity): Rejection | undefined {
    // A suspended account is enabled by its provider.
    if (known?.suspended === null && !this.canSignIn(known.user, person.provider)) return "disabled";
    if (!isAllowed(admission, person.groups)) return "not_allowed";
    if (known) return undefined;
    const name = normalizeUsername(person.username);
    if (this.findAccount(name) !== undefined) return "name_taken";
    if (!admission.newAccounts) return "no_account";
    try {
      checkUsername(name);
      return undefined;
    } catch {
      return "name_unusable";
    }
  }

  private recordRejection(person: Person, reason: Rejection, known?: Identity): void {
    const row = this.database.query("SELECT id FROM user_account WHERE rid = ?").get(known?.user ?? null);
    this.accounts.audit.log.record({
      action: "sign_in",
      outcome: "refused",
      subject: { kind: "user", id: (row as { id: string } | null)?.id ?? null },
      detail: { by: person.provider, label: person.label, subject: person.subject, reason },
    });
  }

  private insert(user: number, { provider, issuer, subject, label }: Subject): void {
    this.database
      .query(
        "INSERT INTO external_identity (provider, issuer, subject, label, user_rid, created) VALUES (?, ?, ?, ?, ?, ?)",
      )
      .run(provider, issuer, subject, label, user, this.clock.now());
    this.accounts.audit.recordUser(user, "account.link", { provider, label });
  }

  private add(person: Person, { map, firstGroup }: Admission, set: SetMember): number {
    const [mapped] = [...mapMemberships(map, person.groups)].find(([, isMember]) => isMember) ?? [];
    const { fullName, email } = person;
    const group = mapped ?? firstGroup;
    const account = { username: normalizeUsername(person.username), fullName, email, group };
    const user = this.accounts.insertUser(account, null, false);
    set(user, this.accounts.addGroup(group), true);
    this.insert(user, person);
    return user;
  }

  /** Updates name, e-mail address, groups and rights from the provider. Unknown values stay. */
  private update(
    user: number,
    person: Person,
    admission: Admission,
    known: Identity | undefined,
    set: SetMember,
  ): void {
    if (known && known.suspended !== null) this.accounts.setActive(user, true, { by: person.provider });
    const before = this.database
      .query(
        "SELECT full_name, email, verified_email, is_superuser, primary_group FROM user_account WHERE rid = ?",
      )
      .get(user) as AccountFields;
    const after = { ...before };
    if (person.fullName !== "") after.full_name = person.fullName;
    if (person.email !== "") after.email = person.email;
    if (person.email !== "" && person.isEmailVerified) after.verified_email = person.email;
    if (admission.administrators.length > 0)
      after.is_superuser = isInAnyGroup(person.groups, admission.administrators) ? 1 : 0;
    const memberships = [...mapMemberships(admission.map, person.groups)].map(
      ([name, isMember]) => [this.accounts.addGroup(name), isMember] as const,
    );
    // Nobody can leave the primary group: another one replaces it.
    if (memberships.some(([group, isMember]) => group === before.primary_group && !isMember)) {
      const next = memberships.find(([, isMember]) => isMember)?.[0];
      after.primary_group = next ?? this.accounts.addGroup(admission.firstGroup);
      set(user, after.primary_group, true);
    }
    this.write(user, before, after, person.provider, known !== undefined);
    for (const [group, isMember] of memberships)
      if (isMember || group !== after.primary_group) set(user, group, isMember);
  }

  private write(
    user: number,
    before: AccountFields,
    after: AccountFields,
    provider: Provider,
    isKnown: boolean,
  ): void {
    const names = Object.keys(after) as (keyof AccountFields)[];
    const changed = names.filter((name) => after[name] !== before[name]);
    if (changed.length === 0) return;
    this.database
      .query(
        `UPDATE user_account SET full_name = ?1, email = ?2, is_superuser = ?3,
           is_staff = iif(is_superuser = ?3, is_staff, ?3), primary_group = ?4, verified_email = ?5 WHERE rid = ?6`,
      )
      .run(after.full_name, after.email, after.is_superuser, after.primary_group, after.verified_email, user);
    const rights = changed.includes("is_superuser") ? { administrator: after.is_superuser === 1 } : {};
    if (isKnown || "administrator" in rights)
      this.accounts.audit.recordUser(user, "account.change", { changed, by: provider, ...rights });
  }
}

interface AccountFields {
  full_name: string;
  email: string;
  verified_email: string;
  is_superuser: number;
  primary_group: number;
}
