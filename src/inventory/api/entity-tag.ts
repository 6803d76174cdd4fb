import type { Call } from "./call.ts";
import { Problem } from "../../problem.ts";

/**
 * Entity tag of a record (RFC 9110, section 8.8.3): its version and a digest of the response, `"3-1x8f…"`. The digest
 * distinguishes formats, and names of referenced records. If-Match compares the version only.
 */
export const recordTag = (version: number, body: string, format: string): string =>
  `"${version}-${digest(body, format)}"`;

/** Weak entity tag of a list. */
export const listTag = (body: string, format = "json"): string => `W/"${digest(body, format)}"`;

/**
 * Entity tag of a streamed list, whose content cannot be hashed in advance. `key`: all that it depends on besides the
 * database. Every write and every restart changes it.
 */
export const stateTag = (call: Pick<Call, "state" | "store">, key: string): string =>
  `W/"s${Bun.hash(`${call.state ?? readState(call)} ${key}`).toString(36)}"`;

/** The state of the database as a counter of this process, which restarts with the process. */
export const readState = ({ store }: Pick<Call, "store">): string =>
  `${process.pid} ${performance.timeOrigin} ${store.statements.state()}`;

/** The format is appended, because hashing it with the body would copy the body. */
const digest = (body: string, format: string): string =>
  `${Bun.hash(body).toString(36)}${format === "json" ? "" : `.${format}`}`;

const parseTags = (header: string): string[] => header.match(/(?:W\/)?"[^"]*"|\*/g) ?? [];
const opaque = (tag: string): string => tag.replace(/^W\//, "");
const parseVersion = (tag: string): string => opaque(tag).replace(/^"(\d+)(?:-[^"]*)?"$/, "$1");

/** True if the client has this response (If-None-Match, weak comparison). */
export function isKnown(call: Call, tag: string): boolean {
  const header = call.request.headers.get("if-none-match");
  if (header === null || (call.method !== "GET" && call.method !== "HEAD")) return false;
  return parseTags(header).some((known) => known === "*" || opaque(known) === opaque(tag));
}

/** Checks If-Match for a value without a version. @throws Problem precondition_failed */
export function checkTag(call: Call, tag: string): void {
  const ifMatch = call.request.headers.get("if-match");
  const isSameTag = (known: string) => known === "*" || opaque(known) === opaque(tag);
  if (ifMatch !== null && !parseTags(ifMatch).some(isSameTag))
    throw failed("If-Match does not contain the current entity tag. Read the value again.", tag);
}

const failed = (message: string, ETag: string): Problem =>
  new Problem("precondition_failed", message, { headers: { ETag } });

/** Checks If-Match and If-None-Match for a record. @throws Problem precondition_failed */
export function checkVersion(call: Call, version: number): void {
  const ifMatch = call.request.headers.get("if-match");
  const ifNoneMatch = call.request.headers.get("if-none-match");
  const holds = (header: string) =>
    parseTags(header).some((tag) => tag === "*" || parseVersion(tag) === String(version));
  const current = `The record has version ${version}, which`;
  if (ifMatch !== null && !holds(ifMatch))
    throw failed(`${current} does not match If-Match. Read it again.`, `"${version}"`);
  if (ifNoneMatch !== null && holds(ifNoneMatch))
    throw failed(`${current} matches If-None-Match.`, `"${version}"`);
}
