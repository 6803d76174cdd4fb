import { Problem } from "../../problem.ts";
import type { Tag } from "./decode.ts";
import { type OperationName, soapAction } from "./service.ts";
import { at, type Place } from "./xml-errors.ts";

/**
 * WS-Addressing over one HTTP exchange: Core 1.0 with its SOAP binding (2005/08), and the submission of 2004/08. A block
 * that cannot be honoured is refused if it is mandatory, else ignored, because responses go back on the connection.
 */

interface Version {
  /** Address of the connection on which the request came. */
  readonly anonymous: string;
  /** Action of faults that the WSDL does not declare. */
  readonly faultAction: string;
  /** Whether declared faults have actions of their own. */
  readonly namesFaults: boolean;
}

const VERSIONS: Record<string, Version> = {
  "http://www.w3.org/2005/08/addressing": {
    anonymous: "http://www.w3.org/2005/08/addressing/anonymous",
    faultAction: "http://www.w3.org/2005/08/addressing/soap/fault",
    namesFaults: true,
  },
  "http://schemas.xmlsoap.org/ws/2004/08/addressing": {
    anonymous: "http://schemas.xmlsoap.org/ws/2004/08/addressing/role/anonymous",
    faultAction: "http://schemas.xmlsoap.org/ws/2004/08/addressing/fault",
    namesFaults: false,
  },
};

const BLOCKS = ["Action", "FaultTo", "From", "MessageID", "RelatesTo", "ReplyTo", "To"] as const;
type BlockName = (typeof BLOCKS)[number];
const ENDPOINTS: ReadonlySet<BlockName> = new Set(["FaultTo", "ReplyTo"]);

/** Characters of a value that are kept; a longer one is not honoured. */
const MAX_VALUE = 1024;

/** The addressing of a request, which its response answers. */
export interface Addressing {
  readonly namespace: string;
  readonly messageId: string | null;
}

interface Block {
  readonly name: BlockName;
  readonly namespace: string;
  readonly isMandatory: boolean;
  readonly place: Place;
  /** Text of the block, or of its Address. */
  value: string;
}

export const isAddressing = ({ uri, local }: Tag): boolean =>
  Object.hasOwn(VERSIONS, uri) && (BLOCKS as readonly string[]).includes(local);

/** Collects the blocks that are addressed to this service. */
export class AddressingReader {
  readonly #blocks = new Map<BlockName, Block>();
  #open: Block | null = null;
  #isInValue = false;

  openBlock({ uri, local }: Tag, isMandatory: boolean, place: Place): void {
    const name = local as BlockName;
    const block = { name, namespace: uri, isMandatory, place, value: "" };
    if (this.#blocks.has(name)) return this.#refuse(block, "it may appear only once");
    this.#blocks.set(name, block);
    this.#open = block;
    this.#isInValue = !ENDPOINTS.has(name);
  }

  /** An element directly inside a block. */
  openChild({ uri, local }: Tag): void {
    const block = this.#open;
    if (block && ENDPOINTS.has(block.name)) this.#isInValue = uri === block.namespace && local === "Address";
  }

  /** @param depth of nested elements, 1 directly inside a block */
  text(text: string, depth: number): void {
    const block = this.#open;
    if (!block || !this.#isInValue || depth !== (ENDPOINTS.has(block.name) ? 2 : 1)) return;
    if (block.value.length <= MAX_VALUE) block.value += text.slice(0, MAX_VALUE + 1);
  }

  closeBlock(): void {
    const block = this.#open;
    this.#open = null;
    if (!block) return;
    block.value = block.value.trim();
    const { anonymous } = VERSIONS[block.namespace];
    if (block.value.length > MAX_VALUE) this.#refuse(block, `it may have at most ${MAX_VALUE} characters`);
    else if (ENDPOINTS.has(block.name) && block.value !== anonymous)
      this.#refuse(block, `its Address must be ${anonymous}: responses go back on the connection`);
  }

  /** The addressing to answer; null if there is none. */
  get found(): Addressing | null {
    const [first] = this.#blocks.values();
    if (!first) return null;
    const messageId = this.#blocks.get("MessageID")?.value ?? "";
    return { namespace: first.namespace, messageId: messageId === "" ? null : messageId };
  }

  /** @throws Problem if a mandatory Action means another operation */
  checkAction(namespace: string, operation: OperationName): void {
    const block = this.#blocks.get("Action");
    const action = soapAction(namespace, operation);
    if (block && block.value !== action && block.value !== `${action}Request`)
      this.#refuse(block, `the action of ${operation} is ${action}`);
  }

  #refuse(block: Block, rule: string): void {
    this.#blocks.delete(block.name);
    if (!block.isMandatory) return;
    throw new Problem("invalid_request", `Header, ${at(block.place)}: ${block.name}: ${rule}.`);
  }
}

/** The action of a response, or of a fault where `fault` is its name or null for one that the WSDL does not declare. */
export function responseAction(
  { namespace }: Addressing,
  service: string,
  operation: OperationName | null,
  fault?: string | null,
): string {
  const { faultAction, namesFaults } = VERSIONS[namespace];
  if (fault === undefined) return `${soapAction(service, operation!)}Response`;
  if (fault === null || operation === null || !namesFaults) return faultAction;
  return `${soapAction(service, operation)}/Fault/${fault}`;
}

export const anonymousAddress = ({ namespace }: Addressing): string => VERSIONS[namespace].anonymous;
