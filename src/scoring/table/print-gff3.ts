import { type Column, readCell, findColumn } from "./column.ts";
import { isMatch, type MatchRow, type TableRow } from "./match-row.ts";
import type { MatchTable } from "./match-tables.ts";
import { printCell } from "./print-tsv.ts";
import type { TablePart } from "./rows.ts";

export const GFF3_HEAD = "##gff-version 3\n";

/** Columns of GFF3 itself. */
const FIELDS = new Set(["start", "end", "method"]);

/** Columns of the attributes, each with its name: reserved ones are capitalised, our own are not, as GFF3 demands. */
const listAttributes = ({ columns, gff3 }: MatchTable): (readonly [string, Column])[] => {
  const first = gff3.first.split(" ").flatMap((name) => (name === "" ? [] : findColumn(name, columns)));
  const own = columns.filter((column) => !first.includes(column));
  return [...first, ...own]
    .filter(({ name }) => name !== gff3.sequence && !FIELDS.has(name))
    .map((column) => [gff3.names[column.name] ?? column.name, column] as const);
};

/**
 * A feature per match (GFF3 1.26, Sequence Ontology), of type `polypeptide_motif` (SO:0001067). The extent of a sequence
 * precedes its first feature. Rows without a match and empty attributes are left out.
 */
export function printGff3(table: MatchTable, { rows, sequences }: TablePart): string {
  const attributes = listAttributes(table);
  const sequence = findColumn(table.gff3.sequence, table.columns);
  const score = findColumn(table.gff3.score, table.columns);
  const described = new Set(sequences.map(({ name }) => name));
  const describe = ({ protein }: TableRow, name: string): string => {
    if (described.has(name)) return "";
    described.add(name);
    return regionLine(name, protein?.length ?? 0);
  };
  const lines = rows.filter(isMatch).map((row: MatchRow) => {
    const name = String(readCell(sequence, row));
    const text = attributes.flatMap(([attribute, column]) => {
      const value = printCell(readCell(column, row));
      return value === "" ? [] : `${attribute}=${escapeAttribute(value)}`;
    });
    const place = [
      escapeSequence(name),
      escapeAttribute(row.method ?? "."),
      "polypeptide_motif",
      row.start,
      row.end,
    ];
    const fields = [...place, printCell(readCell(score, row)) || ".", ".", ".", text.join(";")];
    return `${describe(row, name)}${fields.join("\t")}\n`;
  });
  return sequences.map(({ name, length }) => regionLine(name, length)).join("") + lines.join("");
}

/** The extent of a sequence. */
const regionLine = (name: string, length: number): string =>
  length > 0 ? `##sequence-region ${escapeSequence(name)} 1 ${length}\n` : "";

/** Column 1: everything but `[a-zA-Z0-9.:^*$@!+_?-|]` is escaped. */
const escapeSequence = (text: string): string =>
  text.toWellFormed().replace(/[^a-zA-Z0-9.:^*$@!+_?|-]/gu, percent);

/** Column 9: control characters, `%` and the separators of attributes are escaped. */
const escapeAttribute = (text: string): string =>
  // oxlint-disable-next-line no-control-regex -- control characters are to be escaped
  text.toWellFormed().replace(/[\u0000-\u001F\u007F%;=&,]/g, percent);

/** Percent-encoding (RFC 3986, section 2.1). */
function percent(character: string): string {
  return [...new TextEncoder().encode(character)]
    .map((byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`)
    .join("");
}
