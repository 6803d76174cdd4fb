export { capitalized, formatSize, pluralize } from "../platform/words.ts";

/** Dates, sizes and counts as all pages show them, in the reader's time zone. */

const DATE = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const DAY = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
  timeZone: "UTC",
});
const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });

/** `30 Jun 2027`. */
export const formatDate = (at: string | number | Date): string => DATE.format(new Date(at));

/** `30 Jun 2027`, of a day such as 2027-06-30, which is the same in all time zones. */
export const formatDay = (day: string): string => DAY.format(new Date(day));

/** `30 Jun 2027, 14:05`. */
export const formatTime = (at: string | number | Date): string =>
  `${formatDate(at)}, ${CLOCK.format(new Date(at))}`;

/** A time, or `none` instead of null; `short` shows the date alone. */
export function Time({ at, none = "never", short }: { at: string | null; none?: string; short?: boolean }) {
  if (at === null) return <span class="muted">{none}</span>;
  return (
    <time dateTime={at} title={at} class="nowrap">
      {short ? formatDate(at) : formatTime(at)}
    </time>
  );
}

/** Seconds in the two largest units: `3 d 4 h`. */
export function formatDuration(seconds: number): string {
  const parts = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [Math.floor(seconds) % 60, "s"],
  ] as const;
  const from = parts.findIndex(([value]) => value > 0);
  if (from < 0) return "0 s";
  return parts
    .slice(from, from + 2)
    .map(([value, unit]) => `${value} ${unit}`)
    .join(" ");
}

/** `14,902`. */
export const formatCount = (value: number): string => value.toLocaleString("en");

/** The first names, and how many there are besides: `A, B and 5 more`. */
export const listFirst = (names: readonly string[], most: number, separator = ", "): string =>
  names.slice(0, most).join(separator) +
  (names.length > most ? ` and ${formatCount(names.length - most)} more` : "");

/** The browser and system that a User-Agent header names: `Firefox on Linux`. */
export function browserName(agent: string): string {
  const browser = /Edg\//.test(agent)
    ? "Edge"
    : (/(Firefox|HeadlessChrome|Chrome|Safari)\//.exec(agent)?.[1] ?? agent.split(/[\s/]/)[0]);
  const system = /(Windows|Android|iPhone|iPad|Mac OS X|Linux)/.exec(agent)?.[1];
  return [browser || "Unknown browser", system].filter(Boolean).join(" on ");
}

const RELATIVE = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const DAY_MS = 86_400_000;

/** Days from today to a day such as 2027-06-30; less than 0 in the past. */
export const daysTo = (day: string, now = Date.now()): number =>
  Math.round((Date.parse(day) - Math.floor(now / DAY_MS) * DAY_MS) / DAY_MS);

/** "in 7 months" or "3 days ago" of a day such as 2027-06-30. */
export function daysUntil(day: string, now = Date.now()): string {
  const days = daysTo(day, now);
  if (Math.abs(days) < 60) return RELATIVE.format(days, "day");
  return Math.abs(days) < 730
    ? RELATIVE.format(Math.round(days / 30.44), "month")
    : RELATIVE.format(Math.round(days / 365.25), "year");
}
