import type { Row } from "../imports/export-file.ts";
import { annotationName, withAnnotations } from "../model/annotation-type.ts";
import { ALIVE, and, compare } from "../model/condition.ts";
import { isObject, type Json } from "../model/field.ts";
import { parseListing } from "../model/listing.ts";
import { selectVisible } from "../model/plan.ts";
import { plainItem } from "../model/record-printer.ts";
import { type AnnotationType, columnName } from "../model/resource.ts";
import { DECLARED } from "../resources/index.ts";
import type { Call } from "./call.ts";

/**
 * The table of files that LabID's client reads, with the titles that it expects: one row for each file and sample, and a
 * column such as `Sample[age]` for each type of annotation that the samples, assays and datasets of the table have.
 */

/** Facts about a file in the columns. */
const FILE_COLUMNS: Readonly<Record<string, string>> = {
  Study: "dataset__studies",
  Project: "dataset__assay__experiment__project__name",
  Collection: "dataset__collections",
  "Assay ID": "dataset__assay__id",
  "Assay Name": "dataset__assay__name",
  "Assay Type": "dataset__assay__model_type",
  "Instrument Run": "dataset__assay__instrumentrun__name",
  "Instrument Model": "dataset__assay__instrumentmodel__name",
  Technology: "dataset__assay__technology",
  Platform: "dataset__assay__platform",
  "Run Type": "dataset__assay__runtype",
  "Read Length": "dataset__assay__readlength",
  "Dataset ID": "dataset__id",
  Dataset: "dataset__name",
  "Dataset Type": "dataset__dataset_type",
  "Is Raw": "dataset__is_raw",
  QC: "dataset__qc",
  "File ID": "id",
  "File Name": "name",
  FilePath: "uri",
  Type: "filetype",
  "Read Type": "readtype",
  Checksum: "md5sum",
  Size: "byte",
};
const SAMPLES = "dataset__samples";
/** Datasets of assays that name only their run. */
const MODEL_OF_RUN = "dataset__assay__instrumentrun__instrument__instrumentmodel__name";

/** Facts about a sample in the columns. */
const SAMPLE_COLUMNS: Readonly<Record<string, string>> = {
  "Sample ID": "id",
  Sample: "name",
  "Sample Type": "sample_type",
  Barcode: "barcode",
  Application: "application",
};
/** Columns that the client requires, of annotations of the sample with these labels or names. */
const SAMPLE_ANNOTATION_COLUMNS = [
  "Organism",
  "Protocols",
  "Library Source",
  "Library Strategy",
  "Library Selection",
];

interface Details {
  /** Titles of annotations. */
  titles: readonly string[];
  /** Values of records by their ids. */
  rows: ReadonlyMap<string, Row>;
}

/** The files that the caller may view and that these parameters of the list of files select. */
export function datafileTable(call: Call, parameters: URLSearchParams): { names: string[]; rows: Row[] } {
  const { actor, store } = call;
  const datafile = DECLARED.get("datafile")!;
  const listing = { ...parseListing(store.resources, datafile, parameters, actor), size: "max" } as const;
  const { rids } = store.reader.list(datafile, listing, actor);
  const fields = [...Object.values(FILE_COLUMNS), SAMPLES, MODEL_OF_RUN];
  const files = store.reader.values(datafile, fields, actor, rids);
  const paths = primaryCopies(call, rids);
  const listSamples = (file: Row): Json[] => file[SAMPLES] as Json[];
  const samples = readDetails(call, "Sample", files.flatMap(listSamples).map(readId));
  const assays = readDetails(
    call,
    "Assay",
    files.map((file) => file[FILE_COLUMNS["Assay ID"]]),
  );
  const datasets = readDetails(
    call,
    "Dataset",
    files.map((file) => file[FILE_COLUMNS["Dataset ID"]]),
  );
  const rows = files.flatMap((file, i) => {
    const own = Object.entries(FILE_COLUMNS).map(([title, field]) => [title, formatCell(file[field])]);
    const row: Row = {
      ...Object.fromEntries(own),
      "Instrument Model": file[FILE_COLUMNS["Instrument Model"]] ?? file[MODEL_OF_RUN],
      FilePath: paths.get(rids[i]) ?? file[FILE_COLUMNS.FilePath],
      ...assays.rows.get(String(file[FILE_COLUMNS["Assay ID"]])),
      ...datasets.rows.get(String(file[FILE_COLUMNS["Dataset ID"]])),
    };
    const ids = listSamples(file).map(readId);
    return ids.length === 0 ? [row] : ids.map((id) => Object.assign({}, row, samples.rows.get(String(id))));
  });
  const titles = [samples, assays, datasets].flatMap((each) => each.titles);
  const names = [
    ...Object.keys(FILE_COLUMNS),
    ...Object.keys(SAMPLE_COLUMNS),
    ...SAMPLE_ANNOTATION_COLUMNS,
    ...titles,
  ];
  const complete = (row: Row): Row => Object.fromEntries(names.map((name) => [name, row[name] ?? null]));
  return { names, rows: rows.map(complete) };
}

const readId = (record: Json): Json => (isObject(record) ? record.id : record);

/** Listed records by their names. */
const formatCell = (value: Json): Json =>
  Array.isArray(value) ? value.map((item) => plainItem(item)).join(", ") : value;

/** Paths of primary copies by row numbers of files: the client links copies by them. */
function primaryCopies({ actor, store }: Call, files: readonly number[]): Map<number, Json> {
  const copy = DECLARED.get("datafile_copy")!;
  const file = `t.${columnName(copy, "datafile")}`;
  const { text, args } = selectVisible(
    { resources: store.resources, actor },
    copy,
    `${file} AS file, t.${columnName(copy, "uri")} AS uri`,
    and(ALIVE, compare(["is_primary_copy"], "==", 1)),
    ` AND ${file} IN (SELECT value FROM json_each(?)) ORDER BY t.rid DESC`,
  );
  const found = store.statements.all({ text, args: [...args, JSON.stringify(files)] });
  return new Map(found.map(({ file, uri }) => [Number(file), uri]));
}

/** Samples, assays or datasets of these ids with their annotations, as columns. */
function readDetails({ actor, store }: Call, title: "Sample" | "Assay" | "Dataset", ids: Json[]): Details {
  const resource = withAnnotations(store.resources, DECLARED.get(title.toLowerCase())!, actor);
  const { text, args } = selectVisible(
    { resources: store.resources, actor },
    resource,
    "t.rid AS rid",
    ALIVE,
    " AND t.id IN (SELECT value FROM json_each(?))",
  );
  const found = store.statements.all({ text, args: [...args, JSON.stringify(ids)] });
  const types = resource.annotations!.used().filter(({ list_visibility }) => list_visibility !== "NEVER");
  const columns = title === "Sample" ? SAMPLE_COLUMNS : {};
  const named = new Map(types.map((type) => [annotationName(type), type]));
  const { values } = store.reader.records(
    resource,
    {
      format: undefined,
      shape: "flat",
      fields: ["id", ...Object.values(columns), ...named.keys()],
      annotations: named,
    },
    actor,
    found.map(({ rid }) => Number(rid)),
    { base: "", format: undefined },
  );
  const rows = values.map((record): [string, Row] => {
    const own = Object.entries(columns).map(([column, field]) => [column, record[field]]);
    const annotated = [...named].flatMap(([name, type]) => annotationCells(title, type, record[name]));
    return [String(record.id), Object.fromEntries([...own, ...annotated]) as Row];
  });
  const used = new Set(rows.flatMap(([, row]) => Object.keys(row)));
  return { titles: [...used].filter((name) => name.startsWith(`${title}[`)), rows: new Map(rows) };
}

/** The cells of an annotation, which are left out where a record has no value: the client rejects empty columns. */
function annotationCells(title: string, { name, label }: AnnotationType, value: Json): [string, Json][] {
  if (value === null || (Array.isArray(value) && value.length === 0)) return [];
  const cell = formatCell([value].flat());
  const required = SAMPLE_ANNOTATION_COLUMNS.find(
    (column) => title === "Sample" && [name, label].map(formatWords).includes(formatWords(column)),
  );
  if (required === undefined) return [[`${title}[${name}]`, cell]];
  // Protocols are read by their ids.
  return [[required, required === "Protocols" ? [value].flat().map(readId).join(",") : cell]];
}

const formatWords = (name: string): string => name.replaceAll("_", " ").toLowerCase();
