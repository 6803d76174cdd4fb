import type { Actor } from "../model/access.ts";
import { ALIVE, and, compare } from "../model/condition.ts";
import { type Json, type JsonObject } from "../model/field.ts";
import { countNames, expandNames, PatternError } from "../model/name-pattern.ts";
import { invalidField } from "../model/parse-body.ts";
import { selectVisible } from "../model/plan.ts";
import { DECLARED, type RoutedResource } from "../resources/index.ts";
import { within } from "./registration.ts";
import type { RecordWriter } from "./record-writer.ts";
import type { Store } from "./store.ts";

/** Lists that levels may be of, and the field with their names. */
export const LEVEL_LISTS = { places: "room", equipment: "name", locations: "label" } as const;
export type LevelList = keyof typeof LEVEL_LISTS;
const LISTS = Object.keys(LEVEL_LISTS) as LevelList[];

const RESOURCE = {
  places: DECLARED.get("place"),
  equipment: DECLARED.get("equipment"),
  locations: DECLARED.get("location"),
} as Record<LevelList, RoutedResource>;

/** Records of one level of storage, in each of the level above. */
export type Level = JsonObject & { list?: LevelList; name: string };

export interface Plan {
  /** Ids of the records that the first level is in. */
  place?: string | null;
  equipment?: string | null;
  parent?: string | null;
  owned_by?: string;
  public?: boolean;
  levels: Level[];
}

/** Created records: their number by list, and the times of the first and the last. */
export type Built = Record<LevelList, number> & { first_created: Json; last_created: Json };

/** The records that enclose a new one. */
type EnclosingRecords = Partial<Record<"place" | "equipment" | "parent", Json>>;

export const MAX_BUILT = 10_000;

/** Creates rooms, freezers, shelves, racks and boxes, named by patterns, inside each other. @throws Problem */
export function buildStorage(store: Store, writer: RecordWriter, plan: Plan, actor: Actor): Built {
  return new Builder(store, writer, plan, actor).run();
}

class Builder {
  readonly #built: Record<LevelList, number> = { places: 0, equipment: 0, locations: 0 };
  readonly #names: string[][];
  #firstCreated: Json = null;
  #lastCreated: Json = null;

  constructor(
    private readonly store: Store,
    private readonly writer: RecordWriter,
    private readonly plan: Plan,
    private readonly actor: Actor,
  ) {
    checkOrder(plan);
    checkCount(plan.levels);
    this.#names = plan.levels.map(({ name }, i) => expandPattern(name, i));
  }

  run(): Built {
    const enclosing = this.#given();
    this.#checkNew(enclosing);
    this.#build(0, enclosing);
    return { ...this.#built, first_created: this.#firstCreated, last_created: this.#lastCreated };
  }

  #build(depth: number, enclosing: EnclosingRecords): void {
    if (depth === this.plan.levels.length) return;
    const { list = "locations", name: _, ...fields } = this.plan.levels[depth];
    const { levels: _levels, place: _place, equipment: _equipment, parent: _parent, ...access } = this.plan;
    for (const name of this.#names[depth]) {
      const body = { ...access, ...fields, ...encloseLevel(list, enclosing), [LEVEL_LISTS[list]]: name };
      const rid = within(`levels[${depth}]`, () => this.writer.create(RESOURCE[list], body, this.actor));
      this.#build(depth + 1, next(list, this.#count(list, rid), enclosing));
    }
  }

  #count(list: LevelList, rid: number): string {
    this.#built[list]++;
    const [row] = this.store.reader.values(RESOURCE[list], ["id", "created"], this.actor, [rid]);
    this.#firstCreated ??= row.created;
    this.#lastCreated = row.created;
    return String(row.id);
  }

  /** The records that the plan names, and those around them. */
  #given(): EnclosingRecords {
    const { place = null, equipment = null, parent = null } = this.plan;
    if (parent !== null) {
      const fields = ["place", "equipment"];
      return { ...this.#read("locations", "parent", parent, fields), parent };
    }
    const enclosingRecord =
      equipment === null ? {} : this.#read("equipment", "equipment", equipment, ["place"]);
    if (place !== null) this.#read("places", "place", place, []);
    return {
      ...enclosingRecord,
      ...(place === null ? {} : { place }),
      ...(equipment === null ? {} : { equipment }),
    };
  }

  #read(list: LevelList, field: string, id: string, fields: readonly string[]): EnclosingRecords {
    const rid = this.store.reader.find(RESOURCE[list], id, ALIVE, this.actor);
    if (rid === undefined) throw invalidField(field, "This record does not exist, or you may not view it.");
    return this.store.reader.values(RESOURCE[list], fields, this.actor, [rid])[0] as EnclosingRecords;
  }

  /** Checks that the outermost records are not there yet: their names would be ambiguous in paths. */
  #checkNew(enclosing: EnclosingRecords): void {
    const { list = "locations" } = this.plan.levels[0];
    const resource = RESOURCE[list];
    const inside = Object.entries(encloseLevel(list, enclosing)).map(([field, id]) =>
      id === null ? compare([field, "rid"], "==", null) : compare([field, "id"], "==", id as string),
    );
    for (const name of this.#names[0]) {
      const named = compare([LEVEL_LISTS[list]], "==", name);
      const viewer = { resources: DECLARED, actor: this.actor };
      const query = selectVisible(viewer, resource, "t.rid AS rid", and(named, ...inside, ALIVE), " LIMIT 1");
      if (this.store.statements.get(query))
        throw invalidField("levels", `levels[0]: "${name}" exists here. Choose other names.`);
    }
  }
}

/** Rooms contain equipment and locations, equipment contains locations, locations contain locations. */
function checkOrder({ levels, equipment = null, parent = null }: Plan): void {
  let outer: LevelList = parent !== null ? "locations" : equipment !== null ? "equipment" : "places";
  for (const [i, { list = "locations" }] of levels.entries()) {
    const isFirstRoom = list === "places" && i === 0 && equipment === null && parent === null;
    const isDeeper = LISTS.indexOf(list) > LISTS.indexOf(outer) || list === "locations";
    if (!isFirstRoom && !isDeeper)
      throw invalidField(
        "levels",
        `levels[${i}]: ${list} cannot be inside ${outer}. The order is places, equipment, locations.`,
      );
    outer = list;
  }
}

function checkCount(levels: readonly Level[]): void {
  let perRecord = 1;
  let count = 0;
  for (const [i, { name }] of levels.entries()) {
    perRecord *= readPattern(i, () => countNames(name));
    count += perRecord;
  }
  if (count > MAX_BUILT)
    throw invalidField(
      "levels",
      `This makes ${count.toLocaleString("en")} records; at most ${MAX_BUILT.toLocaleString("en")} can be created at once. Build one freezer at a time.`,
    );
}

function expandPattern(pattern: string, depth: number): string[] {
  const names = expandNames(pattern, MAX_BUILT);
  const known = new Set<string>();
  const duplicate = names.find((name) => known.size === known.add(name).size);
  if (duplicate !== undefined)
    throw invalidField("levels", `levels[${depth}]: the pattern gives the name "${duplicate}" twice.`);
  return names;
}

function readPattern<T>(depth: number, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof PatternError) throw invalidField("levels", `levels[${depth}]: ${error.message}`);
    throw error;
  }
}

/** The fields that say where a record of a list is. */
function encloseLevel(
  list: LevelList,
  { place = null, equipment = null, parent = null }: EnclosingRecords,
): JsonObject {
  if (list === "places") return {};
  return list === "equipment" ? { place } : { place, equipment, parent };
}

function next(list: LevelList, id: string, enclosing: EnclosingRecords): EnclosingRecords {
  if (list === "places") return { place: id };
  return list === "equipment" ? { ...enclosing, equipment: id } : { ...enclosing, parent: id };
}
