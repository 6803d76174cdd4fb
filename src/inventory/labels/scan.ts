import type { Actor } from "../model/access.ts";
import { hasId, parseCode, isUrl } from "../model/code.ts";
import { ALIVE, and, compare, type Condition } from "../model/condition.ts";
import { KINDS } from "../model/field.ts";
import { FIRST_PAGE } from "../model/listing.ts";
import type { RecordReader } from "../records/record-reader.ts";
import type { RoutedResource } from "../resources/index.ts";

/** A record that a scanned code stands for. */
export interface ScannedRecord {
  resource: RoutedResource;
  rid: number;
  id: string;
  name: string;
  /** The property of the record that matches the code. */
  by: "id" | "barcode";
}

/** Maximum number of records of one list for an ambiguous code. */
const MAX_FOUND = 10;

/**
 * The records with a code that the actor may view. A barcode takes precedence over the beginning of an id, because
 * people may have assigned one that looks like it.
 */
export function scan(
  reader: RecordReader,
  resources: readonly RoutedResource[],
  scanned: string,
  actor: Actor,
): ScannedRecord[] {
  const code = scanned.trim();
  if (code === "" || KINDS.text.parse(code) === undefined) return [];
  const find = (
    by: ScannedRecord["by"],
    findCondition: (resource: RoutedResource) => Condition | false,
  ): ScannedRecord[] =>
    resources.flatMap((resource) => {
      const condition = findCondition(resource);
      if (!condition) return [];
      const fields = ["id", resource.key];
      const listing = { ...FIRST_PAGE, size: MAX_FOUND, condition: and(condition, ALIVE) };
      const { rids } = reader.list(resource, listing, actor);
      return reader.values(resource, fields, actor, rids).map((record, i) => ({
        resource,
        rid: rids[i],
        id: String(record.id),
        name: String(record[resource.key]),
        by,
      }));
    });
  const barcoded = isUrl(code)
    ? []
    : find("barcode", ({ fields }) => "barcode" in fields && compare(["barcode"], "==", code));
  if (barcoded.length > 0) return barcoded;
  const id = parseCode(code);
  return id === undefined ? [] : find("id", ({ fields }) => fields.id.kind === "uuid" && hasId(id));
}
