import type { Label } from "./label.ts";
import { computeModuleSize, countModules, QUIET_ZONE, type Symbology } from "./symbol.ts";
import type { Area, Sheet } from "./sheet.ts";

/** Labels in ZPL II, the language of Zebra and compatible label printers (ZPL II Programming Guide). */

/** Dots of the narrowest module: heat would blur a single dot into the next. */
const MIN_DOTS = 2;
/** Millimetres from the edge of a label. */
const MARGIN = 1;
/** Average width of a character of scalable font 0, relative to its height. */
const ASPECT = 0.52;

const moduleDots = (label: Label, sheet: Sheet, symbol: Symbology, dpi: number): number =>
  Math.min(
    10,
    Math.floor((computeModuleSize(sheet.label, symbol, countModules(label, symbol)) / 25.4) * dpi + 0.01),
  );

/** True if scanners can read the symbol of this label at this resolution. */
export const fitsZpl = (...print: Parameters<typeof moduleDots>): boolean => moduleDots(...print) >= MIN_DOTS;

/** Concatenated labels, in UTF-8. */
export const labelZpl = (labels: readonly Label[], sheet: Sheet, symbol: Symbology, dpi: number): string =>
  labels.map((label) => printLabel(label, sheet, symbol, dpi)).join("");

function printLabel(label: Label, sheet: Sheet, symbol: Symbology, dpi: number): string {
  const dots = (mm: number): number => Math.round((mm / 25.4) * dpi);
  const [width, height, margin] = [dots(sheet.label.width), dots(sheet.label.height), dots(MARGIN)];
  const module = moduleDots(label, sheet, symbol, dpi);
  const size = countModules(label, symbol) * module;
  const area = { x: margin, y: margin, width: width - 2 * margin, height: height - 2 * margin };
  const lines = ["^XA", "^CI28", `^PW${width}`, `^LL${height}`, "^LH0,0"];
  if (symbol === "qr") {
    const quiet = QUIET_ZONE.qr * module;
    const left = Math.max(margin, quiet);
    // Printers put a QR code ten dots below its origin.
    const y = Math.max(0, Math.round((height - size) / 2) - 10);
    lines.push(`^FO${left},${y}^BQN,2,${module}^FH_^FDMA,${escaped(label.address)}^FS`);
    area.x = left + size + quiet;
    area.width = width - margin - area.x;
  } else {
    const high = Math.max(Math.round(area.height * 0.42), dots(4));
    const x = Math.max(margin, Math.round((width - size) / 2));
    lines.push(
      `^FO${x},${height - margin - high}^BY${module}^BCN,${high},N,N,N,A^FH_^FD${escaped(label.bars).replaceAll(">", "><")}^FS`,
    );
    area.height -= high + dots(0.5);
  }
  lines.push(...textLines(label, area, [dots(1.5), dots(2.4)]));
  return `${lines.join("\n")}\n^XZ\n`;
}

/** The name as large as it should fit, then type and place, then the code. The area is in dots. */
function textLines({ name, about, code }: Label, area: Area, [least, most]: readonly number[]): string[] {
  const small = Math.max(least, Math.min(most, Math.floor(area.height / 4)));
  const gap = Math.round(small * 0.25);
  const below = [about, code].filter((line) => line !== "");
  const kept = below.slice(-Math.max(1, Math.floor(area.height / (small + gap)) - 1));
  const room = area.height - kept.length * (small + gap);
  const countRows = (size: number): number => Math.max(1, Math.floor(room / size));
  const rowsNeeded = (size: number): number => Math.ceil(([...name].length * size * ASPECT) / area.width);
  const sizes = [small * 1.6, small * 1.3, small].map(Math.round);
  const size = sizes.find((each) => rowsNeeded(each) <= countRows(each)) ?? small;
  let y = area.y + Math.min(countRows(size), rowsNeeded(size)) * size + gap;
  return [
    block(area, size, countRows(size), name),
    ...kept.map((line) => {
      const at = { ...area, y };
      y += small + gap;
      if (line !== code) return block(at, small, 1, fitted(line, area.width, small));
      // The code is never cut off, but set narrower.
      return block(at, small, 1, line, Math.floor(area.width / (ASPECT * [...line].length)));
    }),
  ];
}

const block = ({ x, y, width }: Area, size: number, rows: number, text: string, widest = size): string =>
  `^FO${x},${y}^A0N,${size},${Math.min(size, widest)}^FB${width},${rows},0,L,0^FH_^FD${escaped(text.replaceAll("\\", "\\\\"))}^FS`;

/** The end of the text that fits: printers print overflowing text over the beginning of the line. */
function fitted(text: string, width: number, size: number): string {
  const most = Math.floor(width / (size * ASPECT));
  const letters = [...text];
  return letters.length <= most ? text : `…${letters.slice(-Math.max(1, most - 1)).join("")}`;
}

/** Text for ^FH_ ^FD: command characters by their code, control characters as blanks. */
const escaped = (text: string): string =>
  text
    // oxlint-disable-next-line no-control-regex
    .replaceAll(/[\u0000-\u001f\u007f]/g, " ")
    .replaceAll(/[\^~_]/g, (letter) => `_${letter.charCodeAt(0).toString(16).toUpperCase()}`);
