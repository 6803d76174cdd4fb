import type { RequireTotp } from "./second-factor.ts";
import type { SessionOptions } from "./session.ts";

export interface AccountOptions extends SessionOptions {
  passwordHashes: number;
  requireTotp: RequireTotp;
  /** File of the key that encrypts second factors; null keeps a key in memory. */
  keyFile: string | null;
}

export const DEFAULT_ACCOUNT_OPTIONS: AccountOptions = {
  passwordHashes: 4,
  requireTotp: "off",
  keyFile: null,
  sessionIdleMinutes: 1440,
  publicUrl: "",
  basePath: "",
  trustProxy: false,
};
