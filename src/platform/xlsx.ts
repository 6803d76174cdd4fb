import { escapeAttribute, escapeText } from "./xml-text.ts";
import { streamZip, type StreamedEntry } from "./zip-file.ts";

/** The content of a spreadsheet cell; text always stays text, even after `=`. */
export type XlsxCell = string | number | boolean | null;

/** A sheet with a header; rows are read when they are needed. */
export interface XlsxSheet {
  title: string;
  names: readonly string[];
  rows: Iterable<readonly XlsxCell[]> | AsyncIterable<readonly XlsxCell[]>;
}

/** Maximum length of a spreadsheet cell, in characters. */
const CELL_LENGTH = 32_767;

/** Excel's limit of rows; more go into another sheet. */
const MAX_ROWS = 1_048_576;

/** Cuts a text off at Excel's limit. */
export const xlsxText = (text: string): string =>
  text.length > CELL_LENGTH ? text.slice(0, CELL_LENGTH) : text;

/** Office Open XML (ECMA-376), made while it is read. */
export function xlsxFile(sheets: readonly XlsxSheet[]): ReadableStream<Uint8Array> {
  const pieces = streamZip(workbookParts(sheets));
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await pieces.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await pieces.return();
      },
    },
    { highWaterMark: 0 },
  );
}

async function* workbookParts(sheets: readonly XlsxSheet[]): AsyncGenerator<StreamedEntry> {
  const titles: string[] = [];
  for (const { title, names, rows } of sheets) {
    // Excel allows 31 characters, and none of []:*?/\.
    const plain = title.replaceAll(/[[\]:*?/\\]/g, " ");
    const reader = new RowReader(rows);
    for (let part = 1; part === 1 || !(await reader.isAtEnd()); part++) {
      const suffix = part === 1 ? "" : `_${part}`;
      titles.push(plain.slice(0, 31 - suffix.length) + suffix);
      yield { name: `xl/worksheets/sheet${titles.length}.xml`, chunks: sheetXml(names, reader) };
    }
  }
  for (const [name, text] of describeSheets(titles))
    yield { name, chunks: [new TextEncoder().encode(XML + text)] };
}

/** Rows that can be looked at before they are taken. */
class RowReader {
  readonly #rows: Iterator<readonly XlsxCell[]> | AsyncIterator<readonly XlsxCell[]>;
  #next: IteratorResult<readonly XlsxCell[]> | undefined;

  constructor(rows: XlsxSheet["rows"]) {
    this.#rows = Symbol.iterator in rows ? rows[Symbol.iterator]() : rows[Symbol.asyncIterator]();
  }

  async isAtEnd(): Promise<boolean> {
    this.#next ??= await this.#rows.next();
    return this.#next.done === true;
  }

  /** The next row; only after `isAtEnd`. */
  take(): readonly XlsxCell[] {
    const row = this.#next!.value as readonly XlsxCell[];
    this.#next = undefined;
    return row;
  }
}

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const OFFICE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PACKAGE = "http://schemas.openxmlformats.org/package/2006";
const TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml";

/** The header stays in view. */
const SHEET_START = `${XML}<worksheet xmlns="${MAIN}"><sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews><sheetData>`;

/** Characters that are encoded at a time. */
const CHUNK = 65_536;

async function* sheetXml(names: readonly string[], reader: RowReader): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  const letters = Array.from({ length: names.length }, (_, i) => columnLetters(i));
  let number = 1;
  let text = SHEET_START + rowXml(names, number, letters);
  while (number < MAX_ROWS && !(await reader.isAtEnd())) {
    text += rowXml(reader.take(), ++number, letters);
    if (text.length < CHUNK) continue;
    yield encoder.encode(text);
    text = "";
  }
  yield encoder.encode(`${text}</sheetData></worksheet>`);
}

function rowXml(cells: readonly XlsxCell[], number: number, letters: string[]): string {
  const texts = cells.map((cell, i) => {
    if (cell === null) return "";
    const at = `<c r="${(letters[i] ??= columnLetters(i))}${number}"`;
    if (typeof cell === "number") return `${at}><v>${cell}</v></c>`;
    if (typeof cell === "boolean") return `${at} t="b"><v>${Number(cell)}</v></c>`;
    return `${at} t="inlineStr"><is><t xml:space="preserve">${escapeText(keepCodes(cell))}</t></is></c>`;
  });
  return `<row r="${number}">${texts.join("")}</row>`;
}

/** A, B, …, Z, AA for 0, 1, …, 25, 26. */
const columnLetters = (index: number): string =>
  (index < 26 ? "" : columnLetters(Math.floor(index / 26) - 1)) + String.fromCodePoint(65 + (index % 26));

/** `_x0041_`, which Excel would read as a character, stays as it is. */
const keepCodes = (text: string): string => text.replaceAll(/_(?=x[0-9A-Fa-f]{4}_)/g, "_x005F_");

/** The parts that name the sheets. */
function describeSheets(titles: readonly string[]): [name: string, xml: string][] {
  const list = (make: (title: string, number: number) => string): string =>
    titles.map((title, i) => make(title, i + 1)).join("");
  const sheets = list(
    (title, n) => `<sheet name="${escapeAttribute(keepCodes(title))}" sheetId="${n}" r:id="rId${n}"/>`,
  );
  const relation = (id: number, type: string, target: string): string =>
    `<Relationship Id="rId${id}" Type="${OFFICE}/${type}" Target="${target}"/>`;
  const part = (name: string, kind: string): string =>
    `<Override PartName="/xl/${name}" ContentType="${TYPE}.${kind}+xml"/>`;
  return [
    [
      "xl/workbook.xml",
      `<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets>${sheets}</sheets></workbook>`,
    ],
    [
      "xl/_rels/workbook.xml.rels",
      `<Relationships xmlns="${PACKAGE}/relationships">${list((_, n) => relation(n, "worksheet", `worksheets/sheet${n}.xml`))}</Relationships>`,
    ],
    [
      "_rels/.rels",
      `<Relationships xmlns="${PACKAGE}/relationships">${relation(1, "officeDocument", "xl/workbook.xml")}</Relationships>`,
    ],
    [
      "[Content_Types].xml",
      `<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>${part("workbook.xml", "sheet.main")}${list((_, n) => part(`worksheets/sheet${n}.xml`, "worksheet"))}</Types>`,
    ],
  ];
}
