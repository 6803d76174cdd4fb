import { expect, test } from "bun:test";
import { RESULT_FORMATS } from "../../src/scoring/results/file-formats.ts";
import { printReport, type PrintTask, printResult } from "../../src/scoring/results/result-format.ts";
import { elnFaults, openEln } from "../eln-rules.ts";
import { CURRENT, EMPTY, SAMPLE } from "./sample-prediction.ts";

/** A result as an archive of the ELN file format. */

const ID = "00000000-0000-4000-8000-000000000001";
const JOB = {
  id: ID,
  url: `http://lab/score/${ID}`,
  publisher: "http://lab",
  submitted: Date.UTC(2026, 0, 1),
  started: Date.UTC(2026, 0, 1, 0, 0, 1),
  ended: Date.UTC(2026, 0, 1, 0, 0, 2),
  query: "MEEPQSDPSV",
  homologs: { minIdentity: 0.4 },
};

const NO_ROWS = { ...EMPTY.prediction.alignment, rows: [] };

function makeArchive({ identifier, protein = null, prediction }: typeof SAMPLE): Uint8Array {
  const task: PrintTask = {
    parts: [new Uint8Array(Bun.zstdCompressSync(JSON.stringify(prediction)))],
    identifier,
    protein,
    as: { archive: JOB },
    source: { dataDirectory: "/nowhere", corpusPath: null, synonyms: [] },
  };
  return printResult(task) as Uint8Array;
}

test.each([
  ["a prediction", SAMPLE],
  ["one without homologs", { ...EMPTY, prediction: { ...EMPTY.prediction, alignment: NO_ROWS } }],
])("an archive of %s keeps every rule of ELN and RO-Crate", (_name, report) => {
  expect(elnFaults(makeArchive(report), `labd-${ID}`)).toEqual([]);
});

test("an archive of a result has the query and the result in several forms", () => {
  const { files, root, node } = openEln(makeArchive(SAMPLE));
  const text = (name: string): string => files.get(`${root}/result/${name}`)!.toString();
  expect(text("query.fasta")).toBe(">p53 >50%; µ\nMEEPQSDPSV\n");
  for (const form of ["json", "tsv", "gff3", "stockholm", "a3m", "newick"] as const) {
    const { extension, contentType } = RESULT_FORMATS[form];
    expect(text(`result.${extension}`)).toBe(printReport(CURRENT, form) as string);
    expect(node(`./result/result.${extension}`).encodingFormat).toBe(contentType.split(";")[0]);
  }
});

test("names method, corpus and parameters, and the run that made the files", () => {
  const { graph, node } = openEln(makeArchive(SAMPLE));
  const values = Object.fromEntries(graph.map(({ propertyID, value }) => [propertyID, value]));
  expect(values).toMatchObject({
    method: "labd-3",
    scoringModel: "continuous",
    "corpus.name": "sample",
    "corpus.sha256": "0c788f",
    "homologs.choice": '{"minIdentity":0.4}',
    "query.accession": "P04637",
    "patterns.0.expression": SAMPLE.prediction.patterns[0].expression,
  });
  expect(node("./result/")).toMatchObject({ identifier: ID, url: JOB.url, mentions: [{ "@id": "#run" }] });
  expect(node("#run")).toMatchObject({
    "@type": "CreateAction",
    instrument: { "@id": "#labd" },
    object: [{ "@id": "./result/query.fasta" }, { "@id": "#corpus" }],
    startTime: "2026-01-01T00:00:01.000Z",
    endTime: "2026-01-01T00:00:02.000Z",
  });
  expect((node("#run").result as object[]).length).toBe(6);
  expect(node("#labd")).toMatchObject({ "@type": "SoftwareApplication", softwareVersion: "labd-3" });
});
