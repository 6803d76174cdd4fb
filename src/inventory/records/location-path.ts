import { fieldProblem } from "../model/parse-body.ts";
import { type Actor, visible } from "../model/access.ts";
import { and, compare } from "../model/condition.ts";
import { plan } from "../model/plan.ts";
import type { Resource, Resources } from "../model/resource.ts";
import { compile } from "../model/sql.ts";
import type { Statements } from "./statements.ts";
import { type RecordWriter } from "./record-writer.ts";

const DEPTH_LIMIT = 20;

/** Parts of a path such as `A / 2 / Room 5 / Freezer 1 / Shelf 3`. */
export const partsOf = (path: string): string[] =>
  path
    .split("/")
    .map((part) => part.trim())
    .filter((part) => part !== "");

/** Locations by their paths, for one actor and one transaction; what is missing on the way is made. */
export interface LocationPaths {
  /** Row number and id of the location at the end. @throws Problem invalid_request */
  make(parts: readonly string[]): { rid: number; id: string } | null;
  /** Row number of the location of this label within another; undefined where there is none. */
  find(label: string, parent: number | null): number | undefined;
  /** Equipment and place of a location, by id, for those that are made inside it; as far as the actor may view them. */
  inside(rid: number): { equipment?: string; place?: string };
  /** How many were made. */
  made(): number;
}

export function openLocationPaths(
  statements: Statements,
  resources: Resources,
  writing: RecordWriter,
  actor: Actor,
): LocationPaths {
  const location: Resource = resources.get("location")!;
  const known = new Map<string, { rid: number; id: string }>();
  let made = 0;

  const find = (label: string, parent: number | null): number | undefined => {
    const condition = and(
      compare(["label"], "==", label),
      compare(["parent", "rid"], "==", parent),
      compare(["deleted"], "==", 0),
      visible(location, actor),
    );
    const where = compile(condition, plan(resources, location, actor));
    const found = statements.all({
      text: `SELECT t.rid AS rid FROM location AS t WHERE ${where.text} LIMIT 2`,
      args: where.args,
    });
    if (found.length > 1)
      throw fieldProblem(new Map([["path", ["Several locations have this path; give the id of one."]]]));
    return found.length === 0 ? undefined : Number(found[0].rid);
  };

  /** A part of a path that is the name of one piece of equipment is that piece, and stands where it stands. */
  const equipmentOf = (label: string): { equipment: string; place: string | null } | undefined => {
    const equipment = resources.get("equipment")!;
    const condition = and(
      compare(["name"], "==", label),
      compare(["deleted"], "==", 0),
      visible(equipment, actor),
    );
    const where = compile(condition, plan(resources, equipment, actor));
    const found = statements.all({
      text:
        "SELECT t.id AS id, (SELECT p.id FROM place AS p WHERE p.rid = t.place AND p.deleted = 0) AS place" +
        ` FROM equipment AS t WHERE ${where.text} LIMIT 2`,
      args: where.args,
    });
    return found.length === 1
      ? { equipment: String(found[0].id), place: found[0].place as string | null }
      : undefined;
  };

  return {
    find,
    inside: insideOf,
    made: () => made,
    make(parts) {
      if (parts.length > DEPTH_LIMIT)
        throw fieldProblem(new Map([["path", [`More than ${DEPTH_LIMIT} locations in each other.`]]]));
      let here: { rid: number; id: string } | null = null;
      let inside: { equipment?: string | null; place?: string | null } = {};
      for (const [i, label] of parts.entries()) {
        const key = JSON.stringify(parts.slice(0, i + 1));
        let next = known.get(key);
        if (!next) {
          let rid = find(label, here?.rid ?? null);
          if (rid === undefined) {
            Object.assign(inside, equipmentOf(label));
            rid = writing.create(location, { label, parent: here?.id ?? null, ...inside }, actor);
            made++;
          }
          const { id } = statements.get({ text: "SELECT id FROM location WHERE rid = ?", args: [rid] })!;
          next = { rid, id: String(id) };
          known.set(key, next);
        }
        here = next;
        inside = insideOf(here.rid);
      }
      return here;
    },
  };

  function insideOf(rid: number): { equipment?: string; place?: string } {
    const inside: { equipment?: string; place?: string } = {};
    for (const name of ["equipment", "place"] as const) {
      const far = resources.get(name)!;
      const where = compile(
        and(compare(["deleted"], "==", 0), visible(far, actor)),
        plan(resources, far, actor),
      );
      const row = statements.get({
        text: `SELECT t.id AS id FROM ${far.table} AS t WHERE t.rid = (SELECT ${name} FROM location WHERE rid = ?) AND (${where.text})`,
        args: [rid, ...where.args],
      });
      if (row) inside[name] = String(row.id);
    }
    return inside;
  }
}
