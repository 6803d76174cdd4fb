import { Type } from "typebox";
import { timestamp, timestampOrNull } from "../../platform/clock.ts";
import { operation, Reply } from "../../platform/operation.ts";
import { pageSchema, singlePage } from "../../platform/page.ts";
import { answerSchema, bodySchema, nullable } from "../../platform/schema.ts";
import { type Build, BUILD_STATES } from "../../scoring/index.ts";
import type { AdministrationContext } from "./context.ts";

const MAX_NAMES = 100_000;

const Estimate = answerSchema(
  "Size of the build.",
  {
    missing: Type.Integer({ description: "Selected proteins without a family." }),
    existing: Type.Integer({ description: "Selected proteins that have one." }),
    carry_over: Type.Integer({
      description:
        "Families of other corpora that are carried over unless added or removed proteins change them.",
    }),
    seconds: Type.Number({ description: "Processor time if all families can be carried over." }),
    bytes: Type.Integer({ description: "Disk space." }),
  },
  "ProteomeBuildEstimate",
);
const BuildSchema = answerSchema(
  "The build.",
  {
    id: Type.String(),
    corpus: Type.String({ description: "Hash of the corpus." }),
    corpus_name: Type.String(),
    organism: nullable(Type.String()),
    proteins: nullable(Type.Integer({ description: "Number of the proteins that were named." })),
    username: Type.String({ description: "User who started the build." }),
    state: Type.Enum([...BUILD_STATES]),
    submitted: Type.String(),
    ended: nullable(Type.String()),
    stored: nullable(Type.Integer({ description: "Number of families that the build has stored." })),
    carried: nullable(Type.Integer({ description: "Number of families carried over from another corpus." })),
    failure: nullable(Type.String({ description: "Reason of a failure." })),
    progress: nullable(
      Type.Object({
        missing: Type.Integer({ description: "Families that were missing at its start." }),
        done: Type.Integer(),
        carried: Type.Integer(),
        seconds_left: nullable(Type.Integer({ description: "Expected time until the end of the build." })),
      }),
    ),
  },
  "ProteomeBuild",
);
const Name = Type.String({ pattern: "^[^\\r\\n]{1,200}$" });
const Selection = bodySchema({
  corpus: Type.Optional(
    Type.String({ description: "Name or hash of the corpus; by default the corpus in use." }),
  ),
  organism: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: "Only proteins of this organism: NCBI taxon, scientific name, or UniProt mnemonic.",
      examples: ["9606"],
    }),
  ),
  proteins: Type.Optional(
    Type.Array(Name, {
      minItems: 1,
      maxItems: MAX_NAMES,
      description: "Only these proteins: accessions, entry names or genes.",
    }),
  ),
});
const DryRun = Type.Object({
  dry_run: Type.Optional(Type.String({ description: "1: start nothing, and estimate time and disk space." })),
});

const buildRow = ({ submitted, ended, ...row }: Build) => ({
  ...row,
  submitted: timestamp(submitted),
  ended: timestampOrNull(ended),
});

const buildAccess = {
  access: "administrator",
  params: { id: "Identifier of the build." },
  returns: BuildSchema,
  errors: [404],
} as const;

/** Builds of families for the search of proteomes. */
export const buildOperations = [
  operation("GET /api/admin/proteome/builds", {
    access: "administrator",
    summary: "List builds of families",
    returns: pageSchema(
      "Builds of the server, newest first, without builds by `labd proteome build`.",
      BuildSchema,
    ),
    run: (_, { scoring }: AdministrationContext) => singlePage(scoring.builds.list().map(buildRow)),
  }),
  operation("POST /api/admin/proteome/builds", {
    access: "administrator",
    summary: "Build the families of proteins",
    description:
      "Idle workers compute the families, from which `labd proteome search` and the page Proteome score any pattern; jobs come first. What is computed survives a restart and a cancellation. Families of another corpus are carried over unless added or removed proteins change them.",
    query: DryRun,
    body: Selection,
    status: 202,
    returns: BuildSchema,
    alternatives: { 200: Estimate },
    errors: [404, 409],
    run: async (
      { caller, body, query: { dry_run: dryRun } },
      { scoring: { builds } }: AdministrationContext,
    ) =>
      dryRun === "1"
        ? new Reply(await builds.estimate(body), { status: 200 })
        : buildRow(await builds.start(body, caller.username)),
  }),
  operation("GET /api/admin/proteome/builds/:id", {
    ...buildAccess,
    summary: "Show a build of families",
    run: ({ params }, { scoring }: AdministrationContext) => buildRow(scoring.builds.find(params.id)),
  }),
  operation("DELETE /api/admin/proteome/builds/:id", {
    ...buildAccess,
    summary: "Cancel a build of families",
    description: "Stored families are kept.",
    errors: [404, 409],
    run: async ({ params }, { scoring }: AdministrationContext) =>
      buildRow(await scoring.builds.cancel(params.id)),
  }),
];
