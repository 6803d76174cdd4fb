import type { Actor } from "../model/access.ts";
import { type Json, type JsonObject, KINDS, parseUuid } from "../model/field.ts";
import { parseRights, RIGHTS_PARAMETERS } from "../model/listing.ts";
import { parameterProblem } from "../model/filter.ts";
import type { Resource, Resources } from "../model/resource.ts";
import { changedFields } from "../model/stored-record.ts";
import { openPast } from "./as-of.ts";
import { planSentences } from "./batch-sentence.ts";
import { BatchAudit, type RecordWrite } from "./batch-audit.ts";
import { AnnotationTypeCatalogue } from "./annotation-types.ts";
import { Bulk } from "./bulk.ts";
import { describeExposure, type ExposedRecord, type Exposure, unconfirmed } from "./exposure.ts";
import { History } from "./history.ts";
import { type BatchInfo, Journal } from "./journal.ts";
import { RecordReader } from "./record-reader.ts";
import { RecordText } from "./record-text.ts";
import { RecordWriter } from "./record-writer.ts";
import { Search } from "./search.ts";
import { Statements } from "./statements.ts";
import { Undo } from "./undo.ts";
import { UniformAnnotations } from "./uniform-annotations.ts";
import { UniformUpdates } from "./uniform-update.ts";
import { WriteQueue } from "./write-queue.ts";
import { DECLARED, SUB_RESOURCES } from "../resources/index.ts";
import type { SubResource } from "../resources/sub-resource.ts";
import { Problem } from "../../problem.ts";
import { getAuditLog } from "../../accounts/audit.ts";
import type { Clock } from "../../platform/clock.ts";
import { closeSnapshot, type Database, openSnapshot } from "../../platform/sqlite.ts";
import { getWriteLock } from "../../platform/write-lock.ts";

/** Options of a batch. */
export interface WriteOptions extends BatchInfo {
  actor: Actor;
  /** Change nothing, and return what would change. */
  dryRun: boolean;
  /** The maximum number of changes that a dry run lists; it counts them all. */
  previewLimit?: number;
  /** The digest of a dry run: do exactly that. */
  confirm: string | null;
  /** The field that usually follows from the time, if the request gives it: a confirmation is for its value, too. */
  given?: "due_back" | undefined;
  /** The planned writes, if they are known: a dry run then needs no lock. */
  planned?: readonly RecordWrite[] | undefined;
}

/** The result of a batch: its value and id (null if nothing was written), or what would change. */
export type Outcome<T> = { value: T; batch: string | null } | { preview: JsonObject };

/** A store in its state at one time, regardless of later writes; to be closed soon. */
export interface Snapshot {
  store: Store;
  close(): void;
}

/** Records and changes that the refusal of an unconfirmed request lists, and sentences of a preview. */
const SHOWN = 20;

const stores = new WeakMap<Database, Store>();

/** The store of this connection; each has one, because it caches rows. */
export function openStore(
  database: Database,
  clock: Clock,
  subResources: readonly SubResource[] = Object.values(SUB_RESOURCES),
): Store {
  let store = stores.get(database);
  if (!store) stores.set(database, (store = new Store(database, clock, subResources)));
  return store;
}

/** The records of one database. */
export class Store {
  readonly resources: Resources;
  readonly statements: Statements;
  readonly reader: RecordReader;
  readonly search: Search;
  readonly bulk: Bulk;
  readonly uniformUpdates: UniformUpdates;
  readonly uniformAnnotations: UniformAnnotations;
  readonly history: History;
  readonly undo: Undo;
  readonly #writer: RecordWriter;
  readonly #journal: Journal;
  readonly #queue: WriteQueue;

  constructor(
    private readonly database: Database,
    readonly clock: Clock,
    readonly subResources: readonly SubResource[],
  ) {
    const statements = new Statements(database);
    const annotationTypes = new AnnotationTypeCatalogue(statements, DECLARED);
    const { annotationValue } = DECLARED;
    this.resources = Object.assign(new Map(DECLARED), { annotationValue: annotationValue!, annotationTypes });
    const versioned = new Map([...DECLARED, ...subResources.map((sub) => [sub.name, sub] as const)]);
    this.statements = statements;
    this.reader = new RecordReader(statements, DECLARED);
    this.search = new Search(statements, DECLARED, this.reader);
    const audit = new BatchAudit(statements, getAuditLog(database, clock));
    const texts = new RecordText(statements, versioned.values(), annotationValue!);
    texts.update();
    this.#journal = new Journal(statements, clock, audit, texts, (resource, rid, parent) => {
      this.reader.note(resource, rid);
      // Filters on annotations are conditions on their record.
      if (parent && resource.name === "annotation") this.reader.note(DECLARED.get(parent.kind)!, parent.rid);
    });
    this.#writer = new RecordWriter(statements, this.resources, subResources, clock, this.#journal);
    this.history = new History(statements, versioned);
    this.bulk = new Bulk(this.reader, this.#writer);
    this.uniformUpdates = new UniformUpdates(statements, DECLARED, this.reader, clock, this.#journal);
    this.uniformAnnotations = new UniformAnnotations(statements, this.resources, {
      reader: this.reader,
      writer: this.#writer,
      clock,
      journal: this.#journal,
    });
    this.undo = new Undo(this.#writer, this.history, this.uniformUpdates, this.uniformAnnotations, {
      statements: this.statements,
      resources: this.resources,
    });
    this.#queue = new WriteQueue(statements, getWriteLock(database), () => this.reader.forget());
  }

  /** Runs writes in one transaction, as one batch of the history. */
  write<T>(
    work: (writer: RecordWriter, exposed: readonly ExposedRecord[]) => T,
    info: BatchInfo = { kind: "import" },
  ): T {
    return this.#batch(info, (_written, exposed) => work(this.#writer, exposed)).value;
  }

  /** Id of the batch that is being written; null before its first write. */
  get openBatch(): string | null {
    return this.#journal.openBatch;
  }

  /**
   * Queues work that writes, and that prints the answer. Work that arrives meanwhile shares the transaction; the
   * promise resolves once it is on disk. @throws Problem busy, and errors of the work
   */
  enqueue<T>(work: () => T): Promise<T> {
    return this.#queue.add(work);
  }

  /**
   * As `write`, with the id of the batch; or as a dry run.
   * @throws Problem conflict if `confirm` no longer matches, sharing_unconfirmed without it if more people could view records
   */
  run<T>(options: WriteOptions, work: (writer: RecordWriter) => T): Outcome<T> {
    const { actor, dryRun, confirm } = options;
    const watched = dryRun || confirm !== null;
    if (dryRun && options.planned) return { preview: this.#makePreview(options, options.planned, []) };
    let preview: JsonObject;
    // Thrown to roll the transaction back.
    const [rollback, exposure] = [new Error("dry run"), new Error("exposure")];
    try {
      return this.#batch({ ...options, skipsEvents: !watched }, (written, exposed) => {
        const value = work(this.#writer);
        if (!watched && exposed.length > 0) throw exposure;
        const exposes = exposed.map((record) => describeExposure(this, this.subResources, record, actor));
        if (dryRun) {
          preview = this.#makePreview(options, written, exposes);
          throw rollback;
        }
        if (confirm !== null) checkConfirmed(options, written, exposes);
        return value;
      });
    } catch (error) {
      if (error === exposure) {
        const shown = this.run({ ...options, dryRun: true, previewLimit: SHOWN }, work);
        throw "preview" in shown ? unconfirmed(shown.preview) : error;
      }
      if (error !== rollback) throw error;
      return { preview: preview! };
    }
  }

  /**
   * Parses the parameter `as_of`: a reader of that time, the other parameters without those that concern today's
   * rights, and the condition that these set on a record today. @throws Problem invalid_request
   */
  past(resource: Resource, parameters: URLSearchParams, actor: Actor) {
    const rest = new URLSearchParams(parameters);
    for (const name of RIGHTS_PARAMETERS) rest.delete(name);
    const today = { resource, condition: parseRights(resource, parameters, actor) };
    const { resources: declared, subResources, reader } = this;
    const batch = this.#parseBatch(parameters.get("as_of") ?? "");
    const past = openPast(this.statements, batch, { declared, subResources, reader, actor, today });
    return { ...past, parameters: rest, today: today.condition };
  }

  /** A snapshot of the store, to read from until it is closed; undefined for a database in memory. */
  snapshot(): Snapshot | undefined {
    const database = openSnapshot(this.database);
    if (!database) return undefined;
    const store = new Store(database, this.clock, this.subResources);
    return { store, close: () => closeSnapshot(database) };
  }

  /** The version of a record. */
  version(resource: Resource, rid: number): number {
    const text = `SELECT version FROM ${resource.table} WHERE rid = ?`;
    return Number(this.statements.get({ text, args: [rid] })?.version);
  }

  /** @throws Problem conflict if `confirm` is that of another outcome */
  #makePreview(
    options: WriteOptions,
    written: readonly RecordWrite[],
    exposes: readonly Exposure[],
  ): JsonObject {
    if (options.confirm !== null) checkConfirmed(options, written, exposes);
    const { actor, previewLimit } = options;
    return {
      dry_run: true,
      count: written.length,
      records: new Set(written.map(recordKey)).size,
      confirm: digestWrites(options, written, exposes),
      exposes: exposes.slice(0, previewLimit),
      sentences: planSentences(written.slice(0, SHOWN), this.statements, {
        resources: this.resources,
        actor,
      }),
      changes: this.history.preview(written.slice(0, previewLimit), actor),
    };
  }

  #batch<T>(
    info: BatchInfo,
    work: (written: readonly RecordWrite[], exposed: readonly ExposedRecord[]) => T,
  ) {
    try {
      return this.statements.writing(() => this.#journal.batch(info, work));
    } catch (error) {
      // Cached reads may include changes that were rolled back.
      this.reader.forget();
      throw error;
    }
  }

  /** Row number of the last batch up to a time, or of the batch with this id. */
  #parseBatch(typed: string): number {
    const at = KINDS.instant.parse(typed);
    if (at !== undefined) return this.history.batchAt(Number(at));
    const text = "SELECT rid FROM record_batch WHERE id = ?";
    const row = this.statements.get({ text, args: [parseUuid(typed) ?? ""] });
    if (!row) throw parameterProblem("as_of", `Expected ${KINDS.instant.expected} or the id of a batch.`);
    return Number(row.rid);
  }
}

/** The record that a write concerns: of an annotation, the one that it describes. */
function recordKey({ resource, rid, before, after }: RecordWrite): string {
  const parent = resource.parent?.(after ?? before!) ?? { kind: resource.name, rid };
  return `${parent.kind} ${parent.rid}`;
}

/** @throws Problem conflict */
function checkConfirmed(
  options: WriteOptions,
  written: readonly RecordWrite[],
  exposes: readonly Exposure[],
): void {
  if (options.confirm === digestWrites(options, written, exposes)) return;
  throw new Problem(
    "conflict",
    "The records have changed since the dry run. Nothing was written; repeat the dry run.",
  );
}

/** Values that differ between a dry run and the same request run for real; `due_back` follows from the time by default. */
const GENERATED_FIELDS = new Set(
  "id created created_by deleted_date deleted_by taken_out_at due_back".split(" "),
);

/**
 * The token that confirms a dry run: a digest (SHA-256, base64url) of the writer, of every record with its version before, and of
 * its new values, and of what becomes visible. The same request gives the same digest if and only if it would do the same.
 */
function digestWrites(
  { actor, kind, given }: WriteOptions,
  written: readonly RecordWrite[],
  exposes: readonly Json[],
): string {
  const hash = new Bun.CryptoHasher("sha256").update(JSON.stringify([actor.user, kind, exposes]));
  for (const { resource, rid, op, version, before, after, generated } of written) {
    const isGiven = (name: string): boolean =>
      name === given || (!GENERATED_FIELDS.has(name) && name !== generated);
    const names = after ? changedFields(before, after).filter(isGiven) : [];
    const values = names.map((name) => [name, after![name]]);
    // A new record may get another row number later.
    hash.update(JSON.stringify([resource.name, before ? rid : null, op, version, values]));
  }
  return hash.digest("base64url");
}
