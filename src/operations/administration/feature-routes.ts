import { Type } from "typebox";
import type { SignedIn } from "../../platform/actor.ts";
import { operation } from "../../platform/operation.ts";
import { PAGE_POSITION, singlePage } from "../../platform/page.ts";
import { answerSchema, oneOf } from "../../platform/schema.ts";
import { Problem } from "../../problem.ts";
import {
  FEATURE_FORMAT_NAMES,
  FEATURE_GROUP_NAMES,
  FEATURE_GROUPS,
  type FeatureFileInfo,
  type FeatureFormatName,
  type FeatureGroup,
  FLAGS,
  type Flag,
  formatTitle,
} from "../../scoring/index.ts";
import { type AdministrationContext, TaskSchema } from "./context.ts";
import { describeFile, NAME_RULE } from "./corpus-routes.ts";
import { runCommand } from "./self-command.ts";
import { startUpload } from "./upload-task.ts";
import { pluralize } from "../../platform/words.ts";
import { timestamp } from "../../platform/clock.ts";

/** Path whose request bodies may have any size, too. */
export const FEATURE_UPLOADS = "/api/admin/features";

const counts = (description: string) => Type.Record(Type.String(), Type.Integer(), { description });

export const FeatureFile = Type.Object({
  name: Type.String(),
  format: Type.String({ description: "Name of the file format." }),
  corpus: Type.String({ description: "The corpus in use at the import." }),
  imported: Type.String(),
  features: Type.Integer(),
  proteins: Type.Integer({ description: "Proteins of the corpus with features in the file." }),
  groups: counts("Features by group."),
  flagged: counts("Features that are not shown, by reason."),
  unmatched: Type.Object({
    proteins: Type.Integer({ description: "Identifiers that no protein of the corpus has." }),
    features: Type.Integer(),
    examples: Type.Array(Type.String()),
  }),
  bytes: Type.Integer(),
});

const named = (values: Readonly<Partial<Record<string, number>>>, names: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(values).map(([key, value = 0]) => [names[key], value]));

function makeRow({ format, groups, flagged, imported, ...info }: FeatureFileInfo) {
  return {
    ...info,
    format: formatTitle(format),
    imported: timestamp(imported),
    groups: named(groups, FEATURE_GROUPS satisfies Record<FeatureGroup, string>),
    flagged: named(flagged, FLAGS satisfies Record<Flag, string>),
  };
}

const Upload = Type.Object({
  name: Type.Optional(
    Type.String({
      description: "Name of the import; replaces an import of the same name.",
      examples: ["uniprot"],
    }),
  ),
  format: Type.Optional(
    oneOf<FeatureFormatName>(
      FEATURE_FORMAT_NAMES,
      "Format of the file; detected from its content if not given.",
    ),
  ),
  group: Type.Optional(
    oneOf<FeatureGroup>(FEATURE_GROUP_NAMES, "Group of all its features; by their types if not given."),
  ),
});

/** Imported features of proteins. */
export const featureOperations = [
  operation("GET /api/admin/features", {
    access: "administrator",
    summary: "List the imported files of features",
    returns: answerSchema("By name.", {
      ...PAGE_POSITION,
      results: Type.Array(FeatureFile),
      formats: Type.Array(Type.Object({ name: Type.Enum(FEATURE_FORMAT_NAMES), title: Type.String() })),
    }),
    run: (_, { scoring }: AdministrationContext) => ({
      ...singlePage(scoring.features.list().map(makeRow)),
      formats: FEATURE_FORMAT_NAMES.map((name) => ({ name, title: formatTitle(name) })),
    }),
  }),
  operation("POST /api/admin/features", {
    access: "administrator",
    summary: "Import features of proteins",
    description:
      "The body is a file, plain or compressed, of any size. The response is sent after the upload.",
    query: Upload,
    sends: describeFile("P1\t0\t5\tdomain\n"),
    status: 202,
    returns: TaskSchema,
    errors: [409, 413],
    run: ({ caller, request, query }, context: AdministrationContext) =>
      addFeatures(context, caller, request, query),
  }),
  operation("DELETE /api/admin/features/:name", {
    access: "administrator",
    summary: "Remove an imported file of features",
    params: { name: ["Its name.", "elm_instances.tsv"] },
    errors: [404],
    run({ params }, { scoring }: AdministrationContext) {
      scoring.removeFeatures(params.name);
    },
  }),
];

async function addFeatures(
  context: AdministrationContext,
  actor: SignedIn,
  request: Request,
  { name = "", format, group }: { name?: string; format?: FeatureFormatName; group?: FeatureGroup },
) {
  const { scoring, dataDirectory } = context;
  if (!/^[^\p{C}-][^\p{C}]{0,199}$/u.test(name))
    throw new Problem("invalid_request", `name: ${NAME_RULE}`, { fields: { name: [NAME_RULE] } });
  if (!request.body) throw new Problem("invalid_request", "Expected a file with features as the body.");
  return startUpload(context, { actor, request, kind: "features-add", name }, async (path, report) => {
    report.say("Reading the features.");
    const words = ["features", "add", path, "--name", name, "--progress", "--data-dir", dataDirectory];
    if (format) words.push("--format", format);
    if (group) words.push("--group", group);
    await runCommand(words, report);
    return { message: outcome(scoring.features.list().find((file) => file.name === name)!) };
  });
}

function outcome({ format, features, proteins, unmatched }: FeatureFileInfo): string {
  const read = `${pluralize(features, "feature")} of ${pluralize(proteins, "protein")} were imported. The file was read as ${formatTitle(format)}.`;
  if (unmatched.proteins === 0) return read;
  return `${read} ${pluralize(unmatched.features, "feature")} of ${pluralize(unmatched.proteins, "identifier")} matched no protein of the corpus.`;
}
