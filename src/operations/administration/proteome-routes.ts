import { Type } from "typebox";
import { pathSchema } from "../../accounts/responses.ts";
import { pageSchema, singlePage } from "../../platform/page.ts";
import { answerSchema, bodySchema, nullable, textSchema } from "../../platform/schema.ts";
import { type Build, BUILD_STATES } from "../../scoring/index.ts";
import { type AdministrationContext, administrators, plugin } from "./context.ts";
import { timestamp, timestampOrNull } from "../../platform/clock.ts";

const PATH = "/api/admin/proteome/builds";
const MAX_NAMES = 100_000;

const Id = pathSchema({ id: ["Identifier of the build."] });
const Estimate = answerSchema(
  "Size of the build.",
  {
    missing: Type.Integer({ description: "Selected proteins without a family." }),
    existing: Type.Integer({ description: "Selected proteins that have one." }),
    carry_over: Type.Integer({
      description:
        "Families of other corpora that are carried over unless added or removed proteins change them.",
    }),
    seconds: Type.Number({ description: "Processor time if they can all be carried over." }),
    bytes: Type.Integer({ description: "Disk space." }),
  },
  "ProteomeBuildEstimate",
);
const BuildRow = answerSchema(
  "The build.",
  {
    id: Type.String(),
    corpus: Type.String({ description: "Hash of the corpus." }),
    corpus_name: Type.String(),
    organism: nullable(Type.String()),
    proteins: nullable(Type.Integer({ description: "Number of the proteins that were named." })),
    username: Type.String({ description: "User who started it." }),
    state: Type.Enum([...BUILD_STATES]),
    submitted: Type.String(),
    ended: nullable(Type.String()),
    stored: nullable(Type.Integer({ description: "Families that it has stored." })),
    carried: nullable(Type.Integer({ description: "How many of them it carried over from another corpus." })),
    failure: nullable(Type.String({ description: "Reason of a failure." })),
    progress: nullable(
      Type.Object({
        missing: Type.Integer({ description: "Families that were missing at its start." }),
        done: Type.Integer(),
        carried: Type.Integer(),
        seconds_left: nullable(Type.Integer({ description: "Expected time until its end." })),
      }),
    ),
  },
  "ProteomeBuild",
);
const Name = Type.String({ pattern: "^[^\\r\\n]{1,200}$" });
const Selection = bodySchema({
  corpus: Type.Optional(
    Type.String({ description: "Name or hash of the corpus; by default the one in use." }),
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
const DryRun = textSchema(
  Type.Object({
    dry_run: Type.Optional(
      Type.String({ description: "1: start nothing, and estimate time and disk space." }),
    ),
  }),
);

const buildRow = ({ submitted, ended, ...row }: Build) => ({
  ...row,
  submitted: timestamp(submitted),
  ended: timestampOrNull(ended),
});

/** Builds of families for the search of proteomes. */
export function proteomeRoutes(context: AdministrationContext) {
  const { builds } = context.scoring;
  return plugin("proteome builds", context)
    .get(
      PATH,
      () => singlePage(builds.list().map(buildRow)),
      administrators("List builds of families", {
        200: pageSchema("Those of the server, newest first; not those of `labd proteome build`.", BuildRow),
      }),
    )
    .post(
      PATH,
      async ({ actor, body, query: { dry_run: dryRun }, status }) =>
        dryRun === "1"
          ? status(200, await builds.estimate(body))
          : status(202, buildRow(await builds.start(body, actor.username))),
      {
        ...administrators(
          "Build the families of proteins",
          { 200: Estimate, 202: BuildRow },
          [400, 404, 409],
          "Idle workers compute the families, from which `labd proteome search` and the page Proteome score any pattern; jobs come first. What is computed survives a restart and a cancellation. Families of another corpus are carried over unless added or removed proteins change them.",
        ),
        parse: "jsonBody",
        query: DryRun,
        body: Selection,
      },
    )
    .get(`${PATH}/:id`, ({ params }) => buildRow(builds.find(params.id)), {
      ...administrators("Show a build of families", { 200: BuildRow }, [404]),
      params: Id,
    })
    .delete(`${PATH}/:id`, async ({ params }) => buildRow(await builds.cancel(params.id)), {
      ...administrators(
        "Cancel a build of families",
        { 200: BuildRow },
        [404, 409],
        "Stored families are kept.",
      ),
      params: Id,
    });
}
