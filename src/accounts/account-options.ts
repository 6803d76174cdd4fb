import type { RequireTotp } from "./second-factor.ts";
import type { SessionOptions } from "./session.ts";
import type { SignInOptions } from "./sign-in.ts";

/** How accounts and sign-ins are to be treated. */
export interface AccountOptions extends SessionOptions, SignInOptions {
  /** Passwords hashed at once. */
  passwordHashes: number;
  /** Minutes for which somebody who has shown who they are need not do so again. */
  confirmMinutes: number;
  /** Days after which tokens made by signing in expire; 0: never. */
  tokenDays: number;
  /** Whose accounts need a second factor. */
  requireTotp: RequireTotp;
  /** File of the key that secrets of second factors are encrypted by; null: it is kept in memory. */
  keyFile: string | null;
}

/** Where nothing else is said. */
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
