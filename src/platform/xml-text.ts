/**
 * Values as XML text. Responses are printed here because xmlbuilder2 builds a tree first (about 10 MB/s, and a prediction
 * can be many MB), does not escape CR in text, and lets forbidden characters through.
 */

export const XML_DECLARATION = '<?xml version="1.0" encoding="utf-8"?>';

// Characters that XML 1.0 cannot hold (section 2.2, production 2), not even as references.
const FORBIDDEN_CHARACTERS = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;
// Most values need no escapes.
const PLAIN = /^[\t\n\u0020-\u0025\u0027-\u003B=\u003F-\uD7FF]*$/;
const ESCAPES: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "\r": "&#13;" };

/** Text as element content. CR becomes a reference, because parsers read it as LF; forbidden characters become U+FFFD. */
export function escapeText(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replace(FORBIDDEN_CHARACTERS, "\uFFFD").replace(/[&<>\r]/g, (character) => ESCAPES[character]);
}

/** Text as an attribute value in double quotes. Tab and LF become references, because parsers read them as spaces. */
export const escapeAttribute = (text: string): string =>
  escapeText(text).replaceAll('"', "&quot;").replaceAll("\t", "&#9;").replaceAll("\n", "&#10;");

/** A number as xs:double (XML Schema part 2, section 3.2.5); integers are printed as xs:int. */
export function printNumber(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (value === Infinity) return "INF";
  return value === -Infinity ? "-INF" : String(value);
}
