import { expect, test } from "bun:test";
import { printInThread } from "../../src/scoring/results/print-thread.ts";
import { DOCUMENT_FORMATS } from "../../src/scoring/results/document-formats.ts";
import {
  type PrintedFormatName,
  type PrintTask,
  printReport,
  printResult,
} from "../../src/scoring/results/result-format.ts";
import { CURRENT, SAMPLE } from "./sample-prediction.ts";

const { identifier, protein = null } = SAMPLE;
const parts = [new Uint8Array(Bun.zstdCompressSync(JSON.stringify(SAMPLE.prediction)))];
const task = (more: Partial<PrintTask> = {}): PrintTask => ({
  parts,
  identifier,
  protein,
  as: { result: "tsv" },
  source: { dataDirectory: "/nowhere", corpusPath: null, synonyms: [] },
  ...more,
});
const decoded = (bytes: Uint8Array): string => new TextDecoder().decode(bytes);

test("the print thread prints every form like the main thread, and refuses more than 20 at once as busy", async () => {
  const names = ["tsv", "gff3", ...Object.keys(DOCUMENT_FORMATS)] as PrintedFormatName[];
  const forms = Array.from({ length: 18 }, (_, i) => names[i % names.length]);
  const printing = forms.map((result) => printInThread(task({ as: { result, match: 1 } })));
  const scanned = task({ as: { scan: "tsv", view: { values: { max_q: 1 } } } });
  const scan = printInThread(scanned);
  const workbook = printInThread(task({ as: { result: "xlsx" } }));
  await expect(printInThread(task())).rejects.toMatchObject({ code: "busy" });
  expect((await Promise.all(printing)).map(decoded)).toEqual(
    forms.map((form) => printReport(CURRENT, form, { match: 1 }) as string),
  );
  expect(decoded(await scan)).toBe(printResult(scanned) as string);
  expect(decoded((await workbook).slice(0, 2))).toBe("PK");
}, 120_000);

test("fails for a damaged result, and prints the next one", async () => {
  const [damaged, next] = await Promise.allSettled([
    printInThread(task({ parts: [new Uint8Array(10)] })),
    printInThread(task()),
  ]);
  expect(damaged).toMatchObject({ status: "rejected", reason: { code: "content_damaged" } });
  expect(next.status).toBe("fulfilled");
}, 60_000);
