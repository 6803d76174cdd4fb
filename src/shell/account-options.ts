import type { SessionOptions } from "./session.ts";

/** How accounts and sign-ins are to be treated. */
export interface AccountOptions extends SessionOptions {
  /** Failed sign-ins for one account, and from one address, within loginWindow seconds. */
  loginFailures: number;
  loginFailuresAddress: number;
  loginWindow: number;
  /** Passwords hashed at once. */
  passwordHashes: number;
  /** Days after which tokens made by signing in expire; 0: never. */
  tokenDays: number;
}

/** Where nothing else is said. */
export const USUAL: AccountOptions = {
  loginFailures: 10,
  loginFailuresAddress: 100,
  loginWindow: 300,
  passwordHashes: 4,
  tokenDays: 90,
  sessionHours: 336,
  sessionIdleMinutes: 1440,
  publicUrl: "",
  basePath: "",
  trustProxy: false,
};
