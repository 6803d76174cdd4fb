interface Schema {
  type?: string | string[];
  format?: string;
  examples?: unknown[];
  example?: unknown;
  default?: unknown;
  const?: unknown;
  enum?: unknown[];
  minimum?: number;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  anyOf?: Schema[];
  allOf?: Schema[];
}

const TEXTS = {
  date: "2026-01-31",
  "date-time": "2026-01-31T09:30:00.000000+00:00",
  uuid: "0f0e0d0c-0b0a-4908-8706-050403020100",
  uri: "https://lab.example/",
  password: "correct horse battery",
};

/** The id of records and jobs whose resource has none of its own. */
export const EXAMPLE_ID = TEXTS.uuid;

/**
 * A value that matches a JSON schema: the examples that it contains; otherwise defaults, first choices and plain values.
 * @param isSparse without optional properties that have no example
 */
export function makeExample(schema: unknown, isSparse = false): unknown {
  const {
    examples,
    example,
    const: constant,
    default: initial,
    enum: choices,
    anyOf,
    allOf,
  } = schema as Schema;
  const known = [examples?.[0], example, constant, initial, choices?.[0]].find(
    (value) => value !== undefined,
  );
  if (known !== undefined) return known;
  if (anyOf) return makeExample(anyOf[0], isSparse);
  if (allOf) return Object.assign({}, ...allOf.map((part) => makeExample(part, isSparse))) as unknown;
  return makeTypeExample(schema as Schema, isSparse);
}

function makeTypeExample({ type, items, properties = {}, ...rest }: Schema, isSparse: boolean): unknown {
  switch ([type].flat()[0]) {
    case "object":
      return Object.fromEntries(
        Object.entries(properties)
          .filter(([name, { examples }]) => !isSparse || examples || rest.required?.includes(name))
          .map(([name, property]) => [name, makeExample(property, isSparse)]),
      );
    case "array":
      return items ? [makeExample(items, isSparse)] : [];
    case "integer":
    case "number":
      return Math.max(rest.minimum ?? 0, 1);
    case "boolean":
      return false;
    case "string":
      return TEXTS[rest.format as keyof typeof TEXTS] ?? "text";
    default:
      return null;
  }
}
