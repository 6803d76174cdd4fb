import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { readWholeEnvelope } from "../../../src/scoring/contract/envelope.ts";
import { MESSAGE_LIMITS } from "../../../src/scoring/contract/limits.ts";
import {
  DEFAULT_SERVICE_NAMESPACE,
  PREDICTION_NAMESPACE,
  PROBLEM_NAMESPACE,
} from "../../../src/scoring/contract/namespaces.ts";
import {
  complexTypes,
  CON_SCORE_PREDICTION,
  PREDICTION_CHOICES,
} from "../../../src/scoring/contract/prediction.ts";
import { type Field, SERVICE } from "../../../src/scoring/contract/service.ts";

/** docs/soap.md says what the declaration says. */

const PAGE = readFileSync(join(import.meta.dir, "../../../docs/soap.md"), "utf8");

test("every part of the prediction has its row", () => {
  for (const type of [...complexTypes(), CON_SCORE_PREDICTION]) {
    const section = PAGE.split(`### ${type.name}\n`)[1]?.split("\n### ")[0] ?? "";
    const rows = [...section.matchAll(/^\| `(\w+)` +\|[^|]*\|\s*([a-z ]+?)\s*\|\s*(.*?)\s*\|$/gm)].map(
      (row) => row.slice(1),
    );
    expect(rows).toEqual(type.parts.map(({ name, occurs, meaning }) => [name, occurs, meaning]));
  }
});

test("the words of each type", () => {
  for (const [name, words] of Object.entries(PREDICTION_CHOICES)) {
    const row = PAGE.match(new RegExp(`^\\| ${name} +\\|(.*)\\|$`, "m"))?.[1] ?? "";
    expect([...row.matchAll(/`([^`]+)`/g)].map(([, word]) => word)).toEqual([...words]);
  }
});

test("requests, limits and namespaces", () => {
  const fields: [string, Field][] = Object.entries(SERVICE.operations.RunJob.request);
  for (const [name, { minOccurs, maxOccurs }] of fields) {
    expect(PAGE).toMatch(
      new RegExp(
        `^\\| \`${name}\` +\\| ${minOccurs === maxOccurs ? minOccurs : `${minOccurs} to ${maxOccurs}`} +\\|`,
        "m",
      ),
    );
  }
  for (const value of Object.values(MESSAGE_LIMITS)) expect(PAGE).toContain(`| ${value}`);
  for (const namespace of [DEFAULT_SERVICE_NAMESPACE, PREDICTION_NAMESPACE, PROBLEM_NAMESPACE]) {
    expect(PAGE).toContain(`\`${namespace}\``);
  }
});

test("the message for curl is one that is accepted", () => {
  const message = /<<'XML'\n(.*?)\nXML\n/s.exec(PAGE)![1];
  const read = readWholeEnvelope(new TextEncoder().encode(message), {
    contentType: "text/xml; charset=utf-8",
    namespace: DEFAULT_SERVICE_NAMESPACE,
  });
  expect(read).toMatchObject({ problem: null, operation: "RunJob", value: { identifier: "p21" } });
});
