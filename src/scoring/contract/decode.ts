import { didYouMean } from "../../motif/index.ts";
import { Problem } from "../../problem.ts";
import { describeCharacter, disallowedCharacter, isXmlSpace } from "./characters.ts";
import { limitExceeded, type MessageLimits } from "./limits.ts";
import { XMLNS, XSD, XSI } from "./namespaces.ts";
import {
  type Field,
  type OperationName,
  OPERATION_NAMES,
  type Request,
  SERVICE,
  type TextType,
} from "./service.ts";
import { at, type Place, findContentPlace, quoted, unexpected } from "./xml-errors.ts";

/** A start tag as the parser reports it. */
export interface Tag {
  readonly uri: string;
  readonly local: string;
  readonly attributes: Readonly<Record<string, Attribute>>;
}

interface Attribute {
  readonly uri: string;
  readonly local: string;
  readonly value: string;
}

/** The namespace of a prefix in scope. */
type Resolve = (prefix: string) => string | undefined;

/** A field of a request, prepared for reading. */
interface Slot {
  readonly name: string;
  readonly field: Field;
  readonly type: TextType;
  readonly disallowed: RegExp | null;
}

const SLOTS = new Map<string, { operation: OperationName; slots: readonly Slot[] }>(
  OPERATION_NAMES.map((operation) => [
    operation,
    { operation, slots: Object.entries<Field>(SERVICE.operations[operation].request).map(makeSlot) },
  ]),
);

function makeSlot([name, field]: [string, Field]): Slot {
  if ("isPrediction" in field.type) throw new Error("Requests contain no predictions.");
  const { characters } = field.type;
  return { name, field, type: field.type, disallowed: characters ? disallowedCharacter(characters) : null };
}

const PATTERN = SERVICE.operations.RunJob.request.regularExpression.type;

const RESPONSE_NAME = /^(?:RunJob|GetStatus|GetResult)Response$|^Fault$|^JobIdentifierFault$/;

/** Reads the content of Body event by event and validates it against the declaration of the service. */
export class RequestDecoder {
  /** The operation, once its element is open. */
  operation: OperationName | null = null;
  /** The request, once its element is closed. */
  request: Request | null = null;
  /** True if a value is being read: processing instructions are not allowed there. */
  isInValue = false;
  #slots: readonly Slot[] = [];
  /** Values by slot. */
  #values: string[][] = [];
  /** The slot from which the next element is looked up. */
  #next = 0;
  #value = "";
  #valuePlace: Place = { line: 1, column: 1 };

  constructor(
    private readonly namespace: string,
    private readonly limits: MessageLimits,
  ) {}

  open(tag: Tag, place: Place, resolve: Resolve): void {
    if (this.isInValue) {
      const parent = this.#slots[this.#next].name;
      this.#fail(place, `${unexpected("element", tag, parent)}; \`${parent}\` must contain text only.`);
    }
    if (this.operation === null || this.request !== null) this.#openOperation(tag, place);
    else this.#openValue(tag, place, resolve);
  }

  /** @param isCdata CDATA counts as text even where it is empty */
  text(text: string, place: Place, isCdata: boolean): void {
    if (this.isInValue) {
      this.#value += text;
      if (this.#value.length > this.limits.textLength)
        throw limitExceeded(this.limits, "textLength", `${this.operation}, ${at(this.#valuePlace)}`);
    } else if (isCdata || !isXmlSpace(text)) {
      const where = this.operation ?? "Body";
      this.#fail(
        findContentPlace(place, text),
        `text between elements; \`${where}\` may contain elements only.`,
      );
    }
  }

  close(place: Place): void {
    if (this.isInValue) this.#closeValue();
    else this.#closeOperation(place);
  }

  #fail(place: Place, text: string): never {
    throw new Problem("invalid_request", `${this.operation ?? "Body"}, ${at(place)}: ${text}`);
  }

  #openOperation(tag: Tag, place: Place): void {
    if (this.request !== null)
      this.#fail(place, `${unexpected("element", tag, "Body")}; it must contain exactly one request.`);
    const known = SLOTS.get(tag.local);
    if (known === undefined) {
      const hint = RESPONSE_NAME.test(tag.local) ? ", which is a response" : "";
      this.#fail(
        place,
        `${unexpected("element", tag, "Body")}${hint}. Requests are ${OPERATION_NAMES.join(", ")}, in the namespace ${this.namespace}.`,
      );
    }
    this.#checkNamespace(tag, place, "Body");
    this.operation = known.operation;
    this.#slots = known.slots;
    this.#values = known.slots.map(() => []);
    for (const attribute of listAttributes(tag))
      if (!isSchemaHint(attribute)) this.#fail(place, attributeProblem(attribute, known.operation, null));
  }

  #checkNamespace(tag: Tag, place: Place, parent: string): void {
    if (tag.uri === this.namespace) return;
    const where = tag.uri === "" ? "no namespace" : "another namespace";
    this.#fail(
      place,
      `the element ${quoted(tag.local)} in \`${parent}\` is in ${where}; it must be in ${this.namespace}.`,
    );
  }

  #openValue(tag: Tag, place: Place, resolve: Resolve): void {
    const slots = this.#slots;
    const values = this.#values;
    const index = slots.findIndex(({ name }) => name === tag.local);
    if (index < 0)
      this.#fail(place, `${unexpected("element", tag, this.operation!)}; ${this.#expectation()}.`);
    this.#checkNamespace(tag, place, this.operation!);
    const { name, field, type } = slots[index];
    if (index < this.#next) {
      const order = slots.map((slot) => slot.name).join(", ");
      this.#fail(place, `${name} must come before ${slots[this.#next].name}; the order is ${order}.`);
    }
    const skipped = slots.slice(0, index).find((slot, i) => values[i].length < slot.field.minOccurs);
    if (skipped) this.#fail(place, `found ${name} where ${skipped.name} is expected.`);
    if (values[index].length >= field.maxOccurs) {
      const times = field.maxOccurs === 1 ? "once" : `${field.maxOccurs} times`;
      this.#fail(place, `${name} may appear at most ${times}.`);
    }
    this.#next = index;
    for (const attribute of listAttributes(tag)) {
      const isAllowed = isSchemaHint(attribute) || this.#namesType(attribute, type, resolve);
      if (!isAllowed) this.#fail(place, attributeProblem(attribute, name, type));
    }
    this.isInValue = true;
    this.#value = "";
    this.#valuePlace = place;
  }

  #expectation(): string {
    const open = this.#slots.filter(
      ({ field }, i) => i >= this.#next && this.#values[i].length < field.maxOccurs,
    );
    const required = open.findIndex(
      (slot) => this.#values[this.#slots.indexOf(slot)].length < slot.field.minOccurs,
    );
    const names = open.slice(0, required < 0 ? undefined : required + 1).map(({ name }) => `\`${name}\``);
    if (names.length === 0) return `\`${this.operation}\` is complete`;
    return `expected ${names.length > 1 ? "one of " : ""}${names.join(", ")}`;
  }

  /** True if the attribute is an xsi:type that names the declared type or the string that it restricts. */
  #namesType({ uri, local, value }: Attribute, type: TextType, resolve: Resolve): boolean {
    if (uri !== XSI || local !== "type") return false;
    const [, prefix = "", name] = /^[ ]*(?:([^: ]+):)?([^: ]+)[ ]*$/.exec(value) ?? [];
    const namespace = resolve(prefix) ?? "";
    if (namespace === XSD && name === "string") return true;
    return type.name !== null && namespace === this.namespace && name === type.name;
  }

  #closeValue(): void {
    this.isInValue = false;
    const { name, field, type, disallowed } = this.#slots[this.#next];
    const values = this.#values[this.#next];
    const content = this.#value === "" ? (field.default ?? "") : this.#value;
    const where = field.maxOccurs > 1 ? `${name} ${values.length + 1}` : name;
    if (type.choices && !type.choices.includes(content))
      this.#fail(this.#valuePlace, `${where}: expected exactly ${type.choices.join(" or ")}.`);
    const found = disallowed === null ? -1 : content.search(disallowed);
    if (found >= 0) {
      const character = describeCharacter(content.slice(found, found + 2));
      this.#fail(
        this.#valuePlace,
        `${where}, character ${found + 1}: ${character} is not allowed. Allowed are ${type.characters!.words}.${type === PATTERN ? didYouMean(content) : ""}`,
      );
    }
    values.push(content);
  }

  #closeOperation(place: Place): void {
    const missing = this.#slots.find(({ field }, i) => this.#values[i].length < field.minOccurs);
    if (missing) this.#fail(place, `${missing.name} is missing.`);
    const value: Record<string, string | string[]> = {};
    for (const [i, { name, field }] of this.#slots.entries()) {
      const values = this.#values[i];
      value[name] = field.maxOccurs === 1 ? values[0] : values;
    }
    this.request = { operation: this.operation!, value } as unknown as Request;
  }
}

function attributeProblem(attribute: Attribute, element: string, type: TextType | null): string {
  const { uri, local } = attribute;
  const found = unexpected("attribute", attribute, element);
  if (uri !== XSI || (local !== "nil" && local !== "type")) return `${found}; it has no attributes.`;
  if (local === "nil") return `${found}; send an empty element for an empty value.`;
  if (type === null) return `${found}; only its children may name their types.`;
  const own = type.name === null ? "" : `${type.name} of this service or `;
  return `the attribute \`xsi:type\` of \`${element}\` must name the declared type, ${own}string of XML Schema.`;
}

/** Attributes of a start tag except namespace declarations. */
export const listAttributes = (tag: Tag): Attribute[] => {
  const found: Attribute[] = [];
  for (const name in tag.attributes) if (tag.attributes[name].uri !== XMLNS) found.push(tag.attributes[name]);
  return found;
};

/** Attributes that are allowed on any element (XML Schema part 1, section 2.6); the schema is never fetched. */
const isSchemaHint = ({ uri, local }: Attribute): boolean =>
  uri === XSI && (local === "schemaLocation" || local === "noNamespaceSchemaLocation");
