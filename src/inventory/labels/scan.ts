import type { Actor } from "../model/access.ts";
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

/** Records of one list that are returned for an ambiguous code. */
const MAX_FOUND = 10;

/** A whole id, or at least its first eight digits, with or without hyphens. */
const PREFIX = /^[0-9a-f]{8}(-?[0-9a-f]{0,4}(-?[0-9a-f]{0,4}(-?[0-9a-f]{0,4}(-?[0-9a-f]{0,12})?)?)?)?$/i;

/** The beginning of an id as it is stored; undefined for other texts. */
function idPrefix(text: string): string | undefined {
  if (!PREFIX.test(text)) return undefined;
  const digits = text.replaceAll("-", "").toLowerCase();
  return [8, 12, 16, 20, 32]
    .map((end, i, ends) => digits.slice(ends[i - 1] ?? 0, end))
    .filter((part) => part !== "")
    .join("-");
}

/** The id in the URL of a record, whatever the server; null for a URL without one, undefined for other texts. */
function idInUrl(text: string): string | null | undefined {
  if (!/^https?:\/\//i.test(text)) return undefined;
  const parts = text.split(/[?#]/)[0].split("/").filter(Boolean).slice(2);
  for (const part of parts.toReversed()) {
    const whole = KINDS.uuid.parse(part);
    if (whole !== undefined) return String(whole);
  }
  // The URL on a label: /i/ and the beginning of an id.
  return parts.at(-2) === "i" ? (idPrefix(parts.at(-1)!) ?? null) : null;
}

/**
 * The records that a code stands for, of those that the actor may view. A barcode takes precedence over the beginning
 * of an id, because people may have assigned one that looks like it.
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
    conditionOf: (resource: RoutedResource) => Condition | false,
  ): ScannedRecord[] =>
    resources.flatMap((resource) => {
      const condition = conditionOf(resource);
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
  const fromUrl = idInUrl(code);
  const barcoded =
    fromUrl === undefined
      ? find("barcode", ({ fields }) => "barcode" in fields && compare(["barcode"], "==", code))
      : [];
  if (barcoded.length > 0) return barcoded;
  const id = fromUrl === undefined ? (KINDS.uuid.parse(code) ?? idPrefix(code)) : fromUrl;
  if (id === null || id === undefined) return [];
  // "g" sorts after every digit and the hyphen.
  return find(
    "id",
    ({ fields }) =>
      fields.id.kind === "uuid" && and(compare(["id"], ">=", id), compare(["id"], "<", `${id}g`)),
  );
}
