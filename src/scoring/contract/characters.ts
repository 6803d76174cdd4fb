/** Characters of which a value may contain any number, in any order. */
export interface CharacterClass {
  /** First and last character of each range, such as `["A-Z"]`. */
  readonly ranges: readonly `${string}-${string}`[];
  /** Further single characters. */
  readonly singles: string;
  /** True if space, tab, CR and LF are allowed. */
  readonly whiteSpace: boolean;
  /** The characters in words, to follow "allowed are". */
  readonly words: string;
}

/** Character class of a regular expression. `\s` means other characters in XML Schema than in JavaScript. */
function printClass({ ranges, singles, whiteSpace }: CharacterClass, space: string): string {
  const escaped = singles.replace(/[\\[\]^-]/g, String.raw`\$&`);
  return ranges.join("") + escaped + (whiteSpace ? space : "");
}

/** The pattern facet for values of this class (XML Schema part 2, appendix F), such as `[A-Z\s]*`. */
export const printXsdPattern = (allowed: CharacterClass): string =>
  `[${printClass(allowed, String.raw`\s`)}]*`;

/** Finds the first character that is not of the class. */
export const disallowedCharacter = (allowed: CharacterClass): RegExp =>
  new RegExp(`[^${printClass(allowed, String.raw` \t\r\n`)}]`, "u");

/** The first character of a text for a message: its code point, and the character itself if it is printable ASCII. */
export function describeCharacter(text: string): string {
  const code = text.codePointAt(0)!;
  const name = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
  return code > 0x20 && code < 0x7f ? `${name} '${String.fromCodePoint(code)}'` : name;
}

/** True if a text is white space of XML; JavaScript's `trim` removes more. */
export const isXmlSpace = (text: string): boolean => !/[^ \t\r\n]/.test(text);
