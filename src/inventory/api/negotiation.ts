import type { Representation } from "../model/listing.ts";
import { Problem } from "../../problem.ts";

export type Format = NonNullable<Representation["format"]>;

export const MEDIA_TYPES: Record<Format, string> = {
  json: "application/json",
  api: "text/html; charset=utf-8",
  csv: "text/csv; charset=utf-8",
  xlsx: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
};

/** In the order in which they are chosen where the client has no preference. */
const OFFERED: readonly [Format, string][] = [
  ["json", "application/json"],
  ["api", "text/html"],
  ["csv", "text/csv"],
  ["xlsx", "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"],
];

/**
 * The rendering for a request: that of the parameter `format`, else the best by the Accept header (RFC 9110, section
 * 12.5.1). A link with format=api that a program follows, one that accepts JSON and no HTML, gives JSON.
 * @throws Problem not_acceptable
 */
export function negotiate(wanted: Format | undefined, accept: string | null): Format {
  if (accept === null || accept.trim() === "") return wanted ?? "json";
  const ranges = readRanges(accept);
  const quality = (type: string): number => {
    const [major] = type.split("/");
    const best = [type, `${major}/*`, "*/*"].find((range) => ranges.has(range));
    return best === undefined ? 0 : ranges.get(best)!;
  };
  if (wanted === "api" && quality("text/html") === 0 && quality("application/json") > 0) return "json";
  if (wanted) return wanted;
  let best: Format | undefined;
  let most = 0;
  for (const [format, type] of OFFERED) {
    if (quality(type) <= most) continue;
    best = format;
    most = quality(type);
  }
  if (!best)
    throw new Problem(
      "not_acceptable",
      `Could not satisfy the request Accept header. Offered: ${OFFERED.map(([, type]) => type).join(", ")}.`,
    );
  return best;
}

function readRanges(accept: string): Map<string, number> {
  const ranges = new Map<string, number>();
  for (const part of accept.split(",").slice(0, 50)) {
    const [type, ...parameters] = part.split(";").map((word) => word.trim().toLowerCase());
    const q = parameters.find((parameter) => parameter.startsWith("q="));
    const quality = q === undefined ? 1 : Number(q.slice(2));
    if (type !== "") ranges.set(type, Math.max(ranges.get(type) ?? 0, quality >= 0 ? quality : 0));
  }
  return ranges;
}
