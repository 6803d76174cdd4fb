import type { Actor } from "../model/access.ts";
import { ALIVE, and, compare, type Condition } from "../model/condition.ts";
import { parseUuid } from "../model/field.ts";
import { selectVisible } from "../model/plan.ts";
import type { RecordWriter } from "../records/record-writer.ts";
import type { Store } from "../records/store.ts";

/** Units by their names, for one actor and one transaction. Missing ones are created. */
export class Units {
  readonly #known = new Map<string, string>();
  /** The number of created records. */
  created = 0;

  constructor(
    private readonly store: Store,
    private readonly writer: RecordWriter,
    private readonly actor: Actor,
  ) {}

  /** The id of the unit of this name; the text itself if it is an id, or names other terms. */
  find(text: string): string {
    const name = text.trim();
    if (parseUuid(name) !== undefined) return name;
    const found = this.#known.get(name) ?? this.#findOrCreate(name);
    this.#known.set(name, found);
    return found;
  }

  #findOrCreate(name: string): string {
    const named = compare(["name"], "==", name);
    const units = this.#ids("term", and(named, compare(["category", "kind"], "==", "unit")));
    if (units.length === 1) return units[0];
    if (this.#ids("term", named).length > 0) return name;
    this.created++;
    return this.#create("term", { name, category: this.#category() });
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

  /** Ids of the first two records that the actor may view. */
  #ids(name: string, condition: Condition): string[] {
    const { resources, statements } = this.store;
    const viewer = { resources, actor: this.actor };
    const found = selectVisible(
      viewer,
      resources.get(name)!,
      "t.id AS id",
      and(condition, ALIVE),
      " LIMIT 2",
    );
    return statements.all(found).map(({ id }) => String(id));
  }
}
