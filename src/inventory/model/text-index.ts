/** Characters of the shortest text that can be looked up. */
export const TRIGRAM = 3;

/** The part of the text index that has the texts of a table, under the row numbers of that table. */
export const textTable = (table: string): string => `record_text_${table}`;

/** Selects the row numbers (`rid`) of a table whose texts have what MATCH looks up (argument); more conditions may follow. */
export const lookUpTexts = (table: string): string =>
  `SELECT rowid AS rid FROM ${textTable(table)} WHERE ${textTable(table)} MATCH ?`;

const quote = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/** Texts that contain all of these, in the language of FTS5; of several in a list, one of them. */
export const matchAll = (texts: readonly (string | readonly string[])[]): string =>
  texts
    .map((text) => (typeof text === "string" ? quote(text) : `(${text.map(quote).join(" OR ")})`))
    .join(" AND ");
