import { SaxesParser, type SaxesTagNS } from "saxes";
import { Problem } from "../../problem.ts";
import { isXmlSpace } from "./characters.ts";
import { openRequestDecoder } from "./decode.ts";
import type { SoapVersion } from "./encode.ts";
import { checkHeaderBlock } from "./header.ts";
import { type MessageLimits, limitExceeded } from "./limits.ts";
import { SOAP_11, SOAP_12 } from "./namespaces.ts";
import { OPERATION_NAMES, type OperationName, type Request } from "./service.ts";
import { at, atStart, notWellFormed, type Place, placeOfContent } from "./xml-errors.ts";

/** Takes the text of one message piece by piece; throws at the first thing that is wrong. */
export interface MessageParser {
  /** @throws Problem */
  write(text: string): void;
  /** @throws Problem where the message is not complete */
  finish(): void;
  /** Where reading stands. */
  readonly place: Place;
  /** The envelope's version, once its start tag has been read. */
  readonly soapVersion: SoapVersion | null;
  readonly operation: OperationName | null;
  /** The request, once the message is finished. */
  readonly request: Request | null;
}

/** Parts of an envelope in their order. */
type Stage = "before" | "envelope" | "header" | "after header" | "body" | "after body";

/**
 * A SOAP envelope (SOAP 1.1, section 4; SOAP 1.2 part 1, section 5) as the parser's events tell it. Nothing of the
 * message is kept but the values of the request.
 */
export function openMessageParser(namespace: string, limits: MessageLimits): MessageParser {
  // XML 1.1 is refused below; until its declaration has been read whole, its characters are not let in either.
  const sax = new SaxesParser({
    xmlns: true,
    position: false,
    defaultXMLVersion: "1.0",
    forceXMLVersion: true,
  });
  // The parser tells of a DOCTYPE when it is over, but refuses a second one where it begins: so the first is a second.
  sax["doctype"] = true;
  const decoder = openRequestDecoder(namespace, limits);
  let stage: Stage = "before";
  let depth = 0;
  let soapVersion: SoapVersion | null = null;
  let soapNamespace = "";
  let elements = 0;
  let attributes = 0;
  let namespaces = 0;
  /** Characters given to the parser so far, where in them the part that is being read began, and that as a place. */
  let given = 0;
  let partStart = 0;
  let partPlace: Place = { line: 1, column: 1 };
  let tagPlace: Place = partPlace;
  let isRootClosed = false;
  /** An end tag whose name the parser has not compared yet: it does so after its event. */
  let closing: Place | null = null;

  const here = (): Place => ({ line: sax.line, column: Math.max(1, sax.column) });
  /**
   * Ends the part of the message that an event has told, and returns where it began.
   * @param ahead characters of the next part that have been read already
   */
  const endPart = (ahead = 0): Place => {
    const began = partPlace;
    const end = sax.position - ahead;
    if (end - partStart > limits.textLength) throw limitExceeded(limits, "textLength", atStart(began));
    partStart = end;
    partPlace = { line: sax.line, column: sax.column + 1 - ahead };
    return began;
  };
  const count = (place: Place): void => {
    if (++elements > limits.elements) throw limitExceeded(limits, "elements", atStart(place));
  };
  const resolve = (prefix: string): string | undefined => sax.resolve(prefix);

  sax.on("error", (error) => {
    // The parser notices text outside the root late, at a place that depends on how the message was cut.
    if (error.message.startsWith("text data outside")) {
      settle();
      const side = isRootClosed ? "after" : "before";
      throw new Problem(
        "malformed",
        `${atStart(tagPlace)}: not well-formed XML: text ${side} the root element.`,
      );
    }
    const isAboutTag = /^(?:unbound|duplicate)/.test(error.message);
    throw notWellFormed(error.message, isAboutTag ? tagPlace : here());
  });
  sax.on("xmldecl", ({ version }) => {
    if (version !== "1.0") throw new Problem("malformed", `${atStart(here())}: the message must be XML 1.0.`);
    endPart();
  });
  sax.on("opentagstart", ({ name }) => {
    settle();
    attributes = 0;
    tagPlace = startOf(name, here());
    // A second root is for the parser to refuse.
    if (isRootClosed) return;
    count(tagPlace);
    if (depth + 1 > limits.depth) throw limitExceeded(limits, "depth", atStart(tagPlace));
    checkLocalName(name, tagPlace);
    endPart();
  });
  sax.on("attribute", ({ name, prefix, value }) => {
    endPart();
    if (++attributes > limits.attributes) throw limitExceeded(limits, "attributes", atStart(tagPlace));
    if (value.length > limits.attributeLength)
      throw limitExceeded(limits, "attributeLength", atStart(tagPlace));
    checkLocalName(name, tagPlace);
    if (prefix === "xmlns" || name === "xmlns") {
      if (++namespaces > limits.namespaces) throw limitExceeded(limits, "namespaces", atStart(tagPlace));
      // The parser would cut it off, and so let another namespace pass for ours.
      if (value !== value.trim()) {
        throw new Problem(
          "malformed",
          `${atStart(tagPlace)}: a namespace has white space before or after it.`,
        );
      }
    }
  });
  sax.on("opentag", (tag) => {
    open(tag as SaxesTagNS, tagPlace);
    depth++;
    endPart();
  });
  sax.on("closetag", () => {
    settle();
    closing = here();
    endPart();
  });
  sax.on("text", (text) => {
    settle();
    // The < of what follows has been read.
    takeText(text, endPart(1));
  });
  sax.on("cdata", (text) => {
    settle();
    const place = endPart();
    count(place);
    takeText(text, place, true);
  });
  sax.on("comment", () => {
    settle();
    count(endPart());
  });
  sax.on("doctype", () => {
    throw notWellFormed("inappropriately located doctype", here());
  });
  sax.on("processinginstruction", () => {
    settle();
    const place = endPart();
    count(place);
    if (decoder.isInValue) {
      throw new Problem(
        "invalid_request",
        `${decoder.operation}, ${at(place)}: a processing instruction inside a value.`,
      );
    }
  });

  function open(tag: SaxesTagNS, place: Place): void {
    if (depth === 0) openEnvelope(tag, place);
    else if (depth === 1) openPart(tag, place);
    else if (stage === "body") decoder.open(tag, place, resolve);
    else if (stage === "header" && depth === 2) checkHeaderBlock(tag, soapVersion!, place);
  }

  function openEnvelope({ local, uri }: SaxesTagNS, place: Place): void {
    if (local !== "Envelope" || (uri !== SOAP_11 && uri !== SOAP_12)) {
      throw new Problem(
        "version_mismatch",
        `${atStart(place)}: the root element must be Envelope in the namespace ${SOAP_11} (SOAP 1.1) or ${SOAP_12} (SOAP 1.2).`,
      );
    }
    soapVersion = uri === SOAP_11 ? "1.1" : "1.2";
    soapNamespace = uri;
    stage = "envelope";
  }

  function openPart({ local, uri }: SaxesTagNS, place: Place): void {
    const isHeader = uri === soapNamespace && local === "Header";
    const isBody = uri === soapNamespace && local === "Body";
    if (isHeader && stage === "envelope") stage = "header";
    else if (isBody && (stage === "envelope" || stage === "after header")) stage = "body";
    else if (isHeader) refuse(place, "Header may stand once, before Body.");
    else if (isBody) refuse(place, "a second Body.");
    else refuse(place, "an element that is neither Header nor Body of SOAP.");
  }

  function settle(): void {
    if (closing === null) return;
    const place = closing;
    closing = null;
    depth--;
    close(place);
  }

  function close(place: Place): void {
    if (depth === 1) {
      if (stage === "body" && decoder.request === null) {
        refuse(place, `Body is empty; it must hold one of ${OPERATION_NAMES.join(", ")}.`);
      }
      stage = stage === "header" ? "after header" : "after body";
    } else if (depth === 0) {
      if (stage !== "after body") refuse(place, "Body is missing.");
      isRootClosed = true;
      tagPlace = place;
    } else if (stage === "body") {
      decoder.close(place);
    }
  }

  function takeText(text: string, place: Place, isSection = false): void {
    if (stage === "body" && depth >= 2) decoder.text(text, place, isSection);
    // Outside the root the parser itself refuses it.
    else if (depth > 0 && depth <= 2 && (isSection || !isXmlSpace(text)))
      refuse(placeOfContent(place, text), "text between elements.");
  }

  return {
    write(text) {
      // The byte order mark went with the bytes. The parser would drop a second one, which is text before the root.
      if (given === 0 && text.startsWith("\uFEFF")) {
        throw new Problem(
          "malformed",
          "Line 1, column 1: not well-formed XML: text before the root element.",
        );
      }
      sax.write(text);
      given += text.length;
      // A part that never ends has no event.
      if (given - partStart > limits.textLength + 1)
        throw limitExceeded(limits, "textLength", atStart(partPlace));
    },
    finish() {
      // A bare & is a common slip, and the parser looks for its ; up to the end.
      if (sax["entity"] !== "") throw notWellFormed("undefined entity", partPlace);
      sax.close();
      settle();
    },
    get place() {
      return { line: sax.line, column: sax.column + 1 };
    },
    get soapVersion() {
      return soapVersion;
    },
    get operation() {
      return decoder.operation;
    },
    get request() {
      return decoder.request;
    },
  };
}

function refuse(place: Place, text: string): never {
  throw new Problem("invalid_request", `Envelope, ${at(place)}: ${text}`);
}

/** Where a tag began, once its name and the character after it have been read. */
function startOf(name: string, { line, column }: Place): Place {
  const start = column - name.length - 1;
  return start >= 1 ? { line, column: start } : { line, column };
}

/** Characters that a name may hold but not begin with (XML 1.0, productions 4 and 4a). */
const NOT_FIRST = /^(?:[-.0-9\u203F\u2040\u00B7]|[\u0300-\u036F])/;

/** Names after a prefix follow the same rules as names (Namespaces in XML 1.0, production 4); the parser does not look. */
function checkLocalName(name: string, place: Place): void {
  const colon = name.indexOf(":");
  if (colon >= 0 && NOT_FIRST.test(name.slice(colon + 1))) {
    throw new Problem(
      "malformed",
      `${atStart(place)}: not well-formed XML: a name begins with a character that it may not.`,
    );
  }
}
