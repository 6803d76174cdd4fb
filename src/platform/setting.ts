/** One setting: its values and its description. */
export interface Setting<T> {
  /** The allowed values in words, for error messages. */
  allowed: string;
  fallback: T;
  /** One sentence for help and reference. */
  sentence: string;
  /** A secret is never printed. */
  secret?: boolean;
  /** Parses text (flag, variable) or a TOML value; undefined if it is not allowed. */
  read(value: unknown): T | undefined;
}

export type Wording = { sentence: string; secret?: boolean };

export const text = (fallback: string, allowed: string, rule: RegExp, wording: Wording): Setting<string> => ({
  ...wording,
  fallback,
  allowed,
  read: (value) => (typeof value === "string" && rule.test(value) ? value : undefined),
});

export const integer = (
  fallback: number,
  least: number,
  most: number,
  wording: Wording,
): Setting<number> => ({
  ...wording,
  fallback,
  allowed: `a whole number from ${least} to ${most}`,
  read(value) {
    const number = typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : value;
    return Number.isInteger(number) && (number as number) >= least && (number as number) <= most
      ? (number as number)
      : undefined;
  },
});

const BOOLEANS: Record<string, boolean> = {
  true: true,
  yes: true,
  on: true,
  "1": true,
  false: false,
  no: false,
  off: false,
  "0": false,
};

export const bool = (fallback: boolean, wording: Wording): Setting<boolean> => ({
  ...wording,
  fallback,
  allowed: "true or false",
  read: (value) => (typeof value === "boolean" ? value : BOOLEANS[String(value).toLowerCase()]),
});

export const choice = <T extends string>(
  fallback: T,
  choices: readonly T[],
  wording: Wording,
): Setting<T> => ({
  ...wording,
  fallback,
  allowed: `one of ${choices.join(", ")}`,
  read: (value) => choices.find((allowed) => allowed === value),
});
