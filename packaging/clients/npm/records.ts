import { InvalidRequest, WorkFailed } from "./errors.ts";
import { FIRST_PAUSE, LONGEST_PAUSE, Progress, type ProgressOption } from "./progress.ts";
import { type Parameters, type Sender, toQuery } from "./send.ts";

/** Facts about a list of records. @internal */
export interface ListInfo {
  path: string;
  /** Fields that lists return, with the names of records that they refer to by id. */
  shown: readonly string[];
  /** True if a creation that is sent twice counts once. */
  isRepeatable: boolean;
}

/** Options of a list besides its filters. */
export interface ListOptions {
  /** At most so many records; all by default. */
  limit?: number;
  /** Fields, also across references (`location__unique_path`) and of annotations (`annotations__clonality`). */
  fields?: readonly string[];
}

/** A record, or its id. */
export type Reference = string | { id: string };

/** The report of an import. */
export interface ImportReport {
  rows: number;
  created: number;
  updated: number;
  unchanged: number;
  errors: readonly { row: number; column: string; message: string }[];
  [member: string]: unknown;
}

const PAGE = 1000;
/** Longer queries are sent in the body. */
const LONGEST_QUERY = 4000;

interface Page<T> {
  total: number;
  next: string | null;
  results: T[];
}

const idOf = (record: Reference): string => (typeof record === "string" ? record : record.id);

/** The values of properties, which some fields have as an object with name, value and category. @internal */
export function toPlain<T>(record: object): T {
  const isProperty = (value: unknown): value is { value: unknown } =>
    value !== null && typeof value === "object" && "category" in value && "value" in value && "name" in value;
  return Object.fromEntries(
    Object.entries(record).map(([name, value]) => [name, isProperty(value) ? value.value : value]),
  ) as T;
}

/**
 * A list of records. Filters are `field` or `field__lookup` with the lookups of docs/rest.md, such as `icontains`, `gte` and
 * `in`; `__` also follows references: `location__label`. Days may be counted from today: `expiry__lte: "30d"`.
 */
export class Records<Shown extends object, New extends object, Filters extends object> {
  readonly #sender: Sender;
  readonly #info: ListInfo;

  constructor(sender: Sender, info: ListInfo) {
    this.#sender = sender;
    this.#info = info;
  }

  get #address(): string {
    return `/api/v2/${this.#info.path}/`;
  }

  /** The matching records. */
  async list(filters?: Filters & ListOptions): Promise<Shown[]> {
    const records: Shown[] = [];
    for await (const record of this.iterate(filters)) records.push(record);
    return records;
  }

  /** The matching records, one after the other; pages are fetched as they are needed. */
  async *iterate(filters: Filters & ListOptions = {} as Filters & ListOptions): AsyncGenerator<Shown, void> {
    const { limit = Number.POSITIVE_INFINITY, fields = this.#info.shown, ...others } = filters;
    let count = 0;
    for (let page = 1; count < limit; page++) {
      const query = { ...others, fields, page, page_size: Math.max(1, Math.min(PAGE, limit)) } as Parameters;
      const { results, next } = await this.#page<object>(query);
      for (const record of results.slice(0, limit - count)) yield toPlain<Shown>(record);
      count += results.length;
      if (next === null) return;
    }
  }

  #page<T>(parameters: Parameters): Promise<Page<T>> {
    const query = toQuery(parameters);
    if (String(query).length <= LONGEST_QUERY)
      return this.#sender.json("GET", this.#address, { query: parameters });
    const json = Object.fromEntries(
      [...new Set(query.keys())].map((name) => {
        const values = query.getAll(name);
        return [name, values.length === 1 ? values[0] : values];
      }),
    );
    return this.#sender.json("POST", `${this.#address}search/`, { json, isRepeatable: true });
  }

  /** Number of matching records that you may view. */
  async count(filters: Filters = {} as Filters): Promise<number> {
    return (await this.#page({ ...(filters as Parameters), fields: "id", page_size: 1 })).total;
  }

  /** One record. @throws NotFound */
  async get(record: Reference, fields?: readonly string[]): Promise<Shown> {
    const query = fields === undefined ? {} : { query: { fields } };
    return toPlain(await this.#sender.json<object>("GET", `${this.#address}${idOf(record)}/`, query));
  }

  /** Creates a record. */
  async create(values: New): Promise<Shown> {
    return toPlain(await this.#create<object>(values));
  }

  /** Creates several records, all or none. */
  async createAll(records: readonly New[]): Promise<Shown[]> {
    return (await this.#create<object[]>(records)).map((record) => toPlain<Shown>(record));
  }

  #create<T>(json: unknown): Promise<T> {
    const { isRepeatable } = this.#info;
    return this.#sender.json("POST", this.#address, { json, isRepeatable });
  }

  /** Changes fields of one record. With `version`, it throws VersionConflict if somebody has changed the record since. */
  async update(record: Reference, values: Partial<New>, version?: number): Promise<Shown> {
    const isRepeatable = version === undefined;
    const headers: Record<string, string> = version === undefined ? {} : { "If-Match": `"${version}"` };
    const options = { json: values, headers, isRepeatable };
    return toPlain(await this.#sender.json<object>("PATCH", `${this.#address}${idOf(record)}/`, options));
  }

  /** Deletes a record. It can be restored. */
  async delete(record: Reference): Promise<void> {
    await this.#sender.request("DELETE", `${this.#address}${idOf(record)}/`);
  }

  /** Restores a deleted record. */
  async restore(record: Reference): Promise<Shown> {
    const path = `${this.#address}${idOf(record)}/restore/`;
    return toPlain(await this.#sender.json<object>("POST", path, { json: {}, isRepeatable: true }));
  }

  /**
   * Imports a CSV, XLSX or ELN file, all rows or none; options as in docs/rest.md, "Import". It is never repeated by
   * itself after a lost connection.
   * @throws InvalidRequest if rows are refused; its `body` is the report, with `errors`
   */
  async importFile(
    file: string | Blob | ArrayBuffer,
    options: Parameters & { dry_run?: boolean } = {},
    progress?: ProgressOption,
  ): Promise<ImportReport> {
    const headers = { "Content-Type": typeof file === "string" ? "text/csv" : XLSX };
    const query = { ...options, background: true };
    let work = await this.#sender.json<ImportWork>("POST", `${this.#address}import/`, {
      query,
      body: file,
      headers,
    });
    const bar = new Progress(`Importing ${this.#info.path}`, progress ?? this.#sender.progress);
    for (let pause = FIRST_PAUSE; work.ended === null; pause = Math.min(pause * 1.3, LONGEST_PAUSE)) {
      const { rows, rows_checked: checked, rows_read: read } = work;
      bar.at(
        checked / Math.max(1, rows ?? 0),
        rows === null ? `${read} rows read` : `${checked} of ${rows} rows`,
      );
      await new Promise((done) => setTimeout(done, pause));
      work = await this.#sender.json<ImportWork>("GET", `/api/v2/imports/${work.id}/`);
    }
    bar.end(work.state);
    const { state, message, report } = work;
    if (state === "refused") throw new InvalidRequest(message ?? "", "invalid_request", 400, report);
    if (state !== "finished") throw new WorkFailed(message ?? `The import is ${state}.`, state);
    return report!;
  }
}

interface ImportWork {
  id: string;
  state: string;
  ended: string | null;
  rows: number | null;
  rows_read: number;
  rows_checked: number;
  message: string | null;
  report: ImportReport | null;
}

const XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";
