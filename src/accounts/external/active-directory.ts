/**
 * What Active Directory says that other directories do not: why it refuses a password, and how an account is doing
 * ([MS-ERREF] 2.2, [MS-ADTS] 2.2.16 and 3.1.1.4.5.17).
 */

/** Why a password was refused besides that it is wrong; which is for administrators, not for who typed it. */
export interface DirectoryRejection {
  reason: string;
  words: string;
}

/** By the code of Windows (hexadecimal) in the text of the answer: `AcceptSecurityContext error, data 532`. */
const REFUSALS: Readonly<Record<string, DirectoryRejection>> = {
  "530": { reason: "wrong_hour", words: "the account may not sign in at this hour" },
  "531": { reason: "wrong_machine", words: "the account may not sign in from this machine" },
  "532": { reason: "password_expired", words: "the password has expired" },
  "533": { reason: "account_disabled", words: "the account is disabled" },
  "701": { reason: "account_expired", words: "the account has expired" },
  "773": { reason: "must_change_password", words: "the password has to be changed before" },
  "775": { reason: "locked_out", words: "the account is locked out after wrong passwords" },
};
/** The account is not there, or the password is wrong: which of the two is not told apart. */
const WRONG = new Set(["525", "52e"]);

const codeOf = (error: unknown): string =>
  /\bdata ([0-9a-f]{3,4})\b/i.exec((error as Error | undefined)?.message ?? "")?.[1].toLowerCase() ?? "";

/** Why Active Directory refuses somebody whose password may be right; undefined where it says no more than that it is wrong. */
export const rejectionOf = (error: unknown): DirectoryRejection | undefined => REFUSALS[codeOf(error)];

/** The same in words, with what is simply wrong; empty where the answer is none of Active Directory. */
export const describeRejection = (error: unknown): string =>
  rejectionOf(error)?.words ?? (WRONG.has(codeOf(error)) ? "the name or the password is wrong" : "");

/** What is read of an entry to know how its account is doing. Other directories have none of it. */
export const STATE_ATTRIBUTES = [
  "userAccountControl",
  "msDS-User-Account-Control-Computed",
  "accountExpires",
] as const;

const DISABLED = 0x2;
const LOCKED_OUT = 0x10;
const PASSWORD_EXPIRED = 0x80_0000;
/** Milliseconds from 1601-01-01, from which Windows counts in 100 ns, to 1970-01-01 UTC. */
const WINDOWS_EPOCH = 11_644_473_600_000;
/** What stands for never. */
const NEVER = new Set(["", "0", "9223372036854775807"]);

/** How an account is doing. `closed`: it is disabled, or its time is over, until somebody changes that. */
export function accountState(
  values: ReadonlyMap<string, readonly string[]>,
  now: number,
): { closed: boolean; words: string[] } {
  const [control, computed, expires] = STATE_ATTRIBUTES.map(
    (name) => values.get(name.toLowerCase())?.[0] ?? "",
  );
  const isDisabled = (Number(control) & DISABLED) !== 0;
  const hasExpired = !NEVER.has(expires) && Number(expires) / 10_000 - WINDOWS_EPOCH <= now;
  const words = [
    ...(isDisabled ? ["disabled"] : []),
    ...(hasExpired ? ["expired"] : []),
    ...((Number(computed) & LOCKED_OUT) !== 0 ? ["locked out after wrong passwords"] : []),
    ...((Number(computed) & PASSWORD_EXPIRED) !== 0
      ? ["the password has expired, or has to be changed"]
      : []),
  ];
  return { closed: isDisabled || hasExpired, words };
}
