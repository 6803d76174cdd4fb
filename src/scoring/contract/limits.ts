import { capitalized } from "../../platform/words.ts";
import { Problem } from "../../problem.ts";

/** Limits of one message. Each limit is enforced while the message arrives. */
export interface MessageLimits {
  /** Bytes of the whole message. */
  bytes: number;
  /** Nested elements; the smallest message has 4. */
  depth: number;
  /** Elements, comments, CDATA sections and processing instructions. */
  elements: number;
  /** Attributes of one element, including namespace declarations. */
  attributes: number;
  /** Characters of one attribute's value. */
  attributeLength: number;
  /** Namespace declarations of the whole message. */
  namespaces: number;
  /** Characters of one value, comment or other part of the message, as written. */
  textLength: number;
}

/** Depth, elements and attributes are the defaults of Apache CXF, which SOAP toolkits work with. */
export const MESSAGE_LIMITS: Readonly<MessageLimits> = {
  bytes: 16_777_216,
  depth: 100,
  elements: 50_000,
  attributes: 500,
  attributeLength: 65_536,
  namespaces: 1000,
  textLength: 4_194_304,
};

const MESSAGES: Record<keyof MessageLimits, string> = {
  bytes: "the message has more than # bytes",
  depth: "elements are nested more than # deep",
  elements: "the message has more than # elements, comments and sections",
  attributes: "an element has more than # attributes",
  attributeLength: "an attribute has more than # characters",
  namespaces: "the message declares more than # namespaces",
  textLength: "one text of the message has more than # characters",
};

/** The problem of a message that exceeds a limit. */
export function limitExceeded(limits: MessageLimits, limit: keyof MessageLimits, where = ""): Problem {
  const message = MESSAGES[limit].replace("#", String(limits[limit]));
  const text = where === "" ? capitalized(message) : `${where}: ${message}`;
  return new Problem("too_large", `${text}, which is the limit.`);
}
