import type { Actor } from "../model/access.ts";
import { ALIVE, and, compare } from "../model/condition.ts";
import { selectVisible } from "../model/plan.ts";
import type { Resources } from "../model/resource.ts";
import { termUnit } from "../model/unit.ts";
import type { Statements } from "./statements.ts";

/** A term of a list of units, with the symbol of the unit that it means. */
export interface UnitTerm {
  rid: number;
  id: string;
  /** Id of its list of units. */
  category: string;
  symbol: string;
}

export const IS_UNIT = compare(["category", "kind"], "==", "unit");

/** The units that the actor may view, the oldest first. */
export function listUnitTerms(statements: Statements, resources: Resources, actor: Actor): UnitTerm[] {
  const category = "(SELECT c.id FROM cv_category AS c WHERE c.rid = t.category)";
  const columns = `t.rid AS rid, t.id AS id, t.name AS name, t.label AS label, ${category} AS category`;
  const term = resources.get("term")!;
  const found = selectVisible({ resources, actor }, term, columns, and(IS_UNIT, ALIVE), " ORDER BY t.rid");
  return statements.all(found).map(({ rid, id, name, label, category }) => ({
    rid: Number(rid),
    id: String(id),
    category: String(category),
    symbol: termUnit(String(name), String(label)).symbol,
  }));
}
