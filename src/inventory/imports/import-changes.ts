import { Type } from "typebox";
import type { Json } from "../model/field.ts";
import { csvLine } from "../model/page.ts";

const VALUE = Type.Unsafe<Json>({ description: "Null if absent; the name of a reference." });

/** An existing record that a row changes. */
export const CHANGED_ROW = Type.Object(
  {
    row: Type.Integer(),
    id: Type.String(),
    name: Type.String(),
    changes: Type.Array(Type.Object({ field: Type.String(), before: VALUE, after: VALUE })),
    kept: Type.Array(Type.String(), { description: "Fields with a value that stays." }),
  },
  { $id: "ImportedChange" },
);
export type ChangedRecord = Type.Static<typeof CHANGED_ROW>;

/** Changed records that a report lists. */
const MAX_SHOWN = 100;
/** Characters of the table that are compressed together. */
const CHUNK = 200_000;

type Values = Readonly<Record<string, Json>>;

/** A CSV file in pieces compressed with zstd, so that a long one takes little memory. */
export class PackedTable {
  readonly pieces: Uint8Array[] = [];
  #text = "";

  add(line: readonly Json[]): void {
    this.#text += csvLine([...line]);
    if (this.#text.length > CHUNK) this.end();
  }

  /** Completes the table. */
  end(): void {
    if (this.#text !== "") this.pieces.push(Bun.zstdCompressSync(this.#text, { level: 1 }));
    this.#text = "";
  }
}

/** The changes of existing records: the first ones for the report and, if asked for, all as a table. */
export class ChangeList {
  readonly shown: ChangedRecord[] = [];
  readonly table = new PackedTable();

  constructor(private readonly listsAll: boolean) {
    if (listsAll) this.table.add(["row", "id", "name", "field", "before", "after"]);
  }

  /** True if the next change is listed. */
  get isOpen(): boolean {
    return this.listsAll || this.shown.length < MAX_SHOWN;
  }

  add(record: Pick<ChangedRecord, "row" | "id" | "name">, before: Values, after: Values): void {
    const [changed, same] = Object.keys(after).reduce<[string[], string[]]>(
      (parts, name) => {
        parts[Bun.deepEquals(before[name], after[name]) ? 1 : 0].push(name);
        return parts;
      },
      [[], []],
    );
    const changes = changed.map((field) => ({
      field,
      before: before[field] ?? null,
      after: after[field] ?? null,
    }));
    const kept = same.filter((name) => ![null, "", false, undefined].includes(after[name] as null));
    if (this.shown.length < MAX_SHOWN) this.shown.push({ ...record, changes, kept });
    if (!this.listsAll) return;
    const { row, id, name } = record;
    for (const { field, before, after } of changes) this.table.add([row, id, name, field, before, after]);
  }
}
