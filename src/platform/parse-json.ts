import { Problem } from "../problem.ts";
import { checkMembers } from "./json-members.ts";

export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** The maximum nesting of arrays and objects. */
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
  const rounded = roundedInteger(text);
  if (rounded !== undefined)
    throw new Problem(
      "malformed",
      `${name} - The integer ${rounded} is beyond ±2^53 and would be rounded. Send it as text.`,
    );
  if (depth > DEPTH) throw new Problem("malformed", `${name} - Nested deeper than ${DEPTH}.`);
  return value;
}

/** The first integer that a double cannot hold exactly, shortened. Decimals and powers of ten are meant as approximate. */
function roundedInteger(text: string): string | undefined {
  if (!/\d{16}/.test(text)) return undefined;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g))
    if (/^-?\d{16,}$/.test(token) && !Number.isSafeInteger(Number(token)))
      return token.length > 40 ? `${token.slice(0, 40)}…` : token;
  return undefined;
}
