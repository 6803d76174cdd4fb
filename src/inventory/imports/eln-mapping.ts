import type { ElnArchive, ElnColumn } from "./eln-reader.ts";
import { type Column, NOTES, PATH, readColumns } from "./import-mapping.ts";
import { COMMON, type Resource, type Resources } from "../model/resource.ts";

/** Targets of an archive's column besides fields: text in a note, or values of a new annotation type. */
const NEW_TYPE = "new";

/** The mapping of the properties of an archive. */
export interface ElnMapping {
  archive: ElnArchive;
  /** The field of every header; null for headers without one. */
  mapping: ReadonlyMap<string, string | null>;
  /** Headers whose values go to a note. */
  kept: ReadonlySet<string>;
  /** Headers that need an annotation type. */
  newNames: ReadonlySet<string>;
  /** The columns as the report names them. */
  shown(columns: readonly Column[]): Column[];
}

/** Properties that are named like fields or annotation types become their values; the caller may choose otherwise. */
export function mapArchive(
  resources: Resources,
  resource: Resource,
  archive: ElnArchive,
  chosen: ReadonlyMap<string, string | null>,
): ElnMapping {
  const mapping = new Map<string, string | null>();
  const [kept, newNames] = [new Set<string>(), new Set<string>()];
  const taken = new Set<string>();
  const findField = (name: string): string | null =>
    readColumns(resources, resource, [name], new Map(), false).columns[0].field;
  const isOffered = (field: string | null): field is string =>
    field !== null && !COMMON.has(field) && field !== PATH && field !== NOTES && !taken.has(field);
  const automatic = ({ header, names }: ElnColumn): string | null => {
    if (header === "name") return resource.fields[resource.key].write === "never" ? null : resource.key;
    return names.map(findField).find(isOffered) ?? null;
  };
  for (const column of archive.columns) {
    const { header } = column;
    const choice = chosen.get(header);
    const field =
      choice === undefined ? automatic(column) : choice === NOTES || choice === NEW_TYPE ? null : choice;
    mapping.set(header, field);
    if (field !== null) taken.add(field);
    if (choice === NEW_TYPE) newNames.add(header);
    else if (choice === NOTES || (choice === undefined && field === null && header !== "name"))
      kept.add(header);
  }
  const shown = (columns: readonly Column[]): Column[] =>
    columns.map(({ header, field, source }) => ({
      header,
      source,
      field: kept.has(header) ? NOTES : newNames.has(header) ? NEW_TYPE : field,
    }));
  return { archive, mapping, kept, newNames, shown };
}
