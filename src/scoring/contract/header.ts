import { Problem } from "../../problem.ts";
import { type Attribute, attributesOf, type Tag } from "./decode.ts";
import type { SoapVersion } from "./encode.ts";
import { SOAP_11, SOAP_12 } from "./namespaces.ts";
import { at, type Place } from "./xml-errors.ts";

/** Per version the attribute that names whom a header block is for, and the names that mean us. */
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

/**
 * Holds a header block to the one duty that we have: to refuse the message where the block is for us and mandatory, for
 * no header is known here.
 * @throws Problem must_understand; invalid_request where mustUnderstand is not a truth value
 */
export function checkHeaderBlock(tag: Tag, soapVersion: SoapVersion, place: Place): void {
  const { namespace, attribute, us } = TARGETS[soapVersion];
  const attributes = attributesOf(tag);
  const valueOf = (name: string): string | undefined =>
    attributes.find(({ uri, local }: Attribute) => uri === namespace && local === name)?.value.trim();
  const mandatory = valueOf("mustUnderstand") ?? "0";
  if (!["0", "1", "false", "true"].includes(mandatory)) {
    throw new Problem("invalid_request", `Header, ${at(place)}: mustUnderstand must be 0 or 1.`);
  }
  if ((mandatory === "1" || mandatory === "true") && us.includes(valueOf(attribute) ?? "")) {
    throw new Problem(
      "must_understand",
      `Header, ${at(place)}: a mandatory header block that is not known here; this service knows none.`,
    );
  }
}
