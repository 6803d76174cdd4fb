import type { Path } from "../../problem.ts";
import type { RequestOf } from "../contract/service.ts";
import type { JobSubmission } from "../jobs/job-request.ts";

/** The elements of RunJob for the members of a job. */
const ELEMENTS: Partial<Record<string, keyof RequestOf<"RunJob">>> = {
  sequence: "querySequence",
  patterns: "regularExpression",
  motifClasses: "elmIdentifierName",
};

/** The job that a message requests. */
export const toSubmission = ({
  identifier,
  querySequence: sequence,
  scoringModel,
  regularExpression: patterns,
  elmIdentifierName: motifClasses,
}: RequestOf<"RunJob">): JobSubmission => ({ identifier, sequence, scoringModel, patterns, motifClasses });

/** The place of an error, such as `regularExpression 2` for `["patterns", 1]`. */
export function printElement([name, index]: Path): string {
  const element = ELEMENTS[name] ?? String(name);
  return typeof index === "number" ? `${element} ${index + 1}` : element;
}
