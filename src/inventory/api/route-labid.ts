import { Type } from "typebox";
import { csvText, type Row, xlsxFile } from "../imports/export-file.ts";
import { isObject, type Json, type JsonObject, KINDS, parseInstant } from "../model/field.ts";
import { parameterProblem } from "../model/filter.ts";
import { invalidField } from "../model/parse-body.ts";
import { listAssays, register, type Registration } from "../records/registration.ts";
import { inQuery, OTHER_FILTERS } from "../model/list-parameters.ts";
import { DECLARED, type RoutedResource } from "../resources/index.ts";
import { writeBatch } from "./batch.ts";
import { datafileTable } from "./datafile-table.ts";
import { type Call, findRecord, readBody, respond, respondJson } from "./call.ts";
import { MEDIA_TYPES } from "./negotiation.ts";
import { inList } from "./mount-operations.ts";
import { DRY_RUN } from "./parameters.ts";
import { type Content, operation } from "../../platform/operation.ts";
import { binary, content, optional, TEXT } from "./schema.ts";
import { forbidden } from "../records/rights.ts";
import { parse, schema } from "../../platform/schema.ts";

const routed = (name: string): RoutedResource => DECLARED.get(name) as RoutedResource;
const [DATASET, COLLECTION] = ["dataset", "dataset_collection"].map(routed);
const [ASSAY, RUN] = ["assay", "instrument_run"].map(routed);

const DAY = Type.String({ format: "date" });
const formatParameter = (otherwise: string) =>
  inQuery(
    "format",
    `csv, xlsx or json; ${otherwise} by default.`,
    Type.Enum(["csv", "xlsx", "json"], { examples: ["csv"] }),
  );
const TABLE = Type.Array(Type.Record(Type.String(), Type.Unknown()));
const TABLES: Content = {
  "text/csv": { schema: Type.String() },
  ...binary(MEDIA_TYPES.xlsx),
};

/** Operations of LabID's client that only some lists have. */
export const labidOperations = () => [
  ...registrationOperations(),
  ...inList(DATASET, [
    operation("GET /api/v2/:list/datafilemeta_export/", {
      access: "anyone",
      summary: "Export files with their datasets, samples and assays",
      description:
        "One row for each file and sample, with their annotations; accepts the filters of the list of files.",
      parameters: [formatParameter("csv"), OTHER_FILTERS],
      returns: TABLE,
      formats: TABLES,
      heavy: true,
      run: (_, call: Call) => sendDatafiles(call),
    }),
  ]),
  operation("GET /api/v2/core/usagelogs/", {
    access: "signedIn",
    summary: "Count users by period",
    description: "Download counts from the audit log, for administrators.",
    parameters: [
      formatParameter("json"),
      ...["start_date", "end_date"].map((name) => inQuery(name, "A day, which is included.", DAY)),
      inQuery("resolution", "Length of a period; month by default.", Type.Enum(Object.keys(PERIODS))),
      inQuery("aggregate", "false: one row for each user, with the number of actions.", Type.Boolean()),
    ],
    returns: TABLE,
    formats: TABLES,
    heavy: true,
    run(_, call: Call) {
      if (!call.actor.superuser) throw forbidden();
      const { columns, rows } = usage(call);
      return sendTable(call, "usage", columns, rows, "json");
    },
  }),
];

const id = Type.Union([Type.String(), Type.Integer()]);
const described = Type.Array(
  Type.Object({ id: Type.Optional(id), name: Type.String({ minLength: 1 }) }, { additionalProperties: true }),
);
const REGISTRATION = schema(
  Type.Object(
    {
      input_dir: optional("Folder that relative paths of files begin at."),
      owned_by: optional("Name or id of the group that gets the records."),
      allow_pooled_samples: Type.Optional(Type.Boolean()),
      collections: Type.Optional(described),
      samples: Type.Optional(described),
      assays: Type.Optional(Type.Array(Type.Object({ id: Type.String() }, { additionalProperties: true }))),
      datasets: Type.Array(
        Type.Object(
          {
            name: Type.String({ minLength: 1 }),
            assay: Type.Optional(Type.String()),
            samples: Type.Optional(Type.Array(id)),
            studies: Type.Optional(Type.Array(id)),
            datafiles: Type.Array(Type.Object({}, { additionalProperties: true })),
          },
          { additionalProperties: true },
        ),
        { minItems: 1, maxItems: 10_000 },
      ),
    },
    {
      $id: "Registration",
      additionalProperties: true,
      description:
        "Datasets and the records that they refer to. Ids of new records are valid within the registration.",
      examples: [{ datasets: [{ name: "Lane 7", datafiles: [{ uri: "/data/run7/l7_R1.fastq.gz" }] }] }],
    },
  ),
);
const ASSAY_DATA = Type.Object(
  {
    datasets: Type.Array(Type.Object({}, { additionalProperties: true }), {
      description:
        'Each has `sample`, `barcode`, `owner`, `studies` and `datafiles`; values may be `{"value": …}`.',
    }),
  },
  {
    $id: "AssayData",
    examples: [{ datasets: [{ sample: "Library 7", datafiles: [{ uri: "/data/run7/l7_R2.fastq.gz" }] }] }],
  },
);
const NAMED_RECORDS = Type.Array(Type.Object({ id: TEXT, name: TEXT }));
const REGISTERED_RECORDS = Type.Object(
  {
    results: Type.Object({
      collections: NAMED_RECORDS,
      samples: NAMED_RECORDS,
      datasets: NAMED_RECORDS,
      assays: NAMED_RECORDS,
      datafiles: Type.Integer({ description: "Number of files." }),
    }),
  },
  { $id: "Registered", description: "The new records, and the assays whose data are registered now." },
);

/**
 * Registers datasets with new collections, samples and files, in one batch. `register/` of collections says all itself; that
 * of an assay or a run adds which assay the datasets are of.
 */
function registrationOperations() {
  const write = (call: Call, read: (body: Json) => Registration, status: 200 | 201) => async (body: Json) =>
    writeBatch(call, body, {
      kind: "bulk_create",
      work: (writer) => register(call.store, writer, read(body), call.actor),
      respond: (done) => respondJson({ results: done }, {}, status),
    });
  const parseRegistration = (body: Json): Registration => parse(REGISTRATION, body) as Registration;
  const about = { access: "signedIn", sends: content(REGISTRATION), returns: REGISTERED_RECORDS } as const;
  return [
    ...inList(COLLECTION, [
      operation("POST /api/v2/:list/register/", {
        ...about,
        summary: "Register datasets",
        description: "Creates datasets with new collections, samples and files, in one batch.",
        parameters: [DRY_RUN],
        status: 201,
        run: async (_, call: Call) => write(call, parseRegistration, 201)(await readBody(call)),
      }),
    ]),
    ...inList(RUN, [
      operation("PUT /api/v2/:list/:id/register/", {
        ...about,
        summary: "Register datasets of an instrument run",
        description: "Datasets that name no assay are of the only assay of the run.",
        parameters: [DRY_RUN],
        run: async ({ params }, call: Call) =>
          write(
            call,
            (body) => registerForRun(call, params.id, parseRegistration(body)),
            200,
          )(await readBody(call)),
      }),
    ]),
    ...inList(ASSAY, [
      operation("PUT /api/v2/:list/:id/register/", {
        ...about,
        summary: "Register datasets of an assay",
        description: "The older form, for an assay that was only initialized.",
        parameters: [
          inQuery(
            "allow_pooled_samples",
            "Whether several datasets may have the same sample; true by default.",
            Type.Boolean(),
          ),
          DRY_RUN,
        ],
        sends: content(ASSAY_DATA),
        run: async ({ params }, call: Call) =>
          write(
            call,
            (body) => parseRegistration(registerForAssay(call, params.id, body)),
            200,
          )(await readBody(call)),
      }),
    ]),
  ];
}

/** Datasets that name no assay are of the only assay of the run. @throws Problem for an assay of another run */
function registerForRun(call: Call, run: string, registration: Registration): Registration {
  const assays = listAssays(call.store, findRecord(call, RUN, run), call.actor);
  for (const [i, dataset] of registration.datasets.entries()) {
    dataset.assay ??= assays.length === 1 ? assays[0] : null;
    if (dataset.assay === null || !assays.includes(String(dataset.assay)))
      throw invalidField("datasets", `datasets[${i}]: assay must be the id of an assay of the run.`);
  }
  return { ...registration, assays: [] };
}

/** The form in which the client completes an assay: one new library for each dataset, and values as `{"value": …}`. */
function registerForAssay(call: Call, assay: string, body: Json): JsonObject {
  const { name } = call.store.reader.values(ASSAY, ["name"], call.actor, [findRecord(call, ASSAY, assay)])[0];
  const given = unwrapped(body);
  const { datasets } = isObject(given) ? given : {};
  if (!Array.isArray(datasets)) throw invalidField("datasets", "This field is required.");
  const each = datasets.map((dataset) => (isObject(dataset) ? dataset : {}));
  const ofSamples = Map.groupBy(each, ({ sample }) => String(sample ?? ""));
  const collection = `Raw data of ${String(name)}`;
  const readUsername = (owner: Json | undefined): Json => (isObject(owner) ? (owner.username ?? null) : null);
  return {
    allow_pooled_samples: KINDS.flag.parse(call.url.searchParams.get("allow_pooled_samples") ?? "1") !== 0,
    assays: [{ id: assay }],
    collections: [{ name: collection, is_raw: true }],
    samples: Array.from(ofSamples, ([sample, [{ owner, barcode = "" }]]) => ({
      new: true,
      id: sample,
      name: sample,
      barcode,
      type: "SEQUENCINGLIBRARY",
      owner: readUsername(owner),
    })),
    datasets: each.map(({ owner, sample = "", studies = [], datafiles = [] }) => ({
      name: String(sample),
      is_raw: true,
      assay,
      collection,
      samples: [String(sample)],
      studies: Array.isArray(studies)
        ? studies.map((study) => (isObject(study) ? (study.id ?? "") : study))
        : [],
      datafiles,
      owner: readUsername(owner),
    })),
  };
}

/** Values in place of objects that contain nothing else. */
function unwrapped(value: Json): Json {
  if (Array.isArray(value)) return value.map(unwrapped);
  if (!isObject(value)) return value;
  const entries = Object.entries(value);
  if (entries.length === 1 && entries[0][0] === "value") return unwrapped(entries[0][1]);
  return Object.fromEntries(entries.map(([key, inner]) => [key, unwrapped(inner)]));
}

/** Parameters of the table that are not filters of the list of files. */
const TABLE_PARAMETERS = new Set(["format", "response_format", "page_size", "fields"]);

function sendDatafiles(call: Call): Promise<Response> {
  const parameters = [...call.url.searchParams].filter(([name]) => !TABLE_PARAMETERS.has(name));
  const { names, rows } = datafileTable(call, new URLSearchParams(parameters));
  return sendTable(call, "datafiles", names, rows, "csv");
}

const PERIODS: Readonly<Record<string, string>> = { day: "%Y-%m-%d", month: "%Y-%m", year: "%Y" };

/** Users of the service, from the audit log: their number in each period, or each of them with their actions. */
function usage({ store, url }: Call): { columns: string[]; rows: Row[] } {
  const { searchParams } = url;
  const resolution = searchParams.get("resolution") ?? "month";
  if (!Object.hasOwn(PERIODS, resolution))
    throw parameterProblem("resolution", `Expected one of: ${Object.keys(PERIODS).join(", ")}.`);
  const aggregate = KINDS.flag.parse(searchParams.get("aggregate") ?? "true");
  if (aggregate === undefined) throw parameterProblem("aggregate", `Expected ${KINDS.flag.expected}.`);
  const day = (name: string, otherwise: number): number => {
    const given = searchParams.get(name);
    const at = given === null ? otherwise : parseInstant(given);
    if (at === undefined) throw parameterProblem(name, `Expected ${KINDS.instant.expected}.`);
    return at / 1000;
  };
  const DAY = 86_400_000;
  const [from, until] = [day("start_date", 0), day("end_date", store.clock.now() * 1000) + DAY];
  const period = `strftime('${PERIODS[resolution]}', time / 1000, 'unixepoch') AS period`;
  const log =
    "FROM audit WHERE time >= ? AND time < ? AND outcome = 'done' AND actor IN (SELECT username FROM user_account)";
  const text =
    aggregate === 1
      ? `SELECT ${period}, count(DISTINCT actor) AS users ${log} GROUP BY period ORDER BY period`
      : `SELECT ${period}, actor AS username, count(*) AS actions ${log} GROUP BY period, actor ORDER BY period, actor`;
  return {
    columns: aggregate === 1 ? ["period", "users"] : ["period", "username", "actions"],
    rows: store.statements.all({ text, args: [from, until] }),
  };
}

/** A table in the form that `format` names. */
async function sendTable(
  { url }: Call,
  title: string,
  names: readonly string[],
  rows: readonly Row[],
  otherwise: "csv" | "json",
): Promise<Response> {
  const format = url.searchParams.get("format") ?? otherwise;
  const headers = { "Content-Disposition": `attachment; filename="${title}.${format}"` };
  if (format === "json") return respondJson(rows);
  if (format === "csv") return respond(csvText(names, rows), 200, MEDIA_TYPES.csv, headers);
  if (format === "xlsx")
    return respond(await xlsxFile({ title, names, chunks: [rows] }), 200, MEDIA_TYPES.xlsx, headers);
  throw parameterProblem("format", "Expected one of: csv, xlsx, json.");
}
