import { paced } from "../../platform/byte-budget.ts";
import { NO_STORE } from "../../platform/json-response.ts";
import { operation } from "../../platform/operation.ts";
import { Problem } from "../../problem.ts";
import type { FeatureSource } from "../features/annotation.ts";
import type { Handlers } from "../jobs/handlers.ts";
import { ComparisonSchema } from "../results/comparison.ts";
import { print } from "../results/print-thread.ts";
import { ComparisonParameters } from "./json-schemas.ts";

/** Two results side by side. */
export const comparisonOperations = [
  operation("GET /api/scoring/comparison", {
    access: "public",
    operationId: "compareScoringResults",
    summary: "Compare two results",
    description:
      "Match by match: verdicts, P values, scores and numbers of homologs, and the homologs that only one result has. The results may be of two proteins, whose matches are paired by alignment, or from different corpora or choices of homologs.",
    query: ComparisonParameters,
    returns: ComparisonSchema,
    errors: [404, 409, 410, 503],
    async run(
      { query: { a, b } },
      { handlers, featureSource }: { handlers: Handlers; featureSource: () => FeatureSource },
    ) {
      const compared = [await readNamed(handlers, "a", a), await readNamed(handlers, "b", b)] as const;
      const headers = { ...NO_STORE, "Content-Type": "application/json" };
      return new Response(paced(await print({ compared, source: featureSource() })), { headers });
    },
  }),
];

/** A stored result, with errors that name the parameter. */
async function readNamed(handlers: Handlers, parameter: string, job: string) {
  try {
    return await handlers.getPrediction(job);
  } catch (error) {
    const { code, message, headers } = Problem.from(error);
    throw new Problem(code, `${parameter}: ${message}`, { fields: { [parameter]: [message] }, headers });
  }
}
