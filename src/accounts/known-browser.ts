import { findBasePath, ownOrigin, type PublicUrlOptions } from "../platform/origin.ts";
import { readCookie, printCookie } from "../platform/cookie.ts";
import type { Clock } from "../platform/clock.ts";
import { Sealing } from "../platform/encryption.ts";
import { sha256 } from "../platform/secret.ts";

const DAY = 86_400_000;
/** Days for which a browser stays known after a sign-in. */
const KNOWN_DAYS = 180;
/** Version of the sealed data. */
const CONTEXT = "known browser 1";

interface Mark {
  /** Id of the account that signed in. */
  user: string;
  /** Id of the browser, for that account. */
  browser: string;
  /** Milliseconds since 1970-01-01 UTC. */
  until: number;
}

/**
 * Recognizes browsers in which somebody has signed in, by an encrypted cookie for each account. People can sign in there
 * while others guess their passwords elsewhere. The cookie signs nobody in.
 */
export class KnownBrowsers {
  private readonly sealing: Sealing;

  /** @param keyFile null keeps the key in memory */
  constructor(
    keyFile: string | null,
    private readonly options: PublicUrlOptions,
    private readonly clock: Clock,
  ) {
    this.sealing = new Sealing(keyFile);
  }

  /** The cookie (for Set-Cookie) that makes the browser of a request known; undefined if there can be no key. */
  mark(user: string, request: Request): string | undefined {
    const browser = this.find(user, request) ?? crypto.randomUUID();
    const mark: Mark = { user, browser, until: this.clock.now() + KNOWN_DAYS * DAY };
    let value: string;
    try {
      const sealed = this.sealing.seal(Buffer.from(JSON.stringify(mark)), CONTEXT);
      value = Buffer.from(sealed).toString("base64url");
    } catch {
      // The disk is full, for example. That must not keep anyone from signing in.
      return undefined;
    }
    const isSecure = ownOrigin(request, this.options).startsWith("https:");
    const path = findBasePath(request, this.options) || "/";
    const seconds = KNOWN_DAYS * 86_400;
    return printCookie(cookieName(user), value, { path, seconds, site: "Strict", isSecure });
  }

  /** The id of the browser of a request, if the account has signed in with it. */
  find(user: string, request: Request): string | undefined {
    const value = readCookie(request, cookieName(user));
    const opened = value === null ? undefined : this.sealing.open(Buffer.from(value, "base64url"), CONTEXT);
    if (opened === undefined) return undefined;
    const mark = JSON.parse(Buffer.from(opened).toString()) as Mark;
    return mark.user === user && mark.until > this.clock.now() ? mark.browser : undefined;
  }
}

/** Several people may use one browser. */
const cookieName = (user: string): string => `labd_browser_${sha256(user).slice(0, 12)}`;
