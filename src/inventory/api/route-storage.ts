import { Type } from "typebox";
import type { JsonObject } from "../model/field.ts";
import { buildStorage, LEVEL_LISTS, MAX_BUILT, type LevelList, type Plan } from "../records/build-storage.ts";
import { DECLARED, type RoutedResource } from "../resources/index.ts";
import { nullable } from "../../platform/schema.ts";
import { writeBatch } from "./batch.ts";
import { type Call, respondJson } from "./call.ts";
import { DRY_RUN } from "./parameters.ts";
import { inList } from "./mount-operations.ts";
import { operation } from "../../platform/operation.ts";
import { BOOLEAN, closed, COUNT, INSTANT } from "./schema.ts";

const MAX_LEVELS = 10;
const LOCATION = DECLARED.get("location") as RoutedResource;

const inside = (description: string) => Type.Optional(nullable(Type.String({ description })));
const PLAN = closed({
  place: inside("Id of the enclosing room."),
  equipment: inside("Id of the enclosing freezer or other equipment."),
  parent: inside("Id of the enclosing location."),
  owned_by: Type.Optional(Type.String({ description: "Group of the new records." })),
  public: Type.Optional(BOOLEAN),
  levels: Type.Array(
    Type.Object(
      {
        list: Type.Optional(
          Type.Unsafe<LevelList>(Type.Union(Object.keys(LEVEL_LISTS).map((list) => Type.Literal(list)))),
        ),
        name: Type.String({
          minLength: 1,
          maxLength: 200,
          description: "Pattern of the names: {1..5}, {01..12} and {A..D} are ranges.",
        }),
      },
      { additionalProperties: true },
    ),
    {
      minItems: 1,
      maxItems: MAX_LEVELS,
      description:
        "Levels from the outermost; each record of a level contains the records of the next level. Further members are fields of the list.",
      examples: [
        [
          { list: "equipment", name: "Freezer {7..8}", model_type: "FREEZER" },
          { name: "Drawer {1..4}" },
          { name: "Box {01..10}", grid_rows: 9, grid_columns: 9 },
        ],
      ],
    },
  ),
});
const BUILT = Type.Object(
  {
    results: Type.Object({
      places: COUNT,
      equipment: COUNT,
      locations: COUNT,
      first_created: INSTANT,
      last_created: INSTANT,
    }),
  },
  { $id: "BuiltStorage" },
);
export type BuiltStorage = { results: ReturnType<typeof buildStorage> };

/** Creating rooms, freezers, shelves and boxes at once. */
export const storageOperations = () =>
  inList(LOCATION, [
    operation("POST /api/v2/:list/build/", {
      access: "signedIn",
      summary: "Build storage",
      description:
        `Creates rooms, equipment and locations inside each other, with names by pattern: at most ${MAX_BUILT.toLocaleString("en")} records, ` +
        "in one batch. `created__gte=<first_created>&created__lte=<last_created>` finds them, such as for labels.",
      parameters: [DRY_RUN],
      body: PLAN,
      status: 201,
      returns: BUILT,
      run: ({ body }, call: Call) =>
        writeBatch(call, body as unknown as JsonObject, {
          kind: "bulk_create",
          work: (writer) => buildStorage(call.store, writer, body as unknown as Plan, call.actor),
          respond: (results) => respondJson({ results }, {}, 201),
        }),
    }),
  ]);
