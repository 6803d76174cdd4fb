import { JSON_FOR_PEOPLE } from "../../platform/http.ts";
import { ELN_MEDIA_TYPE } from "../../platform/ro-crate.ts";
import type { Representation } from "../model/listing.ts";
import { Problem } from "../../problem.ts";

export type Format = NonNullable<Representation["format"]>;

/** Media types in order of preference. */
const TYPES: Record<Format, string> = {
  json: "application/json",
  api: "text/html",
  csv: "text/csv",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
  eln: ELN_MEDIA_TYPE,
};

export const MEDIA_TYPES: Record<Format, string> = {
  ...TYPES,
  api: JSON_FOR_PEOPLE,
  csv: `${TYPES.csv}; charset=utf-8`,
};

/**
 * The format of a response: that of the parameter `format`, else the best by the Accept header (RFC 9110, section
 * 12.5.1). A link with format=api gives JSON to programs, which accept JSON and not HTML.
 * @throws Problem not_acceptable
 */
export function negotiate(requested: Format | undefined, accept: string | null): Format {
  if (accept === null || accept.trim() === "") return requested ?? "json";
  const ranges = parseAccept(accept);
  const quality = (format: Format): number => {
    const type = TYPES[format];
    const best = [type, type.replace(/\/.*/, "/*"), "*/*"].find((range) => ranges.has(range));
    return best === undefined ? 0 : ranges.get(best)!;
  };
  if (requested === "api" && quality("api") === 0 && quality("json") > 0) return "json";
  if (requested) return requested;
  const offered = Object.keys(TYPES) as Format[];
  const best = offered.reduce((best, format) => (quality(format) > quality(best) ? format : best));
  if (quality(best) > 0) return best;
  throw new Problem(
    "not_acceptable",
    `Could not satisfy the request Accept header. Offered: ${Object.values(TYPES).join(", ")}.`,
  );
}

function parseAccept(accept: string): Map<string, number> {
  const ranges = new Map<string, number>();
  for (const part of accept.split(",").slice(0, 50)) {
    const [type, ...parameters] = part.split(";").map((word) => word.trim().toLowerCase());
    const q = parameters.find((parameter) => parameter.startsWith("q="));
    const quality = q === undefined ? 1 : Number(q.slice(2));
    if (type !== "") ranges.set(type, Math.max(ranges.get(type) ?? 0, quality >= 0 ? quality : 0));
  }
  return ranges;
}
