import fontFile from "dejavu-fonts-ttf/ttf/DejaVuSansCondensed.ttf" with { type: "file" };
import PDFDocument from "pdfkit";
import type { Label } from "./label.ts";
import { code128Widths, computeModuleSize, countModules, QUIET_ZONE, type Symbology } from "./symbol.ts";
import type { Area, Sheet } from "./sheet.ts";
import { type Matrix, qrMatrix } from "../../platform/qr-code.ts";

/** Labels as PDF: text in an embedded subset of one font, symbols as vector shapes. */

/** Points in a millimetre. */
const MM = 72 / 25.4;
/** Millimetres from the edge of a label: printers are off by about one. */
const MARGIN = 1.2;
/** The narrowest module, in millimetres, that 300 dpi printers and common scanners manage. */
const NARROWEST = { qr: 0.19, code128: 0.165 } as const;
/** Font sizes in points. */
const SIZES = { maximum: 11, minimum: 4.5, step: 0.5 };
/** Line height of DejaVu Sans, relative to the font size. */
const LINE = 1.17;

type Document = InstanceType<typeof PDFDocument>;

export const fitsPdf = (label: Label, sheet: Sheet, symbol: Symbology): boolean =>
  computeModuleSize(sheet.label, symbol, countModules(label, symbol)) >= NARROWEST[symbol];

let font: Promise<Buffer> | undefined;

/** The executable has the font compressed (packaging/compressed-assets.ts). */
const unpacked = (bytes: Uint8Array<ArrayBuffer>): Buffer =>
  Buffer.from(bytes[0] === 0x1f ? Bun.gunzipSync(bytes) : bytes);

/** A PDF file of labels that leaves the first `skip` positions of the first page empty. */
export async function labelPdf(
  labels: readonly Label[],
  sheet: Sheet,
  symbol: Symbology,
  skip: number,
  title: string,
): Promise<Uint8Array<ArrayBuffer>> {
  font ??= Bun.file(fontFile).bytes().then(unpacked);
  const page = sheet.grid?.page ?? sheet.label;
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
  for (const [i, label] of labels.entries()) {
    const { isFirst, area } = placeLabel(sheet, i + skip);
    if (i === 0 || isFirst) document.addPage();
    // Let other requests run.
    if (i % 100 === 99) await new Promise(setImmediate);
    draw(document, label, sheet, symbol, area);
  }
  document.end();
  await promise;
  return new Uint8Array(Buffer.concat(parts));
}

/** The place at which a label is printed, in points without its margin, and whether it is the first of its page. */
function placeLabel({ grid, label }: Sheet, index: number): { isFirst: boolean; area: Area } {
  const { columns, rows, left, top, across, down } = grid ?? ROLL;
  const place = index % (columns * rows);
  const area = {
    x: (left + (place % columns) * across + MARGIN) * MM,
    y: (top + Math.floor(place / columns) * down + MARGIN) * MM,
    width: (label.width - 2 * MARGIN) * MM,
    height: (label.height - 2 * MARGIN) * MM,
  };
  return { isFirst: place === 0, area };
}

const ROLL = { columns: 1, rows: 1, left: 0, top: 0, across: 0, down: 0 };

function draw(document: Document, label: Label, sheet: Sheet, symbol: Symbology, area: Area): void {
  const count = countModules(label, symbol);
  const module = computeModuleSize(sheet.label, symbol, count) * MM;
  const size = module * count;
  if (symbol === "qr") {
    const quiet = module * QUIET_ZONE.qr;
    const left = area.x - MARGIN * MM + Math.max(MARGIN * MM, quiet);
    drawMatrix(document, qrMatrix(label.address), module, left, area.y + (area.height - size) / 2);
    const x = left + size + quiet;
    return writeText(document, label, { ...area, x, width: area.x + area.width - x });
  }
  const high = Math.max(area.height * 0.42, 4 * MM);
  let x = area.x + (area.width - size) / 2;
  for (const [i, width] of code128Widths(label.bars).entries()) {
    if (i % 2 === 0) document.rect(x, area.y + area.height - high, width * module, high);
    x += width * module;
  }
  document.fill();
  writeText(document, label, { ...area, height: area.height - high - 0.5 * MM });
}

/** Runs of dark modules as rectangles of one path, so that no seams show between them. */
function drawMatrix(page: Document, { size, dark }: Matrix, module: number, left: number, top: number): void {
  for (let y = 0; y < size; y++)
    for (let x = 0; x < size; x++) {
      if (!dark(x, y)) continue;
      const from = x;
      while (x < size && dark(x, y)) x++;
      page.rect(left + from * module, top + y * module, (x - from) * module, module);
    }
  page.fill();
}

/** The name in the largest font in which all of it fits, then type and place, then the code. */
function writeText(document: Document, label: Label, area: Area): void {
  const below = [label.about, label.code].filter((line) => line !== "");
  const makeFits = (size: number) => (line: string) => measureWidth(document, line, size) <= area.width;
  const countLines = (size: number): number =>
    Math.floor((area.height - below.length * smallerSize(size) * LINE) / (size * LINE));
  for (let size = SIZES.maximum; size >= SIZES.minimum; size -= SIZES.step) {
    const names = wrap(label.name, makeFits(size));
    if (names.length <= countLines(size) && names.every(makeFits(size)))
      return writeLines(document, label, { names, below, size }, area);
  }
  const size = SIZES.minimum;
  const hasRoom = countLines(size) >= 1;
  // The smallest labels have room for the name and the code only.
  const rows = hasRoom ? countLines(size) : Math.max(1, Math.floor(area.height / (size * LINE)) - 1);
  const names = cut(label.name, rows, makeFits(size));
  writeLines(document, label, { names, below: hasRoom ? below : [label.code], size }, area);
}

const smallerSize = (size: number): number => Math.max(SIZES.minimum, size * 0.75);

function writeLines(
  document: Document,
  { code }: Label,
  { names, below, size }: { names: readonly string[]; below: readonly string[]; size: number },
  { x, y, width }: Area,
): void {
  let top = y;
  const write = (text: string, points: number): void => {
    document.fontSize(points).text(text, x, top, { lineBreak: false });
    top += points * LINE;
  };
  for (const line of names) write(line, size);
  const small = smallerSize(size);
  const fits = (line: string): boolean => measureWidth(document, line, small) <= width;
  for (const text of below)
    // The code is never cut off, but set in a smaller font.
    if (text === code) write(text, Math.min(small, (small * width) / measureWidth(document, text, small)));
    else write(shorten(text, "start", fits), small);
}

const measureWidth = (document: Document, text: string, size: number): number =>
  document.fontSize(size).widthOfString(text);

type Fits = (line: string) => boolean;

/** Lines broken between words, and within words that are longer than a line. */
function wrap(text: string, fits: Fits): string[] {
  const lines: string[] = [];
  let line = "";
  const append = (part: string, gap: string): void => {
    if (line !== "" && !fits(line + gap + part)) {
      lines.push(line);
      line = part;
    } else line = line === "" ? part : line + gap + part;
  };
  for (const word of text.split(/\s+/))
    if (fits(word)) append(word, " ");
    else for (const [i, letter] of [...word].entries()) append(letter, i === 0 ? " " : "");
  return [...lines, line];
}

function cut(text: string, rows: number, fits: Fits): string[] {
  const lines = wrap(text, fits);
  if (lines.length <= rows) return lines;
  return [...lines.slice(0, rows - 1), shorten(lines.slice(rows - 1).join(" "), "end", fits)];
}

/** The text shortened on one side until it fits, with an ellipsis. */
function shorten(text: string, side: "start" | "end", fits: Fits): string {
  const letters = [...text];
  const shown = (): string => {
    if (letters.length === [...text].length) return text;
    return side === "end" ? `${letters.join("").trimEnd()}…` : `…${letters.join("").trimStart()}`;
  };
  while (letters.length > 0 && !fits(shown()))
    if (side === "end") letters.pop();
    else letters.shift();
  return shown();
}
