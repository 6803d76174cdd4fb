import type { Cell } from "./check-cells.ts";
import { type cellValue, isUnchanged } from "./import-mapping.ts";
import type { ChangeList } from "./import-changes.ts";
import type { ImportOptions, PreviewedRow } from "./import-report.ts";
import { type Misread, type Reading, readDay, readNumber, splitAmount } from "./read-cells.ts";
import { Units } from "./units.ts";
import type { Actor } from "../model/access.ts";
import { compare } from "../model/condition.ts";
import { type Field, parseUuid, shownName } from "../model/field.ts";
import { selectVisible } from "../model/plan.ts";
import type { AnnotationType, Resource } from "../model/resource.ts";
import { findUnit } from "../model/unit.ts";
import { LocationPaths } from "../records/location-path.ts";
import type { RecordWriter } from "../records/record-writer.ts";
import type { Store } from "../records/store.ts";
import { hasPosition } from "../resources/position.ts";

/** The target of imported rows, with author and options. */
export interface ImportTarget {
  store: Store;
  resource: Resource;
  options: ImportOptions;
  actor: Actor;
  reading: Reading;
  writer: RecordWriter;
  changes: ChangeList;
}

type Read = ReturnType<typeof cellValue> & { misread?: Misread };

/** Records that cells name: places, units and people. */
export class NamedValues {
  readonly paths: LocationPaths;
  readonly units: Units;
  /** Rows by the place that they name. */
  readonly #places = new Map<string, number>();
  readonly #people = new Map<string, Read>();

  constructor(private readonly target: ImportTarget) {
    const { store, writer, actor } = target;
    this.paths = new LocationPaths(store.statements, store.resources, writer, actor);
    this.units = new Units(store, writer, actor);
  }

  /** A cell of an annotation as its type is written: days as ISO 8601, amounts with the id of their unit. */
  readTyped(
    { type, multiple, unit_category: category }: AnnotationType,
    cell: Cell,
    headerUnit: string,
  ): Cell {
    if (cell === null || cell === "" || typeof cell === "boolean" || multiple) return cell;
    if (type === "DATE") {
      const day = readDay(cell, this.target.reading.dates, false);
      return "value" in day ? day.value : cell;
    }
    if (type !== "NUMBERUNIT") return cell;
    const { number, unit } = splitAmount(cell);
    const read = readNumber(number);
    const named = unit || headerUnit;
    const isNew = category === null && findUnit(named) !== undefined;
    const id = this.units.findAlias(named, category) ?? (isNew ? this.units.find(named) : undefined);
    return "value" in read && id !== undefined ? `${read.value} ${id}` : cell;
  }

  /** The value, in which the text of a location, unit or person is replaced by its id or username. */
  resolve(field: Field, read: Read, cells: ReadonlyMap<string, Cell>): Read {
    if (typeof read.value !== "string") return read;
    if (field.to === "location") return this.#locate(read.value, (cells.get("position") ?? "") !== "");
    if (field.to === "user") return this.#findPerson(read.value);
    return field.imports === "unit" ? { value: this.units.find(read.value) } : read;
  }

  /** The id of a place. An unknown one stays as it is, and the place that most rows name is offered. */
  #locate(text: string, hasSlots: boolean): Read {
    const located = this.paths.locate(text, hasSlots);
    if ("error" in located) return located;
    if (located.value !== text || parseUuid(text) !== undefined) {
      this.#places.set(text, (this.#places.get(text) ?? 0) + 1);
      return located;
    }
    const [most] = [...this.#places].toSorted((a, b) => b[1] - a[1]);
    const what = this.paths.findEquipment(text.trim())
      ? `equipment. Name a place in it, such as ${text.trim()} / Shelf 1 / Box 1`
      : "not a place";
    const misread = { message: `${shownName(text)} is ${what}.`, fixes: most ? [most[0]] : [] };
    return { ...located, misread };
  }

  /** The username of the person with this id or username, or of the one person with this full name. */
  #findPerson(text: string): Read {
    const known = this.#people.get(text);
    if (known) return known;
    const { store, actor } = this.target;
    const viewer = { resources: store.resources, actor };
    const find = (name: string): string[] =>
      store.statements
        .all(
          selectVisible(
            viewer,
            store.resources.get("user")!,
            "t.username AS username",
            compare([name], "==", text.trim()),
            " LIMIT 2",
          ),
        )
        .map(({ username }) => String(username));
    const [own] = find(parseUuid(text) === undefined ? "username" : "id");
    const [found, another] = own === undefined ? find("full_name") : [own];
    const unknown =
      another === undefined ? "has no account" : "is the name of several people: give the username";
    const read: Read =
      found !== undefined && another === undefined
        ? { value: found }
        : { value: text, misread: { message: `${shownName(text)} ${unknown}.`, fixes: [""] } };
    this.#people.set(text, read);
    return read;
  }
}

/** The field that tells a product from others of the same name. */
export const CATALOGUE = "catalogue_number";

/** An existing record that a row may be about. */
export function describeSimilar(
  { store, resource, actor }: ImportTarget,
  rid: number,
  cells: ReadonlyMap<string, Cell>,
): PreviewedRow["similar"] {
  const compared = [resource.key, "barcode", CATALOGUE, "lot"].filter((name) => name in resource.fields);
  const paths = hasPosition(resource) ? ["location__unique_path", "position"] : [];
  const [values] = store.reader.values(resource, ["id", ...compared, ...paths, "owner__full_name"], actor, [
    rid,
  ]);
  const isSame = (name: string): boolean => {
    const cell = cells.get(name) ?? "";
    return cell !== "" && isUnchanged(cell, values[name]);
  };
  return {
    id: String(values.id),
    name: String(values[resource.key] ?? ""),
    same: compared.filter(isSame),
    place: paths.flatMap((name) => values[name] || []).join(" › "),
    owner: String(values.owner__full_name ?? ""),
  };
}
