/** Peculiarities of Active Directory ([MS-ERREF] 2.2, [MS-ADTS] 2.2.16 and 3.1.1.4.5.17). */

/** Why a password was rejected although it may be right. For administrators, not for the caller. */
export interface DirectoryRejection {
  reason: string;
  words: string;
}

/** Rejections by the Windows error code in the diagnostic message: `AcceptSecurityContext error, data 532`. */
const REJECTIONS: Readonly<Record<string, DirectoryRejection>> = {
  "530": { reason: "wrong_hour", words: "the account may not sign in at this hour" },
  "531": { reason: "wrong_machine", words: "the account may not sign in from this machine" },
  "532": { reason: "password_expired", words: "the password has expired" },
  "533": { reason: "account_disabled", words: "the account is disabled" },
  "701": { reason: "account_expired", words: "the account has expired" },
  "773": { reason: "must_change_password", words: "the password must be changed first" },
  "775": { reason: "locked_out", words: "the account is locked out after wrong passwords" },
};
/** No such account, or a wrong password. */
const WRONG_PASSWORD_CODES = new Set(["525", "52e"]);

const parseErrorCode = (error: unknown): string =>
  /\bdata ([0-9a-f]{3,4})\b/i.exec((error as Error | undefined)?.message ?? "")?.[1].toLowerCase() ?? "";

/** Why Active Directory rejects a person whose password may be right; undefined if it is just wrong. */
export const parseRejection = (error: unknown): DirectoryRejection | undefined =>
  REJECTIONS[parseErrorCode(error)];

/** The reason for a rejection in words; empty for other servers. */
export const describeRejection = (error: unknown): string =>
  parseRejection(error)?.words ??
  (WRONG_PASSWORD_CODES.has(parseErrorCode(error)) ? "the name or the password is wrong" : "");

/** Attributes with the state of an account, which only Active Directory has. */
export const STATE_ATTRIBUTES = [
  "userAccountControl",
  "msDS-User-Account-Control-Computed",
  "accountExpires",
] as const;

const DISABLED_FLAG = 0x2;
const LOCKED_OUT = 0x10;
const PASSWORD_EXPIRED = 0x80_0000;
/** Milliseconds from 1601-01-01, where Windows starts counting in 100 ns, to 1970-01-01 UTC. */
const WINDOWS_EPOCH = 11_644_473_600_000;
const NEVER = new Set(["", "0", "9223372036854775807"]);

/** The state of an account. `closed`: disabled or expired. @param now milliseconds since 1970-01-01 UTC */
export function accountState(
  values: ReadonlyMap<string, readonly string[]>,
  now: number,
): { closed: boolean; words: string[] } {
  const [control, computed, expires] = STATE_ATTRIBUTES.map(
    (name) => values.get(name.toLowerCase())?.[0] ?? "",
  );
  const isDisabled = (Number(control) & DISABLED_FLAG) !== 0;
  const hasExpired = !NEVER.has(expires) && Number(expires) / 10_000 - WINDOWS_EPOCH <= now;
  const states: [boolean, string][] = [
    [isDisabled, "disabled"],
    [hasExpired, "expired"],
    [(Number(computed) & LOCKED_OUT) !== 0, "locked out after wrong passwords"],
    [(Number(computed) & PASSWORD_EXPIRED) !== 0, "the password has expired, or must be changed"],
  ];
  return { closed: isDisabled || hasExpired, words: states.flatMap(([is, words]) => (is ? words : [])) };
}
