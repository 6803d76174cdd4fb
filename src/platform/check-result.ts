/** What `labd doctor` found out about one thing. */
export interface CheckResult {
  /** What was looked at: `disk`, `clock`, … */
  about: string;
  state: "ok" | "warning" | "problem";
  found: string;
  /** What to do; always where the state is not ok. */
  remedy?: string;
}

export const ok = (about: string, found: string): CheckResult => ({ about, state: "ok", found });
export const warning = (about: string, found: string, remedy: string): CheckResult => ({
  about,
  state: "warning",
  found,
  remedy,
});
export const problem = (about: string, found: string, remedy: string): CheckResult => ({
  about,
  state: "problem",
  found,
  remedy,
});

/** Bytes for people: 1.5 GB. */
export function size(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  const power = bytes < 1000 ? 0 : Math.min(4, Math.floor(Math.log10(bytes) / 3));
  return `${power === 0 ? bytes : (bytes / 1000 ** power).toPrecision(3)} ${units[power]}`;
}
