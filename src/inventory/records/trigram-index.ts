import type { Sql } from "../model/operator.ts";
import { columnOf, type Resource } from "../model/resource.ts";
import type { Statements } from "./statements.ts";

/** Pending trigrams, in bytes, that are written as one segment of the index; 1 MB otherwise. */
const TRIGRAMS = 33_554_432;

/** By default, FTS5 merges small segments with large ones again and again, which takes five times as long. */
export function withLargeSegments(statements: Statements, table: string, write: () => void): void {
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

/**
 * Runs work that adds many records, within a transaction. Their trigrams are written together at the end: with each of
 * them, FTS5 would write a segment of its own. Until then, searches do not find the new records. Other connections see
 * the trigger, which is back when the transaction ends.
 */
export function indexingTogether<T>(statements: Statements, resource: Resource, work: () => T): T {
  const { table, fields } = resource;
  const indexed = Object.entries(fields).filter(([, { trigrams }]) => trigrams !== undefined);
  const run = (text: string, args: Sql["args"] = []): void => void statements.run({ text, args });
  const get = (text: string, args: Sql["args"] = []) => statements.get({ text, args });
  const name = `${table}_trigrams_insert`;
  const trigger = get("SELECT sql FROM sqlite_schema WHERE type = 'trigger' AND name = ?", [name]);
  if (!trigger) return work();
  const last = Number(get(`SELECT coalesce(max(rid), 0) AS rid FROM ${table}`)?.rid);
  run(`DROP TRIGGER ${name}`);
  const value = work();
  const columns = indexed.map(([, { trigrams }]) => trigrams);
  const texts = indexed.map(([name, { folded }]) => folded ?? `fold(${columnOf(resource, name)})`);
  withLargeSegments(statements, table, () =>
    run(
      `INSERT INTO ${table}_fts (rowid, ${columns.join(", ")}) SELECT rid, ${texts.join(", ")} FROM ${table} WHERE rid > ?`,
      [last],
    ),
  );
  run(String(trigger.sql));
  return value;
}
