import type { Actor } from "../model/access.ts";
import { ALIVE, and, compare, type Condition, or } from "../model/condition.ts";
import { LIMITS } from "../model/limits.ts";
import { invalidField } from "../model/parse-body.ts";
import { selectVisible } from "../model/plan.ts";
import { columnName, type Resource, type Resources } from "../model/resource.ts";
import { exceeded } from "../../platform/limits.ts";
import type { RecordWriter } from "./record-writer.ts";
import type { Statements } from "./statements.ts";

/** The parts of a path such as `A / 2 / Room 5 / Freezer 1 / Shelf 3`. */
export const splitPath = (path: string): string[] =>
  path
    .split("/")
    .map((part) => part.trim())
    .filter((part) => part !== "");

/** Slots of a new box. */
const BOX = { grid_rows: 9, grid_columns: 9 };

const SEVERAL =
  "Several locations match. Put what contains it before the label, such as Freezer 1 / Shelf 3, or give the id.";

/** Names around a location without an outer one, from inside out. */
const SURROUNDINGS = [
  [
    ["equipment", "name"],
    ["equipment", "place", "room"],
    ["equipment", "place", "building"],
  ],
  [
    ["place", "room"],
    ["place", "building"],
  ],
];

/** True if the path of a location, with its equipment, room and building, ends so. @param at leads to the location */
function endsWith(parts: readonly string[], at: readonly string[] = []): Condition {
  const label = compare([...at, "label"], "==", parts.at(-1)!);
  const outer = parts.slice(0, -1);
  if (outer.length === 0) return label;
  const enclosing = SURROUNDINGS.filter((names) => outer.length <= names.length).map((names) =>
    and(...outer.toReversed().map((name, i) => compare([...at, ...names[i]], "==", name))),
  );
  return and(label, or(endsWith(outer, [...at, "parent"]), ...enclosing));
}

interface Surrounding {
  equipment?: string;
  place?: string;
}

/** Locations by their paths, for one actor and one transaction. Missing ones along the way are created. */
export class LocationPaths {
  readonly #known = new Map<string, { rid: number; id: string }>();
  readonly #located = new Map<string, { value: string } | { error: string }>();
  readonly #location: Resource;
  /** Row numbers of created records. */
  readonly #created = new Set<number>();

  constructor(
    private readonly statements: Statements,
    private readonly resources: Resources,
    private readonly writer: RecordWriter,
    private readonly actor: Actor,
  ) {
    this.#location = resources.get("location")!;
  }

  /** The number of created records. */
  get created(): number {
    return this.#created.size;
  }

  /** Tells if a location was created here, and forgets it. */
  adopt(rid: number): boolean {
    return this.#created.delete(rid);
  }

  /** Row number and id of the location at the end. @throws Problem invalid_request */
  make(parts: readonly string[], grid: object = {}): { rid: number; id: string } | null {
    if (parts.length > LIMITS.depth.max) throw invalidField("path", exceeded(LIMITS.depth));
    const keys = parts.map((_, i) => JSON.stringify(parts.slice(0, i + 1)));
    const known = keys.findLastIndex((key) => this.#known.has(key));
    let current = this.#known.get(keys[known]) ?? null;
    for (const [i, label] of parts.entries()) {
      if (i <= known) continue;
      current = this.#findOrCreate(label, current, i === parts.length - 1 ? grid : {});
      this.#known.set(keys[i], current);
    }
    return current;
  }

  /**
   * The id of the location that a text means: a label, or the end of a path such as `Freezer 1 / Shelf 3`, which is
   * created if there is none, as a box if something is put into its slots. An unknown label stays unchanged.
   */
  locate(text: string, hasSlots = false): { value: string } | { error: string } {
    const known = this.#located.get(text);
    if (known) return known;
    const parts = splitPath(text);
    const named = this.#locations(compare(["label"], "==", text.trim()));
    const found = named.length > 0 || parts.length < 2 ? named : this.#locations(endsWith(parts));
    const located =
      found.length > 1
        ? { error: SEVERAL }
        : {
            value: found[0] ?? (parts.length < 2 ? text : (this.#extend(parts, hasSlots ? BOX : {}) ?? text)),
          };
    this.#located.set(text, located);
    return located;
  }

  /** The id of a new location, below the longest beginning of its path that one location has. */
  #extend(parts: readonly string[], grid: object): string | undefined {
    for (let length = parts.length - 1; length > 1; length--) {
      const path = parts.slice(0, length);
      const [found, another] = this.#locations(endsWith(path));
      if (found === undefined || another !== undefined) continue;
      const { rid } = this.statements.get({ text: "SELECT rid FROM location WHERE id = ?", args: [found] })!;
      this.#known.set(JSON.stringify(path), { rid: Number(rid), id: found });
      break;
    }
    return this.make(parts, grid)?.id;
  }

  #locations(condition: Condition): string[] {
    return this.#select(this.#location, "t.id AS id", and(condition, ALIVE)).map(({ id }) => String(id));
  }

  /** Row number of the location of this label within another; undefined if there is none. */
  find(label: string, parent: number | null): number | undefined {
    const condition = and(compare(["label"], "==", label), compare(["parent", "rid"], "==", parent), ALIVE);
    const [found, another] = this.#select(this.#location, "t.rid AS rid", condition);
    if (another) throw invalidField("path", "Several locations have this path. Give the id of one.");
    return found && Number(found.rid);
  }

  /** Equipment and place of a location, by id, as far as the actor may view them. */
  inside(rid: number): Surrounding {
    const inside: Surrounding = {};
    for (const name of ["equipment", "place"] as const) {
      const column = columnName(this.#location, name);
      const text = `SELECT ${column} AS far FROM location WHERE rid = ?`;
      const far = this.statements.get({ text, args: [rid] })?.far ?? null;
      const [row] =
        far === null
          ? []
          : this.#select(this.resources.get(name)!, "t.id AS id", and(compare(["rid"], "==", far), ALIVE));
      if (row) inside[name] = String(row.id);
    }
    return inside;
  }

  #findOrCreate(
    label: string,
    parent: { rid: number; id: string } | null,
    grid: object,
  ): { rid: number; id: string } {
    let rid = this.find(label, parent?.rid ?? null);
    if (rid === undefined) {
      const inside = { ...(parent ? this.inside(parent.rid) : {}), ...this.findEquipment(label) };
      const body = { label, parent: parent?.id ?? null, ...inside, ...grid };
      rid = this.writer.create(this.#location, body, this.actor);
      this.#created.add(rid);
    }
    const { id } = this.statements.get({ text: "SELECT id FROM location WHERE rid = ?", args: [rid] })!;
    return { rid, id: String(id) };
  }

  /** The one piece of equipment with this name, and its place. */
  findEquipment(label: string): { equipment: string; place: string | null } | undefined {
    const columns =
      "t.id AS id, (SELECT p.id FROM place AS p WHERE p.rid = t.place AND p.deleted = 0) AS place";
    const named = and(compare(["name"], "==", label), ALIVE);
    const [found, another] = this.#select(this.resources.get("equipment")!, columns, named);
    if (!found || another) return undefined;
    return { equipment: String(found.id), place: found.place as string | null };
  }

  #select(resource: Resource, columns: string, condition: Condition) {
    return this.statements.all(
      selectVisible(
        { resources: this.resources, actor: this.actor },
        resource,
        columns,
        condition,
        " LIMIT 2",
      ),
    );
  }
}
