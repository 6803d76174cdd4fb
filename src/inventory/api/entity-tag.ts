import type { Call } from "./call.ts";
import { Problem } from "../../problem.ts";

/**
 * Entity tags (RFC 9110, section 8.8.3). The tag of a record is its version and a digest of the answer, `"3-1x8f…"`:
 * the digest tells forms of the same version apart, and what stands in it of other records. A writer's If-Match asks for
 * the version alone.
 */
export const recordTag = (version: number, body: string, format: string): string =>
  `"${version}-${digest(body, format)}"`;

/** Of a list: weak, for pages of equal content may be printed differently. */
export const listTag = (body: string, format = "json"): string => `W/"${digest(body, format)}"`;

/**
 * Of a list that is printed while it is sent, so that nothing can be hashed before: `key`, all that the answer hangs on
 * besides what is stored, in the state that the database is in. Any write makes it another one, and so does a restart.
 */
export const stateTag = (state: string, key: string): string =>
  `W/"s${Bun.hash(`${PROCESS} ${state} ${key}`).toString(36)}"`;

/** Counters of writes begin anew with every process. */
const PROCESS = `${process.pid} ${performance.timeOrigin}`;

/** The format is no part of what is hashed: to put the two together would copy a page of a list. */
const digest = (body: string, format: string): string =>
  `${Bun.hash(body).toString(36)}${format === "json" ? "" : `.${format}`}`;

const tagsOf = (header: string): string[] => header.match(/(?:W\/)?"[^"]*"|\*/g) ?? [];
const opaque = (tag: string): string => tag.replace(/^W\//, "");
const versionOf = (tag: string): string => opaque(tag).replace(/^"(\d+)(?:-[^"]*)?"$/, "$1");

/** Whether a reader has this answer already (If-None-Match, weak comparison). */
export function isKnown(call: Call, tag: string): boolean {
  const header = call.request.headers.get("if-none-match");
  if (header === null || (call.method !== "GET" && call.method !== "HEAD")) return false;
  return tagsOf(header).some((known) => known === "*" || opaque(known) === opaque(tag));
}

/**
 * Whether what has no version of its own still is what a writer believes it to be.
 * @throws Problem precondition_failed by If-Match
 */
export function checkTag(call: Call, tag: string): void {
  const wanted = call.request.headers.get("if-match");
  const same = (known: string) => known === "*" || opaque(known) === opaque(tag);
  if (wanted !== null && !tagsOf(wanted).some(same))
    throw new Problem("precondition_failed", "If-Match does not name what is there by now. Read it again.", {
      headers: { ETag: tag },
    });
}

/**
 * Whether the record still is what a writer believes it to be.
 * @throws Problem precondition_failed by If-Match or If-None-Match
 */
export function checkVersion(call: Call, version: number): void {
  const wanted = call.request.headers.get("if-match");
  const unwanted = call.request.headers.get("if-none-match");
  const holds = (header: string) =>
    tagsOf(header).some((tag) => tag === "*" || versionOf(tag) === String(version));
  const headers = { ETag: `"${version}"` };
  if (wanted !== null && !holds(wanted))
    throw new Problem(
      "precondition_failed",
      `The record is in version ${version}, which If-Match does not name. Read it again.`,
      { headers },
    );
  if (unwanted !== null && holds(unwanted))
    throw new Problem(
      "precondition_failed",
      `The record is in version ${version}, which If-None-Match names.`,
      {
        headers,
      },
    );
}
