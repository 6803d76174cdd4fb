import type { Label } from "./label.ts";
import type { Sheet } from "./sheet.ts";
import { code128Widths, moduleOn, modulesOf, QUIET, type Symbology } from "./symbol.ts";
import { qrMatrix } from "../../platform/qr-code.ts";

/** Labels in the language of Zebra printers, and of the others that speak it (ZPL II Programming Guide). */

/** Dots in an inch of print heads. */
export const RESOLUTIONS = [203, 300, 600] as const;
/** Dots of the narrowest module: with one, heat runs into the next. */
const DOTS = 2;
/** Millimetres from the edge of a label. */
const PAD = 1;

/** Dots of one module; less than two where the code does not fit. */
function zplModule(label: Label, sheet: Sheet, symbol: Symbology, dpi: number): number {
  const count = symbol === "qr" ? qrMatrix(label.address).size : modulesOf(code128Widths(label.bars));
  return Math.min(10, Math.floor((moduleOn(sheet.label, symbol, count) / 25.4) * dpi + 0.01));
}

export const fitsZpl = (...of: Parameters<typeof zplModule>): boolean => zplModule(...of) >= DOTS;

/** One label after the other, in UTF-8. */
export const labelZpl = (labels: readonly Label[], sheet: Sheet, symbol: Symbology, dpi: number): string =>
  labels.map((label) => zplOf(label, sheet, symbol, dpi)).join("");

function zplOf(label: Label, sheet: Sheet, symbol: Symbology, dpi: number): string {
  const dots = (mm: number): number => Math.round((mm / 25.4) * dpi);
  const { width, height } = sheet.label;
  const module = zplModule(label, sheet, symbol, dpi);
  const pad = dots(PAD);
  const lines: string[] = ["^XA", "^CI28", `^PW${dots(width)}`, `^LL${dots(height)}`, "^LH0,0"];
  const quiet = QUIET[symbol] * module;
  let text = { x: pad, y: pad, width: dots(width) - 2 * pad, height: dots(height) - 2 * pad };
  if (symbol === "qr") {
    const side = qrMatrix(label.address).size * module;
    // Printers put a QR code ten dots below its origin.
    const y = Math.max(0, Math.round((dots(height) - side) / 2) - 10);
    const left = Math.max(pad, quiet);
    lines.push(`^FO${left},${y}^BQN,2,${module}^FH_^FDMA,${escaped(label.address)}^FS`);
    const x = left + side + quiet;
    text = { ...text, x, width: dots(width) - pad - x };
  } else {
    const high = Math.max(Math.round(text.height * 0.42), dots(4));
    const wide = modulesOf(code128Widths(label.bars)) * module;
    const x = Math.max(pad, Math.round((dots(width) - wide) / 2));
    lines.push(
      `^FO${x},${dots(height) - pad - high}^BY${module}^BCN,${high},N,N,N,A^FH_^FD${escaped(label.bars).replaceAll(">", "><")}^FS`,
    );
    text.height -= high + dots(0.5);
  }
  const small = Math.max(dots(1.5), Math.min(dots(2.4), Math.floor(text.height / 4)));
  const gap = Math.round(small * 0.25);
  const below = [label.about, label.code].filter((line) => line !== "");
  const kept = below.slice(-Math.max(1, Math.floor(text.height / (small + gap)) - 1));
  const room = text.height - kept.length * (small + gap);
  // Scalable font 0 is half as wide as it is high, on average: the largest size at which the name should fit.
  const large = Math.round(small * 1.6);
  const size =
    [large, Math.round(small * 1.3), small].find(
      (each) =>
        Math.ceil(([...label.name].length * each * 0.52) / text.width) <=
        Math.max(1, Math.floor(room / each)),
    ) ?? small;
  const rows = Math.max(1, Math.floor(room / size));
  lines.push(block(text.x, text.y, text.width, size, rows, label.name));
  const names = Math.min(rows, Math.ceil(([...label.name].length * size * 0.52) / text.width));
  let y = text.y + names * size + gap;
  for (const line of kept) {
    // A code that is cut off is none: it is set narrower.
    const isCode = line === label.code;
    const letters = isCode ? Math.floor(text.width / (0.52 * [...line].length)) : small;
    const shown = isCode ? line : fitted(line, text.width, small);
    lines.push(block(text.x, y, text.width, small, 1, shown, Math.min(small, letters)));
    y += small + gap;
  }
  return `${lines.join("\n")}\n^XZ\n`;
}

const block = (
  x: number,
  y: number,
  width: number,
  size: number,
  rows: number,
  text: string,
  wide = size,
): string =>
  `^FO${x},${y}^A0N,${size},${wide}^FB${width},${rows},0,L,0^FH_^FD${escaped(text.replaceAll("\\", "\\\\"))}^FS`;

/** What overflows one line is printed over its beginning. */
function fitted(text: string, width: number, size: number): string {
  const most = Math.floor(width / (size * 0.52));
  const letters = [...text];
  return letters.length <= most ? text : `…${letters.slice(-Math.max(1, most - 1)).join("")}`;
}

/** Text within ^FH_ ^FD: what begins commands by its number, control characters as blanks. */
const escaped = (text: string): string =>
  text
    // oxlint-disable-next-line no-control-regex
    .replaceAll(/[\u0000-\u001f\u007f]/g, " ")
    .replaceAll(/[\^~_]/g, (letter) => `_${letter.charCodeAt(0).toString(16).toUpperCase()}`);
