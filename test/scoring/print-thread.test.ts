import { expect, test } from "bun:test";
import { printInThread } from "../../src/scoring/api/print-thread.ts";
import { type PrintTask, RESULT_FORM_NAMES, RESULT_FORMS } from "../../src/scoring/api/result-format.ts";
import { SCAN_FORMS } from "../../src/scoring/api/scan.ts";
import { SAMPLE } from "./sample-prediction.ts";

const { identifier, protein = null } = SAMPLE;
const parts = [new Uint8Array(Bun.zstdCompressSync(JSON.stringify(SAMPLE.prediction)))];
const task = (more: Partial<PrintTask> = {}): PrintTask => ({
  parts,
  identifier,
  protein,
  as: { form: "tsv", match: undefined },
  source: { dataDirectory: "/nowhere", corpusPath: null, synonyms: [] },
  ...more,
});
const decoded = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

test("prints every form as the main thread does, several at once", async () => {
  const printed = await Promise.all(
    RESULT_FORM_NAMES.map(async (form) => decoded(await printInThread(task({ as: { form, match: 1 } })))),
  );
  expect(printed).toEqual(
    RESULT_FORM_NAMES.map((form) =>
      (RESULT_FORMS[form].print as (report: typeof SAMPLE, match: number) => string)(SAMPLE, 1),
    ),
  );
  const scan = decoded(await printInThread(task({ as: { scan: "tsv", filter: { maxQ: 1 } } })));
  expect(scan).toBe(SCAN_FORMS.tsv.head + SCAN_FORMS.tsv.print(SAMPLE, { maxQ: 1 }));
}, 60_000);

test("fails for a damaged result, and prints the next one", async () => {
  const [damaged, next] = await Promise.allSettled([
    printInThread(task({ parts: [new Uint8Array(10)] })),
    printInThread(task()),
  ]);
  expect(damaged).toMatchObject({ status: "rejected", reason: { code: "internal" } });
  expect(next.status).toBe("fulfilled");
}, 60_000);

test("refuses more than 20 at once as busy", async () => {
  const printing = await Promise.allSettled(Array.from({ length: 21 }, () => printInThread(task())));
  const refused = printing.filter(({ status }) => status === "rejected");
  expect(refused).toMatchObject([{ reason: { code: "busy" } }]);
}, 120_000);
