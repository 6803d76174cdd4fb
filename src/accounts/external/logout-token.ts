import type { JWTVerifyGetKey } from "jose";

/** What a provider says of a sign-out there: of a session, of all of somebody's, or both. */
export interface SignedOut {
  /** Of the token, which is good once. */
  jti: string;
  /** When it is refused for its age, at the latest: milliseconds since 1970-01-01 UTC. */
  until: number;
  subject?: string;
  session?: string;
}

/** Seconds since a token was made after which it is refused, whatever it says of its end; and by how much clocks may differ. */
const OLDEST = 600;
const TOLERANCE = 30;
const EVENT = "http://schemas.openid.net/event/backchannel-logout";

/**
 * Reads a logout token, of which all has to hold that OpenID Connect Back-Channel Logout 1.0 asks in section 2.6, but
 * that it is new: that is for who keeps those that were taken.
 * @throws Error that says what does not hold
 */
export async function readLogoutToken(
  token: string,
  {
    issuer,
    clientId,
    algorithms,
    keys,
    now,
  }: { issuer: string; clientId: string; algorithms: string[]; keys: JWTVerifyGetKey; now: number },
): Promise<SignedOut> {
  const { jwtVerify } = await import("jose");
  const { payload, protectedHeader } = await jwtVerify(token, keys, {
    issuer,
    audience: clientId,
    algorithms,
    clockTolerance: TOLERANCE,
    maxTokenAge: OLDEST,
    requiredClaims: ["iss", "aud", "iat", "exp", "jti", "events"],
    currentDate: new Date(now),
  });
  const { jti, sub, sid, events, azp, exp = 0, iat = 0 } = payload;
  const refuse = (what: string): never => {
    throw new Error(what);
  };
  // Without a type it is told from an ID token by its claims (section 4).
  const type = protectedHeader.typ?.toLowerCase().replace(/^application\//, "");
  if (type !== undefined && type !== "jwt" && type !== "logout+jwt") refuse("it is of another type");
  if (azp !== undefined && azp !== clientId) refuse("it is for another client (azp)");
  if (typeof jti !== "string" || jti === "") return refuse("it has no jti");
  const event = isObject(events) ? events[EVENT] : undefined;
  if (!isObject(event)) refuse("it is of another event");
  if ("nonce" in payload) refuse("it has a nonce");
  for (const claim of [sub, sid])
    if (claim !== undefined && (typeof claim !== "string" || claim === "")) refuse("sub or sid is no text");
  if (sub === undefined && sid === undefined) refuse("it has neither sub nor sid");
  return {
    jti,
    until: (Math.max(exp, iat + OLDEST) + 2 * TOLERANCE) * 1000,
    ...(sub === undefined ? {} : { subject: sub }),
    ...(typeof sid === "string" ? { session: sid } : {}),
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === "object" && !Array.isArray(value);
