import type { OpenApi, Operation, PathItem } from "./openapi.ts";
import { camelCase } from "./words.ts";

/** A part of the OpenAPI document, for generators of clients. */
export interface DocumentPart {
  /** True for the operations of this path. */
  holds(path: string): boolean;
  /** The lists that take the place of `{list}` in paths, with nouns: `{ one: "a location", many: "locations" }`. */
  lists?: Readonly<Record<string, { one: string; many: string }>>;
}

const LIST = "{list}";
const LIST_PARAMETER = "list";

/**
 * The paths of a part, with the components and tags that they need. Paths with `{list}` are repeated for each list: a
 * generator cannot tell `{list}/{id}/notes` from `stocks/consumables/{id}`.
 */
export function selectPart(document: OpenApi, part: DocumentPart): OpenApi {
  const held = Object.entries(document.paths).filter(([path]) => part.holds(path));
  const paths = Object.fromEntries(
    held.flatMap(([path, item]) =>
      path.includes(LIST) ? repeatForLists(path, item, document, part) : [[path, item]],
    ),
  );
  const tags = new Set(
    Object.values(paths)
      .flatMap(listOperations)
      .flatMap(([, { tags = [] }]) => tags),
  );
  return {
    ...document,
    tags: (document.tags ?? []).filter(({ name }) => tags.has(name)),
    "x-tagGroups": (document["x-tagGroups"] ?? [])
      .map(({ name, tags: grouped }) => ({ name, tags: grouped.filter((tag) => tags.has(tag)) }))
      .filter((group) => group.tags.length > 0),
    paths,
    components: selectComponents(paths, document.components ?? {}),
  };
}

const listOperations = (item: PathItem): [string, Operation][] =>
  Object.entries(item).filter(([key]) => key !== "parameters") as [string, Operation][];

function repeatForLists(
  path: string,
  item: PathItem,
  { components = {} }: OpenApi,
  { lists = {} }: DocumentPart,
): [string, PathItem][] {
  const resolve = <Part extends { $ref?: string }>(part: Part): Part =>
    part.$ref === undefined ? part : (findComponent(components, part.$ref) as Part);
  const { parameters = [], ...operations } = item;
  const { schema } = parameters.map(resolve).find(({ name }) => name === LIST_PARAMETER)!;
  return Object.entries(lists)
    .filter(([list]) => schema?.enum?.includes(list))
    .map(([list, nouns]) => [
      path.replace(LIST, list),
      {
        parameters: parameters.filter((parameter) => resolve(parameter).name !== LIST_PARAMETER),
        ...Object.fromEntries(
          Object.entries(operations).map(([method, operation]) => [
            method,
            { ...operation, ...nameForList(operation.summary ?? "", nouns), tags: [list] },
          ]),
        ),
      } as PathItem,
    ]);
}

/** `List notes of a record` becomes `List notes of a location`; a summary without records is of all that the list has. */
function nameForList(summary: string, { one, many }: { one: string; many: string }) {
  const named = summary.replace("a record", one).replace("records", many);
  const complete = named === summary ? `${summary} of ${many}` : named;
  return { summary: complete, operationId: camelCase(complete) };
}

const findComponent = (components: Record<string, Record<string, object>>, reference: string): object => {
  const [section, name] = reference.split("/").slice(2);
  return components[section][name];
};

/** The components that the paths refer to, and those that these refer to, in the order of the document. */
function selectComponents(
  paths: object,
  components: Record<string, Record<string, object>>,
): Record<string, Record<string, object>> {
  const needed = new Set<string>();
  const collect = (part: unknown): void => {
    if (part === null || typeof part !== "object") return;
    const { $ref } = part as { $ref?: unknown };
    if (typeof $ref !== "string") Object.values(part).forEach(collect);
    else if (!needed.has($ref)) {
      needed.add($ref);
      collect(findComponent(components, $ref));
    }
  };
  collect(paths);
  const isNeeded = (section: string, name: string): boolean =>
    section === "securitySchemes" || needed.has(`#/components/${section}/${name}`);
  return Object.fromEntries(
    Object.entries(components).map(([section, named]) => [
      section,
      Object.fromEntries(Object.entries(named).filter(([name]) => isNeeded(section, name))),
    ]),
  );
}
