import { type Static, Type } from "typebox";
import type { SignedIn } from "../../platform/actor.ts";
import { readBytes } from "../../platform/body.ts";
import { timestamp } from "../../platform/clock.ts";
import { operation } from "../../platform/operation.ts";
import { pageSchema, singlePage } from "../../platform/page.ts";
import { answerSchema, nullable } from "../../platform/schema.ts";
import { pluralize } from "../../platform/words.ts";
import { Problem } from "../../problem.ts";
import type { CorpusInfo, MotifTables } from "../../scoring/index.ts";
import type { Report } from "../../tasks/task.ts";
import { type AdministrationContext, startTask, TaskSchema } from "./context.ts";
import { runCommand } from "./self-command.ts";
import { startUpload } from "./upload-task.ts";

/** The path whose request bodies may have any size: they are written to the disk as they arrive. */
export const UPLOADS = "/api/admin/corpora";
/** Bytes of a table of motif classes: ELM's has 0.1 MB. */
const MAX_TABLE = 16 * 1024 ** 2;

export const Corpus = Type.Object({
  name: Type.String(),
  hash: Type.String(),
  sequences: Type.Integer(),
  residues: Type.Integer(),
  bytes: Type.Integer(),
  added: Type.String(),
  active: Type.Boolean(),
});
function corpusRow(corpus: CorpusInfo) {
  const { path: _, ...row } = corpus;
  return { ...row, added: timestamp(row.added) };
}
export const NAME_RULE = "Expected 1 to 200 printable characters, no hyphen first.";
const corpusAccess = {
  access: "administrator",
  params: { corpus: ["Name or hash of the corpus.", "yeast"] },
  errors: [404],
} as const;
const Upload = Type.Object({
  name: Type.Optional(Type.String({ description: "Name that results show.", examples: ["human"] })),
  use: Type.Optional(Type.String({ description: "1: activate the corpus." })),
});

/** A file of any size as the body, which is read as a stream. */
export const describeFile = (example: string) => ({
  "application/octet-stream": { schema: { type: "string", format: "binary" }, example },
});

export const corpusOperations = [
  operation("GET /api/admin/corpora", {
    access: "administrator",
    summary: "List the corpora",
    returns: pageSchema("Corpora in order of addition.", Corpus),
    run: (_, { scoring }: AdministrationContext) => singlePage(scoring.corpora.list().map(corpusRow)),
  }),
  operation("POST /api/admin/corpora", {
    access: "administrator",
    summary: "Add a corpus",
    description:
      "The body is FASTA, or a flat file or JSON of UniProt, plain or compressed, of any size. The response is sent after the upload; the task packs the corpus.",
    query: Upload,
    sends: describeFile(">P1 a protein\nMKLVACDEFGHIK\n"),
    status: 202,
    returns: TaskSchema,
    errors: [409, 413],
    run: async ({ caller, request, query: { name = "", use } }, context: AdministrationContext) =>
      addCorpus(context, caller, request, { name, use: use === "1" }),
  }),
  operation("DELETE /api/admin/corpora/:corpus", {
    ...corpusAccess,
    summary: "Remove a corpus",
    description: "Existing results are kept. The active corpus can be removed only if it is the last.",
    errors: [404, 409],
    run({ params }, { scoring }: AdministrationContext) {
      scoring.corpora.remove(params.corpus);
    },
  }),
  operation("POST /api/admin/corpora/:corpus/use", {
    ...corpusAccess,
    summary: "Use a corpus",
    returns: Corpus,
    run: ({ params }, { scoring }: AdministrationContext) => corpusRow(scoring.corpora.use(params.corpus)),
  }),
  operation("POST /api/admin/corpora/:corpus/verify", {
    ...corpusAccess,
    summary: "Verify a corpus",
    description: "Reads every byte.",
    status: 202,
    returns: TaskSchema,
    errors: [404, 409],
    run({ caller, params }, context: AdministrationContext) {
      const { name, hash } = context.scoring.corpora.find(params.corpus);
      return startTask(context, caller, "corpus-verify", name, async (report: Report) => {
        await runCommand(["corpus", "verify", hash, "--data-dir", context.dataDirectory], report);
        return { message: `${name} is intact: every byte is as it was written.` };
      });
    },
  }),
];

/** Responds when the upload is on the disk. */
async function addCorpus(
  context: AdministrationContext,
  actor: SignedIn,
  request: Request,
  { name, use }: { name: string; use: boolean },
) {
  const { scoring, dataDirectory } = context;
  if (!/^[^\p{C}-][^\p{C}]{0,199}$/u.test(name))
    throw new Problem("invalid_request", `name: ${NAME_RULE}`, { fields: { name: [NAME_RULE] } });
  if (!request.body) throw new Problem("invalid_request", "Expected a file of proteins as the body.");
  return startUpload(context, { actor, request, kind: "corpus-add", name }, async (path, report) => {
    report.say("Packing the proteins.");
    const words = ["corpus", "add", path, "--name", name, "--progress", "--data-dir", dataDirectory];
    await runCommand(use ? [...words, "--use"] : words, report);
    const added = scoring.corpora.list().find((corpus) => corpus.name === name);
    return {
      message: added
        ? `${pluralize(added.sequences, "protein was", "proteins were")} added.`
        : "These proteins already exist under another name: nothing was added.",
    };
  });
}

const Imported = Type.Object({
  name: Type.String({ description: "Name of the file." }),
  hash: Type.String({ description: "SHA-256 of the file." }),
  version: nullable(Type.String()),
  published: nullable(Type.String()),
  imported: Type.String(),
  size: Type.Integer({ description: "Number of motif classes." }),
});
const ClassesInUse = answerSchema(
  "The motif classes in use.",
  {
    classes: Type.Integer({ description: "Number of the classes." }),
    imported: nullable(Imported, { description: "The imported table; null for the built-in classes." }),
  },
  "MotifClassesInUse",
);
const CheckedTable = answerSchema(
  "Preview of an import of a table.",
  {
    version: nullable(Type.String()),
    published: nullable(Type.String()),
    problems: Type.Array(Type.String(), { description: "Problems of the file as a whole." }),
    rows: Type.Array(
      Type.Object({
        line: Type.Integer(),
        name: nullable(Type.String()),
        expression: nullable(Type.String()),
        problem: nullable(Type.String()),
        verdict: Type.Enum(["wrong", "new", "same", "changed"]),
      }),
    ),
  },
  "MotifClassImport",
);
const TableQuery = Type.Object({
  name: Type.Optional(Type.String({ description: "Name of the file." })),
  dry_run: Type.Optional(Type.String({ description: "1: change nothing, and report on each row." })),
});

/** The motif classes, and the imported table. */
export const motifClassOperations = [
  operation("GET /api/admin/motif-classes", {
    access: "administrator",
    summary: "Show the motif classes in use",
    returns: ClassesInUse,
    run: (_, { scoring }: AdministrationContext) => classesInUse(scoring.classes),
  }),
  operation("PUT /api/admin/motif-classes", {
    access: "administrator",
    summary: "Import a table of motif classes",
    description: "The body is the table as published by ELM; it replaces the whole imported table.",
    query: TableQuery,
    sends: {
      "text/tab-separated-values": {
        schema: { type: "string" },
        example: "ELMIdentifier\tRegex\nLIG_MINE_1\tP..P.K\n",
      },
    },
    returns: Type.Union([ClassesInUse, CheckedTable], {
      description: "The classes in use; for a dry run, a report on each row.",
    }),
    errors: [413],
    async run(
      { request, query: { name = "", dry_run: dryRun } },
      { scoring: { classes } }: AdministrationContext,
    ) {
      const bytes = await readBytes(request, MAX_TABLE);
      if (dryRun === "1") return checkTable(classes, bytes);
      classes.import((name || "upload").slice(0, 255), bytes);
      return classesInUse(classes);
    },
  }),
  operation("DELETE /api/admin/motif-classes", {
    access: "administrator",
    summary: "Remove the imported table",
    description: "The built-in classes apply again.",
    returns: ClassesInUse,
    errors: [404],
    run(_, { scoring: { classes } }: AdministrationContext) {
      if (!classes.remove()) throw new Problem("not_found", "No table was imported.");
      return classesInUse(classes);
    },
  }),
];

function classesInUse(tables: MotifTables): Static<typeof ClassesInUse> {
  const imported = tables.imported();
  return {
    classes: tables.classes.length,
    imported: imported && { ...imported, imported: timestamp(imported.imported) },
  };
}

/** Preview of an imported table, row by row. */
function checkTable(classes: MotifTables, bytes: Uint8Array): Static<typeof CheckedTable> {
  const { rows, ...table } = classes.check(bytes);
  const known = new Map(
    classes.classes.flatMap(({ name, aliases, expression }) =>
      aliases.concat(name).map((each) => [each, expression] as const),
    ),
  );
  const verdictOn = (motif: { name: string; expression: string } | null) => {
    if (motif === null) return "wrong";
    if (!known.has(motif.name)) return "new";
    return known.get(motif.name) === motif.expression ? "same" : "changed";
  };
  return {
    ...table,
    rows: rows.map(({ line, motif, problem }) => ({
      line,
      name: motif?.name ?? null,
      expression: motif?.expression ?? null,
      problem,
      verdict: verdictOn(motif),
    })),
  };
}
