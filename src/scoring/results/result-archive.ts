import type { HomologChoice } from "../../motif/index.ts";
import type { AnnotatedReport } from "../features/annotation.ts";
import {
  crateEntries,
  type CrateFile,
  type CrateNode,
  crateReference,
  propertyValue,
} from "../../platform/ro-crate.ts";
import { zipFile } from "../../platform/zip-file.ts";
import { patternName, queryName } from "../table/match-row.ts";
import { printBounded } from "../table/print-tsv.ts";

/** The job of an archived result. */
export interface ArchivedJob {
  id: string;
  /** URL of the job, and of the service. */
  url: string;
  publisher: string;
  /** Time in milliseconds. */
  submitted: number;
  started: number | null;
  ended: number;
  /** Residues of the query. */
  query: string;
  homologs: HomologChoice | undefined;
}

/** A form of the result that is a file of the archive. */
export interface ArchivedForm {
  name: string;
  contentType: string;
  sentence: string;
  text: string;
}

const FOLDER = "result";
const [QUERY, RUN, SOFTWARE, CORPUS] = ["query.fasta", "#run", "#labd", "#corpus"];
const filePath = (name: string) => crateReference(`./${FOLDER}/${name}`);
/** The name of the query in one line. */
const nameIn = ({ identifier }: AnnotatedReport): string => queryName(identifier).replaceAll(/\s+/g, " ");
const instant = (at: number | null): string | undefined =>
  at === null ? undefined : new Date(at).toISOString();

/** A result as an archive of the ELN file format, with the run that made it (RO-Crate 1.1, "Provenance of entities"). */
export function resultArchive(
  report: AnnotatedReport,
  job: ArchivedJob,
  forms: readonly ArchivedForm[],
): Uint8Array<ArrayBuffer> {
  const title = `Conserved motifs in ${nameIn(report)}`;
  const parts = [
    {
      folder: FOLDER,
      files: makeFiles(report, job, forms),
      dataset: describeDataset(title, report, job),
      others: [...properties(report, job), ...provenance(report, job, forms)],
    },
  ];
  const at = new Date(job.ended);
  const entries = crateEntries({
    name: `labd-${job.id}`,
    title,
    description: () => "The result of a scoring job, with the query and how it was made.",
    publisher: job.publisher,
    at,
    parts,
  });
  return new Uint8Array(Buffer.concat([...zipFile(entries, at)]));
}

function* makeFiles(
  report: AnnotatedReport,
  { query }: ArchivedJob,
  forms: readonly ArchivedForm[],
): Generator<CrateFile> {
  const file = (path: string, encodingFormat: string, description: string, text: string): CrateFile => ({
    path,
    bytes: new TextEncoder().encode(text),
    node: { name: path, description, encodingFormat },
  });
  yield file(QUERY, "text/x-fasta", "The query.", `>${nameIn(report)}\n${query}\n`);
  for (const { name, contentType, sentence, text } of forms)
    yield file(name, contentType.split(";")[0], sentence, text);
}

function describeDataset(title: string, report: AnnotatedReport, job: ArchivedJob) {
  const { patterns } = report.prediction;
  const lines = patterns.flatMap((pattern) =>
    pattern.matches.length === 0
      ? [`${patternName(pattern)}: no match`]
      : pattern.matches.map(
          ({ start, end, text, verdict, overallPValue: p, overallPValueIs: is, conservationLevel }) =>
            `${patternName(pattern)}: ${text} at ${start}-${end}, ${verdict}` +
            `${p === null ? "" : ` (P ${printBounded(p, is)})`}, ${conservationLevel}`,
        ),
  );
  return {
    name: title,
    identifier: job.id,
    url: job.url,
    genre: "motif scoring",
    text: lines.slice(0, MAX_LINES).join("\n"),
    keywords: [...new Set(patterns.map(patternName))].slice(0, MAX_LINES).join(", "),
    author: crateReference(SOFTWARE_AUTHOR),
    dateCreated: instant(job.submitted),
    dateModified: instant(job.ended),
    mentions: [crateReference(RUN)],
    variableMeasured: properties(report, job).map((node) => crateReference(node["@id"])),
  };
}

/** The publisher, which every archive has: jobs name no person. */
const SOFTWARE_AUTHOR = "#publisher";
/** Matches and motifs that the text of the dataset lists; the files have all. */
const MAX_LINES = 100;

/** The data and versions that the numbers depend on. */
function properties({ identifier, protein, prediction }: AnnotatedReport, job: ArchivedJob): CrateNode[] {
  const { method, model, queryLength, corpus, homologs, patterns } = prediction;
  const values: Record<string, unknown> = {
    query: identifier,
    "query.length": queryLength,
    "query.accession": protein?.accession,
    method,
    scoringModel: model,
    "corpus.name": corpus?.name,
    "corpus.sha256": corpus?.hash,
    "homologs.number": homologs.length,
    "homologs.choice": job.homologs,
  };
  for (const [i, { name, expression }] of patterns.slice(0, MAX_LINES).entries()) {
    values[`patterns.${i}.name`] = name;
    values[`patterns.${i}.expression`] = expression;
  }
  return Object.entries(values)
    .filter(([, value]) => value !== undefined && value !== null && value !== "")
    .map(([name, value]) => propertyValue(`#${name}`, name, value));
}

/** The run, the program and the corpus. */
function provenance(
  { prediction: { method, corpus } }: AnnotatedReport,
  job: ArchivedJob,
  forms: readonly ArchivedForm[],
): CrateNode[] {
  const used = [filePath(QUERY), ...(corpus ? [crateReference(CORPUS)] : [])];
  const run = {
    "@id": RUN,
    "@type": "CreateAction",
    name: `Scoring job ${job.id}`,
    instrument: crateReference(SOFTWARE),
    object: used,
    result: forms.map(({ name }) => filePath(name)),
    startTime: instant(job.started ?? job.submitted),
    endTime: instant(job.ended),
  };
  const software = {
    "@id": SOFTWARE,
    "@type": "SoftwareApplication",
    name: "labd",
    url: job.publisher,
    softwareVersion: method,
    description:
      "Conservation scoring of motifs. The version is that of the method: equal versions give equal numbers.",
  };
  const proteins = corpus && {
    "@id": CORPUS,
    "@type": "CreativeWork",
    name: corpus.name,
    description: `The proteins that were searched: ${corpus.sequences} sequences with ${corpus.residues} residues.`,
    identifier: `sha256:${corpus.hash}`,
  };
  return [run, software, ...(proteins ? [proteins] : [])];
}
