import { Elysia } from "elysia";
import { paced } from "../../platform/byte-budget.ts";
import { Problem } from "../../problem.ts";
import type { Handlers } from "../jobs/handlers.ts";
import { COMPARISON } from "./json-operations.ts";
import { ComparisonParameters } from "./json-schemas.ts";
import { print } from "../results/print-thread.ts";
import { API, NO_STORE } from "./result-routes.ts";

/** Two results side by side. */
export const comparisonRoutes = ({ handlers }: { handlers: Handlers }) =>
  new Elysia({ detail: { tags: ["scoring"] } }).get(
    `${API}/comparison`,
    async ({ query: { a, b } }) => {
      const compared = [await namedOf(handlers, "a", a), await namedOf(handlers, "b", b)] as const;
      const headers = { ...NO_STORE, "Content-Type": "application/json" };
      return new Response(paced(await print({ compared })), { headers });
    },
    { query: ComparisonParameters, detail: COMPARISON },
  );

/** A stored result, with errors that name the parameter. */
async function namedOf(handlers: Handlers, parameter: string, job: string) {
  try {
    return await handlers.getPrediction(job);
  } catch (error) {
    const { code, message, headers } = Problem.from(error);
    throw new Problem(code, `${parameter}: ${message}`, { fields: { [parameter]: [message] }, headers });
  }
}
