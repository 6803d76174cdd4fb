import { makeExample } from "../../platform/openapi-example.ts";
import { type Field, type Json, KINDS } from "./field.ts";
import { type Resource, type Resources, findTarget } from "./resource.ts";

/** The records of the examples in the reference: one of each resource, which refer to each other. */

/** Namespace of their ids (RFC 9562, section 5.5). */
const NAMESPACE = "4a8d4d0c-3f0e-4a52-8d6c-0d6f5a1f7b20";

/** The id of the record. */
export const exampleId = (resource: Resource): string | number =>
  resource.fields.id.kind === "uuid" ? Bun.randomUUIDv5(resource.name, NAMESPACE) : 1;

/** The value of a field in the record. */
export function makeFieldExample(resources: Resources, resource: Resource, name: string): Json {
  const field = resource.fields[name];
  if (field.example !== undefined) return field.example;
  if (name === "id") return exampleId(resource);
  switch (field.kind) {
    case "computed":
      return makeExample(field.shape) as Json;
    case "instant":
      if (field.nullable) return null;
      return makeExample({ type: "string", format: field.day ? "date" : "date-time" }) as Json;
    case "uuid":
      return exampleId(resource);
    case "reference": {
      if (field.nullable) return null;
      const far = findTarget(resources, field);
      return far.shownAs === "key" ? makeFieldExample(resources, far, far.key) : exampleId(far);
    }
    default:
      return initialValue(field);
  }
}

const initialValue = ({ kind, initial, choices, nullable }: Field): Json => {
  if (initial !== undefined && initial !== "") return KINDS[kind as "text"].print(initial);
  return nullable ? null : (choices?.[0] ?? (kind === "text" ? "" : 0));
};
