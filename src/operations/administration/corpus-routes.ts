import { Type } from "typebox";
import type { SignedIn } from "../../platform/actor.ts";
import { NO_CONTENT, pathSchema } from "../../accounts/responses.ts";
import { readBytes } from "../../platform/body.ts";
import { pageSchema, singlePage } from "../../platform/page.ts";
import { schema, textSchema } from "../../platform/schema.ts";
import { Problem } from "../../problem.ts";
import type { CorpusInfo, MotifTables } from "../../scoring/index.ts";
import {
  type AdministrationContext,
  administrators,
  objectSchema,
  plugin,
  startTask,
  TaskRow,
} from "./context.ts";
import { runCommand } from "./self-command.ts";
import { startUpload } from "./upload-task.ts";
import { timestamp } from "../../platform/clock.ts";

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
const CorpusName = pathSchema({ corpus: ["Its name or hash.", "yeast"] });
const Upload = textSchema(
  Type.Object({
    name: Type.Optional(Type.String({ description: "Name that results show.", examples: ["human"] })),
    use: Type.Optional(Type.String({ description: "1: activate the corpus." })),
  }),
);
const Table = textSchema(
  Type.Object({
    name: Type.Optional(Type.String({ description: "Name of the file." })),
    dry_run: Type.Optional(Type.String({ description: "1: change nothing, and report on each row." })),
  }),
);

const FASTA = ">P1 a protein\nMKLVACDEFGHIK\n";
const TABLE = "ELMIdentifier\tRegex\nLIG_MINE_1\tP..P.K\n";

/** Documents a request body that is read as a stream. */
export const streamed = (type: string, shape: object, example?: string) => ({
  requestBody: {
    required: true,
    content: { [type]: { schema: shape, ...(example === undefined ? {} : { example }) } },
  },
});

export function corpusRoutes(context: AdministrationContext) {
  const { corpora } = context.scoring;
  const add = administrators(
    "Add a corpus",
    { 202: TaskRow },
    [400, 409, 413],
    "The body is FASTA, plain or compressed with gzip or zstd, of any size. The response is sent after the upload; the task packs the corpus.",
  );
  return plugin("corpora", context)
    .get(
      UPLOADS,
      () => singlePage(corpora.list().map(corpusRow)),
      administrators("List the corpora", { 200: pageSchema("In order of addition.", Corpus) }),
    )
    .post(
      UPLOADS,
      async ({ actor, request, query: { name = "", use }, status }) =>
        status(202, await addCorpus(context, actor, request, { name, use: use === "1" })),
      {
        ...add,
        parse: "none",
        query: Upload,
        detail: {
          ...add.detail,
          ...streamed("application/octet-stream", { type: "string", format: "binary" }, FASTA),
        },
      },
    )
    .delete(`${UPLOADS}/:corpus`, ({ params }) => void corpora.remove(params.corpus), {
      ...administrators(
        "Remove a corpus",
        NO_CONTENT,
        [404, 409],
        "Existing results are kept. The active corpus can be removed only if it is the last.",
      ),
      params: CorpusName,
    })
    .post(`${UPLOADS}/:corpus/use`, ({ params }) => corpusRow(corpora.use(params.corpus)), {
      ...administrators("Use a corpus", { 200: schema(Corpus) }, [404]),
      params: CorpusName,
    })
    .post(
      `${UPLOADS}/:corpus/verify`,
      ({ actor, params, status }) => {
        const { name, hash } = corpora.find(params.corpus);
        const work = async (report: Parameters<typeof runCommand>[1]) => {
          await runCommand(["corpus", "verify", hash, "--data-dir", context.dataDirectory], report);
          return { message: `${name} is intact: every byte is as it was written.` };
        };
        return status(202, startTask(context, actor, "corpus-verify", name, work));
      },
      {
        ...administrators("Verify a corpus", { 202: TaskRow }, [404, 409], "Reads every byte."),
        params: CorpusName,
      },
    );
}

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
  if (!request.body) throw new Problem("invalid_request", "Expected a FASTA file as the body.");
  return startUpload(context, { actor, request, kind: "corpus-add", name }, async (path, report) => {
    report.say("Packing the proteins.");
    const words = ["corpus", "add", path, "--name", name, "--progress", "--data-dir", dataDirectory];
    await runCommand(use ? [...words, "--use"] : words, report);
    const added = scoring.corpora.list().find((corpus) => corpus.name === name);
    return {
      message: added
        ? `${added.sequences.toLocaleString("en")} proteins were added.`
        : "These proteins already exist under another name: nothing was added.",
    };
  });
}

/** The motif classes, and the imported table. */
export function motifClassRoutes(context: AdministrationContext) {
  const { classes } = context.scoring;
  const path = "/api/admin/motif-classes";
  const summary = () => {
    const imported = classes.imported();
    return {
      classes: classes.classes.length,
      imported: imported && { ...imported, imported: timestamp(imported.imported) },
    };
  };
  const replace = administrators(
    "Import a table of motif classes",
    { 200: objectSchema("The classes in use; for a dry run, a report on each row.") },
    [400, 413],
    "The body is the table as published by ELM; it replaces the whole imported table.",
  );
  return plugin("motif classes", context)
    .get(
      path,
      summary,
      administrators("Show the motif classes in use", {
        200: objectSchema("Number of the classes, and the imported table."),
      }),
    )
    .put(
      path,
      async ({ request, query: { name = "", dry_run: dryRun } }) => {
        const bytes = await readBytes(request, MAX_TABLE);
        if (dryRun === "1") return judge(classes, bytes);
        classes.import((name || "upload").slice(0, 255), bytes);
        return summary();
      },
      {
        ...replace,
        parse: "none",
        query: Table,
        detail: { ...replace.detail, ...streamed("text/tab-separated-values", { type: "string" }, TABLE) },
      },
    )
    .delete(
      path,
      () => {
        if (!classes.remove()) throw new Problem("not_found", "No table was imported.");
        return summary();
      },
      administrators(
        "Remove the imported table",
        { 200: objectSchema("The classes in use.") },
        [404],
        "The built-in classes apply again.",
      ),
    );
}

/** What an import of a table would do with each row. */
function judge(classes: MotifTables, bytes: Uint8Array) {
  const { rows, ...table } = classes.check(bytes);
  const known = new Map(
    classes.classes.flatMap(({ name, aliases, expression }) =>
      aliases.concat(name).map((each) => [each, expression] as const),
    ),
  );
  const verdictOn = (motif: { name: string; expression: string } | null): string => {
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
