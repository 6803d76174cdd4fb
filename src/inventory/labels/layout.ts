import type { Label, Line } from "./label.ts";
import type { Area, Sheet } from "./sheet.ts";
import { computeModuleSize, encode, QUIET_ZONE, type Symbology } from "./symbol.ts";

/**
 * The places of the texts and the symbol on a label, the same for every kind of printer and for the preview. All lengths
 * are in millimetres, from the upper left corner of the label.
 */

/** A line of text. `y`: its upper edge; `width`: as the printer prints it. */
export interface PlacedText extends Record<"x" | "y" | "size" | "width", number> {
  text: string;
}

/** A symbol without its quiet zone. `height`: of a bar, or of a row of modules. */
export interface PlacedSymbol extends Record<"x" | "y" | "module" | "height", number> {
  symbol: Symbology;
  text: string;
  /** Dark modules, in modules. */
  runs: ReturnType<typeof encode>["runs"];
}

export interface Layout {
  symbol: PlacedSymbol;
  texts: PlacedText[];
}

/** What a kind of printer can do. */
export interface Printer {
  /** Distance from the edge of a label: printers are off by about that. */
  margin: number;
  /** Width of the narrowest module that scanners read. */
  narrowest: Record<Symbology, number>;
  /** The widest module that it prints of at most this width. */
  fitModule(width: number): number;
  /** Width of a text at a font size of 1. */
  measure(text: string): number;
}

/** Font sizes: 11, 4.5 and half a point. */
const SIZES = { maximum: 3.88, minimum: 1.59, step: 0.176 };
/** Height of a line relative to the font size. */
const LINE = 1.17;
/** Distance between text and barcode, and least height of a barcode. */
const GAP = 0.5;
const LEAST_BARS = 4;

const moduleSize = (label: Label, sheet: Sheet, symbol: Symbology, printer: Printer): number =>
  printer.fitModule(computeModuleSize(sheet.label, symbol, encode(label, symbol).width));

/** True if scanners can read the symbol of this label. */
export const fitsLabel = (...[label, sheet, symbol, printer]: Parameters<typeof moduleSize>): boolean =>
  moduleSize(label, sheet, symbol, printer) >= printer.narrowest[symbol];

/** Text right of a QR code, or above a barcode. */
export function layOut(label: Label, sheet: Sheet, symbol: Symbology, printer: Printer): Layout {
  const { margin, measure } = printer;
  const { width, height } = sheet.label;
  const module = moduleSize(label, sheet, symbol, printer);
  const { width: count, runs } = encode(label, symbol);
  const size = module * count;
  const area = { x: margin, y: margin, width: width - 2 * margin, height: height - 2 * margin };
  if (symbol === "qr") {
    const quiet = module * QUIET_ZONE.qr;
    const left = Math.max(margin, quiet);
    const x = left + size + quiet;
    return {
      symbol: { symbol, x: left, y: (height - size) / 2, module, height: module, text: label.address, runs },
      texts: placeTexts(label.lines, { ...area, x, width: width - margin - x }, measure),
    };
  }
  const high = Math.max(area.height * 0.42, LEAST_BARS);
  const [x, y] = [Math.max(margin, (width - size) / 2), height - margin - high];
  return {
    symbol: { symbol, x, y, module, height: high, text: label.bars, runs },
    texts: placeTexts(label.lines, { ...area, height: area.height - high - GAP }, measure),
  };
}

type Measure = Printer["measure"];

/** The name in the largest font in which all of it fits, then the other lines, in a smaller one. */
function placeTexts(lines: readonly Line[], area: Area, measure: Measure): PlacedText[] {
  const name = lines.find(({ as }) => as === "name")?.text ?? "";
  const others = lines.filter(({ as }) => as !== "name");
  const makeFits = (size: number) => (text: string) => measure(text) * size <= area.width;
  for (let size = SIZES.maximum; size >= SIZES.minimum; size -= SIZES.step) {
    const names = wrap(name, makeFits(size));
    const room = area.height - others.length * smallerSize(size) * LINE;
    if (names.length * size * LINE <= room && names.every(makeFits(size)))
      return placeLines({ names, others, size }, area, measure);
  }
  const size = SIZES.minimum;
  const rows = Math.floor(area.height / (size * LINE));
  const kept = keepLines(others, rows - (name === "" ? 0 : 1));
  const names = cut(name, Math.max(1, rows - kept.length), makeFits(size));
  return placeLines({ names, others: kept, size }, area, measure);
}

/** The code and the first of the other lines, as many as there is room for. */
function keepLines(lines: readonly Line[], rows: number): Line[] {
  let room = rows - lines.filter(({ as }) => as === "code").length;
  return lines.filter(({ as }) => as === "code" || room-- > 0);
}

const smallerSize = (size: number): number => Math.max(SIZES.minimum, size * 0.75);

function placeLines(
  { names, others, size }: { names: readonly string[]; others: readonly Line[]; size: number },
  { x, y, width }: Area,
  measure: Measure,
): PlacedText[] {
  let top = y;
  const place = (text: string, size: number): PlacedText => {
    const placed = { x, y: top, size, width: measure(text) * size, text };
    top += size * LINE;
    return placed;
  };
  const small = smallerSize(size);
  const fits = (line: string): boolean => measure(line) * small <= width;
  return [
    ...names.map((line) => place(line, size)),
    ...others.map(({ text, as }) =>
      // The code is never cut off, but set in a smaller font.
      as === "code"
        ? place(text, Math.min(small, width / measure(text)))
        : place(shorten(text, as === "path" ? "start" : "end", fits), small),
    ),
  ];
}

type Fits = (line: string) => boolean;

/** Lines broken between words, and within words that are longer than a line. */
function wrap(text: string, fits: Fits): string[] {
  if (text === "") return [];
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
