import { openRequestDecoder } from "./decode.ts";
import type { SoapVersion } from "./encode.ts";
import type { MessageLimits } from "./limits.ts";
import { SOAP_11, SOAP_12 } from "./namespaces.ts";
import type { Request } from "./service.ts";
import type { Place } from "./xml-errors.ts";

/** A namespace declaration in scope, and those around it. */
interface Scope {
  prefix: string;
  uri: string;
  outer: Scope | null;
}

// ASCII that XML lets through as it is. CR is not: parsers turn it into LF. & begins a reference.
const ODD = /[^\t\n\u0020-\u0025\u0027-\u007E]/;
const DECLARATION =
  /<\?xml version=(?:"1\.0"|'1\.0')(?: encoding=(?:"(?:utf|UTF)-8"|'(?:utf|UTF)-8'))? ?\?>/y;
const SPACE = /[ \t\n]*/y;
const START =
  /[ \t\n]*<(?:([A-Za-z_][A-Za-z0-9_.-]*):)?([A-Za-z_][A-Za-z0-9_.-]*)((?:[ \t\n]+xmlns(?::[A-Za-z_][A-Za-z0-9_.-]*)?="[^"<\t\n]{1,256}")*)[ \t\n]*(\/?)>/y;
const DECLARED = /xmlns(?::([A-Za-z_][A-Za-z0-9_.-]*))?="([^"]*)"/g;

/** What a message may have here, below every limit that can be set. */
const MOST_DECLARATIONS = 10;

/** Places are told by the other reader, which sees every message that this one does not take. */
const NOWHERE: Place = { line: 1, column: 1 };

/**
 * Reads what most toolkits send, in a fifth of the time: ASCII, an envelope without a header, elements without
 * attributes but namespace declarations, values without references, comments and sections. Whatever is otherwise, or
 * wrong, is null: then the parser of XML reads the message, and says what there is to say. So this has one duty: what
 * it accepts, the parser must accept with the same values. Tests hold it to that on all messages they have.
 */
export function readPlainMessage(
  text: string,
  namespace: string,
  limits: MessageLimits,
): ({ soapVersion: SoapVersion } & Request) | null {
  if (text.length > limits.textLength || ODD.test(text) || text.includes("]]>")) return null;
  let at = 0;
  let declarations = 0;
  let elements = 0;
  let scope: Scope | null = null;
  let local = "";
  let uri = "";
  let tag = "";
  let isEmpty = false;

  const skip = (pattern: RegExp): void => {
    pattern.lastIndex = at;
    if (pattern.test(text)) at = pattern.lastIndex;
  };
  /** Reads a start tag; where there is none, or an odd one, it stays where it was, and no end tag is found there. */
  const start = (): boolean => {
    START.lastIndex = at;
    const found = START.exec(text);
    if (found === null || ++elements > limits.elements) return false;
    const [, prefix, name, attributes, slash] = found;
    if (attributes !== "" && !declare(attributes)) return false;
    const bound = lookUp(scope, prefix ?? "");
    if (bound === null) return false;
    at = found.index + found[0].length;
    uri = bound;
    local = name;
    tag = prefix === undefined ? name : `${prefix}:${name}`;
    isEmpty = slash !== "";
    return true;
  };
  const isNamed = (name: string): boolean => local === name;
  const declare = (attributes: string): boolean => {
    const outer: Scope | null = scope;
    DECLARED.lastIndex = 0;
    for (let found; (found = DECLARED.exec(attributes)) !== null;) {
      const [, prefix = "", value] = found;
      if (++declarations > MOST_DECLARATIONS || /^xml/i.test(prefix) || value !== value.trim()) return false;
      if (value.startsWith("http://www.w3.org/XML/") || value.startsWith("http://www.w3.org/2000/xmlns"))
        return false;
      for (let own: Scope | null = scope; own !== outer; own = own!.outer)
        if (own!.prefix === prefix) return false;
      scope = { prefix, uri: value, outer: scope };
    }
    return true;
  };
  const end = (name: string): boolean => {
    skip(SPACE);
    if (!text.startsWith(`</${name}`, at)) return false;
    at += name.length + 2;
    skip(SPACE);
    return text[at++] === ">";
  };

  skip(DECLARATION);
  if (!start() || !isNamed("Envelope") || isEmpty) return null;
  if (uri !== SOAP_11 && uri !== SOAP_12) return null;
  const soap = uri;
  const envelope = tag;
  if (!start() || !isNamed("Body") || uri !== soap || isEmpty) return null;
  const body = tag;
  const inBody: Scope | null = scope;
  if (!start() || isEmpty) return null;
  const wrapper = tag;
  const inWrapper: Scope | null = scope;
  const decoder = openRequestDecoder(namespace, limits);
  const resolve = (): undefined => undefined;
  try {
    decoder.open({ uri, local, attributes: {} }, NOWHERE, resolve);
    while (start()) {
      decoder.open({ uri, local, attributes: {} }, NOWHERE, resolve);
      if (!isEmpty) {
        const close = text.indexOf("<", at);
        decoder.text(text.slice(at, close), NOWHERE);
        at = close;
        if (!end(tag)) return null;
      }
      decoder.close(NOWHERE);
      scope = inWrapper;
    }
    if (!end(wrapper)) return null;
    decoder.close(NOWHERE);
  } catch {
    // A Problem, for the other reader to tell with its place.
    return null;
  }
  scope = inBody;
  if (!end(body) || !end(envelope)) return null;
  skip(SPACE);
  if (at !== text.length) return null;
  return { soapVersion: soap === SOAP_11 ? "1.1" : "1.2", ...decoder.request! };
}

/** The namespace of a prefix, "" for none; null where it is not declared. */
function lookUp(scope: Scope | null, prefix: string): string | null {
  for (let one = scope; one !== null; one = one.outer) if (one.prefix === prefix) return one.uri;
  return prefix === "" ? "" : null;
}
