import fontFile from "dejavu-fonts-ttf/ttf/DejaVuSansCondensed.ttf" with { type: "file" };
import PDFDocument from "pdfkit";
import type { Label } from "./label.ts";
import type { Sheet } from "./sheet.ts";
import { code128Widths, moduleOn, modulesOf, QUIET, type Symbology } from "./symbol.ts";
import { type Matrix, qrMatrix } from "../../platform/qr-code.ts";

/** Labels as PDF: text in a subset of one font, codes as shapes. */

/** Points in a millimetre. */
const MM = 72 / 25.4;
/** From the edge of a label, in millimetres: printers shift by a millimetre or so. */
const PAD = 1.2;
/** The narrowest module that readers in a laboratory and printers of 300 dpi manage, in millimetres. */
const NARROWEST = { qr: 0.19, code128: 0.165 } as const;
/** Sizes of letters in points. */
const SIZES = { most: 11, least: 4.5, step: 0.5 };
/** Height of a line of DejaVu Sans, and how far down its capitals stand, in sizes. */
const LINE = 1.17;

type Document = InstanceType<typeof PDFDocument>;
interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

let font: Promise<Buffer> | undefined;

/** A file of labels, the first `skip` places of the first page left empty. */
export async function labelPdf(
  labels: readonly Label[],
  sheet: Sheet,
  symbol: Symbology,
  skip: number,
  title: string,
): Promise<Uint8Array<ArrayBuffer>> {
  font ??= Bun.file(fontFile).arrayBuffer().then(Buffer.from);
  const { grid, label: size } = sheet;
  const page = grid?.page ?? size;
  const document = new PDFDocument({
    size: [page.width * MM, page.height * MM],
    margin: 0,
    autoFirstPage: false,
    font: (await font) as unknown as string,
    info: { Title: title },
  });
  const parts: Uint8Array[] = [];
  document.on("data", (part: Uint8Array) => parts.push(part));
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  document.on("end", resolve).on("error", reject);
  const perPage = grid ? grid.columns * grid.rows : 1;
  for (const [i, label] of labels.entries()) {
    const at = i + (grid ? skip : 0);
    if (i === 0 || at % perPage === 0) document.addPage();
    // Long lists must not keep others waiting.
    if (i % 100 === 99) await new Promise((turn) => setImmediate(turn));
    const column = grid ? at % grid.columns : 0;
    const row = grid ? Math.floor((at % perPage) / grid.columns) : 0;
    draw(document, label, symbol, {
      x: ((grid?.left ?? 0) + column * (grid?.across ?? 0) + PAD) * MM,
      y: ((grid?.top ?? 0) + row * (grid?.down ?? 0) + PAD) * MM,
      width: (size.width - 2 * PAD) * MM,
      height: (size.height - 2 * PAD) * MM,
    });
  }
  document.end();
  await promise;
  return new Uint8Array(Buffer.concat(parts));
}

/** What keeps this code from being read on this stock: its module in millimetres, where it is too narrow. */
export function tooNarrow(label: Label, sheet: Sheet, symbol: Symbology): number | undefined {
  const count = symbol === "qr" ? qrMatrix(label.address).size : modulesOf(code128Widths(label.bars));
  const module = moduleOn(sheet.label, symbol, count);
  return module < NARROWEST[symbol] ? module : undefined;
}

function draw(document: Document, label: Label, symbol: Symbology, box: Box): void {
  const outer = { width: box.width / MM + 2 * PAD, height: box.height / MM + 2 * PAD };
  if (symbol === "qr") {
    const matrix = qrMatrix(label.address);
    const module = moduleOn(outer, symbol, matrix.size) * MM;
    const side = module * matrix.size;
    const quiet = module * QUIET.qr;
    const left = box.x - PAD * MM + Math.max(PAD * MM, quiet);
    drawMatrix(document, matrix, module, left, box.y + (box.height - side) / 2);
    const x = left + side + quiet;
    return writeText(document, label, { ...box, x, width: box.x + box.width - x });
  }
  const high = Math.max(box.height * 0.42, 4 * MM);
  const widths = code128Widths(label.bars);
  const modules = modulesOf(widths);
  const module = moduleOn(outer, symbol, modules) * MM;
  const y = box.y + box.height - high;
  let x = box.x + (box.width - module * modules) / 2;
  for (const [i, width] of widths.entries()) {
    if (i % 2 === 0) document.rect(x, y, width * module, high);
    x += width * module;
  }
  document.fill();
  writeText(document, label, { ...box, height: box.height - high - 0.5 * MM });
}

/** Runs of dark modules as rectangles of one shape, so that no seam shows between them. */
function drawMatrix(
  document: Document,
  { size, dark }: Matrix,
  module: number,
  left: number,
  top: number,
): void {
  for (let y = 0; y < size; y++)
    for (let x = 0; x < size; x++) {
      if (!dark(x, y)) continue;
      const from = x;
      while (x < size && dark(x, y)) x++;
      document.rect(left + from * module, top + y * module, (x - from) * module, module);
    }
  document.fill();
}

/** The name as large as it can be in full, then what it is and where, then the code; what does not fit ends in an ellipsis. */
function writeText(document: Document, label: Label, box: Box): void {
  for (let size = SIZES.most; size >= SIZES.least; size -= SIZES.step) {
    const small = Math.max(SIZES.least, size * 0.75);
    const last = size - SIZES.step < SIZES.least;
    const about = { text: label.about, whole: false };
    const code = { text: label.code, whole: true };
    const below = label.about === "" ? [code] : [about, code];
    const room = Math.floor((box.height - below.length * small * LINE) / (size * LINE));
    // On the smallest labels the name and the code are what counts.
    if (last && room < 1) {
      const lines = Math.max(1, Math.floor(box.height / (size * LINE)) - 1);
      return writeLines(document, [...cut(document, label.name, size, box.width, lines)], size, box, [code]);
    }
    if (room < 1) continue;
    const lines = wrap(document, label.name, size, box.width);
    const whole = lines.length <= room && lines.every((line) => widthOf(document, line, size) <= box.width);
    if (!whole && !last) continue;
    return writeLines(
      document,
      whole ? lines : cut(document, label.name, size, box.width, room),
      size,
      box,
      below,
    );
  }
}

function writeLines(
  document: Document,
  names: readonly string[],
  size: number,
  box: Box,
  below: readonly Line[],
): void {
  const small = Math.max(SIZES.least, size * 0.75);
  let { y } = box;
  const write = (text: string, points: number): void => {
    document.fontSize(points).text(text, box.x, y, { lineBreak: false });
    y += points * LINE;
  };
  for (const line of names) write(line, size);
  for (const { text, whole } of below) {
    // A code that is cut off is none.
    if (whole) write(text, Math.min(small, (small * box.width) / widthOf(document, text, small)));
    else write(fromItsEnd(document, text, small, box.width), small);
  }
}

/** A line below the name. */
interface Line {
  text: string;
  /** Whether all of it must be there, in however small letters. */
  whole: boolean;
}

const widthOf = (document: Document, text: string, size: number): number =>
  document.fontSize(size).widthOfString(text);

/** Lines between words; a word that is longer than a line is broken where it must be. */
function wrap(document: Document, text: string, size: number, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/\s+/).flatMap((word) => pieces(document, word, size, width))) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && widthOf(document, longer, size) > width) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}

/** A word after whose hyphens, underscores and slashes a line may end, or anywhere where that is not enough. */
function pieces(document: Document, word: string, size: number, width: number): string[] {
  if (widthOf(document, word, size) <= width) return [word];
  const found: string[] = [];
  let piece = "";
  for (const letter of word) {
    if (piece !== "" && widthOf(document, piece + letter, size) > width) {
      found.push(piece);
      piece = "";
    }
    piece += letter;
  }
  return [...found, piece];
}

function cut(document: Document, text: string, size: number, width: number, lines: number): string[] {
  const all = wrap(document, text, size, width);
  if (all.length <= lines) return all;
  return [...all.slice(0, lines - 1), shorten(document, all.slice(lines - 1).join(" "), size, width)];
}

function shorten(document: Document, text: string, size: number, width: number): string {
  if (widthOf(document, text, size) <= width) return text;
  const letters = [...text];
  while (letters.length > 0 && widthOf(document, `${letters.join("")}…`, size) > width) letters.pop();
  return `${letters.join("").trimEnd()}…`;
}

/** As much of the end as fits: of a way to a place, the place itself. */
function fromItsEnd(document: Document, text: string, size: number, width: number): string {
  if (widthOf(document, text, size) <= width) return text;
  const letters = [...text];
  while (letters.length > 0 && widthOf(document, `…${letters.join("")}`, size) > width) letters.shift();
  return `…${letters.join("").trimStart()}`;
}
