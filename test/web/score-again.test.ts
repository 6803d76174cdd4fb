import { expect, test } from "bun:test";
import type { Job } from "../../src/web/score/job.ts";
import type { Result } from "../../src/web/score/result.ts";
import { makeRequest } from "../../src/web/score/score-again.tsx";
import { SAMPLE } from "../scoring/sample-prediction.ts";

const JOB = { patterns: [{ name: null, expression: "K." }] } as unknown as Job;
const result = (more: Partial<Result>): Result => ({
  ...SAMPLE.prediction,
  identifier: "P1",
  protein: null,
  ...more,
});
/** The request as it is sent. */
const sent = (more: Partial<Result>) => JSON.parse(JSON.stringify(makeRequest(JOB, result(more))));

test("scoring again keeps the evidence that was left out, and the prior", () => {
  const provenance = { labd: "0.2.0", date: "2026-11-28" };
  expect(
    sent({ provenance: { ...provenance, ignored: ["features", "class models"] }, prior: 0.02 }),
  ).toMatchObject({
    ignoreFeatures: true,
    ignoreClassModels: true,
    prior: 0.02,
    patterns: ["K."],
  });
  expect(sent({ provenance: { ...provenance, ignored: ["class models"] } })).toMatchObject({
    ignoreFeatures: false,
    ignoreClassModels: true,
  });
  for (const more of [{ provenance }, {}]) {
    expect(sent(more)).toMatchObject({ ignoreFeatures: false, ignoreClassModels: false });
    expect(sent(more)).not.toHaveProperty("prior");
  }
});
