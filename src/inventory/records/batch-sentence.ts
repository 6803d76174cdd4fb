import { compare } from "../model/condition.ts";
import type { Stored } from "../model/field.ts";
import type { Query } from "../model/operator.ts";
import { selectVisible } from "../model/plan.ts";
import { columnName, type Resource, type Resources, type Viewer } from "../model/resource.ts";
import { makeNouns } from "../model/schema.ts";
import { formatAmount, formatDecrease } from "../model/unit.ts";
import { BOOKKEEPING, changedFields, type StoredRecord } from "../model/stored-record.ts";
import { capitalized, groupTitle, pluralize } from "../../platform/words.ts";
import { LISTS, listSingular, listTitle } from "../resources/lists.ts";
import { hasPosition } from "../resources/position.ts";
import { isSubResource } from "../resources/sub-resource.ts";
import type { ChangeKind, RecordWrite } from "./batch-audit.ts";
import { UniquePaths } from "./unique-path.ts";

type Change = Pick<RecordWrite, "resource" | "op" | "before"> & { after: Readonly<StoredRecord> };

/** Changes of a batch, as far as one reader may view them. */
export interface BatchFacts {
  kind: string;
  /** Numbers of records by resource and operation; of sub-resources, also of their parents, by their kind. */
  counts: readonly {
    resource: Resource;
    op: ChangeKind;
    records: number;
    parent: string | null;
    parents: number;
  }[];
  /** The first changes. A reader who could not view a record before gets no earlier values of it. */
  first: readonly Change[];
}

/** The name of a record by its row number; undefined if the reader may not view it. */
type FindName = (kind: string, rid: Stored) => string | undefined;

const LIST = new Intl.ListFormat("en");
const OPERATIONS = ["create", "update", "restore", "delete"] as const;
const VERBS = { create: "added", restore: "restored", delete: "deleted" };
const PART_VERBS = {
  create: ["added", "to"],
  update: ["changed", "of"],
  restore: ["restored", "of"],
  delete: ["removed", "from"],
  purge: ["removed", "from"],
} as const;
const PARTS: Readonly<Record<string, string>> = { note: "note", attachment: "file" };
/** The place of a record: fields that a move changes. */
const PLACE = new Set(["location", "position"]);
const TREE = new Set(["parent", "place", "equipment"]);
/** Fields that say who has stock. */
const TAKEN_OUT = new Set(["taken_out", "taken_out_by", "taken_out_at", "due_back"]);
/** Fields that taking an amount out changes. */
const AMOUNT = new Set(["amount", "status"]);
const MAX_FIELDS = 3;

/** `9 consumables`, `1 piece of equipment`, with the nouns of pages. */
function printCount(of: { name: string; segment?: string | null }, count: number): string {
  const { name } = of;
  const segment = of.segment ?? "";
  if (name === "equipment") return `${pluralize(count, "piece")} of equipment`;
  const noun = name.replaceAll("_", " ");
  return segment in LISTS
    ? pluralize(count, listSingular(segment), listTitle(segment).toLowerCase())
    : pluralize(count, noun, makeNouns({ name }).many);
}

/** The action of a batch, as read after the name of its author: `moved 9 consumables to Box 1`. */
export function batchSentence(facts: BatchFacts, query: Query, viewer: Viewer): string {
  if (facts.counts.length === 0) return "changed records that no longer exist";
  const findName = readableNames(query, viewer);
  const own = facts.counts.filter(({ resource }) => !isSubResource(resource));
  return own.length > 0
    ? new RecordSentence({ ...facts, counts: own }, findName).text()
    : partSentence(facts, viewer.resources, findName);
}

/** Verbs of changes that were made, and of the same changes as plans; others lose their last letter. */
const PLANNED: Readonly<Record<string, string>> = {
  added: "add",
  applied: "apply",
  handed: "hand",
  made: "make",
  put: "put",
  stopped: "stop",
  took: "take",
};

/** Planned changes, each in a sentence such as `Move Tube 1 to Box 1, A2.` */
export const planSentences = (written: readonly RecordWrite[], query: Query, viewer: Viewer): string[] =>
  written.flatMap(({ resource, rid, op, before, ...write }) => {
    const same = written.filter((each) => each.resource === resource && each.rid === rid);
    // Some records are created in steps.
    const isStep = op === "update" && same[0].op === "create";
    const after = op === "create" ? same.at(-1)!.after : write.after;
    if (!after || isStep) return [];
    const changed = changedFields(before, after).map((name) => [name, before?.[name]]);
    const old = before && (Object.fromEntries(changed) as StoredRecord);
    return planSentence({ resource, op, before: old, after }, query, viewer);
  });

function planSentence(change: Change, query: Query, viewer: Viewer): string {
  const { resource, op, after } = change;
  if (op === "create" && !isSubResource(resource)) {
    const quantity = "quantity" in resource.fields ? `, quantity ${Number(after.quantity)}` : "";
    return `Add the ${printCount(resource, 1).replace("1 ", "")} ${recordName(change)}${quantity}.`;
  }
  const parent = resource.parent?.(after).kind ?? null;
  const facts = { kind: op, counts: [{ resource, op, records: 1, parent, parents: 1 }], first: [change] };
  return `${batchSentence(facts, query, viewer).replace(/^\w+/, (verb) => capitalized(PLANNED[verb] ?? verb.slice(0, -1)))}.`;
}

/** Names of records that the reader may view today. */
const readableNames =
  (query: Query, viewer: Viewer): FindName =>
  (kind, rid) => {
    const resource = viewer.resources.get(kind)!;
    if ("unique_path" in resource.fields)
      return new UniquePaths(query, viewer.resources)
        .of(resource, [Number(rid)], viewer.actor)
        .get(Number(rid));
    const key = columnName(resource, resource.key);
    const name = kind === "user" ? "coalesce(nullif(t.full_name, ''), t.username)" : `t.${key}`;
    const found = query.get(selectVisible(viewer, resource, `${name} AS name`, compare(["rid"], "==", rid)));
    if (found === null) return undefined;
    return kind === "group" ? groupTitle(String(found.name)) : String(found.name);
  };

class RecordSentence {
  constructor(
    private readonly facts: BatchFacts,
    private readonly findName: FindName,
  ) {}

  text(): string {
    const { kind, first } = this.facts;
    const applied = first.find(
      ({ resource, before, after }) =>
        resource.name === "stocktake" && before?.state === "OPEN" && after.state === "APPLIED",
    );
    if (applied) return this.#applied(applied);
    // A new installation gets units and fields, without records.
    if (kind === "sample" && this.#of("create").some(({ resource }) => resource.name === "location"))
      return `loaded the sample data, ${printCount({ name: "record" }, this.#total("create"))}`;
    return this.#aliquots() ?? LIST.format(OPERATIONS.flatMap((op) => this.#phrase(op) ?? []));
  }

  #of = (op: ChangeKind) => this.facts.counts.filter((each) => each.op === op);

  #total = (op: ChangeKind): number => this.#of(op).reduce((sum, { records }) => sum + records, 0);

  /** The name of the only record, or how many of each kind. */
  #objects(op: ChangeKind): string {
    const only = this.#total(op) === 1 ? this.facts.first.find((change) => change.op === op) : undefined;
    if (only) return recordName(only);
    return LIST.format(this.#of(op).map(({ resource, records }) => printCount(resource, records)));
  }

  #phrase(op: (typeof OPERATIONS)[number]): string | undefined {
    if (this.#total(op) === 0) return undefined;
    if (op === "update") return this.#update();
    const verb = op === "create" && this.facts.kind === "import" ? "imported" : VERBS[op];
    return `${verb} ${this.#objects(op)}`;
  }

  #applied({ after }: Change): string {
    const others = this.#total("update") - 1;
    const changed = others > 0 ? `, which changed ${printCount({ name: "record" }, others)}` : "";
    return `applied the stocktake ${String(after.name)}${changed}`;
  }

  /** Undefined unless all new records are aliquots of one. */
  #aliquots(): string | undefined {
    const created = this.facts.first.filter(({ op }) => op === "create");
    const [of, another] = new Set(created.map(({ after }) => after.aliquot_of ?? null));
    if (this.facts.kind !== "bulk_create" || another !== undefined || !of) return undefined;
    const source = this.findName(created[0].resource.name, of);
    return `made ${printCount({ name: "aliquot" }, this.#total("create"))}${source === undefined ? "" : ` of ${source}`}`;
  }

  #update(): string {
    const changes = this.facts.first.filter(({ op }) => op === "update");
    const objects = this.#objects("update");
    // A field that only some of the changes set is not attributed to all.
    const isKnown = changes.length === this.#total("update") && changes.every(({ before }) => before);
    const fields = new Set(changes.flatMap(({ before }) => changedNames(before ?? {})));
    if (!isKnown || fields.size === 0) return `changed ${objects}`;
    if (changes.every(({ resource }) => hasPosition(resource)) && fields.isSubsetOf(PLACE))
      return this.#move(changes, objects, "location");
    if (changes.every(({ resource }) => resource.name === "location") && fields.isSubsetOf(TREE))
      return this.#move(changes, objects, "parent");
    return describeFields(changes, fields, { kind: this.facts.kind, objects, findName: this.findName });
  }

  #move(changes: readonly Change[], objects: string, field: "location" | "parent"): string {
    const to = new Set(changes.map(({ after }) => after[field] ?? null));
    const from = new Set(
      changes.map(({ before, after }) => (field in before! ? before![field] : after[field]) ?? null),
    );
    const [[target], [source]] = [to, from];
    if (to.size > 1) return `moved ${objects}`;
    const isIn = from.size === 1 && source !== null ? this.findName("location", source) : undefined;
    if (target === null) return `took ${objects} out${isIn === undefined ? "" : ` of ${isIn}`}`;
    const place = this.findName("location", target);
    if (place === undefined) return `moved ${objects}`;
    const position = changes.length === 1 ? String(changes[0].after.position ?? "") : "";
    if (from.size > 1 || source !== target)
      return `moved ${objects} to ${place}${position === "" ? "" : `, ${position}`}`;
    return `moved ${objects} ${position === "" ? "within" : `to ${position} in`} ${place}`;
  }
}

const recordName = ({ resource, after }: Change): string =>
  String(after[resource.key] ?? "") || printCount(resource, 1);

/** The kind of a batch, and its records in words. */
interface Described {
  kind: string;
  objects: string;
  findName: FindName;
}

const changedNames = (before: object): string[] =>
  Object.keys(before).filter((name) => !BOOKKEEPING.has(name));

/** Taken out and put back by people, handed to others, and kept for longer. */
function describeTakenOut(changes: readonly Change[], objects: string, findName: FindName): string {
  const [{ before, after }] = changes;
  if (after.taken_out_by === null) return `put ${objects} back`;
  if (before!.taken_out_by === undefined) return `changed when ${objects} is due back`;
  if (after.taken_out_by === after.modified_by)
    return before!.taken_out_by === null ? `took ${objects} out` : `took ${objects} over`;
  return `handed ${objects} to ${findName("user", after.taken_out_by) ?? "another person"}`;
}

function describeAmount({ before, after }: Change, { kind, objects, findName }: Described): string {
  const unit = findName("term", after.unit ?? null) ?? "";
  const [was, left] = [Number(before!.amount), Number(after.amount)];
  const [from, to] = [was, left].map((value) => formatAmount({ value, unit }));
  if (kind !== "consume") return `changed the amount of ${objects} from ${from} to ${to}`;
  return `used ${formatDecrease(was, left, unit)} of ${objects}, ${to} left`;
}

/** Describes changed fields of records that did not move. */
function describeFields(
  changes: readonly Change[],
  fields: ReadonlySet<string>,
  described: Described,
): string {
  const { objects, findName } = described;
  const [{ resource, before, after }] = changes;
  const [field] = fields;
  const isOne = changes.length === 1;
  if (fields.size === 1 && field === "public" && new Set(changes.map((each) => each.after.public)).size === 1)
    return `made ${objects} ${after.public === 1 ? "public" : "private"}`;
  if (fields.size === 1 && isOne && field === resource.key)
    return `renamed ${String(before![field])} to ${objects}`;
  if (fields.isSubsetOf(TAKEN_OUT)) return describeTakenOut(changes, objects, findName);
  if (isOne && fields.isSubsetOf(AMOUNT) && before!.amount && after.amount !== null)
    return describeAmount(changes[0], described);
  if (fields.size > MAX_FIELDS) return `changed ${objects}`;
  const names = [...fields].map((name) => (resource.fields[name]?.form?.label ?? name).replaceAll("_", " "));
  return `changed ${LIST.format(names.map((name) => name.toLowerCase()))} of ${objects}`;
}

/** Describes changes of notes, files, metadata, rights and members. */
function partSentence({ counts, first }: BatchFacts, resources: Resources, findName: FindName): string {
  const phrases = Map.groupBy(counts, ({ resource }) => resource);
  const all = [...phrases].map(([resource, groups]) => {
    const changes = first.filter((change) => change.resource === resource);
    const records = groups.reduce((sum, group) => sum + group.records, 0);
    const parents = parentNames(groups, changes, resources, findName);
    if (resource.name === "grant") return sharing(changes, parents, findName);
    if (resource.name === "membership") return memberships(changes, parents, findName);
    const part = PARTS[resource.name];
    if (part === undefined) return `changed metadata of ${parents}`;
    const [verb, preposition] = groups.length === 1 ? PART_VERBS[groups[0].op] : PART_VERBS.update;
    return `${verb} ${records === 1 ? `a ${part}` : printCount({ name: part }, records)} ${preposition} ${parents}`;
  });
  return LIST.format(all);
}

/** The name of the only parent of sub-resources, or how many of each kind there are. */
function parentNames(
  groups: BatchFacts["counts"],
  changes: readonly Change[],
  resources: Resources,
  findName: FindName,
): string {
  const named = new Map(changes.map(findParent).map((parent) => [JSON.stringify(parent), parent]));
  const isAll = changes.length === groups.reduce((sum, { records }) => sum + records, 0);
  const [[, only]] = named;
  const name = isAll && named.size === 1 ? findName(only.kind, only.rid) : undefined;
  if (name !== undefined) return name;
  const kinds = Map.groupBy(groups, ({ parent }) => String(parent));
  const counted = [...kinds].map(([kind, of]) => {
    const count = isAll
      ? named
          .values()
          .filter((parent) => parent.kind === kind)
          .toArray().length
      : of.reduce((sum, { parents }) => sum + parents, 0);
    return printCount(resources.get(kind) ?? { name: "record" }, count);
  });
  return LIST.format(counted);
}

const findParent = ({ resource, after }: Change) => resource.parent!(after);

/** The only one to whom all changes give or take something, and whether they give it. */
function grantee(changes: readonly Change[], findName: FindName) {
  const all = changes.map(({ after }) => ({
    kind: after.user === null ? "group" : "user",
    rid: after.user ?? after.group,
    isGranted: after.deleted === 0,
  }));
  const [one] = all;
  const isOne = one && all.every((each) => Bun.deepEquals(each, one));
  return isOne ? { name: findName(one.kind, one.rid), isGranted: one.isGranted } : undefined;
}

function sharing(changes: readonly Change[], records: string, findName: FindName): string {
  const with_ = grantee(changes, findName);
  if (with_?.name === undefined) return `changed who may view ${records}`;
  return `${with_.isGranted ? "shared" : "stopped sharing"} ${records} with ${with_.name}`;
}

function memberships(changes: readonly Change[], group: string, findName: FindName): string {
  const member = grantee(changes, findName);
  if (member?.name === undefined) return `changed the members of ${group}`;
  return member.isGranted ? `added ${member.name} to ${group}` : `removed ${member.name} from ${group}`;
}
