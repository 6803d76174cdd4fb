import type { ChooseTrigrams, Query } from "../model/operator.ts";
import { lookUpTexts, matchAll } from "../model/text-index.ts";

const MAX_KNOWN = 20_000;
/** Rows per match below which reading all rows is faster than looking up each match. */
const MIN_SELECTIVITY = 4;
/** Row numbers of the values of a type for each of them: 1024 for an annotation, of which a record may have ten. */
const ANNOTATION_ROWS = 10_240;
/** Trigrams of a text that are compared. */
const MAX_COMPARED = 24;
/** Trigrams of a text that are looked up. */
const MAX_CHOSEN = 4;
/** Rows with a trigram that are counted; of more, the frequency is estimated by these. */
const COUNT_LIMIT = 2000;
/** Rows of the list of a trigram that are skipped in the time that testing one row takes. */
const SKIPPED_PER_TEST = 100;
/** Rows that an index finds in that time. */
export const READ_PER_TEST = 12;

interface Trigram {
  text: string;
  count: number;
}

/** The number of rows with each trigram, to look up only rare ones of a text: common ones would return every row. */
export class TrigramStatistics {
  readonly #known = new Map<string, number>();

  constructor(private readonly query: Query) {}

  /** The other trigrams need no lookup: the comparison itself tests the rows that are found. */
  readonly choose: ChooseTrigrams = (table, text) => {
    const rarest = this.#rarest(table, text, MAX_COMPARED);
    const divisor = table === "annotation_value" ? ANNOTATION_ROWS : 1;
    if (rarest[0].count >= this.#rows(table) / divisor / MIN_SELECTIVITY) return undefined;
    return rarest.map(({ text }) => text);
  };

  /**
   * Trigrams of several words: rare ones of each word, as long as skipping what others do not have takes less time than
   * testing the rows that they rule out.
   */
  chooseForWords(table: string, words: readonly string[]): string[] {
    const maximum = Math.ceil(MAX_COMPARED / words.length);
    const byWord = words.map((word) => this.#rarest(table, word, maximum));
    const chosen: Trigram[] = [];
    let left = Infinity;
    for (const rarest of byWord.toSorted(([a], [b]) => a.count - b.count)) {
      const [{ count }] = rarest;
      const share = count / this.#rows(table);
      if (count > SKIPPED_PER_TEST * left * (1 - share)) break;
      chosen.push(...rarest);
      left = Math.min(left, this.#rows(table)) * share;
    }
    return [...new Set(chosen.map(({ text }) => text))];
  }

  /** Counts may be old: they decide how rows are found, not which. */
  forget(): void {
    this.#known.clear();
  }

  /** Rows of the table whose texts have the trigram; an estimate if they are more than COUNT_LIMIT. */
  count(table: string, trigram: string): number {
    return this.#remember(`${table}:${trigram}`, () => {
      const newest = `${lookUpTexts(table)} ORDER BY rowid DESC LIMIT ${COUNT_LIMIT}`;
      const text = `SELECT count(*) AS rows, min(rid) AS oldest FROM (${newest})`;
      const row = this.query.get({ text, args: [matchAll([trigram])] });
      const [count, rows] = [Number(row?.rows), this.#rows(table)];
      return count < COUNT_LIMIT ? count : (count * rows) / Math.max(count, rows - Number(row?.oldest) + 1);
    });
  }

  /** The rarest trigram of a text, and others that are as rare, which are not worth skipping if they are common. */
  #rarest(table: string, text: string, maximum: number): [Trigram, ...Trigram[]] {
    const counted: Trigram[] = [];
    for (const trigram of listTrigrams(text, maximum)) {
      const count = this.count(table, trigram);
      if (count === 0) return [{ text: trigram, count }];
      counted.push({ text: trigram, count });
    }
    const [first, ...others] = counted.toSorted((a, b) => a.count - b.count);
    return [first, ...others.slice(0, MAX_CHOSEN - 1).filter(({ count }) => count <= COUNT_LIMIT)];
  }

  /** The largest row number. */
  #rows(table: string): number {
    const text = `SELECT max(rid) AS rows FROM ${table}`;
    return this.#remember(`${table} rows`, () => Number(this.query.get({ text, args: [] })?.rows ?? 0));
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

/** Trigrams from all over a text, at most `maximum`. */
function listTrigrams(text: string, maximum: number): string[] {
  const points = Array.from(text);
  const last = points.length - 3;
  const count = Math.min(maximum, last + 1);
  const trigrams = Array.from({ length: count }, (_, i) => {
    const at = Math.floor((i * last) / Math.max(1, count - 1));
    return points.slice(at, at + 3).join("");
  });
  return [...new Set(trigrams)];
}
