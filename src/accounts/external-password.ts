/** Why somebody is refused whom it knows, such as that a password has expired: for the audit log, never for who asks. */
export interface ExternalRejection {
  /** A word. */
  reason: string;
  /** What it knows them by. */
  label: string;
}

/** Who knows passwords of accounts besides this database: a directory, such as LDAP. */
export interface ExternalPasswords {
  /** What the audit log calls it. */
  readonly name: string;
  /**
   * The row of the account that signs in with this name and password there; undefined where they do not fit, and why
   * where that is not all.
   * @throws Problem identity_unavailable where it does not answer, forbidden where it knows who it is and that is nobody here
   */
  verify(username: string, password: string): Promise<number | ExternalRejection | undefined>;
  /** Whether this is the password of the account, which it knows by another name maybe. @throws Problem identity_unavailable, throttled */
  checkPassword(user: number, username: string, password: string): Promise<boolean>;
  /** Whether what it said of an account a short while ago still counts, as far as is known without asking. */
  canSignIn(user: number): boolean;
}
