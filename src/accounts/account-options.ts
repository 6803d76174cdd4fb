import type { RequireTotp } from "./second-factor.ts";
import type { SessionOptions } from "./session.ts";
import type { SignInOptions } from "./sign-in.ts";

/** Settings of accounts and sign-ins. */
export interface AccountOptions extends SessionOptions, SignInOptions {
  /** Passwords hashed at the same time. */
  passwordHashes: number;
  /** Minutes for which a session need not be confirmed again. */
  confirmMinutes: number;
  /** Days after which tokens created by signing in expire; 0: never. */
  tokenDays: number;
  requireTotp: RequireTotp;
  /** File of the key that encrypts second factors; null keeps a key in memory. */
  keyFile: string | null;
}

export const DEFAULT_ACCOUNT_OPTIONS: AccountOptions = {
  loginFailures: 10,
  loginFailuresAddress: 100,
  loginWindow: 300,
  passwordHashes: 4,
  tokenDays: 90,
  requireTotp: "off",
  keyFile: null,
  sessionHours: 336,
  sessionIdleMinutes: 1440,
  confirmMinutes: 10,
  publicUrl: "",
  basePath: "",
  trustProxy: false,
};
