/** A plain model of filters for differential tests. */

export const fold = (text: string): string => text.normalize("NFKC").toLowerCase();
export const order = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));
/** Operators on texts, in plain TypeScript. */
export const MEANINGS: Record<string, (stored: string, value: string) => boolean> = {
  "==": (stored, value) => stored === value,
  "=": (stored, value) => stored === value,
  exact: (stored, value) => stored === value,
  ">=": (stored, value) => order(stored, value) >= 0,
  ">": (stored, value) => order(stored, value) > 0,
  "<=": (stored, value) => order(stored, value) <= 0,
  "<": (stored, value) => order(stored, value) < 0,
  contains: (stored, value) => stored.includes(value),
  icontains: (stored, value) => fold(stored).includes(fold(value)),
  iexact: (stored, value) => fold(stored) === fold(value),
  startswith: (stored, value) => stored.startsWith(value),
  istartswith: (stored, value) => fold(stored).startsWith(fold(value)),
  endswith: (stored, value) => stored.endsWith(value),
  iendswith: (stored, value) => fold(stored).endsWith(fold(value)),
};
