import type { Json } from "./field.ts";

/** The first five members of the envelope. */
export interface PageInfo {
  previous: string | null;
  next: string | null;
  current: number;
  total: number;
  total_pages: number;
}

/** Pages of a list; an empty one has one page. */
export const pageCount = (total: number, size: number | "max"): number =>
  size === "max" ? 1 : Math.max(1, Math.ceil(total / size));

/**
 * The position of a page, with absolute links to its neighbours that keep the other parameters, sorted by name.
 * @param address the address of the list without its parameters
 */
export function pageInfo(
  address: string,
  parameters: URLSearchParams,
  current: number,
  total: number,
  size: number | "max",
): PageInfo {
  const pages = pageCount(total, size);
  return {
    previous: current > 1 ? pageLink(address, parameters, current - 1) : null,
    next: current < pages ? pageLink(address, parameters, current + 1) : null,
    current,
    total,
    total_pages: pages,
  };
}

function pageLink(address: string, parameters: URLSearchParams, page: number): string {
  const kept = new URLSearchParams(parameters);
  kept.set("page", String(page));
  kept.sort();
  return `${address}?${kept.toString()}`;
}

/** The envelope as text, from results that are text already. */
export function envelopeText(position: PageInfo, results: readonly string[]): string {
  return `${envelopeHead(position)}${results.join(",")}${ENVELOPE_END}`;
}

/** The text of the envelope before the first result and after the last result. */
export const envelopeHead = (position: PageInfo): string =>
  `${JSON.stringify(position).slice(0, -1)},"results":[`;
export const ENVELOPE_END = "]}";

/** One line of RFC 4180; objects and lists as JSON. Values that a spreadsheet would run begin with a quote. */
export const csvLine = (values: readonly Json[]): string => `${values.map(csvCell).join(",")}\r\n`;

/** Text that a spreadsheet would run as a formula. Quotes are put before it, so that removing one is always right. */
const FORMULA = /^'*[=+\-@|\t\r\n]/;

function csvCell(value: Json): string {
  if (value === null) return "";
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  const escaped = typeof value === "string" && FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(escaped) ? `"${escaped.replaceAll('"', '""')}"` : escaped;
}

/** Formats the value of a cell for `csvLine`. */
export const csvValue = (cell: string): string =>
  cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell;
