import type { Actor } from "../model/access.ts";
import { and, compare, type Condition, ALIVE } from "../model/condition.ts";
import { KINDS } from "../model/field.ts";
import type { RecordReader } from "../records/record-reader.ts";
import type { RoutedResource } from "../resources/index.ts";

/** What a scanner read, as records. */

/** A record that a code means. */
export interface Scanned {
  resource: RoutedResource;
  rid: number;
  id: string;
  name: string;
  /** What of the record the code is. */
  by: "id" | "barcode";
}

/** Records of one list that are named, where a code means several. */
const MOST = 10;
const LOOK = { format: undefined, shape: "flat" } as const;

/** Whole id, or at least eight digits of its beginning, with or without hyphens. */
const BEGINNING = /^[0-9a-f]{8}(-?[0-9a-f]{0,4}(-?[0-9a-f]{0,4}(-?[0-9a-f]{0,4}(-?[0-9a-f]{0,12})?)?)?)?$/i;

/** The beginning of an id as it is stored; undefined where the text is none. */
function idBeginning(text: string): string | undefined {
  if (!BEGINNING.test(text)) return undefined;
  const digits = text.replaceAll("-", "").toLowerCase();
  return [8, 12, 16, 20, 32]
    .map((end, i, ends) => digits.slice(ends[i - 1] ?? 0, end))
    .filter((part) => part !== "")
    .join("-");
}

/** The id in an address of a record, whatever service it is of; undefined where the text is no address, null where it has none. */
function idInAddress(text: string): string | null | undefined {
  if (!/^https?:\/\//i.test(text)) return undefined;
  const parts = text
    .split(/[?#]/)[0]
    .split("/")
    .filter((part) => part !== "")
    .slice(2);
  for (const part of parts.toReversed()) {
    const whole = KINDS.uuid.parse(part);
    if (whole !== undefined) return String(whole);
  }
  // A label's address: /i/ and the beginning of an id.
  return parts.at(-2) === "i" ? (idBeginning(parts.at(-1)!) ?? null) : null;
}

/**
 * The records that a code means, of those that the actor may view: a barcode goes before the beginning of an id, for
 * people may have given one that looks like it. More than one where the code leaves it open.
 */
export function scan(
  reading: RecordReader,
  resources: readonly RoutedResource[],
  typed: string,
  actor: Actor,
): Scanned[] {
  const code = typed.trim();
  if (code === "" || KINDS.text.parse(code) === undefined) return [];
  const find = (
    by: Scanned["by"],
    conditionOf: (resource: RoutedResource) => Condition | undefined,
  ): Scanned[] =>
    resources.flatMap((resource) => {
      const condition = conditionOf(resource);
      if (!condition) return [];
      const listing = { ...LOOK, fields: undefined, order: [], page: 1, size: MOST, ignored: [] };
      const { rids } = reading.list(resource, { ...listing, condition: and(condition, ALIVE) }, actor);
      if (rids.length === 0) return [];
      const look = { ...LOOK, fields: ["id", resource.key] };
      const { values } = reading.records(resource, look, actor, rids, { base: "", format: undefined });
      return values.map((record, i): Scanned => ({
        resource,
        rid: rids[i],
        id: String(record.id),
        name: String(record[resource.key]),
        by,
      }));
    });
  const address = idInAddress(code);
  const barcoded =
    address === undefined
      ? find("barcode", ({ fields }) => ("barcode" in fields ? compare(["barcode"], "==", code) : undefined))
      : [];
  if (barcoded.length > 0) return barcoded;
  const id = address === undefined ? (KINDS.uuid.parse(code) ?? idBeginning(code)) : address;
  if (id === null || id === undefined) return [];
  // "g" comes after every digit and the hyphen.
  return find("id", ({ fields }) =>
    fields.id.kind === "uuid" ? and(compare(["id"], ">=", id), compare(["id"], "<", `${id}g`)) : undefined,
  );
}
