import { makeExample } from "./openapi-example.ts";

/** A part of the document: JSON, but for values that JSON leaves out. */
type Part = Record<string, unknown>;

const isPart = (value: unknown): value is Part =>
  value !== null && typeof value === "object" && !Array.isArray(value);

/**
 * The components of an OpenAPI document. A schema, parameter, response or request body with an `$id` becomes a component
 * of this name, to which operations refer.
 */
export class Components {
  readonly #components: Record<string, Record<string, Part>> = {};
  readonly #origins = new Map<string, Part>();

  /** Components by section, in the order of names. A component equal to an earlier one refers to it. */
  all(): Record<string, Record<string, Part>> {
    return Object.fromEntries(
      Object.entries(this.#components).map(([section, named]) => [section, sortAndShare(section, named)]),
    );
  }

  /** An operation that refers to components; parts that refer already stay as they are. */
  operation({ parameters, requestBody, responses, ...rest }: Part): Part {
    const body = requestBody as Part | undefined;
    return {
      ...rest,
      ...((parameters as Part[] | undefined)?.length
        ? { parameters: this.parameters(parameters as Part[]) }
        : {}),
      ...(body
        ? { requestBody: this.#share("requestBodies", body, (part) => this.#message(part, true)) }
        : {}),
      responses: Object.fromEntries(
        Object.entries((responses ?? {}) as Record<string, Part>).map(([status, response]) => [
          status,
          this.#share("responses", response, (part) => this.#message(part)),
        ]),
      ),
    };
  }

  /** Parameters, as references where they have names. */
  parameters(parts: readonly object[]): Part[] {
    return parts.map((part) => this.#parameter(part as Part));
  }

  #share(section: string, part: Part, convert: (rest: Part) => Part): Part {
    const { $id, ...rest } = part;
    if (typeof $id !== "string") return convert(rest);
    const key = `${section}/${$id}`;
    const known = this.#origins.get(key);
    if (!known) {
      this.#origins.set(key, part);
      (this.#components[section] ??= {})[$id] = convert(rest);
    } else if (known !== part && !Bun.deepEquals(known, part)) {
      throw new Error(`Two different ${section} are named ${$id}.`);
    }
    return { $ref: `#/components/${key}` };
  }

  #parameter(part: Part): Part {
    return this.#share("parameters", part, ({ schema, examples, required, ...rest }) => {
      // Elysia's plugin moves them from the schema to the parameter, where OpenAPI has a map.
      const { examples: moved = examples } = (schema ?? {}) as Part;
      const [example] = (moved ?? []) as unknown[];
      return {
        ...rest,
        ...(required === true ? { required } : {}),
        ...(schema ? { schema: this.#schema(schema) } : {}),
        ...(example === undefined ? {} : { example }),
      };
    });
  }

  /**
   * A request body or a response. JSON gets an example if neither it nor its schema has one. A response gets one only if
   * the declaration of a part of it has an example: viewers make placeholders from schemas themselves.
   */
  #message(part: Part, isRequest = false): Part {
    if (!isPart(part.content)) return part;
    const content = Object.entries(part.content as Record<string, Part>).map(([type, media]) => {
      // Bytes.
      if (!media.schema) return [type, media];
      const schema = isRequest ? (media.schema as Part) : unnamedUnion(media.schema as Part);
      const isKnown = "example" in media || !/\bjson$/.test(type) || "$ref" in schema || hasExample(schema);
      const hasWrittenPart = isRequest || containsExample(schema);
      const example =
        (isKnown || !hasWrittenPart) && !(isRequest && schema.examples)
          ? {}
          : { example: makeExample(schema, true) };
      return [type, { ...media, schema: this.#schema(schema), ...example }];
    });
    return { ...part, content: Object.fromEntries(content) };
  }

  #schema(part: unknown): unknown {
    if (Array.isArray(part)) return part.map((item) => this.#schema(item));
    if (!isPart(part)) return part;
    // Examples of whole messages consist of the examples of their parts.
    return this.#share("schemas", part, ({ patternProperties, ...given }) => {
      // Typebox leaves out the type of an enumeration, which viewers show.
      const isChoice = Array.isArray(given.enum) && given.enum.every((value) => typeof value === "string");
      const rest = isChoice ? { type: "string", ...given } : given;
      // A typebox record.
      const [additionalProperties] = Object.values((patternProperties ?? {}) as Part);
      const keywords = Object.entries(additionalProperties ? { ...rest, additionalProperties } : rest)
        .filter(([key]) => key !== "examples")
        .map(([key, value]) => [key, this.#keyword(key, value)]);
      return Object.fromEntries(keywords) as Part;
    });
  }

  #keyword(key: string, value: unknown): unknown {
    if (key === "properties")
      return Object.fromEntries(
        Object.entries(value as Part).map(([name, part]) => [name, this.#schema(part)]),
      );
    return SCHEMAS.has(key) ? this.#schema(value) : value;
  }
}

function sortAndShare(section: string, named: Record<string, Part>): Record<string, Part> {
  const first = new Map<string, string>();
  const sorted = Object.entries(named).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(
    sorted.map(([name, part]) => {
      const text = JSON.stringify(part);
      const equal = first.get(text);
      if (equal === undefined) first.set(text, name);
      return [name, equal === undefined ? part : { $ref: `#/components/${section}/${equal}` }];
    }),
  );
}

/** The forms of a response without name and description, which the component of the response has. */
function unnamedUnion(schema: Part): Part {
  const { $id: _, description: __, ...union } = schema;
  return "anyOf" in schema ? union : schema;
}

/** True for a schema with an example of its own, or the example of the first of its forms, or of one of several records. */
function hasExample({ example, anyOf, type, properties }: Part): boolean {
  const results = (properties as Record<string, Part> | undefined)?.results;
  const [first] = (anyOf as Part[] | undefined) ?? [results?.items as Part | undefined];
  return example !== undefined || type === "array" || (first !== undefined && hasExample(first));
}

/** True for a schema with an example that was written for it or for one of its parts. */
const containsExample = (schema: unknown): boolean =>
  Array.isArray(schema)
    ? schema.some(containsExample)
    : isPart(schema) &&
      ("examples" in schema || "example" in schema || Object.values(schema).some(containsExample));

/** Keywords whose values are schemas; values of other keywords are data. */
const SCHEMAS = new Set(["items", "anyOf", "oneOf", "allOf", "additionalProperties"]);
