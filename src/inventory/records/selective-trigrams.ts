import type { ReadStatements } from "./statements.ts";

/** Trigrams that are compared; the others of a long text need no lookup. */
const COMPARED = 24;
/** Rows by which the frequency of a trigram is estimated: the newest ones with it. */
const SAMPLE = 100;
/** Rows of the list of a trigram that are skipped in the time that testing one row takes. */
const SKIPPED_PER_TEST = 100;
/** Rows that an index finds in that time. */
export const READ_PER_TEST = 12;
/** So short lists of trigrams are read in a tenth of a millisecond. */
const SHORT = 5000;

/** Trigrams from all over a word, at most `most` and at least one. */
function trigramsOf(word: string, most: number): string[] {
  const points = Array.from(word);
  const last = points.length - 3;
  const count = Math.min(Math.max(1, most), last + 1);
  return Array.from({ length: count }, (_, i) => {
    const at = Math.floor((i * last) / Math.max(1, count - 1));
    return points.slice(at, at + 3).join("");
  });
}

/** How often trigrams occur in the texts of a table, so that common ones need no lookup. */
export class SelectiveTrigrams {
  readonly #counts = new Map<string, number>();
  readonly #rows: number;

  constructor(
    private readonly statements: ReadStatements,
    private readonly table: string,
  ) {
    const text = `SELECT max(rid) AS rows FROM ${table}`;
    this.#rows = Number(statements.get({ text, args: [] })?.rows ?? 0);
  }

  /**
   * Trigrams of the words that are worth looking up: the rarest of each word as long as skipping what others do not have
   * takes less time than testing the rows that it rules out, and all rare ones. The rows that have them must be tested.
   */
  choose(words: readonly string[]): string[] {
    const most = Math.floor(COMPARED / words.length);
    const counted = words.map((word) =>
      trigramsOf(word, most)
        .map((trigram) => ({ trigram, count: this.#countOf(trigram) }))
        .toSorted((a, b) => a.count - b.count),
    );
    const chosen = counted.flat().filter(({ count }) => count <= SHORT);
    let left = Infinity;
    for (const rarest of counted.map(([first]) => first).toSorted((a, b) => a.count - b.count)) {
      const share = rarest.count / this.#rows;
      if (rarest.count > SKIPPED_PER_TEST * left * (1 - share)) break;
      chosen.push(rarest);
      left = Math.min(left, this.#rows) * share;
    }
    return [...new Set(chosen.map(({ trigram }) => trigram))];
  }

  /** About how many of the rows have the trigram. */
  #countOf(trigram: string): number {
    let count = this.#counts.get(trigram);
    if (count === undefined) this.#counts.set(trigram, (count = this.#estimate(trigram)));
    return count;
  }

  #estimate(trigram: string): number {
    const index = `${this.table}_fts`;
    const text = `SELECT rowid AS rid FROM ${index} WHERE ${index} MATCH ? ORDER BY rowid DESC LIMIT ${SAMPLE}`;
    const newest = this.statements.numbers({ text, args: [matchAll([trigram])] });
    if (newest.length < SAMPLE) return newest.length;
    return (SAMPLE * this.#rows) / Math.max(SAMPLE, this.#rows - newest[SAMPLE - 1] + 1);
  }
}

/** Rows with all of the texts, in the language of FTS5. */
export const matchAll = (texts: readonly string[]): string =>
  texts.map((text) => `"${text.replaceAll('"', '""')}"`).join(" AND ");
