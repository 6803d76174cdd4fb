import { parsePattern, PatternError } from "../../motif/index.ts";
import { Problem } from "../../problem.ts";
import type { MotifClass } from "./motif-classes.ts";

/** Motif classes as the ELM resource publishes them (elm.eu.org, elm_classes.tsv). */
export interface ElmTable {
  /** Version from the file's comments, or null. */
  version: string | null;
  /** Date from the file's comments, or null. */
  published: string | null;
  classes: MotifClass[];
}

const NAME = "ELMIdentifier";
const EXPRESSION = "Regex";
/** The alphabet of `elmIdentifierName` in SOAP: otherwise no SOAP request could name the class. */
const ALLOWED_NAME = /^[A-Za-z0-9_-]{1,100}$/;
/** Maximum number of bad rows in an error. */
const MAX_REPORTED = 20;

/** Result for one line of a table. */
export interface ElmRow {
  /** Line number from 1. */
  line: number;
  /** The class; null for a bad line. */
  motif: MotifClass | null;
  problem: string | null;
}

/** A table with a result for each line. */
export interface CheckedTable extends Omit<ElmTable, "classes"> {
  rows: ElmRow[];
  /** Problems of the file as a whole. */
  problems: string[];
}

/**
 * Reads tab-separated text: comments that start with `#`, then column names, then one class per line. Cells may be quoted.
 * ELMIdentifier and Regex are required; Accession becomes an alias, Description (or FunctionalSiteName) the description;
 * other columns are ignored.
 * @throws Problem invalid_request for anything that is not such a table
 */
export function checkElmTable(text: string): CheckedTable {
  const lines = text
    .replace(/^\uFEFF/, "")
    .split(/\r\n|\n|\r/)
    .map((line, i) => ({ line, number: i + 1 }))
    .filter(({ line }) => line.trim() !== "");
  const comments = lines.filter(({ line }) => line.startsWith("#")).map(({ line }) => line);
  const [head, ...data] = lines.filter(({ line }) => !line.startsWith("#"));
  const columns = head ? splitCells(head.line) : null;
  if (!columns || !columns.includes(NAME) || !columns.includes(EXPRESSION)) {
    throw new Problem(
      "invalid_request",
      `${head ? `Line ${head.number}` : "The file"}: expected tab-separated column names that include ${NAME} and ${EXPRESSION}.`,
    );
  }
  const names = new Map<string, number>();
  const rows = data.map(({ line, number }): ElmRow => {
    try {
      return { line: number, motif: readRow(splitCells(line), columns, names, number), problem: null };
    } catch (error) {
      if (!(error instanceof BadRow)) throw error;
      return { line: number, motif: null, problem: error.message };
    }
  });
  const problems: string[] = [];
  const announced = readComment(comments, "Num_Classes");
  if (announced !== null && Number(announced) !== rows.length) {
    problems.push(
      `The file announces ${announced} classes but contains ${rows.length}: it may be truncated.`,
    );
  }
  if (rows.length === 0) problems.push("The table contains no class.");
  return {
    version: readComment(comments, "ELM_Classes_Download_Version"),
    published: readComment(comments, "ELM_Classes_Download_Date"),
    rows,
    problems,
  };
}

/**
 * Reads a table that must be correct.
 * @throws Problem invalid_request naming the bad rows
 */
export function readElmTable(text: string): ElmTable {
  const { version, published, rows, problems } = checkElmTable(text);
  const bad = rows.flatMap(({ line, problem }) => (problem === null ? [] : [`Line ${line}: ${problem}`]));
  bad.push(...problems);
  if (bad.length > 0) {
    const more = bad.length > MAX_REPORTED ? [`… and ${bad.length - MAX_REPORTED} more.`] : [];
    throw new Problem(
      "invalid_request",
      ["The table is not imported.", ...bad.slice(0, MAX_REPORTED), ...more].join("\n"),
    );
  }
  return { version, published, classes: rows.flatMap(({ motif }) => motif ?? []) };
}

class BadRow extends Error {}

function readRow(
  cells: string[] | null,
  columns: readonly string[],
  names: Map<string, number>,
  number: number,
): MotifClass {
  if (cells === null) throw new BadRow("a quotation mark is not closed, or does not enclose a whole cell.");
  if (cells.length !== columns.length) {
    throw new BadRow(`${cells.length} cells for ${columns.length} columns.`);
  }
  const cell = (name: string): string => cells[columns.indexOf(name)]?.trim() ?? "";
  const name = cell(NAME);
  if (!ALLOWED_NAME.test(name)) {
    throw new BadRow(`${NAME}: expected 1 to 100 letters, digits, hyphens and underscores.`);
  }
  const accession = cell("Accession");
  if (accession !== "" && !ALLOWED_NAME.test(accession)) {
    throw new BadRow(
      `${name}, Accession: expected letters, digits, hyphens and underscores, or an empty cell.`,
    );
  }
  const aliases = accession === "" || accession === name ? [] : [accession];
  for (const one of [name, ...aliases]) {
    const before = names.get(one);
    if (before !== undefined) throw new BadRow(`${one} is also in line ${before}.`);
  }
  for (const one of [name, ...aliases]) names.set(one, number);
  const expression = cell(EXPRESSION);
  if (expression === "") throw new BadRow(`${name}, ${EXPRESSION}: empty.`);
  try {
    parsePattern(expression, "elm");
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    throw new BadRow(`${name}, ${EXPRESSION}, character ${error.position + 1}: ${error.message}`);
  }
  const title = decodeHtml(cell("FunctionalSiteName")).replaceAll(/\s+/g, " ");
  return {
    name,
    title,
    aliases,
    expression,
    dialect: "elm",
    description: decodeHtml(cell("Description")) || title,
    citation: "ELM, http://elm.eu.org",
  };
}

const GREEK =
  "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigmaf sigma tau upsilon phi chi psi omega";
const ENTITIES: ReadonlyMap<string, string> = new Map([
  ...GREEK.split(" ").map((name, i): [string, string] => [name, String.fromCodePoint(0x3b1 + i)]),
  ...Object.entries({ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " ", deg: "°" }),
]);

/** Text without the HTML in ELM's texts: `α-helix` for `&alpha;-helix`. Unknown entities stay. */
export const decodeHtml = (text: string): string =>
  text
    .replaceAll(/<\/?(?:sup|sub|i|b|em)>/gi, "")
    .replaceAll(/&(?:#(\d{1,6})|#x([\da-f]{1,5})|(\w+));/gi, (entity, decimal, hexadecimal, name) => {
      const code = decimal ? Number(decimal) : Number.parseInt(hexadecimal, 16);
      return ENTITIES.get(name) ?? (code > 31 && code <= 0x10_ff_ff ? String.fromCodePoint(code) : entity);
    });

/** The cells of a line; null for unbalanced quotation marks. */
export function splitCells(line: string): string[] | null {
  const cells: string[] = [];
  const cell = /"((?:[^"]|"")*)"(?=\t|$)|([^"\t][^\t]*)?(?=\t|$)/y;
  for (let at = 0; at <= line.length;) {
    cell.lastIndex = at;
    const found = cell.exec(line);
    if (!found) return null;
    cells.push(found[1]?.replaceAll('""', '"') ?? found[2] ?? "");
    at = cell.lastIndex + 1;
  }
  return cells;
}

/** The value of a comment `#Name: value`. */
function readComment(comments: readonly string[], name: string): string | null {
  const start = `#${name}:`;
  const found = comments.find((comment) => comment.startsWith(start));
  return found === undefined ? null : found.slice(start.length).trim() || null;
}
