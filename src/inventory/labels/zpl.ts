import type { Label } from "./label.ts";
import { layOut, type PlacedSymbol, type Printer } from "./layout.ts";
import type { Symbology } from "./symbol.ts";
import type { Sheet } from "./sheet.ts";

/** Labels in ZPL II, the language of Zebra and compatible label printers (ZPL II Programming Guide). */

/** Dots of the narrowest module: heat would blur a single dot into the next. */
const MIN_DOTS = 2;
const MAX_DOTS = 10;
/** Average width of a character of scalable font 0, relative to its height. */
const ASPECT = 0.52;
/** Printers put a QR code ten dots below its origin. */
const QR_OFFSET = 10;

/** A label printer with this resolution, in dots per inch. */
export function zplPrinter(dpi: number): Printer {
  const dot = 25.4 / dpi;
  return {
    margin: 1,
    narrowest: { qr: MIN_DOTS * dot, code128: MIN_DOTS * dot },
    fitModule: (width) => Math.min(MAX_DOTS, Math.floor(width / dot + 0.01)) * dot,
    measure: (text) => [...text].length * ASPECT,
  };
}

/** Concatenated labels, in UTF-8. */
export const labelZpl = (labels: readonly Label[], sheet: Sheet, symbol: Symbology, dpi: number): string =>
  labels.map((label) => printLabel(label, sheet, symbol, dpi)).join("");

function printLabel(label: Label, sheet: Sheet, symbology: Symbology, dpi: number): string {
  const dots = (mm: number): number => Math.round((mm / 25.4) * dpi);
  const { symbol, texts } = layOut(label, sheet, symbology, zplPrinter(dpi));
  const { width, height } = sheet.label;
  return [
    "^XA",
    "^CI28",
    `^PW${dots(width)}`,
    `^LL${dots(height)}`,
    "^LH0,0",
    printSymbol(symbol, dots),
    ...texts.map(
      ({ x, y, size, text }) =>
        `^FO${dots(x)},${dots(y)}^A0N,${dots(size)},${dots(size)}^FH_^FD${escaped(text)}^FS`,
    ),
    "^XZ\n",
  ].join("\n");
}

function printSymbol(
  { symbol, x, y, module, height, text }: PlacedSymbol,
  dots: (mm: number) => number,
): string {
  if (symbol === "qr") {
    const top = Math.max(0, dots(y) - QR_OFFSET);
    return `^FO${dots(x)},${top}^BQN,2,${dots(module)}^FH_^FDMA,${escaped(text)}^FS`;
  }
  const bars = `^BY${dots(module)}^BCN,${dots(height)},N,N,N,A`;
  return `^FO${dots(x)},${dots(y)}${bars}^FH_^FD${escaped(text).replaceAll(">", "><")}^FS`;
}

/** Text for ^FH_ ^FD: command characters by their code, control characters as blanks. */
const escaped = (text: string): string =>
  text
    // oxlint-disable-next-line no-control-regex
    .replaceAll(/[\u0000-\u001f\u007f]/g, " ")
    .replaceAll(/[\^~_]/g, (letter) => `_${letter.charCodeAt(0).toString(16).toUpperCase()}`);
