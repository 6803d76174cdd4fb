import { ALIVE } from "../model/condition.ts";
import type { Json, JsonObject } from "../model/field.ts";
import { parameterProblem } from "../model/filter.ts";
import { LIMITS } from "../model/limits.ts";
import { FIRST_PAGE, type Representation } from "../model/listing.ts";
import { isGuarded, shownFields, findTarget } from "../model/resource.ts";
import { makeNouns } from "../model/schema.ts";
import { type ArchivedRecord, elnEntries } from "../imports/eln-file.ts";
import { writableFields } from "../imports/import-mapping.ts";
import { streamBytes, yieldBetweenChunks } from "../imports/export-file.ts";
import { zipFile } from "../../platform/zip-file.ts";
import { Attachments } from "../records/attachments.ts";
import type { Snapshot, Store } from "../records/store.ts";
import { SubResourceRecords } from "../records/sub-resources.ts";
import { type RoutedResource, SUB_RESOURCES } from "../resources/index.ts";
import type { SubResource } from "../resources/sub-resource.ts";
import { exceeded } from "../../platform/limits.ts";
import { Problem } from "../../problem.ts";
import { type Call, respond } from "./call.ts";
import { MEDIA_TYPES } from "./negotiation.ts";
import { capitalized } from "../../platform/words.ts";

const { note, annotation, attachment } = SUB_RESOURCES;

/**
 * Records as an archive with their notes, annotations, history and files. With a snapshot, they are read while it is sent.
 * @throws Problem invalid_request, too_large
 */
export function exportArchive(
  call: Call,
  resource: RoutedResource,
  requested: Representation,
  rids: readonly number[],
  {
    status,
    headers,
    snapshot,
  }: { status: 200 | 201; headers: Record<string, string>; snapshot: Snapshot | undefined },
): Response {
  const store = snapshot?.store ?? call.store;
  checkArchive(call, resource, store, rids);
  function* records(): Generator<ArchivedRecord> {
    for (const rid of rids) yield archivedRecord(call, resource, requested, store, rid);
  }
  const name = resource.segment.replaceAll("/", "-");
  const at = new Date(store.clock.now());
  const publisher = new URL(call.base).origin + call.path;
  const { many } = makeNouns(resource);
  const title = capitalized(many);
  const archive = { name, title, segment: resource.segment, publisher, at, records: records() };
  const pieces = zipFile(elnEntries(archive), at);
  // Without a snapshot everything is read now: later it might have changed.
  const body = yieldBetweenChunks(streamBytes(snapshot ? pieces : [...pieces]), snapshot?.close);
  const disposition = `attachment; filename="${name}.eln"`;
  return respond(body, status, MEDIA_TYPES.eln, { ...headers, "Content-Disposition": disposition });
}

function checkArchive(call: Call, resource: RoutedResource, store: Store, rids: readonly number[]): void {
  if (!isGuarded(resource))
    throw parameterProblem(
      "format",
      `${resource.segment} cannot be archived. Choices: json, api, csv, xlsx.`,
    );
  if (call.url.searchParams.has("as_of"))
    throw parameterProblem("as_of", "An archive has the present and its history. Leave as_of out.");
  if (rids.length > LIMITS.archive.max) throw new Problem("too_large", exceeded(LIMITS.archive));
  const row = store.statements.get({
    text: `SELECT count(*) AS files, total(size) AS bytes FROM attachment
     WHERE object_kind = ? AND object_rid IN (SELECT value FROM json_each(?)) AND NOT deleted`,
    args: [resource.name, JSON.stringify(rids)],
  });
  if (Number(row?.files) > LIMITS.archiveFiles.max)
    throw new Problem("too_large", exceeded(LIMITS.archiveFiles));
  if (Number(row?.bytes) > LIMITS.archiveBytes.max)
    throw new Problem("too_large", exceeded(LIMITS.archiveBytes));
}

function archivedRecord(
  call: Call,
  resource: RoutedResource,
  requested: Representation,
  store: Store,
  rid: number,
): ArchivedRecord {
  const { actor, base } = call;
  const fields = requested.fields ?? archivedFields(resource);
  const [values] = store.reader.records(resource, { ...requested, fields, shape: "plain" }, actor, [rid], {
    base,
    format: undefined,
  }).values;
  const [{ id, ...known }] = store.reader.values(resource, ["id", ...basicFields(resource)], actor, [rid]);
  const subs = (sub: SubResource): JsonObject[] => readSubResources(call, resource, sub, store, rid);
  const attachments = new Attachments(store.statements, []);
  const names = [resource.key, ...resource.nameFields].map((field) => known[field] ?? values[field]);
  const name = names.find((value) => typeof value === "string" && value !== "");
  return {
    id: String(id),
    name: String(name ?? ""),
    url: `${base}${resource.segment}/${String(id)}/`,
    measured: Object.keys(values).filter(
      (field) => field !== resource.key && resource.fields[field]?.kind !== "computed",
    ),
    values: { ...values, ...known },
    references: readReferences(call, resource, store, rid, Object.keys(values)),
    notes: subs(note),
    annotations: subs(annotation),
    history: readHistory(call, resource, store, rid),
    files: subs(attachment).map((shown) => ({ shown, bytes: attachments.bytes(shown) })),
  };
}

/** All values that a record shows or that can be written, so that nothing is lost. */
const archivedFields = (resource: RoutedResource): string[] => [
  ...new Set([...shownFields(resource), ...writableFields(resource).map(([name]) => name)]),
];

/** The records that fields refer to by id, as far as the caller may view them. */
function readReferences(
  { actor, base }: Call,
  resource: RoutedResource,
  store: Store,
  rid: number,
  names: readonly string[],
): ArchivedRecord["references"] {
  const found: ArchivedRecord["references"] & Map<string, { name: string; url: string }> = new Map();
  const fields = names.flatMap((name) => {
    const field = resource.fields[name];
    const far = field?.kind === "reference" ? findTarget(store.resources, field) : undefined;
    return far?.segment && far.shownAs === "id" ? [{ name, far }] : [];
  });
  const spans = fields.flatMap(({ name, far }) => [`${name}__id`, `${name}__${far.key}`]);
  const [values] = store.reader.values(resource, spans, actor, [rid]);
  for (const { name, far } of fields) {
    const [id, shown] = [values[`${name}__id`], values[`${name}__${far.key}`]];
    if (id !== null && typeof shown === "string" && shown !== "")
      found.set(name, { name: shown, url: `${base}${far.segment}/${String(id)}/` });
  }
  return found;
}

/** Fields that an archive has even if others are requested. */
const basicFields = ({ fields, nameFields }: RoutedResource): string[] =>
  [...new Set([...nameFields, "created", "created_by", "modified", "owner"])].filter((name) =>
    Object.hasOwn(fields, name),
  );

/** All sub-resources of a record that are not deleted; readers of the record may view them. */
function readSubResources(
  { actor, base }: Call,
  resource: RoutedResource,
  sub: SubResource,
  store: Store,
  rid: number,
): JsonObject[] {
  const { statements, reader } = store;
  const source = { statements, reader, actor, rid, deletedFilter: "living" } as const;
  const listing = { ...FIRST_PAGE, condition: ALIVE, size: "max" } as const;
  return new SubResourceRecords(store).list(sub, { resource, source }, listing, base).results;
}

/** All changes of a record that the actor may see, without the tokens that were used. */
function readHistory({ actor }: Call, resource: RoutedResource, store: Store, rid: number): Json[] {
  const found: Json[] = [];
  for (;;) {
    const { total, results } = store.history.readRecord(resource, rid, actor, LIMITS.rows.max, found.length);
    for (const { cursor: _, token: __, ...change } of results as JsonObject[]) found.push(change);
    if (results.length === 0 || found.length >= total) return found;
  }
}
