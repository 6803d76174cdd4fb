import { type Static, type TProperties, type TSchema, Type } from "typebox";
import { Compile } from "typebox/compile";
import { Problem } from "../problem.ts";
import { sentence } from "./words.ts";

/** A schema in the form that Elysia takes (Standard Schema, version 1). */
export interface StandardSchema<Output> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: "typebox";
    readonly types?: { readonly input: Output; readonly output: Output };
    validate(value: unknown): { value: Output } | { issues: Issue[] };
  };
}

interface Issue {
  message: string;
  path: string[];
}

type Validator = ReturnType<typeof Compile>;

/**
 * A typebox schema that Elysia validates by and @elysiajs/swagger documents. The property is not enumerable, because
 * the plugin copies schemas into the document. Compiled at first use.
 */
export function schema<Schema extends TSchema>(shape: Schema): Schema & StandardSchema<Static<Schema>> {
  return toStandardSchema(shape, (value) => value);
}

/** Makes a schema for `query` and `params`, where every value is text: numbers and booleans are read strictly, lists are separated by commas. */
export function textSchema<Schema extends TSchema>(shape: Schema): Schema & StandardSchema<Static<Schema>> {
  const { properties = {} } = shape as { properties?: Record<string, { type?: string }> };
  return toStandardSchema(shape, (value) =>
    Object.fromEntries(
      Object.entries((value ?? {}) as Record<string, unknown>).map(([name, text]) => [
        name,
        readText(text, properties[name]?.type),
      ]),
    ),
  );
}

/** The schema of an answer. @param $id name of the component in the OpenAPI document */
export const answerSchema = <P extends TProperties>(description: string, properties: P, $id?: string) =>
  schema(Type.Object(properties, { ...($id === undefined ? {} : { $id }), description }));

/** The schema of a body, which refuses unknown fields. */
export const bodySchema = <P extends TProperties>(properties: P) =>
  schema(Type.Object(properties, { additionalProperties: false }));

/** One of a few texts, as a JSON schema with its type. */
export const oneOf = <Value extends string>(
  choices: readonly Value[],
  description: string,
  more: object = {},
) => Type.Unsafe<Value>({ type: "string", enum: choices, description, ...more });

/** The value, if it matches the schema. @throws Problem invalid_request with the fields that do not */
export function parse<Output>(shape: StandardSchema<Output>, value: unknown): Output {
  const result = shape["~standard"].validate(value);
  if ("value" in result) return result.value;
  const fields = issuesByField(result.issues);
  throw new Problem("invalid_request", mistakesIn(fields)[0], { fields });
}

/** Lists the violations of a schema by a value, one sentence for each field; empty if it matches. */
export function findMistakes(shape: StandardSchema<unknown>, value: unknown): string[] {
  const result = shape["~standard"].validate(value);
  return "value" in result ? [] : mistakesIn(issuesByField(result.issues));
}

const issuesByField = (issues: Issue[]): Record<string, string[]> =>
  fieldErrors(issues.map(({ path, message }) => ({ path: path.join("."), message })));

/** The first error of each field, which it names. */
export const mistakesIn = (fields: Record<string, string[]>): string[] =>
  Object.entries(fields).map(([field, [message]]) =>
    field === "non_field_errors" ? message : `${field}: ${message}`,
  );

/** Messages by field. Errors within a list or an object count for the field that holds it, and name the member of an object. */
export function fieldErrors(errors: readonly { path: string; message: string }[]): Record<string, string[]> {
  const fields = new Map<string, string[]>();
  for (const { path, message } of errors) {
    const [field, ...rest] = path.split(".");
    const name = path === "" || path === "root" ? "non_field_errors" : field;
    const member = rest.filter((part) => !/^\d+$/.test(part)).join(".");
    const text = member === "" ? message : `${member}: ${message}`;
    fields.set(name, [...(fields.get(name) ?? []), text]);
  }
  return Object.fromEntries(fields);
}

/** The key of a member's error: hostile names are not repeated. */
export const errorKey = (name: string): string => (/^\w{1,60}$/.test(name) ? name : "non_field_errors");

/** A schema or null. */
export function nullable<Schema extends TSchema>(
  shape: Schema,
  options: { $id?: string; description?: string } = {},
) {
  const { type, ...keywords } = shape as { type?: string; enum?: unknown; const?: unknown; $id?: string };
  // Allowed values may be null.
  if (Object.keys(shape).length === 0) return Type.Unsafe<Static<Schema> | null>({ ...shape, ...options });
  const isPlain = type !== undefined && !keywords.enum && keywords.const === undefined && !keywords.$id;
  const union = isPlain
    ? { ...shape, ...options, type: [type, "null"] }
    : Type.Union([shape, Type.Null()], options);
  return Type.Unsafe<Static<Schema> | null>(union);
}

/** A field of a body that may be left out or null. */
export const OptionalInput = Type.Optional(nullable(Type.String({ maxLength: 1024 })));

function toStandardSchema<Schema extends TSchema>(
  shape: Schema,
  read: (value: unknown) => unknown,
): Schema & StandardSchema<Static<Schema>> {
  // Routes may share a schema.
  if (Object.hasOwn(shape, "~standard")) return shape as Schema & StandardSchema<Static<Schema>>;
  let validator: Validator | undefined;
  const validate = (given: unknown) => {
    validator ??= Compile(shape) as unknown as Validator;
    const value = read(given);
    if (validator.Check(value)) return { value };
    return { issues: listIssues(validator.Errors(value) as SchemaError[], shape) };
  };
  return Object.defineProperty(shape, "~standard", {
    value: { version: 1, vendor: "typebox", validate },
  }) as Schema & StandardSchema<Static<Schema>>;
}

function readText(text: unknown, type: string | undefined): unknown {
  if (type === "array") return [text].flat().flatMap((each) => String(each).split(","));
  if (typeof text !== "string") return text;
  if (type === "integer" && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (type === "number" && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  if (type === "boolean" && /^(true|false)$/.test(text)) return text === "true";
  return text;
}

interface SchemaError {
  keyword: string;
  instancePath: string;
  schemaPath: string;
  params: Record<string, unknown>;
  message: string;
}

/** One message for each field: of several errors of one value the last, which is that of the outermost keyword. */
function listIssues(errors: readonly SchemaError[], shape: TSchema): Issue[] {
  const byPath = new Map<string, Issue>();
  const add = (path: string[], message: string): void => {
    byPath.set(path.join("/"), { path, message });
  };
  for (const error of errors) {
    const path = error.instancePath.split("/").slice(1);
    if (error.keyword === "required")
      for (const name of error.params.requiredProperties as string[])
        add([...path, name], "This field is required.");
    else if (error.keyword === "boolean") add(path, unknownField(shape, error.schemaPath));
    else if (error.keyword !== "additionalProperties") add(path, makeMessage(error, shape));
  }
  return [...byPath.values()];
}

/** "schema is false" is what typebox says of a property that the schema does not have. */
function unknownField(shape: TSchema, schemaPath: string): string {
  const parent = at(shape, schemaPath.replace(/\/additionalProperties$/, ""));
  const choices = Object.keys((parent?.properties ?? {}) as object);
  return choices.length === 0 ? "Unknown field." : `Unknown field. Choices: ${choices.join(", ")}.`;
}

/** Pattern of texts that are not only white space. */
export const NOT_BLANK = "\\S";
/** Pattern of texts that are not only white space and contain no NUL. */
export const NOT_BLANK_OR_NUL = "^[^\\0]*[^\\0\\s][^\\0]*$";

const PATTERNS: Record<string, string | undefined> = {
  [NOT_BLANK]: "Must not be blank.",
  [NOT_BLANK_OR_NUL]: "Must not be blank or contain NUL characters.",
};

const KINDS: Record<string, string> = {
  string: "a string",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  null: "null",
};

function makeMessage({ keyword, params, schemaPath, message }: SchemaError, shape: TSchema): string {
  const { limit } = params;
  switch (keyword) {
    case "type":
      return `Must be ${[params.type]
        .flat()
        .map((kind) => KINDS[String(kind)] ?? kind)
        .join(" or ")}.`;
    case "enum":
      return choiceMessage(params.allowedValues as unknown[]);
    case "const":
      return `Must be ${String(params.allowedValue)}.`;
    case "anyOf":
      return alternatives(at(shape, schemaPath), message);
    case "minLength":
      return tooFewMessage(limit, "characters");
    case "minItems":
      return tooFewMessage(limit, "items");
    case "format":
      return params.format === "date" ? "Must be a date, such as 2026-01-31." : sentence(message);
    case "pattern":
      return PATTERNS[String(params.pattern)] ?? `Must match ${String(params.pattern)}.`;
    default:
      return LIMITS[keyword]?.(String(limit)) ?? sentence(message);
  }
}

const LIMITS: Record<string, ((limit: string) => string) | undefined> = {
  minimum: (limit) => `Must be at least ${limit}.`,
  maximum: (limit) => `Must be at most ${limit}.`,
  exclusiveMinimum: (limit) => `Must be more than ${limit}.`,
  exclusiveMaximum: (limit) => `Must be less than ${limit}.`,
  maxLength: (limit) => `Must have at most ${limit} characters.`,
  maxItems: (limit) => `Must have at most ${limit} items.`,
};

const tooFewMessage = (limit: unknown, noun: string): string =>
  limit === 1 ? "Must not be empty." : `Must have at least ${String(limit)} ${noun}.`;

interface Alternative {
  const?: unknown;
  type?: string;
  enum?: unknown[];
}

/** All values of a schema; undefined if it does not list them. */
function listValues({ const: value, type, enum: values }: Alternative): unknown[] | undefined {
  if (value !== undefined) return [value];
  return type === "null" ? ["null"] : values;
}

/** For a union: its values where all are listed, else its types. */
function alternatives(union: Record<string, unknown> | undefined, message: string): string {
  const choices = (union?.anyOf ?? []) as Alternative[];
  if (choices.length === 0) return message;
  if (choices.every(listValues)) return choiceMessage(choices.flatMap((choice) => listValues(choice)!));
  const kinds = choices.map((choice) =>
    choice.const === undefined ? (KINDS[choice.type ?? ""] ?? "another value") : String(choice.const),
  );
  return `Must be ${[...new Set(kinds)].join(" or ")}.`;
}

const choiceMessage = (values: readonly unknown[]): string => `Must be one of: ${values.join(", ")}.`;

/** The part of a schema that a path such as `#/properties/url` names. */
function at(shape: TSchema, path: string): Record<string, unknown> | undefined {
  let part: unknown = shape;
  for (const step of path.split("/").slice(1)) part = (part as Record<string, unknown> | undefined)?.[step];
  return part as Record<string, unknown> | undefined;
}
