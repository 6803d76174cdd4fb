import { join } from "node:path";
import { Problem } from "../../problem.ts";
import type { CorpusInfo } from "../../scoring/index.ts";
import { readBytes } from "../../platform/body.ts";
import { type AdministrationContext, nameOf, started } from "./administered.ts";
import {
  describeOperation,
  noContent,
  type Endpoint,
  timestamp,
  json,
  list,
  parameter,
} from "../../accounts/endpoint.ts";
import { runCommand } from "./self-command.ts";
import { refuseTooLarge, streamToDisk } from "./upload.ts";

/** Bytes of a table of motif classes: ELM's has 0.1 MB. */
const LARGEST_TABLE = 16 * 1024 ** 2;
const printCorpus = ({ name, hash, sequences, residues, bytes, added, active }: CorpusInfo) => ({
  name,
  hash,
  sequences,
  residues,
  bytes,
  added: timestamp(added),
  active,
});
const CORPUS = parameter("path", "corpus", "Its name or hash.");

/** The collections of proteins. */
export function corpusEndpoints(service: AdministrationContext): Endpoint[] {
  const { scoring, tasks, dataDirectory } = service;
  const { corpora } = scoring;
  const uploads = join(dataDirectory, "uploads");
  const add = async (request: Request, name: string, use: boolean): Promise<Response> => {
    if (!/^[^\p{C}-][^\p{C}]{0,199}$/u.test(name))
      throw new Problem("invalid_request", "name: expected 1 to 200 printable characters, no hyphen first.", {
        fields: { name: ["Expected 1 to 200 printable characters, no hyphen first."] },
      });
    if (!request.body) throw new Problem("invalid_request", "Expected a FASTA file as the body.");
    tasks.refuseSecond("corpus-add");
    const length = request.headers.get("content-length");
    const declared = length === null ? null : Number(length);
    refuseTooLarge(uploads, declared);
    const path = join(uploads, `${service.clock.newId()}.fasta`);
    const arrived = Promise.withResolvers<void>();
    const task = tasks.start(
      { kind: "corpus-add", subject: name, by: nameOf(service, request) },
      async (report) => {
        try {
          await streamToDisk(request, path, declared, report).then(
            () => arrived.resolve(),
            (error: unknown) => {
              arrived.reject(error);
              throw error;
            },
          );
          report.at(0);
          report.say("Packing the proteins.");
          const words = ["corpus", "add", path, "--name", name, "--progress", "--data-dir", dataDirectory];
          await runCommand(use ? [...words, "--use"] : words, report);
          const added = corpora.list().find((corpus) => corpus.name === name);
          return {
            said: added
              ? `${added.sequences.toLocaleString("en")} proteins were added.`
              : "These proteins are there already, under another name: nothing was added.",
          };
        } finally {
          await Bun.file(path)
            .delete()
            .catch(() => {});
        }
      },
    );
    await arrived.promise;
    return started(task);
  };
  return [
    {
      path: "/api/admin/corpora",
      methods: {
        GET: {
          detail: describeOperation("The corpora", { answers: { 200: "In order of their addition." } }),
          answer: () => list(corpora.list().map(printCorpus)),
        },
        POST: {
          detail: describeOperation("Add a corpus", {
            description:
              "The body is FASTA, plain or compressed with gzip or zstd, of any size: it goes to the disk as it comes. Answered when it is there; the task packs it.",
            parameters: [
              parameter("query", "name", "Name that results show."),
              parameter("query", "use", "1: take it into use at once."),
            ],
            body: { "application/octet-stream": { schema: { type: "string", format: "binary" } } },
            answers: { 202: "The task that packs it." },
            refusals: [400, 401, 403, 409, 413],
          }),
          answer: ({ request, query }) => add(request, query.get("name") ?? "", query.get("use") === "1"),
        },
      },
    },
    {
      path: "/api/admin/corpora/:corpus",
      methods: {
        DELETE: {
          detail: describeOperation("Remove a corpus", {
            description: "Results that were made with it stay. The one in use goes only as the last.",
            parameters: [CORPUS],
            answers: { 204: "Done." },
            refusals: [401, 403, 404, 409],
          }),
          answer({ params }) {
            corpora.remove(params.corpus);
            return noContent();
          },
        },
      },
    },
    {
      path: "/api/admin/corpora/:corpus/use",
      methods: {
        POST: {
          detail: describeOperation("Take a corpus into use", {
            parameters: [CORPUS],
            answers: { 200: "It." },
            refusals: [401, 403, 404],
          }),
          answer: ({ params }) => json(printCorpus(corpora.use(params.corpus))),
        },
      },
    },
    {
      path: "/api/admin/corpora/:corpus/verify",
      methods: {
        POST: {
          detail: describeOperation("Read every byte of a corpus", {
            parameters: [CORPUS],
            answers: { 202: "The task that does." },
            refusals: [401, 403, 404, 409],
          }),
          answer({ request, params }) {
            const { name, hash } = corpora.find(params.corpus);
            return started(
              tasks.start(
                { kind: "corpus-verify", subject: name, by: nameOf(service, request) },
                async (report) => {
                  await runCommand(["corpus", "verify", hash, "--data-dir", dataDirectory], report);
                  return { said: `${name} is whole: every byte is as it was written.` };
                },
              ),
            );
          },
        },
      },
    },
  ];
}

/** The motif classes, and the table that they were imported from. */
export function motifEndpoints({ scoring: { classes } }: AdministrationContext): Endpoint[] {
  const about = () => {
    const imported = classes.imported();
    return {
      classes: classes.classes.length,
      imported: imported && { ...imported, imported: timestamp(imported.imported) },
    };
  };
  return [
    {
      path: "/api/admin/motif-classes",
      methods: {
        GET: {
          detail: describeOperation("The motif classes in use", {
            answers: { 200: "How many, and which table." },
          }),
          answer: () => json(about()),
        },
        PUT: {
          detail: describeOperation("Take a table of motif classes into use", {
            description: "As ELM publishes it, in place of the one before: all of it, or nothing.",
            parameters: [
              parameter("query", "name", "Name of the file."),
              parameter("query", "dry_run", "1: change nothing, and tell of each row what an import would."),
            ],
            body: { "text/tab-separated-values": { schema: { type: "string" } } },
            answers: { 200: "What is in use now; of a dry run, a verdict on each row." },
            refusals: [400, 401, 403, 413],
          }),
          async answer({ request, query }) {
            const bytes = await readBytes(request, LARGEST_TABLE);
            if (query.get("dry_run") === "1") {
              const { rows, ...table } = classes.judge(bytes);
              const known = new Map(
                classes.classes.flatMap((one) =>
                  [one.name, ...one.aliases].map((name) => [name, one.expression] as const),
                ),
              );
              return json({
                ...table,
                rows: rows.map(({ line, motif, problem }) => ({
                  line,
                  name: motif?.name ?? null,
                  expression: motif?.expression ?? null,
                  problem,
                  verdict:
                    motif === null
                      ? "wrong"
                      : !known.has(motif.name)
                        ? "new"
                        : known.get(motif.name) === motif.expression
                          ? "same"
                          : "changed",
                })),
              });
            }
            classes.import((query.get("name") || "upload").slice(0, 255), bytes);
            return json(about());
          },
        },
        DELETE: {
          detail: describeOperation("Give the imported table up", {
            description: "The classes that come with the program count again.",
            answers: { 200: "What is in use now." },
            refusals: [401, 403, 404],
          }),
          answer() {
            if (!classes.remove()) throw new Problem("not_found", "No table was imported.");
            return json(about());
          },
        },
      },
    },
  ];
}
