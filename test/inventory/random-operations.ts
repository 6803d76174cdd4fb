import type { Lab } from "./harness.ts";
import type { Random } from "./random.ts";

/** Random operations on an inventory, of every kind that people do. */

export const PEOPLE = ["admin", "alice", "bob"];
export type Row = Record<string, string | number | null>;
/** A request, without the slash at the end of its path. */
export interface Operation {
  method: "POST" | "PATCH" | "PUT" | "DELETE";
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
  as?: string;
}
/** An installation, and random choices among what it has now. */
export class Bench {
  constructor(
    readonly lab: Lab,
    readonly random: Random,
  ) {}

  rows(text: string, ...args: (string | number)[]): Row[] {
    return this.lab.database.query(text).all(...args) as Row[];
  }

  /** Some records of a table, each once. */
  some(table: string, most: number, where = "deleted = 0"): Row[] {
    const all = this.rows(`SELECT * FROM ${table} WHERE ${where} ORDER BY rid`);
    for (let i = all.length - 1; i > 0; i--) {
      const j = this.random.below(i + 1);
      [all[i], all[j]] = [all[j], all[i]];
    }
    return all.slice(0, 1 + this.random.below(most));
  }

  one(table: string, where?: string): Row | undefined {
    return this.some(table, 1, where)[0];
  }

  drawId(table: string, where?: string): string | null {
    return (this.one(table, where)?.id as string | undefined) ?? null;
  }

  word(): string {
    return this.random.pick(["red", "green", "blue", "p53", "Q5 & co", "Ångström", "it's"]);
  }

  /** A location, perhaps with a position in it; or none. */
  place(): object {
    const location = this.random.chance(0.8) ? this.one("location") : undefined;
    if (!location) return { location: null };
    const hasGrid = location.grid_rows !== null && this.random.chance(0.7);
    const position =
      location.numbering === "1"
        ? String(1 + this.random.below(4))
        : this.random.pick(["A1", "A2", "B1", "C3"]);
    return { location: location.id, ...(hasGrid ? { position } : {}) };
  }

  /** Values of a new or changed tube. */
  values(): object {
    const { random } = this;
    return {
      ...(random.chance(0.5) ? { description: this.word() } : {}),
      ...(random.chance(0.5) ? this.place() : {}),
      ...(random.chance(0.4)
        ? { amount: random.below(50), unit: this.drawId("vocabulary_term", "name = 'gram'") }
        : {}),
      ...(random.chance(0.3) ? { status: random.pick(["AVAILABLE", "LOW", "MISSING"]) } : {}),
      ...(random.chance(0.3) ? { public: random.chance(0.5) } : {}),
      ...(random.chance(0.3) ? { annotations__note: random.pick([this.word(), null]) } : {}),
      ...(random.chance(0.2) ? { lot: this.word(), expiry: "2031-02-03" } : {}),
    };
  }
}

const TABLES: Readonly<Record<string, string>> = {
  consumable: "stocks/consumables",
  specimen: "stocks/specimen",
  location: "locations",
  equipment: "equipment",
  place: "places",
  category: "vocabularies/categories",
  vocabulary_term: "vocabularies/terms",
  project: "core/projects",
  experiment: "assays/experiments",
};
const STOCK = ["consumable", "specimen"];

/** Random actions. Each returns a request, or undefined if it lacks a record to act on. */
export const KINDS: Record<string, (bench: Bench) => Operation | undefined> = {
  create: (b) => ({
    method: "POST",
    path: TABLES[b.random.pick(STOCK)],
    body: { name: `Tube ${b.word()}`, model_type: "OTHER", ...b.values() },
  }),
  createMany: (b) => ({
    method: "POST",
    path: "stocks/consumables",
    body: Array.from({ length: 1 + b.random.below(4) }, () => ({
      name: b.word(),
      model_type: "OTHER",
      ...b.values(),
    })),
  }),
  createLocation: (b) => ({
    method: "POST",
    path: "locations",
    body: {
      label: b.word(),
      public: true,
      parent: b.random.chance(0.6) ? b.drawId("location") : null,
      ...(b.random.chance(0.5) ? { grid_rows: 3, grid_columns: 3 } : {}),
    },
  }),
  update(b) {
    const table = b.random.pick(STOCK);
    return { method: "PATCH", path: `${TABLES[table]}/${b.drawId(table)}`, body: b.values() };
  },
  rename(b) {
    const table = b.random.pick(["vocabulary_term", "equipment", "project"]);
    return { method: "PATCH", path: `${TABLES[table]}/${b.drawId(table)}`, body: { name: b.word() } };
  },
  updateLocation: (b) => ({
    method: "PATCH",
    path: `locations/${b.drawId("location")}`,
    body: b.random.pick([
      { label: b.word() },
      { parent: b.drawId("location") },
      { grid_rows: 4, grid_columns: 4 },
      { grid_rows: null, grid_columns: null, capacity: null },
      { numbering: "1" },
      { place: b.drawId("place"), public: true },
    ]),
  }),
  bulkUpdate: (b) => ({ method: "PATCH", path: "stocks/consumables?deleted=false", body: b.values() }),
  bulkUpdateNamed: (b) => ({
    method: "PATCH",
    path: "stocks/consumables",
    body: { items: b.some("consumable", 5).map(({ id }) => id), ...b.values() },
  }),
  jsonPatch: (b) => ({
    method: "PATCH",
    path: "stocks/consumables",
    headers: { "Content-Type": "application/json-patch+json" },
    body: b
      .some("consumable", 3)
      .map(({ id }) => ({ op: "replace", path: `/${id}/description`, value: b.word() })),
  }),
  bulkDelete(b) {
    const table = b.random.pick([...STOCK, "location"]);
    return {
      method: "DELETE",
      path: `${TABLES[table]}/bulk_delete`,
      body: { ids: b.some(table, 4).map(({ id }) => id) },
    };
  },
  delete(b) {
    const table = b.random.pick(Object.keys(TABLES).filter((each) => each !== "category"));
    return { method: "DELETE", path: `${TABLES[table]}/${b.drawId(table)}` };
  },
  restore(b) {
    const table = b.random.pick([...STOCK, "location", "equipment"]);
    const id = b.drawId(table, "deleted = 1");
    return id === null ? undefined : { method: "POST", path: `${TABLES[table]}/${id}/restore`, body: {} };
  },
  restoreVersion(b) {
    const table = b.random.pick([...STOCK, "location"]);
    const found = b.one(table, "version > 1");
    const version = 1 + b.random.below(Number(found?.version));
    return found && { method: "POST", path: `${TABLES[table]}/${found.id}/restore`, body: { version } };
  },
  move(b) {
    const records = [...b.some("consumable", 3), ...b.some("specimen", 2)].map(({ id }) => id);
    return {
      method: "POST",
      path: `locations/${b.drawId("location", "deleted = 0 AND capacity IS NOT NULL")}/free_slots`,
      body: { records },
    };
  },
  swap(b) {
    const [one, two] = b.rows(
      "SELECT id, position, location FROM consumable WHERE rid IN (SELECT object_rid FROM slot WHERE object_kind = 'consumable') ORDER BY location, rid",
    );
    if (!two || one.location !== two.location) return undefined;
    const body = [
      { id: one.id, position: two.position },
      { id: two.id, position: one.position },
    ];
    return { method: "PATCH", path: "stocks/consumables", body };
  },
  import(b) {
    const known = b.some("consumable", 2).map(({ id, name }) => `${id},${name},${b.word()}`);
    const rows = ["id,name,description", ...known, `,New ${b.word()},${b.word()}`];
    return {
      method: "POST",
      path: "stocks/consumables/import?match=none",
      headers: { "Content-Type": "text/csv" },
      body: rows.join("\n"),
    };
  },
  aliquots(b) {
    const body = { count: 1 + b.random.below(3), ...(b.random.chance(0.5) ? { amount: 1 } : {}) };
    return { method: "POST", path: `stocks/consumables/${b.drawId("consumable")}/aliquots`, body };
  },
  stock(b) {
    const action = b.random.pick(["consume", "refill", "thaw"]);
    const id = b.drawId("consumable", action === "thaw" ? undefined : "deleted = 0 AND amount > 1");
    const body = action === "thaw" ? {} : { amount: 1, ...(action === "refill" ? { lot: b.word() } : {}) };
    return { method: "POST", path: `stocks/consumables/${id}/${action}`, body };
  },
  annotate(b) {
    const table = b.random.pick([...STOCK, "location"]);
    const body = { annotation_type_id: b.random.pick(["note", "settings"]), value: b.word() };
    return { method: "POST", path: `${TABLES[table]}/${b.drawId(table)}/annotations`, body };
  },
  changeAnnotation(b) {
    const found = b.one(
      "annotation",
      "deleted = 0 AND object_kind IN ('consumable', 'specimen', 'location')",
    );
    return found && changePart(b, found, "annotations", { value: b.word() });
  },
  note(b) {
    const table = b.random.pick([...STOCK, "project"]);
    return { method: "POST", path: `${TABLES[table]}/${b.drawId(table)}/notes`, body: { content: b.word() } };
  },
  changeNote(b) {
    const found = b.one("note");
    return found && changePart(b, found, "notes", { content: b.word() });
  },
  restorePart(b) {
    const [table, segment] = b.random.pick([
      ["note", "notes"],
      ["annotation", "annotations"],
    ] as const);
    const found = b.one(table, "deleted = 1 AND object_kind IN ('consumable', 'specimen', 'location')");
    if (!found) return undefined;
    const { path } = changePart(b, found, segment, {});
    return { method: "POST", path: `${path}/restore`, body: {} };
  },
  file: (b) => ({
    method: "POST",
    path: `stocks/consumables/${b.drawId("consumable")}/attachments`,
    body: aFile(b),
  }),
  removeFile(b) {
    const id = b.drawId("attachment");
    return id === null ? undefined : { method: "DELETE", path: `attachments/${id}` };
  },
  share(b) {
    const table = b.random.pick([...STOCK, "location"]);
    return {
      method: b.random.pick(["PATCH", "PUT"]),
      path: `${TABLES[table]}/${b.drawId(table)}/permissions`,
      body: rights(b),
    };
  },
  shareMany: (b) => ({
    method: "PATCH",
    path: "stocks/consumables/permissions",
    body: { ids: b.some("consumable", 4).map(({ id }) => id), ...rights(b) },
  }),
  owner: (b) => ({
    method: "PATCH",
    path: `stocks/consumables/${b.drawId("consumable")}`,
    body: b.random.pick([
      { owner: b.random.pick(PEOPLE) },
      { owned_by: b.random.pick(["Genomics", "Imaging"]) },
    ]),
    as: "admin",
  }),
  member: (b) => ({
    method: b.random.pick(["PUT", "DELETE"]),
    path: `groups/${b.random.pick(["Genomics", "Imaging"])}/members/${b.random.pick(["alice", "bob"])}`,
    as: "admin",
  }),
  beginStocktake: (b) => ({
    method: "POST",
    path: "stocktakes",
    body: { name: b.word(), location: b.drawId("location") },
  }),
  scan(b) {
    const codes = [...b.some("consumable", 4), ...b.some("specimen", 2)].map(({ id }) => id);
    return { method: "POST", path: `stocktakes/${b.drawId("stocktake", OPEN)}/scans`, body: { codes } };
  },
  applyStocktake: (b) => ({
    method: "POST",
    path: `stocktakes/${b.drawId("stocktake", OPEN)}/apply`,
    body: { missing: b.random.pick(["keep", "status", "clear"]) },
  }),
  build: (b) => ({
    method: "POST",
    path: "locations/build",
    body: {
      place: b.drawId("place"),
      public: true,
      levels: [
        { list: "equipment", name: `Fridge ${b.random.below(1000)}`, model_type: "FREEZER" },
        { name: "Shelf {1..2}" },
        { name: "Box {1..2}", grid_rows: 2, grid_columns: 2 },
      ],
    },
  }),
  type: (b) => ({
    method: "POST",
    path: "annotationtypes",
    body: { name: `type_${b.random.below(1000)}`, type: "TEXT" },
  }),
  // An archive of these records, or the one before.
  archive: (b) => ({
    method: "POST",
    path: "stocks/consumables/import?match=none",
    body: b.some("consumable", 2).map(({ id }) => id),
  }),
};
const OPEN = "deleted = 0 AND state = 'OPEN'";

function aFile(b: Bench): FormData {
  const form = new FormData();
  form.set("file", new File([b.word()], "a.txt", { type: "text/plain" }));
  return form;
}

/** Changes or deletes a sub-resource. */
function changePart(
  b: Bench,
  { object_kind, object_rid, id }: Row,
  segment: string,
  body: object,
): Operation {
  const [{ id: of }] = b.rows(`SELECT id FROM ${object_kind} WHERE rid = ?`, Number(object_rid));
  const path = `${TABLES[String(object_kind)]}/${of}/${segment}/${id}`;
  return b.random.chance(0.6) ? { method: "PATCH", path, body } : { method: "DELETE", path };
}

function rights({ random }: Bench): object {
  const level = random.pick([
    { view: true, change: true, delete: true },
    { view: true, change: random.chance(0.5), delete: false },
    { view: false, change: false, delete: false },
  ]);
  return random.pick([
    { users: [{ user: random.pick(["alice", "bob"]), ...level }] },
    { groups: [{ group: random.pick(["Genomics", "Imaging"]), ...level }] },
    { public: random.chance(0.5) },
  ]);
}
