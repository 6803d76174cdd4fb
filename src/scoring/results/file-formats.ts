import { Problem } from "../../problem.ts";
import { type FileFormat, TABLE_FORMATS, type TableFormatName } from "../table/table-formats.ts";
import { ARCHIVE_FORMAT, DOCUMENT_FORMATS } from "./document-formats.ts";

const { json, ...OTHER_DOCUMENTS } = DOCUMENT_FORMATS;

/** The formats of results. JSON is the default, and tables come before other documents where a client has no preference. */
export const RESULT_FORMATS = { json, ...TABLE_FORMATS, ...OTHER_DOCUMENTS, eln: ARCHIVE_FORMAT } as const;
export type ResultFormatName = keyof typeof RESULT_FORMATS;
export const RESULT_FORMAT_NAMES = Object.keys(RESULT_FORMATS) as ResultFormatName[];

/** The formats of scans: tables, and the scan itself. */
export const SCAN_FORMATS = {
  json: { ...json, sentence: "The scan." },
  ...TABLE_FORMATS,
} as const satisfies Record<string, FileFormat>;
export type ScanFormatName = keyof typeof SCAN_FORMATS;

export const isTableFormat = (name: string): name is TableFormatName => Object.hasOwn(TABLE_FORMATS, name);

/** The formats of proteome searches: tables, and one object per line. */
export const PROTEOME_FORMATS = {
  ...TABLE_FORMATS,
  json: {
    title: "JSON",
    contentType: "application/x-ndjson",
    aliases: [],
    extension: "jsonl",
    sentence: "One JSON object per line and match.",
  },
} as const satisfies Record<string, FileFormat>;
export type ProteomeFormatName = keyof typeof PROTEOME_FORMATS;

/**
 * The format that the Accept header prefers (RFC 9110, section 12.5.1), of equals the first. JSON without a preference, and
 * for browsers, which do not mean their `application/xml`.
 * @throws Problem not_acceptable
 */
export function chooseFormat(accept: string | null): ResultFormatName {
  const ranges = qualities(accept ?? "");
  if (ranges.size === 0 || (ranges.get("text/html") ?? 0) > 0) return "json";
  let best: ResultFormatName | undefined;
  let most = 0;
  for (const name of RESULT_FORMAT_NAMES) {
    const { contentType, aliases } = RESULT_FORMATS[name];
    const types = [contentType.split(";")[0], ...aliases];
    const quality = Math.max(...types.map((type) => findQuality(type, ranges)));
    if (quality > most) [best, most] = [name, quality];
  }
  if (best) return best;
  const offered = RESULT_FORMAT_NAMES.map((name) => RESULT_FORMATS[name].contentType.split(";")[0]);
  throw new Problem("not_acceptable", `Accept: the result is available as ${offered.join(", ")}.`);
}

/** Quality of the most specific range that contains the type. */
function findQuality(type: string, ranges: Map<string, number>): number {
  const range = [type, `${type.split("/")[0]}/*`, "*/*"].find((candidate) => ranges.has(candidate));
  return range === undefined ? 0 : ranges.get(range)!;
}

/** Media ranges that are read from a header. */
const MAX_RANGES = 50;

function qualities(accept: string): Map<string, number> {
  const ranges = new Map<string, number>();
  for (const part of accept.split(",", MAX_RANGES)) {
    const [type, ...parameters] = part.split(";").map((word) => word.trim().toLowerCase());
    if (type === "") continue;
    const written = parameters.find((parameter) => parameter.startsWith("q="));
    const quality = written === undefined ? 1 : Number(written.slice(2));
    ranges.set(type, quality >= 0 && quality <= 1 ? quality : 0);
  }
  return ranges;
}
