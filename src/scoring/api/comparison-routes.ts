import { Elysia } from "elysia";
import { paced } from "../../platform/byte-budget.ts";
import { Problem } from "../../problem.ts";
import { type Handlers, notFinished } from "./handlers.ts";
import { COMPARISON } from "./json-operations.ts";
import { ComparisonParameters } from "./json-schemas.ts";
import { print } from "./print-thread.ts";
import { API, NO_STORE } from "./result-routes.ts";

/** Two results side by side. */
export const comparisonRoutes = (handlers: Handlers) =>
  new Elysia({ detail: { tags: ["scoring"] } }).get(
    `${API}/comparison`,
    async ({ query: { a, b } }) => {
      const compared = [storedOf(handlers, "a", a), storedOf(handlers, "b", b)] as const;
      const headers = { ...NO_STORE, "Content-Type": "application/json" };
      return new Response(paced(await print({ compared })), { headers });
    },
    { query: ComparisonParameters, detail: COMPARISON },
  );

/** @throws Problem unknown_job, not_finished and others, naming the parameter */
function storedOf(handlers: Handlers, parameter: string, job: string) {
  try {
    return { job, ...(handlers.getPrediction(job) ?? notFinished(handlers, job)) };
  } catch (error) {
    const { code, message, headers } = Problem.from(error);
    throw new Problem(code, `${parameter}: ${message}`, { fields: { [parameter]: [message] }, headers });
  }
}
