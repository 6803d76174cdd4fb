import type { ElnMapping } from "./eln-mapping.ts";
import type { ElnContents } from "./eln-contents.ts";
import type { ElnRecord } from "./eln-reader.ts";
import type { Cell } from "./check-cells.ts";
import type { Table, TableRow } from "./import-file.ts";
import type { Column } from "./import-mapping.ts";
import type { ArchiveReport, Effect, ImportReport } from "./import-report.ts";
import { RowImporter } from "./import-row.ts";
import type { ImportTarget } from "./named-values.ts";
import { annotationName } from "../model/annotation-type.ts";
import { namesAnnotation } from "../model/annotation-filter.ts";
import { ALIVE } from "../model/condition.ts";
import { Attachments } from "../records/attachments.ts";
import { forbidden } from "../records/rights.ts";
import { SubResourceRecords } from "../records/sub-resources.ts";
import { SUB_RESOURCES } from "../resources/index.ts";
import { Problem } from "../../problem.ts";

/** Records and omissions that a report lists. */
const SHOWN_RECORDS = 100;
const SHOWN_OMISSIONS = 1000;
/** Maximum characters of a note, and of the excerpt of a longer text or value; the whole text becomes a file. */
const NOTE_LENGTH = 10_000;
const MAX_QUOTED = 1000;
/** Author and date at the end of a comment that was imported before. */
const SIGNATURE = /\n\n— [^\n]+$/;

/** Writes the datasets of an archive as records, with their annotations, notes and files. */
export class ElnImporter {
  readonly #fields: RowImporter;
  readonly #annotations: RowImporter;
  readonly #attachments: Attachments;
  readonly #parts: SubResourceRecords;
  readonly #columns: readonly Column[];
  readonly #report: ArchiveReport;

  constructor(
    private readonly target: ImportTarget,
    columns: readonly Column[],
    private readonly mapped: ElnMapping & { contents: ElnContents },
    report: ImportReport,
    /** Called before each file; an error that it throws ends the import. */
    private readonly check: () => void,
  ) {
    const { store, resource } = target;
    this.#report = report.archive!;
    this.#attachments = new Attachments(store.statements, []);
    this.#parts = new SubResourceRecords(store);
    this.#columns = columns.map((column) =>
      mapped.newNames.has(column.header) ? { ...column, field: this.#findType(column.header) } : column,
    );
    const isAnnotation = ({ field }: Column): boolean => field !== null && namesAnnotation(resource, field);
    const keepColumns = (test: (column: Column) => boolean): Column[] =>
      this.#columns.map((column) => (test(column) ? column : { ...column, field: null }));
    this.#fields = new RowImporter(
      target,
      keepColumns((column) => !isAnnotation(column)),
    );
    this.#annotations = new RowImporter(target, keepColumns(isAnnotation));
  }

  get named() {
    return this.#fields.named;
  }

  get fixes() {
    return this.#fields.fixes;
  }

  moved(table: Table) {
    return this.#fields.moved(table);
  }

  codes(table: Table) {
    return this.#fields.codes(table);
  }

  countExisting(table: Table) {
    const { records } = this.mapped.archive;
    function* rows(importer: ElnImporter): Generator<TableRow> {
      for (const row of table.rows()) if (importer.#byId(records[row.number - 1]) === undefined) yield row;
    }
    return this.#fields.countExisting({ ...table, rows: () => rows(this) });
  }

  /** @throws Problem */
  write({ number, cells: given }: TableRow): Effect {
    const record = this.mapped.archive.records[number - 1];
    const lines = [...record.about];
    const cells = given.map((cell, i) => {
      const { header } = this.#columns[i];
      if (cell !== null && this.mapped.kept.has(header)) lines.push(noteLine(record, header));
      return cell;
    });
    const existing = this.#existing(record, cells);
    this.#fields.claim(number, cells, existing);
    const write = (): Effect => this.#write(number, cells, lines, existing);
    return existing === undefined ? write() : this.#fields.listing(number, existing, write);
  }

  #write(number: number, cells: Cell[], lines: string[], existing: number | undefined): Effect {
    const record = this.mapped.archive.records[number - 1];
    const attempt = this.#attempt(record, number, cells, lines);
    let isChanged = false;
    let rid = existing;
    const isNew = rid === undefined;
    if (rid === undefined) rid = attempt((cells) => this.#fields.create(number, cells, this.#freeId(record)));
    else isChanged = attempt((cells) => this.#fields.change(rid!, cells));
    const { resource, writer, actor } = this.target;
    isChanged = attempt((cells) => this.#annotations.change(rid, cells)) || isChanged;
    const notes = this.#addNotes(rid, record, lines);
    const files = this.#addFiles(rid, record);
    if (!isNew && notes + files > 0 && !writer.allows(resource, rid, "change", actor)) throw forbidden();
    for (const message of record.leftOut) this.#leaveOut(number, null, message);
    const effect = isNew ? "created" : isChanged || notes + files > 0 ? "updated" : "unchanged";
    const name = String(record.cells.get("name")?.[0] ?? "");
    if (this.#report.records.length < SHOWN_RECORDS)
      this.#report.records.push({ row: number, name, effect, files, notes });
    this.#report.files += files;
    this.#report.notes += notes;
    return effect;
  }

  /** The record that a dataset updates: its original, or a record of the same name. */
  #existing(record: ElnRecord, cells: readonly Cell[]): number | undefined {
    return this.#byId(record) ?? this.#fields.find(cells);
  }

  /** The record that a dataset of labd was. */
  #byId({ id }: ElnRecord): number | undefined {
    const { store, resource, actor } = this.target;
    return id ? store.reader.find(resource, id, ALIVE, actor) : undefined;
  }

  /** The id that the record had, so that references and printed labels lead to it again, unless any record has it. */
  #freeId({ id }: ElnRecord): string | undefined {
    const { resources, statements } = this.target.store;
    if (id === undefined) return undefined;
    const tables = new Set(
      [...resources.values()].filter(({ fields }) => fields.id?.kind === "uuid").map(({ table }) => table),
    );
    const isTaken = [...tables].some((table) =>
      statements.get({ text: `SELECT 1 FROM ${table} WHERE id = ?`, args: [id] }),
    );
    return isTaken ? undefined : id;
  }

  /**
   * Work with the cells of a record. Values that a field refuses are tried in their other forms; then they are kept in a
   * note.
   */
  #attempt(record: ElnRecord, number: number, cells: Cell[], lines: string[]) {
    const first = new Map<string, unknown>();
    return <T>(work: (cells: readonly Cell[]) => T): T => {
      for (;;) {
        try {
          return work([...cells]);
        } catch (error) {
          const refused = this.#refused(error, cells);
          // A required value that was refused before is missing now.
          if (refused.length === 0) throw first.get(findField(error)) ?? error;
          for (const [i, message] of refused) {
            const { header, field } = this.#columns[i];
            first.set(field!, error);
            const forms = record.cells.get(header) ?? [];
            cells[i] = forms[forms.indexOf(cells[i]) + 1] ?? null;
            if (cells[i] !== null) continue;
            lines.push(noteLine(record, header));
            this.#leaveOut(number, header, `${message} Kept in a note.`);
          }
        }
      }
    };
  }

  /** The cells that an error is about, except for those that name the record, and its messages. */
  #refused(error: unknown, cells: readonly Cell[]): [number, string][] {
    if (!(error instanceof Problem) || !error.fields) return [];
    return Object.entries(error.fields).flatMap(([name, [message]]): [number, string][] => {
      const i = this.#columns.findIndex(({ field }) => field === name);
      return i < 0 || cells[i] === null || this.#fields.keys.includes(name) ? [] : [[i, String(message)]];
    });
  }

  /** The annotation type of a name; a new one if none exists. */
  #findType(header: string): string {
    const { store, resource, writer, actor } = this.target;
    const { names, kind } = this.mapped.archive.columns.find((column) => column.header === header)!;
    const name = names[0]
      .replace(/^annotations__/, "")
      .slice(0, 255)
      .trim();
    const [known] = resource.annotations!.find(name);
    if (known) return annotationName(known);
    const types = store.resources.get("annotation_type")!;
    const rid = writer.create(types, { name, type: kind }, actor);
    return `annotations__${String(writer.current(types, rid).id)}`;
  }

  #addNotes(rid: number, record: ElnRecord, lines: readonly string[]): number {
    const { store, resource, writer, actor } = this.target;
    const text = "SELECT content FROM note WHERE object_kind = ? AND object_rid = ? AND deleted = 0";
    const known = new Set(
      store.statements.all({ text, args: [resource.name, rid] }).map(({ content }) => String(content)),
    );
    const about = { text: lines.join("\n"), by: "", name: "metadata" };
    let added = 0;
    for (const { text, by, name } of [...record.notes, about]) {
      const whole = by === "" || SIGNATURE.test(text) ? text : `${text}\n\n— ${by}`;
      const content = this.#fitted(record, whole, name);
      if (content === "" || known.has(content) || known.has(text)) continue;
      known.add(content);
      this.#parts.create(writer, SUB_RESOURCES.note, { resource, rid }, { content }, { actor });
      added++;
    }
    return added;
  }

  /** A text cut to the length of a note; the whole text becomes a file. */
  #fitted({ files }: ElnRecord, text: string, name: string): string {
    if (text.length <= NOTE_LENGTH) return text;
    const content = new TextEncoder().encode(text);
    const file = `${name}.txt`;
    if (!files.some((each) => each.content instanceof Uint8Array && Bun.deepEquals(each.content, content)))
      files.push({ name: file, type: "text/plain", content, sha256: "", size: "" });
    return `${text.slice(0, MAX_QUOTED).toWellFormed()}…\n\nThe file ${file} has all ${text.length.toLocaleString("en")} characters.`;
  }

  #addFiles(rid: number, { files }: ElnRecord): number {
    const { store, resource, writer, actor } = this.target;
    const text =
      "SELECT name, sha256 FROM attachment WHERE object_kind = ? AND object_rid = ? AND deleted = 0";
    const known = new Set(
      store.statements
        .all({ text, args: [resource.name, rid] })
        .map(({ name, sha256 }) => `${sha256} ${name}`),
    );
    let added = 0;
    for (const file of files) {
      this.check();
      const content = this.mapped.contents.of(file);
      const key = `${content.sha256} ${file.name}`;
      if (known.has(key)) continue;
      known.add(key);
      const upload = { name: file.name, named: true, type: file.type, content };
      this.#attachments.add(writer, { resource, rid }, upload, actor);
      added++;
    }
    return added;
  }

  #leaveOut(row: number, column: string | null, message: string): void {
    if (this.#report.left_out.length < SHOWN_OMISSIONS) this.#report.left_out.push({ row, column, message });
  }
}

/** A value as a line of a note; a long one, such as the metadata of eLabFTW, becomes a file. */
function noteLine(record: ElnRecord, header: string): string {
  const text = best(record, header);
  if (text.length <= MAX_QUOTED) return `${header}: ${text}`;
  const name = `${header.replaceAll(/[/\\]/g, "-")}.${/^[[{]/.test(text) ? "json" : "txt"}`;
  record.files.push({
    name,
    type: Bun.file(name).type,
    content: new TextEncoder().encode(text),
    sha256: "",
    size: "",
  });
  return `${header}: in the file ${name}`;
}

/** The first field that an error is about. */
const findField = (error: unknown): string =>
  (error instanceof Problem && Object.keys(error.fields ?? {})[0]) || "";

/** The most legible form of a value. */
const best = (record: ElnRecord, header: string): string => {
  const forms = record.cells.get(header) ?? [];
  // The first form of a reference is an id.
  const isAmount = forms.length === 2 && String(forms[0]).startsWith(`${String(forms[1])} `);
  return String((isAmount ? forms[0] : forms.at(-1)) ?? "");
};
