import { Problem } from "../../problem.ts";
import { isXmlSpace, disallowedCharacter, describeCharacter } from "./characters.ts";
import { type MessageLimits, limitExceeded } from "./limits.ts";
import { XMLNS, XSD, XSI } from "./namespaces.ts";
import {
  type Field,
  type OperationName,
  OPERATION_NAMES,
  type Request,
  SERVICE,
  type TextType,
} from "./service.ts";
import { at, type Place, placeOfContent } from "./xml-errors.ts";

/** A start tag as the parser reports it. */
export interface Tag {
  readonly uri: string;
  readonly local: string;
  readonly attributes: Readonly<Record<string, Attribute>>;
}

export interface Attribute {
  readonly uri: string;
  readonly local: string;
  readonly value: string;
}

/** Takes the content of Body, event by event, and holds it to the declaration. */
export interface RequestDecoder {
  /** @param resolve namespace of a prefix in scope, for xsi:type */
  open(tag: Tag, place: Place, resolve: (prefix: string) => string | undefined): void;
  /** Text, or a CDATA section, which stands for text even where it is empty. */
  text(text: string, place: Place, isSection?: boolean): void;
  close(place: Place): void;
  /** Whether a value is being read: processing instructions have no place there. */
  readonly isInValue: boolean;
  /** The request, once its element is closed. */
  readonly request: Request | null;
  /** The operation, once its element is open. */
  readonly operation: OperationName | null;
}

/** A field of a request, made ready for reading. */
interface Slot {
  readonly name: string;
  readonly field: Field;
  readonly type: TextType;
  readonly outsider: RegExp | null;
}

const SLOTS = new Map<string, { operation: OperationName; slots: readonly Slot[] }>(
  OPERATION_NAMES.map((operation) => [
    operation,
    { operation, slots: Object.entries<Field>(SERVICE.operations[operation].request).map(slotOf) },
  ]),
);

function slotOf([name, field]: [string, Field]): Slot {
  if ("isPrediction" in field.type) throw new Error("A prediction is answered, never asked.");
  const { characters } = field.type;
  return { name, field, type: field.type, outsider: characters ? disallowedCharacter(characters) : null };
}

const REQUESTS = OPERATION_NAMES.join(", ");

export function openRequestDecoder(namespace: string, limits: MessageLimits): RequestDecoder {
  let operation: OperationName | null = null;
  let slots: readonly Slot[] = [];
  let request: Request | null = null;
  /** Values by slot. */
  let values: string[][] = [];
  /** The slot that the next element is looked for from. */
  let next = 0;
  let isInValue = false;
  let value = "";
  let valuePlace: Place = { line: 1, column: 1 };

  const fail = (place: Place, text: string): never => {
    throw new Problem("invalid_request", `${operation ?? "Body"}, ${at(place)}: ${text}`);
  };

  function openOperation(tag: Tag, place: Place): void {
    if (request !== null) fail(place, "Body holds a second element; it must hold exactly one request.");
    const known = SLOTS.get(tag.local);
    if (known === undefined) {
      const isAnswer = /^(?:RunJob|GetStatus|GetResult)Response$|^Fault$|^JobIdentifierFault$/.test(
        tag.local,
      );
      fail(
        place,
        `Body holds ${isAnswer ? "an answer" : "an element"} where a request is expected. Requests are ${REQUESTS}, in the namespace ${namespace}.`,
      );
    }
    checkNamespace(tag, place);
    ({ operation, slots } = known!);
    values = slots.map(() => []);
    for (const attribute of attributesOf(tag)) {
      if (isHint(attribute)) continue;
      fail(place, attributeFault(attribute, null));
    }
  }

  function checkNamespace(tag: Tag, place: Place): void {
    if (tag.uri === namespace) return;
    fail(
      place,
      `${tag.local} is in ${tag.uri === "" ? "no namespace" : "another namespace"}; it must be in ${namespace}.`,
    );
  }

  function openValue(tag: Tag, place: Place, resolve: (prefix: string) => string | undefined): void {
    const index = slots.findIndex(({ name }) => name === tag.local);
    if (index < 0) fail(place, `an element that is not declared here; ${expectation()}.`);
    checkNamespace(tag, place);
    const { name, field, type } = slots[index];
    if (index < next) {
      const last = slots[next].name;
      fail(place, `${name} stands after ${last}; the order is ${slots.map((slot) => slot.name).join(", ")}.`);
    }
    const skipped = slots
      .slice(next, index)
      .find((slot, i) => values[next + i].length < slot.field.minOccurs);
    if (skipped) fail(place, `${name} stands where ${skipped.name} is expected.`);
    if (values[index].length >= field.maxOccurs) {
      const times = field.maxOccurs === 1 ? "once" : `${field.maxOccurs} times`;
      fail(
        place,
        `${name} is element number ${values[index].length + 1} of this name; it may stand here at most ${times}.`,
      );
    }
    next = index;
    for (const attribute of attributesOf(tag)) {
      if (isHint(attribute)) continue;
      if (attribute.uri === XSI && attribute.local === "type" && namesType(attribute.value, type, resolve))
        continue;
      fail(place, `${name}: ${attributeFault(attribute, type)}`);
    }
    isInValue = true;
    value = "";
    valuePlace = place;
  }

  function expectation(): string {
    const open = slots
      .map((slot, i) => ({ slot, count: values[i].length, i }))
      .filter(({ slot, count, i }) => i >= next && count < slot.field.maxOccurs);
    const needed = open.findIndex(({ slot, count }) => count < slot.field.minOccurs);
    const names = open.slice(0, needed < 0 ? undefined : needed + 1).map(({ slot }) => slot.name);
    return names.length === 0
      ? `${operation} is complete`
      : `expected ${names.length > 1 ? "one of " : ""}${names.join(", ")}`;
  }

  function namesType(
    qname: string,
    type: TextType,
    resolve: (prefix: string) => string | undefined,
  ): boolean {
    const [, prefix = "", local] = /^[ ]*(?:([^: ]+):)?([^: ]+)[ ]*$/.exec(qname) ?? [];
    const uri = resolve(prefix) ?? "";
    return (
      (uri === XSD && local === "string") || (type.name !== null && uri === namespace && local === type.name)
    );
  }

  function closeValue(): void {
    isInValue = false;
    const { name, field, type, outsider } = slots[next];
    const content = value === "" ? (field.default ?? "") : value;
    const where = field.maxOccurs > 1 ? `${name} ${values[next].length + 1}` : name;
    if (type.choices && !type.choices.includes(content)) {
      fail(valuePlace, `${where}: allowed are exactly ${type.choices.join(" and ")}.`);
    }
    const found = outsider === null ? -1 : content.search(outsider);
    if (found >= 0) {
      const character = describeCharacter(content.slice(found, found + 2));
      fail(
        valuePlace,
        `${where}, character ${found + 1}: ${character} is not allowed. Allowed are ${type.characters!.words}.`,
      );
    }
    values[next].push(content);
  }

  function closeOperation(place: Place): void {
    const missing = slots.find(({ field }, i) => values[i].length < field.minOccurs);
    if (missing) fail(place, `${missing.name} is missing.`);
    const result: Record<string, string | string[]> = {};
    for (let i = 0; i < slots.length; i++) {
      const { name, field } = slots[i];
      // An empty one of many is the default, and means none.
      result[name] = field.maxOccurs === 1 ? values[i][0] : values[i].filter((item) => !isXmlSpace(item));
    }
    request = { operation: operation!, value: result } as unknown as Request;
  }

  return {
    open(tag, place, resolve) {
      if (isInValue) fail(place, `${slots[next].name} holds an element; it may hold text only.`);
      if (operation === null || request !== null) openOperation(tag, place);
      else openValue(tag, place, resolve);
    },
    text(text, place, isSection = false) {
      if (isInValue) {
        value += text;
        if (value.length > limits.textLength)
          throw limitExceeded(limits, "textLength", `${operation}, ${at(valuePlace)}`);
      } else if (isSection || !isXmlSpace(text)) {
        fail(
          placeOfContent(place, text),
          `text between elements; ${operation ?? "Body"} may hold elements only.`,
        );
      }
    },
    close(place) {
      if (isInValue) closeValue();
      else closeOperation(place);
    },
    get isInValue() {
      return isInValue;
    },
    get request() {
      return request;
    },
    get operation() {
      return operation;
    },
  };
}

function attributeFault({ uri, local }: Attribute, type: TextType | null): string {
  if (uri === XSI && local === "nil")
    return "xsi:nil is not allowed; an empty element stands for the empty value.";
  if (uri === XSI && local === "type") {
    return type === null
      ? "xsi:type is not allowed here."
      : `xsi:type must name the declared type, ${type.name === null ? "" : `${type.name} of this service or `}string of XML Schema.`;
  }
  return "an attribute that is not declared; no attributes are expected.";
}

/** Attributes of a start tag but for namespace declarations. */
export const attributesOf = (tag: Tag): Attribute[] => {
  const found: Attribute[] = [];
  for (const name in tag.attributes) if (tag.attributes[name].uri !== XMLNS) found.push(tag.attributes[name]);
  return found;
};

/** Attributes that may stand on any element (XML Schema part 1, section 2.6); the schema they name is never fetched. */
const isHint = ({ uri, local }: Attribute): boolean =>
  uri === XSI && (local === "schemaLocation" || local === "noNamespaceSchemaLocation");
