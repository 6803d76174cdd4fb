/**
 * Character classes as data, printed in the two notations that need them: patterns of XML Schema and regular
 * expressions of JavaScript. The two differ: white space is space, tab, CR and LF in XML, but JavaScript's `\s`
 * also matches NBSP, U+2028 and others; `^` and `$` are anchors in JavaScript and mean themselves in XML Schema.
 */

/** A set of characters of which a value may hold any number, in any order. */
export interface CharacterClass {
  /** First and last character of each range, such as `["A-Z"]`. */
  readonly ranges: readonly `${string}-${string}`[];
  /** Further single characters. */
  readonly singles: string;
  /** Whether space, tab, CR and LF are in the set. */
  readonly whiteSpace: boolean;
  /** The set in words, to follow "allowed are". */
  readonly words: string;
}

/** The pattern facet for a value of this class (XML Schema part 2, appendix F): `[A-Z\s]*`. */
export function printXsdPattern({ ranges, singles, whiteSpace }: CharacterClass): string {
  const escaped = singles.replace(/[\\[\]^-]/g, String.raw`\$&`);
  return `[${ranges.join("")}${escaped}${whiteSpace ? String.raw`\s` : ""}]*`;
}

/** Finds the first character that is not of the class. */
export function disallowedCharacter({ ranges, singles, whiteSpace }: CharacterClass): RegExp {
  const escaped = singles.replace(/[\\[\]^-]/g, String.raw`\$&`);
  return new RegExp(`[^${ranges.join("")}${escaped}${whiteSpace ? String.raw` \t\r\n` : ""}]`, "u");
}

/** A character for a message: its code point, and itself where ASCII can show it. */
export function describeCharacter(text: string): string {
  const code = text.codePointAt(0)!;
  const name = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  return code > 0x20 && code < 0x7f ? `${name} '${String.fromCodePoint(code)}'` : name;
}

/** White space of XML; JavaScript's `trim` takes more. */
export const isXmlSpace = (text: string): boolean => !/[^ \t\r\n]/.test(text);
