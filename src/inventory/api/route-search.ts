import { setImmediate } from "node:timers/promises";
import { Type } from "typebox";
import type { Actor } from "../../platform/actor.ts";
import { KINDS } from "../model/field.ts";
import { parameterProblem } from "../model/filter.ts";
import { parseDeletedFilter } from "../model/listing.ts";
import { LIMITS } from "../model/limits.ts";
import { FOUND_BY } from "../model/search-query.ts";
import { MOST_FOUND, type SearchRequest } from "../records/search.ts";
import { openStore } from "../records/store.ts";
import { PEOPLE, RESOURCES, type RoutedResource } from "../resources/index.ts";
import type { Clock } from "../../platform/clock.ts";
import { exceeded } from "../../platform/limits.ts";
import { NOT_BLANK } from "../../platform/schema.ts";
import type { Database } from "../../platform/sqlite.ts";
import { type Call, respondJson } from "./call.ts";
import { DELETED_PARAMETER } from "./parameters.ts";
import { operation } from "../../platform/operation.ts";
import { BOOLEAN, TEXT } from "./schema.ts";

/** Results of each list. */
const DEFAULT_LIMIT = 5;

/** Lists whose records people look for: those with an id of their own. */
const SEARCHED_LISTS: readonly RoutedResource[] = RESOURCES.filter(({ fields }) => fields.id.kind === "uuid");
/** Only signed-in users may view accounts and groups. */
const SEARCHED_SIGNED_IN = [...SEARCHED_LISTS, PEOPLE.user, PEOPLE.group];

const QUERY = Type.Object({
  q: Type.String({
    minLength: 1,
    maxLength: 200,
    pattern: NOT_BLANK,
    description: "Words, or the beginning of a name; a barcode, an id, or the URL on a label.",
    examples: ["GFP"],
  }),
  list: Type.Optional(
    Type.String({ description: "Only this list, such as stocks/consumables.", examples: ["locations"] }),
  ),
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MOST_FOUND,
      description: `Results of each list; ${DEFAULT_LIMIT} by default.`,
    }),
  ),
});

const FOUND = Type.Object(
  {
    q: TEXT,
    total: Type.Integer({ description: "Records found, of all lists." }),
    more: Type.Boolean({ description: "Whether more records may match. Add a word to the search." }),
    groups: Type.Array(
      Type.Object({
        list: Type.String({ description: "The list, such as stocks/consumables." }),
        total: Type.Integer({ description: `Records found, at most ${MOST_FOUND}.` }),
        more: BOOLEAN,
        results: Type.Array(
          Type.Object({
            id: TEXT,
            name: TEXT,
            by: Type.Enum([...FOUND_BY], { description: "The text by which the record was found." }),
            exact: Type.Boolean({ description: "Whether the record has this barcode or id." }),
            text: Type.String({
              description: "Excerpt of the description, or of the text by which the record was found.",
            }),
            where: Type.String({ description: "Location and position, or equipment and place." }),
          }),
        ),
      }),
    ),
  },
  { $id: "Found" },
);

export type Found = Type.Static<typeof FOUND>;

/** One search of all lists. */
export const searchAllOperation = () =>
  operation("GET /api/v2/search/", {
    access: "anyone",
    summary: "Search all lists",
    description:
      "Finds records by name, barcode, id, description, supplier, catalogue number, lot, annotations, notes and names of " +
      "files, and people by name, ignoring accents. Every word must be found in the record; if few records have them, " +
      "one typo in words of five letters or more is tolerated outside annotations, notes and files. Words of one or two letters are found in names and descriptions; alone, only " +
      "at the beginning of a name. Best results first: barcode or id, then name, beginning of the name, beginning of a " +
      "word, part of the name, other texts; then by time of the last change.",
    query: QUERY,
    parameters: [DELETED_PARAMETER],
    returns: FOUND,
    heavy({ query }, call: Call) {
      const loading = call.store.search.loading(toRequest(call, query));
      // If the other process fails, this process reads the row sets.
      const light = (): boolean => false;
      return loading.length > 0 && Promise.all(loading).then(light, light);
    },
    run({ query }, call: Call) {
      const groups = call.store.search
        .find(toRequest(call, query))
        .map(({ resource, total, more, results }) => ({
          list: (resource as RoutedResource).segment,
          total,
          more,
          results,
        }));
      const total = groups.reduce((sum, group) => sum + group.total, 0);
      return respondJson({ q: query.q.trim(), total, more: groups.some(({ more }) => more), groups });
    },
  });

/** A search whose statements other searches use. */
const PREPARED = "sam";
/** An administrator, whose searches need the row sets of all other callers, too. */
const ANYONE: Actor = { user: 0, username: "", superuser: true, groups: [], primaryGroup: 0 };

/**
 * Reads the row sets of first searches, in other processes, and prepares their statements, list by list between requests.
 * @param actors callers whose first searches are prepared, too
 */
export async function prepareSearch(
  database: Database,
  clock: Clock,
  actors: readonly Actor[] = [],
): Promise<void> {
  const { search } = openStore(database, clock);
  const makeCondition: SearchRequest["makeCondition"] = (resource) =>
    parseDeletedFilter(resource, new URLSearchParams());
  const request = { typed: PREPARED, makeCondition, results: DEFAULT_LIMIT };
  try {
    for (const actor of [ANYONE, ...actors]) {
      await Promise.all(search.loading({ ...request, actor, resources: SEARCHED_SIGNED_IN }));
      for (const resource of SEARCHED_SIGNED_IN) {
        await setImmediate();
        search.find({ ...request, actor, resources: [resource] });
      }
    }
  } catch {
    // The first search reads the row sets, or reports a damaged database.
  }
}

/** @throws Problem invalid_request */
function toRequest(
  { actor, url }: Call,
  { q, list, limit = DEFAULT_LIMIT }: Type.Static<typeof QUERY>,
): SearchRequest {
  if (KINDS.text.parse(q) === undefined) throw parameterProblem("q", `Expected ${KINDS.text.expected}.`);
  if (q.trim().split(/\s+/).length > LIMITS.words.max) throw parameterProblem("q", exceeded(LIMITS.words));
  const all = actor.user === null ? SEARCHED_LISTS : SEARCHED_SIGNED_IN;
  const resources = list === undefined ? all : all.filter(({ segment }) => segment === list);
  if (resources.length === 0)
    throw parameterProblem("list", `Choices: ${all.map(({ segment }) => segment).join(", ")}.`);
  const makeCondition: SearchRequest["makeCondition"] = (resource) =>
    parseDeletedFilter(resource, url.searchParams);
  return { typed: q, actor, resources, makeCondition, results: limit };
}
