/** Why a known person is rejected, such as an expired password. For the audit log, not for the caller. */
export interface ExternalRejection {
  /** A keyword such as `password_expired`. */
  reason: string;
  /** The person's name in the directory. */
  label: string;
}

/** Passwords that another service verifies, such as a directory (LDAP). */
export interface ExternalPasswords {
  readonly name: string;
  /**
   * The row of the account that signs in with this name and password; undefined if they are wrong. Wrong passwords from
   * the known browser `browser` are counted apart.
   * @throws Problem identity_unavailable; forbidden if the person may not sign in here
   */
  verify(
    username: string,
    password: string,
    browser?: string,
  ): Promise<number | ExternalRejection | undefined>;
  /** True if this is the external password of an account. @throws Problem identity_unavailable, throttled */
  checkPassword(user: number, username: string, password: string, browser?: string): Promise<boolean>;
  /** True if the account is active and linked to the service. */
  canSignIn(user: number): boolean;
}
