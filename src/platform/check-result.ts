/** A result of `labd doctor`. */
export interface CheckResult {
  /** The subject: `disk`, `clock`, … */
  about: string;
  state: "ok" | "warning" | "problem";
  found: string;
  /** The next step; always present unless the state is ok. */
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

/** Collects the warnings and problems of one subject. */
export class Checks {
  readonly results: CheckResult[] = [];

  constructor(private readonly about: string) {}

  warning(found: string, remedy: string): void {
    this.results.push(warning(this.about, found, remedy));
  }

  problem(found: string, remedy: string): void {
    this.results.push(problem(this.about, found, remedy));
  }

  /** The finding, or that all is well. */
  orOk(found: string): CheckResult[] {
    return this.results.length > 0 ? this.results : [ok(this.about, found)];
  }
}

/** A number of bytes with its unit: 1.50 GB. */
export function size(bytes: number): string {
  const units = ["bytes", "kB", "MB", "GB", "TB"];
  const power = bytes < 1000 ? 0 : Math.min(4, Math.floor(Math.log10(bytes) / 3));
  return `${power === 0 ? bytes : (bytes / 1000 ** power).toPrecision(3)} ${units[power]}`;
}
