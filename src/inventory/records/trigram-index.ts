import type { Statements } from "./statements.ts";

/** Pending trigrams, in bytes, that are written as one segment of the index; 1 MB otherwise. */
const TRIGRAMS = 33_554_432;

/**
 * Runs work that changes many rows of a table with a trigram index, within a transaction. By default, FTS5 merges small
 * segments with large ones again and again, which takes five times as long.
 */
export function withLargeSegments(statements: Statements, table: string, write: () => unknown): void {
  const index = `${table}_fts`;
  const set = (option: string, value: number): void =>
    void statements.run({
      text: `INSERT INTO ${index} (${index}, rank) VALUES (?, ?)`,
      args: [option, value],
    });
  set("automerge", 0);
  set("hashsize", TRIGRAMS);
  write();
  // The defaults of FTS5.
  set("automerge", 4);
  set("hashsize", 1_048_576);
}

/** A trigger that indexes each new row: the columns of the index, and the texts of the row. */
const INSERT_TRIGGER = /AFTER INSERT ON \w+ BEGIN\s+(INSERT INTO .+) VALUES \((.+)\);/;

/**
 * Runs work that adds many rows to a table, within a transaction, and indexes them with one statement at the end: FTS5
 * writes a segment each time the trigger fires. Until then, searches do not find the new rows. The trigger is dropped
 * meanwhile; other connections do not see that, and an error rolls it back.
 */
export function indexingTogether<T>(statements: Statements, table: string, work: () => T): T {
  const name = `${table}_trigrams_insert`;
  const schema = "SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND name = ?";
  const trigger = String(statements.get({ text: schema, args: [name] })?.sql);
  const [, insert, texts] = INSERT_TRIGGER.exec(trigger) ?? [];
  if (insert === undefined) return work();
  const last = statements.get({ text: `SELECT coalesce(max(rid), 0) AS rid FROM ${table}`, args: [] })!.rid;
  statements.run({ text: `DROP TRIGGER ${name}`, args: [] });
  const value = work();
  const text = `${insert} SELECT ${texts.replaceAll("new.", "")} FROM ${table} WHERE rid > ?`;
  withLargeSegments(statements, table, () => statements.run({ text, args: [last] }));
  statements.run({ text: trigger, args: [] });
  return value;
}
