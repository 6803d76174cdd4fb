import type { Table } from "./import-file.ts";
import type { Column } from "./import-mapping.ts";
import type { ImportOptions, ImportReport } from "./import-report.ts";
import type { DayOrder } from "./read-cells.ts";
import type { Actor } from "../model/access.ts";
import { ALIVE, and, compare } from "../model/condition.ts";
import { selectVisible } from "../model/plan.ts";
import type { Resource } from "../model/resource.ts";
import type { Store } from "../records/store.ts";
import { type Mapping, readMapping } from "../resources/saved-view.ts";

/** A saved view that has the mapping of a sheet with these headers, and how its dates and amounts were read. */
interface Remembered {
  id: string;
  name: string;
  mine: boolean;
  mapping: Mapping;
  dates: DayOrder | undefined;
  unit: string | undefined;
}

/** Views among which a mapping is looked for. */
const MAX_VIEWS = 200;

const keyOf = (headers: Iterable<string>): string =>
  JSON.stringify([...headers].filter((header) => header !== "").toSorted());

/** The mapping that the actor may view of a sheet with these headers, in any order: best an own one, then the newest. */
function findRemembered(
  { resources, statements }: Store,
  { segment }: Resource,
  actor: Actor,
  headers: readonly string[],
): Remembered | undefined {
  const imports = and(ALIVE, compare(["kind"], "==", "import"), compare(["list"], "==", String(segment)));
  const columns = "t.id AS id, t.name AS name, t.query AS query, t.owner AS owner";
  const order = ` ORDER BY t.owner <> ?, t.modified DESC, t.rid LIMIT ${MAX_VIEWS}`;
  const { text, args } = selectVisible(
    { resources, actor },
    resources.get("saved_view")!,
    columns,
    imports,
    order,
  );
  const key = keyOf(headers);
  for (const { id, name, query, owner } of statements.all({ text, args: [...args, actor.user] })) {
    const read = new URLSearchParams(String(query));
    const mapping = readMapping(read.get("mapping"));
    if (!mapping || keyOf(mapping.keys()) !== key) continue;
    const dates = read.get("dates") === "month" ? "month" : read.has("dates") ? "day" : undefined;
    const unit = read.get("unit") || undefined;
    return { id: String(id), name: String(name), mine: owner === actor.user, mapping, dates, unit };
  }
  return undefined;
}

/**
 * The remembered mapping, and the options with it if nobody gave one. That of another person is only proposed, by a dry
 * run: anybody may share a view, also one that would leave columns out.
 */
export function recallMapping(
  store: Store,
  resource: Resource,
  actor: Actor,
  { headers, archive }: Table,
  given: ImportOptions,
): { remembered: Remembered | undefined; options: ImportOptions & { mapping: Mapping } } {
  const remembered = archive ? undefined : findRemembered(store, resource, actor, headers);
  const { mapping } = given;
  const isUsed = !mapping && (remembered?.mine || given.dryRun);
  if (!remembered || !isUsed) return { remembered, options: { ...given, mapping: mapping ?? new Map() } };
  const { dates = remembered.dates, unit = remembered.unit } = given;
  return { remembered, options: { ...given, mapping: remembered.mapping, dates, unit } };
}

/** What a report says about it. */
export const describeRemembered = (
  { id, name, mine, mapping }: Remembered,
  columns: readonly Column[],
): NonNullable<ImportReport["remembered"]> => ({
  id,
  name,
  mine,
  same: columns.every(({ header, field }) => (mapping.get(header) ?? null) === field),
});
