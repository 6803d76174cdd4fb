import { type TSchema, Type } from "typebox";
import { exampleId } from "../model/example.ts";
import { anyOf } from "../model/record-schema.ts";
import { makeNouns } from "../model/schema.ts";
import { RESOURCES, type RoutedResource } from "../resources/index.ts";
import { DRY_RUN, FLAT, ONCE } from "./parameters.ts";
import { COUNT, TEXT, WRITE } from "./schema.ts";
import { EXAMPLE_ID } from "../../platform/openapi-example.ts";
import { nullable } from "../../platform/schema.ts";
import { describeOperation } from "../../platform/describe-operation.ts";
import { type OperationAbout, resolveDeferred } from "../../platform/operation.ts";

/** OpenAPI descriptions of the inventory's operations, with the parts that follow from the others. */

/** Parts of paths: description and example. The id of a record is described by its resource. */
const PATH_PARAMETERS: Record<string, [description: string, example: unknown]> = {
  id: ["Id.", EXAMPLE_ID],
  sub_id: ["Id of the annotation, note or file.", EXAMPLE_ID],
  grant: ["Id of the grant: `grant` in the list of grants, `id` in the history.", EXAMPLE_ID],
  user: ["Username or id.", "carol"],
  group: ["Name or id.", "Microscopy"],
  member: ["Username or id of the account.", "bob"],
};

const NUMBERS = Type.Record(TEXT, COUNT);
const EXPOSURE = Type.Object(
  {
    resource: TEXT,
    id: TEXT,
    name: TEXT,
    public: Type.Boolean({
      description: "True if everyone could view the record; false if only the group could.",
    }),
    group: nullable(TEXT),
    visible: NUMBERS,
    hidden: NUMBERS,
  },
  {
    $id: "Exposure",
    description:
      "A record that more people could view, and how many of its items become visible or stay hidden.",
  },
);

export const PREVIEW = Type.Object(
  {
    dry_run: Type.Literal(true),
    count: Type.Integer({ description: "Number of planned changes." }),
    records: Type.Integer({ description: "Number of records that they concern." }),
    confirm: TEXT,
    exposes: Type.Array(EXPOSURE),
    sentences: Type.Array(TEXT, { description: "The first changes in words." }),
    changes: Type.Array(Type.Object(WRITE)),
  },
  {
    $id: "Preview",
    description:
      "Preview of a dry run: the planned changes of each record, with the values before and after.",
    examples: [
      { dry_run: true, count: 1, records: 1, confirm: "5f2c9a1e", exposes: [], sentences: [], changes: [] },
    ],
  },
);

/**
 * The OpenAPI description of an operation. `lists`: the lists with the operation, if the path is relative to a list.
 */
export function describe(key: string, about: OperationAbout, lists: readonly RoutedResource[]): object {
  const { parameters = [], status, returns, formats, errors = [], alternatives } = about;
  const isPost = key.startsWith("POST ");
  const dryRuns = parameters.includes(DRY_RUN);
  // A preview has status 200, which may also be that of the declared answer.
  const isPreviewApart = dryRuns && (status !== undefined || !(returns || formats));
  const names = [...key.matchAll(/:(\w+)/g)].map(([, name]) => name);
  const parts: OperationAbout = {
    ...about,
    params: Object.fromEntries(names.map((name) => [name, inPath(name, lists)])),
    parameters: [...parameters, ...(isPost && dryRuns ? [ONCE] : [])],
    ...(returns ? { returns: describeAnswer(about, dryRuns && !isPreviewApart) } : {}),
    ...(isPreviewApart ? { alternatives: { 200: PREVIEW, ...alternatives } } : {}),
    errors: [...(names.length > 0 ? ([404] as const) : []), ...errors],
  };
  return describeOperation(parts, "inventory");
}

/** The declared answer, also as `response_format=flat` wraps it, or a preview of a dry run. */
function describeAnswer({ returns, parameters = [] }: OperationAbout, previews: boolean): TSchema {
  const declared = resolveDeferred(returns!);
  const isWrapped = parameters.includes(FLAT);
  if (!isWrapped && !previews) return declared;
  const { $id } = declared as { $id?: string };
  const name = $id && $id + (isWrapped ? "OrWrapped" : "") + (previews ? "OrPreview" : "");
  const wrapped = isWrapped ? [Type.Object({ results: declared })] : [];
  return anyOf(name, declared, ...wrapped, ...(previews ? [PREVIEW] : []));
}

function inPath(name: string, lists: readonly RoutedResource[]): TSchema {
  const [first, second] = lists;
  if (name === "list") {
    const segments = lists.map(({ segment }) => segment);
    const $id = segments.length === RESOURCES.length ? name : `${first.name}_or_other_list`;
    const description = "The list; its slash may be encoded as %2F.";
    return Type.Enum(segments, { $id, description, examples: [first.segment] });
  }
  const isRecord = name === "id" && first;
  const noun = isRecord && (second ? "record" : first.name);
  const [description, example] = isRecord
    ? [`Id of ${makeNouns({ name: noun as string }).one}.`, exampleId(first)]
    : PATH_PARAMETERS[name];
  // Examples differ between sets of lists.
  const of = second && lists.length < RESOURCES.length ? `${first!.name}_or_other` : noun;
  const $id = isRecord ? `${of}_id` : name;
  return (typeof example === "number" ? Type.Integer : Type.String)({
    $id,
    description,
    examples: [example],
  });
}
