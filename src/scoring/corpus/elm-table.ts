import { parsePattern, PatternError } from "../../motif/index.ts";
import { Problem } from "../../problem.ts";
import type { MotifClass } from "./motif-classes.ts";

/** A table of motif classes as the ELM resource publishes it (elm.eu.org, elm_classes.tsv). */
export interface ElmTable {
  /** What the file says of itself; null where it says nothing. */
  version: string | null;
  /** When it was made, in its own words. */
  published: string | null;
  classes: MotifClass[];
}

const NAME = "ELMIdentifier";
const EXPRESSION = "Regex";
/** What elmIdentifierName may hold, or nobody could ask for the class. */
const ALLOWED_NAME = /^[A-Za-z0-9_-]{1,100}$/;
/** Bad rows that a refusal names. */
const MOST_NAMED = 20;

/** What was found of one line of a table. */
export interface ElmRow {
  /** In the file, from 1. */
  line: number;
  /** The class; null where the line is wrong. */
  motif: MotifClass | null;
  /** What is wrong with the line. */
  problem: string | null;
}

/** A table that was read whole, with a verdict on each line. */
export interface JudgedTable extends Omit<ElmTable, "classes"> {
  rows: ElmRow[];
  /** What is wrong with the file as such. */
  problems: string[];
}

/**
 * Reads tab-separated text: comment lines with `#` first, then a line with the names of the columns, then a class a
 * line. Cells may stand in quotation marks, doubled inside. Needed are the columns ELMIdentifier and Regex; Accession
 * becomes an alias, Description (or FunctionalSiteName) the description, whatever else is there is left.
 * @throws Problem invalid_request where it is no such table at all
 */
export function judgeElmTable(text: string): JudgedTable {
  const lines = text
    .replace(/^\uFEFF/, "")
    .split(/\r\n|\n|\r/)
    .map((line, i) => ({ line, number: i + 1 }))
    .filter(({ line }) => line.trim() !== "");
  const comments = lines.filter(({ line }) => line.startsWith("#")).map(({ line }) => line);
  const [head, ...data] = lines.filter(({ line }) => !line.startsWith("#"));
  const columns = head ? cellsOf(head.line) : null;
  if (!columns || !columns.includes(NAME) || !columns.includes(EXPRESSION)) {
    throw new Problem(
      "invalid_request",
      `${head ? `Line ${head.number}` : "The file"}: expected the names of the columns, ${NAME} and ${EXPRESSION} among them, separated by tabs.`,
    );
  }
  const names = new Map<string, number>();
  const rows = data.map(({ line, number }): ElmRow => {
    try {
      return { line: number, motif: readRow(cellsOf(line), columns, names, number), problem: null };
    } catch (error) {
      if (!(error instanceof BadRow)) throw error;
      return { line: number, motif: null, problem: error.message };
    }
  });
  const problems: string[] = [];
  const announced = valueOf(comments, "Num_Classes");
  if (announced !== null && Number(announced) !== rows.length) {
    problems.push(`The file announces ${announced} classes and has ${rows.length}: it may be cut short.`);
  }
  if (rows.length === 0) problems.push("The table has no class.");
  return {
    version: valueOf(comments, "ELM_Classes_Download_Version"),
    published: valueOf(comments, "ELM_Classes_Download_Date"),
    rows,
    problems,
  };
}

/**
 * The classes of a table as `judgeElmTable` reads it.
 * @throws Problem invalid_request that names every bad row, where there are any
 */
export function readElmTable(text: string): ElmTable {
  const { version, published, rows, problems } = judgeElmTable(text);
  const bad = rows.flatMap(({ line, problem }) => (problem === null ? [] : [`Line ${line}: ${problem}`]));
  bad.push(...problems);
  if (bad.length > 0) {
    const more = bad.length > MOST_NAMED ? [`… and ${bad.length - MOST_NAMED} more.`] : [];
    throw new Problem(
      "invalid_request",
      ["The table is not imported.", ...bad.slice(0, MOST_NAMED), ...more].join("\n"),
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
  if (cells === null)
    throw new BadRow("a quotation mark is not closed, or does not stand around a whole cell.");
  if (cells.length !== columns.length) {
    throw new BadRow(`${cells.length} cells where there are ${columns.length} columns.`);
  }
  const cell = (name: string): string => cells[columns.indexOf(name)]?.trim() ?? "";
  const name = cell(NAME);
  if (!ALLOWED_NAME.test(name)) {
    throw new BadRow(`${NAME}: expected 1 to 100 letters, digits, hyphens and underscores.`);
  }
  const accession = cell("Accession");
  if (accession !== "" && !ALLOWED_NAME.test(accession)) {
    throw new BadRow(`${name}, Accession: expected letters, digits, hyphens and underscores, or nothing.`);
  }
  const aliases = accession === "" || accession === name ? [] : [accession];
  for (const one of [name, ...aliases]) {
    const before = names.get(one);
    if (before !== undefined) throw new BadRow(`${one} is in line ${before} already.`);
  }
  for (const one of [name, ...aliases]) names.set(one, number);
  const expression = cell(EXPRESSION);
  if (expression === "") throw new BadRow(`${name}, ${EXPRESSION}: it is empty.`);
  try {
    parsePattern(expression, "elm");
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    throw new BadRow(`${name}, ${EXPRESSION}, character ${error.position + 1}: ${error.message}`);
  }
  const description = cell("Description") || cell("FunctionalSiteName");
  return { name, aliases, expression, dialect: "elm", description, citation: "ELM, http://elm.eu.org" };
}

/** The cells of a line; null where quotation marks do not fit. */
function cellsOf(line: string): string[] | null {
  const cells: string[] = [];
  const cell = /"((?:[^"]|"")*)"(?=\t|$)|([^"\t][^\t]*)?(?=\t|$)/y;
  for (let at = 0; at <= line.length;) {
    cell.lastIndex = at;
    const found = cell.exec(line);
    if (!found) return null;
    cells.push(found[1]?.replaceAll('""', '"') ?? found[2] ?? "");
    // The tab, or the end.
    at = cell.lastIndex + 1;
  }
  return cells;
}

/** What a comment `#Name: value` says. */
function valueOf(comments: readonly string[], name: string): string | null {
  const start = `#${name}:`;
  const found = comments.find((comment) => comment.startsWith(start));
  return found === undefined ? null : found.slice(start.length).trim() || null;
}
