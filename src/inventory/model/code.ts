import { and, compare, type Condition } from "./condition.ts";
import { KINDS } from "./field.ts";

/** A whole id, or at least its first eight digits, with or without hyphens. */
const PREFIX = /^[0-9a-f]{8}(-?[0-9a-f]{0,4}(-?[0-9a-f]{0,4}(-?[0-9a-f]{0,4}(-?[0-9a-f]{0,12})?)?)?)?$/i;

/** The beginning of an id in stored form; undefined for other texts. */
function idPrefix(text: string): string | undefined {
  if (!PREFIX.test(text)) return undefined;
  const digits = text.replaceAll("-", "").toLowerCase();
  return [8, 12, 16, 20, 32]
    .map((end, i, ends) => digits.slice(ends[i - 1] ?? 0, end))
    .filter((part) => part !== "")
    .join("-");
}

export const isUrl = (code: string): boolean => /^https?:\/\//i.test(code);

/** The id in the URL of a record on any server. */
function idInUrl(url: string): string | undefined {
  const parts = url.split(/[?#]/)[0].split("/").filter(Boolean).slice(2);
  for (const part of parts.toReversed()) {
    const whole = KINDS.uuid.parse(part);
    if (whole !== undefined) return String(whole);
  }
  // The URL on a label: /i/ and the beginning of an id.
  return parts.at(-2) === "i" ? idPrefix(parts.at(-1)!) : undefined;
}

/** The id that a scanned code stands for, or its beginning; undefined for other texts. */
export function parseCode(code: string): string | undefined {
  if (isUrl(code)) return idInUrl(code);
  const whole = KINDS.uuid.parse(code);
  return whole === undefined ? idPrefix(code) : String(whole);
}

/** Condition on records whose id begins with the typed text. */
export const hasId = (beginning: string): Condition =>
  // "g" sorts after every digit and the hyphen.
  and(compare(["id"], ">=", beginning), compare(["id"], "<", `${beginning}g`));
