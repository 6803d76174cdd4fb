import { Problem } from "../../problem.ts";
import { readText } from "../../platform/body.ts";

/**
 * The object in a request's body.
 * @throws Problem unsupported_media_type, too_large, malformed; invalid_request where it is no object
 */
export async function readObject(request: Request, maxBytes: number): Promise<Record<string, unknown>> {
  const type = (request.headers.get("content-type") ?? "").split(";")[0].trim().toLowerCase();
  if (type !== "application/json") {
    throw new Problem("unsupported_media_type", "Content-Type: send the body as application/json.");
  }
  const encoding = request.headers.get("content-encoding") ?? "identity";
  if (encoding.trim().toLowerCase() !== "identity") {
    throw new Problem("unsupported_media_type", "Content-Encoding: only identity is read.");
  }
  const value = parse(await readText(request, maxBytes));
  if (value === null || typeof value !== "object" || Array.isArray(value)) {
    throw new Problem("invalid_request", "The body: expected an object.");
  }
  return value as Record<string, unknown>;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    // The parser's own words repeat what was sent.
    throw new Problem("malformed", "The body is not well-formed JSON (RFC 8259).", { cause });
  }
}

/** Collects what is wrong with the fields of an object, so that a client hears of all of it at once. */
export class FieldErrors {
  readonly #fields: Record<string, string[]> = Object.create(null) as Record<string, string[]>;
  readonly #problems: Problem[] = [];

  /** `text` says what is wrong and what is allowed; the field's name comes before it. */
  add(field: string, text: string, code: Problem["code"] = "invalid_request"): void {
    (this.#fields[field] ??= []).push(text);
    this.#problems.push(new Problem(code, `${field}: ${text}`));
  }

  /** Fields that nobody knows are errors: a misspelt name would otherwise have no effect in silence (ADR 0021). */
  refuseOthers(value: Record<string, unknown>, known: readonly string[]): void {
    const others = Object.keys(value).filter((name) => !known.includes(name));
    // The name is the client's text and not repeated.
    if (others.length === 0) return;
    const what = others.length === 1 ? "an unknown field" : `${others.length} unknown fields`;
    this.add("body", `${what}; there ${known.length === 1 ? "is" : "are"} ${known.join(", ")}.`);
  }

  /** All errors as one Problem with the map of fields, its code theirs where they agree; null where there was none. */
  problem(): Problem | null {
    const [first] = this.#problems;
    if (!first) return null;
    const agree = this.#problems.every(({ code }) => code === first.code);
    return new Problem(agree ? first.code : "invalid_request", first.message, {
      fields: { ...this.#fields },
    });
  }

  /** @throws Problem where there was an error */
  check(): void {
    const problem = this.problem();
    if (problem) throw problem;
  }
}
