import { expect, test } from "bun:test";
import { printInThread } from "../../src/scoring/results/print-thread.ts";
import { type PrintTask, RESULT_FORM_NAMES, RESULT_FORMS } from "../../src/scoring/results/result-format.ts";
import { SCAN_FORMS } from "../../src/scoring/table/scan.ts";
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

test("prints every form as the main thread does, and refuses more than 20 at once as busy", async () => {
  const forms = Array.from({ length: 19 }, (_, i) => RESULT_FORM_NAMES[i % RESULT_FORM_NAMES.length]);
  const printing = forms.map((form) => printInThread(task({ as: { form, match: 1 } })));
  const scan = printInThread(task({ as: { scan: "tsv", filter: { maxQ: 1 } } }));
  await expect(printInThread(task())).rejects.toMatchObject({ code: "busy" });
  expect((await Promise.all(printing)).map(decoded)).toEqual(
    forms.map((form) =>
      (RESULT_FORMS[form].print as (report: typeof SAMPLE, match: number) => string)(SAMPLE, 1),
    ),
  );
  expect(decoded(await scan)).toBe(SCAN_FORMS.tsv.head + SCAN_FORMS.tsv.print(SAMPLE, { maxQ: 1 }));
}, 120_000);

test("fails for a damaged result, and prints the next one", async () => {
  const [damaged, next] = await Promise.allSettled([
    printInThread(task({ parts: [new Uint8Array(10)] })),
    printInThread(task()),
  ]);
  expect(damaged).toMatchObject({ status: "rejected", reason: { code: "content_damaged" } });
  expect(next.status).toBe("fulfilled");
}, 60_000);
