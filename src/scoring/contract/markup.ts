/**
 * Values as XML text. Answers are printed here and not with xmlbuilder2, which makes a tree first (about 10 MB/s,
 * and a prediction can have many), does not escape CR in text and lets forbidden characters through.
 */

// XML 1.0, section 2.2, production 2: what is not a Char cannot be written at all, not even as a reference.
const FORBIDDEN = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;
const SPECIAL = /[&<>\r]/;
// Most values have only these, and are written as they are.
const PLAIN = /^[\t\n\u0020-\u0025\u0027-\u003B=\u003F-\uD7FF]*$/;

/** Text as element content. CR is a reference, for parsers read a bare one as LF; a forbidden character is U+FFFD. */
export function escapeText(text: string): string {
  if (PLAIN.test(text)) return text;
  const clean = text.replace(FORBIDDEN, "\uFFFD");
  if (!SPECIAL.test(clean)) return clean;
  return clean
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll("\r", "&#13;");
}

/** Text as the value of an attribute in double quotes: also tab and LF are references, or parsers read spaces. */
export const escapeAttribute = (text: string): string =>
  escapeText(text).replaceAll('"', "&quot;").replaceAll("\t", "&#9;").replaceAll("\n", "&#10;");

/** A number as xs:double writes it (XML Schema part 2, section 3.2.5); integers come out as xs:int does. */
export function printNumber(value: number): string {
  if (Number.isNaN(value)) return "NaN";
  if (value === Infinity) return "INF";
  if (value === -Infinity) return "-INF";
  return String(value);
}

export const XML_DECLARATION = '<?xml version="1.0" encoding="utf-8"?>';
