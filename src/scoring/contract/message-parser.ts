import { type SaxesAttributeNS, SaxesParser, type SaxesTagNS } from "saxes";
import { Problem } from "../../problem.ts";
import { isXmlSpace } from "./characters.ts";
import { listAttributes, RequestDecoder, type Tag } from "./decode.ts";
import type { SoapVersion } from "./encode.ts";
import { limitExceeded, type MessageLimits } from "./limits.ts";
import { SOAP_11, SOAP_12 } from "./namespaces.ts";
import { OPERATION_NAMES, type OperationName, type Request } from "./service.ts";
import {
  at,
  printPlace,
  malformed,
  notWellFormedProblem,
  type Place,
  findContentPlace,
  quoted,
  unexpected,
} from "./xml-errors.ts";

/** A parser of saxes with its listeners. Making one takes as long as reading a small message, so that they are used again. */
class Source {
  listener!: MessageParser;
  // Forced to 1.0, so that no character of XML 1.1 passes before its declaration is refused.
  readonly sax = new SaxesParser({
    xmlns: true,
    position: false,
    defaultXMLVersion: "1.0",
    forceXMLVersion: true,
  });
  readonly resolve = (prefix: string): string | undefined => this.sax.resolve(prefix);

  constructor() {
    const { sax } = this;
    sax.on("error", ({ message }) => this.listener.onError(message));
    sax.on("xmldecl", ({ version }) => this.listener.onXmlDeclaration(version));
    sax.on("opentagstart", ({ name }) => this.listener.onTagName(name));
    sax.on("attribute", (attribute) => this.listener.onAttribute(attribute));
    sax.on("opentag", (tag) => this.listener.onStartTag(tag));
    sax.on("closetag", () => this.listener.onEndTag());
    // The `<` after the text has been read already.
    sax.on("text", (text) => this.listener.onText(text, 1));
    sax.on("cdata", (text) => this.listener.onText(text, 0, true));
    sax.on("comment", () => this.listener.onComment());
    sax.on("doctype", () => this.listener.onDoctype());
    sax.on("processinginstruction", () => this.listener.onProcessingInstruction());
  }
}

/** Sources whose messages were complete. */
const idle: Source[] = [];
const MAX_IDLE = 16;

/** saxes is in its initial state after `close`. */
function giveBack(source: Source): void {
  if (idle.length < MAX_IDLE) idle.push(source);
}

type Stage = "before" | "envelope" | "header" | "after header" | "body" | "after body";

/**
 * Parses a SOAP envelope (SOAP 1.1, section 4; SOAP 1.2 part 1, section 5) as its text arrives and throws a Problem at the
 * first error. Only the values of the request are kept.
 */
export class MessageParser {
  /** Version of the envelope, once its start tag has been read. */
  soapVersion: SoapVersion | null = null;
  readonly #source = idle.pop() ?? new Source();
  readonly #sax = this.#source.sax;
  readonly #decoder: RequestDecoder;
  readonly #limits: MessageLimits;
  #soapNamespace = "";
  #stage: Stage = "before";
  #depth = 0;
  #elements = 0;
  #attributes = 0;
  #namespaces = 0;
  /** Characters written so far, and where the current markup or text begins in them. */
  #written = 0;
  #partStart = 0;
  #partPlace: Place = { line: 1, column: 1 };
  #tagPlace: Place = { line: 1, column: 1 };
  #isRootClosed = false;
  /** An end tag that saxes has reported but not compared with its start tag yet. */
  #endTag: Place | null = null;

  constructor(namespace: string, limits: MessageLimits) {
    this.#limits = limits;
    this.#decoder = new RequestDecoder(namespace, limits);
    this.#source.listener = this;
  }

  onXmlDeclaration(version: string | undefined): void {
    if (version !== "1.0") throw malformed(this.#here, "the message must be XML 1.0");
    this.#endPart();
  }

  onEndTag(): void {
    this.#finishEndTag();
    this.#endTag = this.#here;
    this.#endPart();
  }

  onComment(): void {
    this.#finishEndTag();
    this.#countElement(this.#endPart());
  }

  /** saxes reports a DOCTYPE at its end. */
  onDoctype(): void {
    throw notWellFormedProblem("inappropriately located doctype", this.#partPlace);
  }

  onProcessingInstruction(): void {
    this.#finishEndTag();
    const place = this.#endPart();
    this.#countElement(place);
    if (!this.#decoder.isInValue) return;
    throw new Problem(
      "invalid_request",
      `${this.#decoder.operation}, ${at(place)}: processing instructions are not allowed in values.`,
    );
  }

  /** @throws Problem */
  write(text: string): void {
    // The decoder removed the byte order mark. saxes would drop a second one, which is text before the root.
    if (this.#written === 0 && text.startsWith("\uFEFF"))
      throw notWellFormedProblem("text data outside", { line: 1, column: 1 }, "before");
    this.#sax.write(text);
    this.#written += text.length;
    // Markup that never ends has no event.
    if (this.#written - this.#partStart > this.#limits.textLength + 1)
      throw limitExceeded(this.#limits, "textLength", printPlace(this.#partPlace));
  }

  /** @throws Problem if the message is not complete */
  finish(): void {
    this.#sax.close();
    giveBack(this.#source);
    this.#finishEndTag();
  }

  /** The current position of reading. */
  get place(): Place {
    return { line: this.#sax.line, column: this.#sax.column + 1 };
  }

  get operation(): OperationName | null {
    return this.#decoder.operation;
  }

  /** The request, once the message is finished. */
  get request(): Request | null {
    return this.#decoder.request;
  }

  get #here(): Place {
    return { line: this.#sax.line, column: Math.max(1, this.#sax.column) };
  }

  /**
   * Ends the markup or text that an event reports, and returns where it began.
   * @param ahead characters that saxes has read beyond it
   */
  #endPart(ahead = 0): Place {
    const start = this.#partPlace;
    const end = this.#sax.position - ahead;
    if (end - this.#partStart > this.#limits.textLength)
      throw limitExceeded(this.#limits, "textLength", printPlace(start));
    this.#partStart = end;
    this.#partPlace = { line: this.#sax.line, column: this.#sax.column + 1 - ahead };
    return start;
  }

  #countElement(place: Place): void {
    if (++this.#elements > this.#limits.elements)
      throw limitExceeded(this.#limits, "elements", printPlace(place));
  }

  onError(message: string): void {
    // saxes notices text outside the root late, at a place that depends on how the message was cut.
    if (message.startsWith("text data outside")) {
      this.#finishEndTag();
      throw notWellFormedProblem(message, this.#tagPlace, this.#isRootClosed ? "after" : "before");
    }
    if (/^(?:unclosed|unexpected end)/.test(message)) throw notWellFormedProblem(message, this.#partPlace);
    throw notWellFormedProblem(message, /^(?:unbound|duplicate)/.test(message) ? this.#tagPlace : this.#here);
  }

  onTagName(name: string): void {
    this.#finishEndTag();
    this.#attributes = 0;
    const { line, column } = this.#here;
    const start = column - name.length - 1;
    this.#tagPlace = { line, column: start >= 1 ? start : column };
    // saxes refuses a second root.
    if (this.#isRootClosed) return;
    this.#countElement(this.#tagPlace);
    if (this.#depth + 1 > this.#limits.depth)
      throw limitExceeded(this.#limits, "depth", printPlace(this.#tagPlace));
    checkLocalName(name, this.#tagPlace);
    this.#endPart();
  }

  onAttribute({ name, prefix, value }: Pick<SaxesAttributeNS, "name" | "prefix" | "value">): void {
    this.#endPart();
    const place = this.#tagPlace;
    const limits = this.#limits;
    if (++this.#attributes > limits.attributes) throw limitExceeded(limits, "attributes", printPlace(place));
    if (value.length > limits.attributeLength)
      throw limitExceeded(limits, "attributeLength", printPlace(place));
    checkLocalName(name, place);
    if (prefix !== "xmlns" && name !== "xmlns") return;
    if (++this.#namespaces > limits.namespaces) throw limitExceeded(limits, "namespaces", printPlace(place));
    // saxes would trim it, so that another namespace would pass for ours.
    if (value !== value.trim()) throw malformed(place, "a namespace has white space around it");
  }

  onStartTag(tag: SaxesTagNS): void {
    const place = this.#tagPlace;
    if (this.#depth === 0) this.#openEnvelope(tag, place);
    else if (this.#depth === 1) this.#openEnvelopeChild(tag, place);
    else if (this.#stage === "body") this.#decoder.open(tag, place, this.#source.resolve);
    else if (this.#stage === "header" && this.#depth === 2)
      refuseMandatoryBlock(tag, this.soapVersion!, place);
    this.#depth++;
    this.#endPart();
  }

  #openEnvelope({ local, uri }: SaxesTagNS, place: Place): void {
    if (local !== "Envelope" || (uri !== SOAP_11 && uri !== SOAP_12)) {
      throw new Problem(
        "version_mismatch",
        `${printPlace(place)}: the root element is ${quoted(local)}; it must be \`Envelope\` in the namespace ${SOAP_11} (SOAP 1.1) or ${SOAP_12} (SOAP 1.2).`,
      );
    }
    this.soapVersion = uri === SOAP_11 ? "1.1" : "1.2";
    this.#soapNamespace = uri;
    this.#stage = "envelope";
  }

  #openEnvelopeChild(tag: SaxesTagNS, place: Place): void {
    const { local, uri } = tag;
    const name = uri === this.#soapNamespace ? local : "";
    const stage = this.#stage;
    if (name === "Header" && stage === "envelope") this.#stage = "header";
    else if (name === "Body" && (stage === "envelope" || stage === "after header")) this.#stage = "body";
    else if (name === "Header") refuse(place, "Header may appear only once, before Body.");
    else if (name === "Body") refuse(place, "Body may appear only once.");
    else
      refuse(
        place,
        `${unexpected("element", tag, "Envelope")}; expected \`Header\` and \`Body\` in the namespace ${this.#soapNamespace}.`,
      );
  }

  #finishEndTag(): void {
    const place = this.#endTag;
    if (place === null) return;
    this.#endTag = null;
    this.#depth--;
    if (this.#depth === 0) {
      if (this.#stage !== "after body") refuse(place, "Body is missing.");
      this.#isRootClosed = true;
      this.#tagPlace = place;
    } else if (this.#depth === 1) {
      if (this.#stage === "body" && this.request === null)
        refuse(place, `Body is empty; it must contain one of ${OPERATION_NAMES.join(", ")}.`);
      this.#stage = this.#stage === "header" ? "after header" : "after body";
    } else if (this.#stage === "body") this.#decoder.close(place);
  }

  /** @param ahead characters that saxes has read beyond it */
  onText(text: string, ahead: number, isCdata = false): void {
    this.#finishEndTag();
    const place = this.#endPart(ahead);
    if (isCdata) this.#countElement(place);
    if (this.#stage === "body" && this.#depth >= 2) this.#decoder.text(text, place, isCdata);
    // saxes refuses text outside the root.
    else if (this.#depth > 0 && this.#depth <= 2 && (isCdata || !isXmlSpace(text)))
      refuse(
        findContentPlace(place, text),
        `text between elements; \`${this.#depth === 1 ? "Envelope" : "Header"}\` may contain elements only.`,
      );
  }
}

function refuse(place: Place, text: string): never {
  throw new Problem("invalid_request", `Envelope, ${at(place)}: ${text}`);
}

/** Characters that a name may contain but not begin with (XML 1.0, productions 4 and 4a). */
const INVALID_NAME_START = /^[^:]*:(?:[-.0-9\u203F\u2040\u00B7]|[\u0300-\u036F])/;

/** Checks the part of a name after its prefix (Namespaces in XML 1.0, production 4), which saxes does not. */
function checkLocalName(name: string, place: Place): void {
  if (INVALID_NAME_START.test(name))
    throw malformed(place, "not well-formed XML: a name begins with a character that is not allowed there");
}

/** Per version the attribute that addresses a header block, and its values that mean this service. */
const TARGETS: Record<SoapVersion, { namespace: string; attribute: string; us: readonly string[] }> = {
  // SOAP 1.1, section 4.2.2.
  "1.1": { namespace: SOAP_11, attribute: "actor", us: ["", "http://schemas.xmlsoap.org/soap/actor/next"] },
  // SOAP 1.2 part 1, section 2.2.
  "1.2": {
    namespace: SOAP_12,
    attribute: "role",
    us: ["", `${SOAP_12}/role/next`, `${SOAP_12}/role/ultimateReceiver`],
  },
};

/** Characters of the name of a block, with its namespace, that a fault repeats. */
const MAX_BLOCK_NAME = 200;

/** The service understands no header blocks. @throws Problem must_understand, invalid_request */
function refuseMandatoryBlock(tag: Tag, soapVersion: SoapVersion, place: Place): void {
  const { namespace, attribute, us } = TARGETS[soapVersion];
  const attributes = listAttributes(tag);
  const readValue = (name: string): string | undefined =>
    attributes.find(({ uri, local }) => uri === namespace && local === name)?.value.trim();
  const mandatory = readValue("mustUnderstand") ?? "0";
  const { uri, local } = tag;
  if (!["0", "1", "false", "true"].includes(mandatory))
    throw new Problem(
      "invalid_request",
      `Header, ${at(place)}: the attribute \`mustUnderstand\` of ${quoted(local)} must be 0 or 1.`,
    );
  const isMandatory = mandatory === "1" || mandatory === "true";
  if (!isMandatory || !us.includes(readValue(attribute) ?? "")) return;
  const name = (uri === "" ? local : `{${uri}}${local}`).slice(0, MAX_BLOCK_NAME);
  throw new Problem(
    "must_understand",
    `Header, ${at(place)}: the block ${name} is mandatory, but the service understands no header blocks. Remove the block or its mustUnderstand.`,
    { more: { notUnderstood: { uri, local } } },
  );
}
