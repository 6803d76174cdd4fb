import { type Actor, GRANTS, visible } from "./access.ts";
import type { Resource } from "./resource.ts";
import { type Clause, clause, compile, type Plan } from "./sql.ts";

/** The form of recorded changes of grants: the resource, and the field of each column that rights compare. */
const GRANT = "grant";
const GRANT_FIELDS: Readonly<Record<string, string>> = {
  user_rid: "user",
  group_rid: "group",
  can_view: "view",
};

/** One state of a record: its row number as SQL, and the changes up to that state as a condition on `seq` and `batch` of `p`. */
export interface PastState {
  rid: string;
  upTo: string;
}

/**
 * The condition that the actor, with the groups of today, could view the record in that state: what was written while
 * a record was private does not become visible when the record does. True for administrators.
 */
export function couldViewThen(resource: Resource, actor: Actor, state: PastState): Clause {
  if (actor.superuser) return clause("1");
  const last = (kind: string, rid: string) =>
    `(SELECT p.seq FROM main.record_change AS p WHERE p.object_kind = '${kind}' AND p.object_rid = ${rid}` +
    ` AND ${state.upTo} ORDER BY p.batch DESC, p.seq DESC LIMIT 1)`;
  const from: Plan = {
    ...accessPlan(resource, (path) => `json_extract(s.after, '$.${path[0]}')`),
    exists(_at, relation, part) {
      if (relation !== GRANTS) throw new Error(`${relation} is no relation of past states`);
      const { text, args } = part(
        accessPlan(resource, ([column]) => `json_extract(g.after, '$.${GRANT_FIELDS[column]}')`),
      );
      return {
        text:
          `EXISTS (SELECT 1 FROM main.record_change AS g WHERE g.object_kind = '${GRANT}' AND g.host_kind = '${resource.name}'` +
          ` AND g.host_rid = ${state.rid} AND g.seq = ${last(GRANT, "g.object_rid")}` +
          ` AND json_extract(g.after, '$.deleted') = 0 AND ${text})`,
        args,
      };
    },
  };
  const { text, args } = compile(visible(resource, actor), from);
  return clause(
    `EXISTS (SELECT 1 FROM main.record_change AS s WHERE s.seq = ${last(resource.name, state.rid)} AND ${text})`,
    args,
  );
}

/** A plan for the rights in the JSON of a change, which paths such as `public` and `owner.rid` name. */
const accessPlan = (resource: Resource, column: (path: readonly string[]) => string): Plan => ({
  operand: (path) => ({ plain: column(path), folded: column(path), field: resource.fields.rid }),
  referenceTo: () => undefined,
  exists(_at, relation) {
    throw new Error(`${relation} is no relation of a change`);
  },
  joins: () => ({ text: "", args: [] }),
});
