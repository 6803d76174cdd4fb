import type { ChooseTrigrams, Query } from "../model/operator.ts";

const MAX_KNOWN = 20_000;
/** Rows per match below which reading all rows is faster than looking up each match. */
const MIN_SELECTIVITY = 4;
/** Row numbers of the values of a type for each of them: 1024 for an annotation, of which a record may have ten. */
const ANNOTATION_ROWS = 10_240;
/** Characters of a text whose trigrams are compared. */
const MAX_COMPARED = 200;

function beginning(text: string): string[] {
  const points: string[] = [];
  for (const point of text) if (points.push(point) === MAX_COMPARED) break;
  return points;
}

/** How many rows have each trigram, to look up only the rarest one of a text: common ones would return every row. */
export class TrigramStatistics {
  readonly #known = new Map<string, number>();

  constructor(private readonly query: Query) {}

  /** The other trigrams need no lookup: the comparison itself tests the rows that are found. */
  readonly choose: ChooseTrigrams = ({ table }, text) => {
    const points = beginning(text);
    let rarest: string | undefined;
    let least = this.#rows(table) / MIN_SELECTIVITY;
    for (let i = 0; i + 3 <= points.length; i++) {
      const trigram = points.slice(i, i + 3).join("");
      const count = this.count(table, trigram);
      if (count >= least) continue;
      rarest = trigram;
      least = count;
      if (count === 0) break;
    }
    return rarest;
  };

  /** Counts may be old: they decide how rows are found, not which. */
  forget(): void {
    this.#known.clear();
  }

  #rows(table: string): number {
    const divisor = table === "annotation_value_fts" ? ANNOTATION_ROWS : 1;
    const text = `SELECT max(rid) / ${divisor} AS rows FROM ${table.replace(/_fts$/, "")}`;
    return this.#remember(`${table} rows`, () => Number(this.query.get({ text, args: [] })?.rows ?? 0));
  }

  /** Rows with the trigram, in any column. */
  count(table: string, trigram: string): number {
    return this.#remember(`${table}:${trigram}`, () => {
      const terms = `${table}_terms`;
      const create = `CREATE VIRTUAL TABLE IF NOT EXISTS temp.${terms} USING fts5vocab(main, ${table}, row)`;
      this.query.get({ text: create, args: [] });
      const text = `SELECT doc AS rows FROM temp.${terms} WHERE term = ?`;
      return Number(this.query.get({ text, args: [trigram] })?.rows ?? 0);
    });
  }

  #remember(key: string, read: () => number): number {
    let count = this.#known.get(key);
    if (count === undefined) {
      if (this.#known.size >= MAX_KNOWN) this.#known.clear();
      this.#known.set(key, (count = read()));
    }
    return count;
  }
}
