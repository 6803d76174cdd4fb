import type { Actor } from "../model/access.ts";
import { ALIVE, and, compare, type Condition } from "../model/condition.ts";
import { parseUuid } from "../model/field.ts";
import { selectVisible } from "../model/plan.ts";
import { findUnit, unitSymbol } from "../model/unit.ts";
import type { RecordWriter } from "../records/record-writer.ts";
import type { Store } from "../records/store.ts";
import { IS_UNIT, listUnitTerms, type UnitTerm } from "../records/unit-terms.ts";

/** Units by their names and aliases, for one actor and one transaction. Missing ones are created. */
export class Units {
  readonly #known = new Map<string, string>();
  /** The visible units by their symbols, the oldest first. */
  #bySymbol: Map<string, UnitTerm[]> | undefined;
  /** The number of created records. */
  created = 0;

  constructor(
    private readonly store: Store,
    private readonly writer: RecordWriter,
    private readonly actor: Actor,
  ) {}

  /** The id of the unit of this name or alias; the text itself if it is an id, or names other terms. */
  find(text: string): string {
    const name = text.trim();
    if (parseUuid(name) !== undefined) return name;
    const found = this.#known.get(name) ?? this.#findOrCreate(name);
    this.#known.set(name, found);
    return found;
  }

  #findOrCreate(name: string): string {
    const named = compare(["name"], "==", name);
    const [unit] = this.#ids("term", and(named, IS_UNIT), " ORDER BY t.rid");
    const found = unit ?? this.findAlias(name);
    if (found !== undefined) return found;
    if (this.#ids("term", named).length > 0) return name;
    this.created++;
    const known = findUnit(name);
    const names = known
      ? { name: known.name, label: known.symbol, dbxref_id: `UCUM:${known.ucum}` }
      : { name };
    return this.#create("term", { ...names, category: this.#category() });
  }

  /** The id of the oldest unit whose name or label means the same, in this category if one is given. */
  findAlias(name: string, category: string | null = null): string | undefined {
    if (!findUnit(name)) return undefined;
    this.#bySymbol ??= Map.groupBy(
      listUnitTerms(this.store.statements, this.store.resources, this.actor),
      ({ symbol }) => symbol,
    );
    const same = this.#bySymbol.get(unitSymbol(name)) ?? [];
    return same.find((unit) => category === null || unit.category === category)?.id;
  }

  #category(): string {
    const [first] = this.#ids("category", compare(["kind"], "==", "unit"));
    return first ?? this.#create("category", { name: "Units", kind: "unit" });
  }

  #create(name: string, body: Record<string, string>): string {
    const { resources, statements } = this.store;
    const resource = resources.get(name)!;
    const rid = this.writer.create(resource, body, this.actor);
    return String(
      statements.get({ text: `SELECT id FROM ${resource.table} WHERE rid = ?`, args: [rid] })!.id,
    );
  }

  /** Ids of the first records that the actor may view. */
  #ids(name: string, condition: Condition, order = ""): string[] {
    return this.#select(name, "t.id AS id", condition, `${order} LIMIT 2`).map(({ id }) => String(id));
  }

  #select(name: string, columns: string, condition: Condition, tail: string) {
    const { resources, statements } = this.store;
    const viewer = { resources, actor: this.actor };
    return statements.all(selectVisible(viewer, resources.get(name)!, columns, and(condition, ALIVE), tail));
  }
}
