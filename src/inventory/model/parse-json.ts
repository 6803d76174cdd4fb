import { checkMembers } from "../../platform/json-members.ts";
import { Problem } from "../../problem.ts";
import type { Json } from "./field.ts";

/** How deep arrays and objects may nest. */
const DEPTH = 64;

/** The value of a JSON text (RFC 8259). @throws Problem malformed, beginning with `name`; too_large */
export function parseJson(text: string, name = "JSON parse error"): Json {
  const depth = checkMembers(text);
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch (error) {
    const reason = (error as Error).message.replace(/^JSON Parse error: /, "");
    throw new Problem("malformed", `${name} - ${reason}.`);
  }
  if (depth > DEPTH) throw new Problem("malformed", `${name} - Nested deeper than ${DEPTH}.`);
  return value;
}
