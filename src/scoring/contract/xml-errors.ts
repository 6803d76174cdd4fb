import { Problem } from "../../problem.ts";
import { XSI } from "./namespaces.ts";

/** A place in a message. Lines and columns count from 1, columns in characters. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

export const at = ({ line, column }: Place): string => `line ${line}, column ${column}`;
export const printPlace = (place: Place): string => `Line${at(place).slice(4)}`;

/** The place of the first character of a text that is not white space. @param start where the text begins */
export function findContentPlace(start: Place, text: string): Place {
  const space = /^[ \t\r\n]*/.exec(text)![0];
  const lastLine = space.lastIndexOf("\n");
  if (lastLine < 0) return { line: start.line, column: start.column + space.length };
  return { line: start.line + space.split("\n").length - 1, column: space.length - lastLine };
}

/** Messages for the errors of saxes, which repeats names of the message in its own. The first that matches counts. */
const MESSAGES: readonly (readonly [RegExp, string])[] = [
  [/^text data outside/, "text # the root element"],
  [
    /^disallowed character in entity name|^undefined entity|^empty entity name/,
    "& does not begin a valid reference; write &amp; for the character itself",
  ],
  [/^malformed character entity/, "a character reference names no XML character"],
  [/^disallowed character\.$/, "a character that XML does not allow here"],
  [
    /^disallowed character in tag name/,
    "< is not followed by an element name; write &lt; for the character itself",
  ],
  [/^disallowed character in closing tag/, "an end tag contains a character that is not allowed"],
  [/^disallowed character in attribute name/, "a tag has a character where a name, > or /> is expected"],
  [
    /^disallowed character in processing instruction name|^processing instruction without/,
    "a processing instruction has no valid name",
  ],
  [/^documents may contain only one root/, "a second root element; the message ends with its Envelope"],
  [
    /^unexpected close tag|^unmatched closing tag|^weird empty close tag/,
    "an end tag does not match the open element",
  ],
  [
    /^unclosed tag|^unexpected end/,
    "the message ends before its Envelope is closed; look here for a bare &, or a tag, comment or CDATA without an end",
  ],
  [/^document must contain a root/, "the message has no root element"],
  [/^unbound namespace prefix/, "an undeclared prefix"],
  [/^duplicate attribute/, "an element has the same attribute twice"],
  [/^malformed name/, "a name has more than one colon, or nothing before or after it"],
  [/^malformed comment/, "-- inside a comment"],
  [/^attribute without value|^unquoted attribute value/, "an attribute has no quoted value"],
  [/^no whitespace between attributes/, "white space is missing between attributes"],
  [/^the string "]]>"/, "]]> inside text; write ]]&gt; instead"],
  [
    /XML declaration must|an XML declaration/,
    "an XML declaration that is not at the very start, or has no version",
  ],
  [
    /XML declaration|version number|encoding value|standalone value|value required|value must be quoted|whitespace required|expected/,
    "an invalid XML declaration",
  ],
  [
    /xmlns prefix|xml prefix|xml namespace|default namespace may not|undefine prefix|"xmlns" as prefix/,
    "a namespace declaration that Namespaces in XML 1.0 forbids",
  ],
  [/^forward-slash in opening tag/, "/ in a tag is not followed by >"],
  [/^inappropriately located doctype/, "a DOCTYPE, which SOAP forbids"],
];

/** Characters of a name that a fault repeats. */
const MAX_NAME = 100;

/** A name of the message, for a fault. */
export const quoted = (name: string): string =>
  `\`${name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name}\``;

/** Begins the message about an element or attribute that its parent may not have. */
export const unexpected = (
  kind: "element" | "attribute",
  { uri, local }: { uri: string; local: string },
  parent: string,
): string =>
  `unexpected ${kind} ${quoted(uri === XSI ? `xsi:${local}` : local)} ${kind === "element" ? "in" : "of"} \`${parent}\``;

export const malformed = (place: Place, text: string): Problem =>
  new Problem("malformed", `${printPlace(place)}: ${text}.`);

/** The problem for an error of saxes. @param side on which side of the root element text was found */
export function notWellFormedProblem(message: string, place: Place, side = ""): Problem {
  const found = MESSAGES.find(([pattern]) => pattern.test(message))?.[1] ?? "a syntax error";
  return malformed(place, `not well-formed XML: ${found.replace("#", side)}`);
}
