import { Problem } from "../../problem.ts";

/** A place in a message, both counted from 1; columns in characters. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

export const at = ({ line, column }: Place): string => `line ${line}, column ${column}`;
export const atStart = (place: Place): string => `Line${at(place).slice(4)}`;

/** The place of the first character of a text that is not white space. @param start where the text begins */
export function placeOfContent(start: Place, text: string): Place {
  const space = /^[ \t\r\n]*/.exec(text)![0];
  const lastLine = space.lastIndexOf("\n");
  if (lastLine < 0) return { line: start.line, column: start.column + space.length };
  return { line: start.line + space.split("\n").length - 1, column: space.length - lastLine };
}

/**
 * What the parser's errors mean. Its own words are not passed on: some repeat names of the message. In order; the first
 * that fits counts.
 */
const MEANINGS: readonly (readonly [RegExp, string])[] = [
  [
    /^disallowed character in entity name|^undefined entity|^empty entity name/,
    "& begins no reference that XML knows; write &amp; for the character itself",
  ],
  [/^malformed character entity/, "a character reference names no character of XML"],
  [/^disallowed character\.$/, "a character that XML does not allow here"],
  [
    /^disallowed character in tag name/,
    "< is not followed by an element's name; write &lt; for the character itself",
  ],
  [/^disallowed character in closing tag/, "a closing tag has a character that it may not have"],
  [/^disallowed character in attribute name/, "a tag has a character where a name, > or /> is expected"],
  [
    /^disallowed character in processing instruction name|^processing instruction without/,
    "a processing instruction has no proper name",
  ],
  [/^documents may contain only one root/, "a second root element; the message ends with its Envelope"],
  [
    /^unexpected close tag|^unmatched closing tag|^weird empty close tag/,
    "a closing tag does not belong to the element that is open",
  ],
  [/^unclosed tag|^unexpected end/, "the message ends before its Envelope is closed"],
  [/^document must contain a root/, "the message has no root element"],
  [/^unbound namespace prefix/, "a prefix is used that is not declared"],
  [/^duplicate attribute/, "an element has the same attribute twice"],
  [/^malformed name/, "a name has more than one colon, or nothing before or after it"],
  [/^malformed comment/, "-- inside a comment"],
  [/^attribute without value|^unquoted attribute value/, "an attribute has no value in quotes"],
  [/^no whitespace between attributes/, "white space is missing between attributes"],
  [/^the string "]]>"/, "]]> inside text; write ]]&gt; instead"],
  [
    /XML declaration must|an XML declaration/,
    "an XML declaration that does not stand at the very start, or lacks its version",
  ],
  [
    /XML declaration|version number|encoding value|standalone value|value required|value must be quoted|whitespace required|expected/,
    "the XML declaration is not as XML 1.0 says",
  ],
  [
    /xmlns prefix|xml prefix|xml namespace|default namespace may not|undefine prefix|"xmlns" as prefix/,
    "a namespace declaration that Namespaces in XML 1.0 forbids",
  ],
  [/^forward-slash in opening tag/, "/ in a tag is not followed by >"],
  [/^inappropriately located doctype/, "a DOCTYPE, which SOAP forbids"],
];

/** The problem for an error of the parser. @param message as the parser words it */
export function notWellFormed(message: string, place: Place): Problem {
  const meaning = MEANINGS.find(([pattern]) => pattern.test(message))?.[1] ?? "the syntax is not that of XML";
  return new Problem("malformed", `${atStart(place)}: not well-formed XML: ${meaning}.`);
}
