import type { AnyElysia } from "elysia";
import { nearest, Problem } from "../problem.ts";
import { isUnsafe } from "./origin.ts";
import { errorKey } from "./schema.ts";
import { quoted } from "./words.ts";

/** The input of a route besides its path and body, in `detail.input` where its `query` schema does not say it. */
export interface DeclaredInput {
  /** Names of the query parameters; undefined if the handler refuses unknown ones, or takes all. */
  parameters: readonly string[] | undefined;
  /** True if it honours If-Match. */
  ifMatch: boolean;
}

/** Paths whose input is declared. Pages ignore parameters, such as those that follow their visitors; so does /healthz. */
const DECLARED_PATHS = /^\/(api\/|readyz$|metrics$|soap\/.+\/)/;

/** The declarations of all mounted routes, by method and path. */
export function declaredInputs(app: AnyElysia): Map<string, DeclaredInput> {
  const inputs = new Map<string, DeclaredInput>();
  for (const { method, path, hooks } of app.routes) {
    if (!DECLARED_PATHS.test(path)) continue;
    const { query, detail = {} } = hooks as {
      query?: { properties?: object };
      detail?: { input?: DeclaredInput | undefined };
    };
    const parameters = Object.keys(query?.properties ?? {});
    const input = "input" in detail ? detail.input : { parameters, ifMatch: false };
    if (input) inputs.set(`${method} ${path}`, input);
  }
  return inputs;
}

/** Refuses what a route would ignore: a misspelt `dry_run`, and the condition of a write. @throws Problem invalid_request */
export function checkInput({ method, url, headers }: Request, { parameters, ifMatch }: DeclaredInput): void {
  if (isUnsafe(method))
    for (const name of ifMatch ? ["If-Unmodified-Since"] : ["If-Match", "If-Unmodified-Since"])
      if (headers.has(name))
        throw new Problem(
          "invalid_request",
          `${name}: This request does not ${ifMatch ? "compare times. Use If-Match" : "compare versions. Leave it out"}.`,
        );
  const start = parameters ? url.indexOf("?") : -1;
  if (start < 0) return;
  const unknown = new URLSearchParams(url.slice(start)).keys().find((name) => !parameters!.includes(name));
  if (unknown !== undefined) throw unknownParameter(unknown, parameters!);
}

/** 400 for an unknown parameter. @param choices the known ones */
export function unknownParameter(name: string, choices: readonly string[]): Problem {
  const near = nearest(name, choices);
  const hint = near.length > 0 ? ` Did you mean ${near.join(" or ")}?` : "";
  const all = choices.length > 0 ? `Choices: ${choices.join(", ")}.` : "It has none.";
  const error = `${quoted(name)} is not a parameter of this request.${hint} ${all}`;
  const key = errorKey(name);
  return new Problem("invalid_request", `${key}: ${error}`, { fields: { [key]: [error] } });
}
