import type { Label } from "./label.ts";
import { layOut, type Printer } from "./layout.ts";
import type { Symbology } from "./symbol.ts";
import { placeLabel, type Sheet } from "./sheet.ts";

/** Height of letters above the baseline, relative to the font size (DejaVu Sans). */
const ASCENT = 0.93;

const escaped = (text: string): string =>
  text
    // oxlint-disable-next-line no-control-regex -- XML has no such characters
    .replaceAll(/[\u0000-\u001f\u007f\ufffe\uffff]/g, " ")
    .replaceAll(/[<>&"]/g, (letter) => `&#${letter.charCodeAt(0)};`);

const rounded = (length: number): number => Math.round(length * 1000) / 1000;

/** The first page as an image of its size, from the layout that is printed; thin lines are the edges of labels. */
export function labelSvg(
  labels: readonly Label[],
  sheet: Sheet,
  symbol: Symbology,
  printer: Printer,
  skip: number,
): string {
  const { width, height } = sheet.grid?.page ?? sheet.label;
  const drawn = labels.map((label, i) => {
    const { x, y } = placeLabel(sheet, i + skip);
    const edge = `<rect width="${sheet.label.width}" height="${sheet.label.height}" fill="none" stroke="#bbb" stroke-width=".1"/>`;
    return `<g transform="translate(${rounded(x)} ${rounded(y)})">${edge}${draw(layOut(label, sheet, symbol, printer))}</g>`;
  });
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}mm" height="${height}mm" viewBox="0 0 ${width} ${height}">` +
    `<rect width="100%" height="100%" fill="#fff"/>${drawn.join("")}</svg>`
  );
}

function draw({ symbol, texts }: ReturnType<typeof layOut>): string {
  const { module, height, runs } = symbol;
  const path = runs.map(({ x, y, width }) => {
    const corner = `M${rounded(symbol.x + x * module)} ${rounded(symbol.y + y * module)}`;
    return `${corner}h${rounded(width * module)}v${rounded(height)}h${rounded(-width * module)}z`;
  });
  const lines = texts.map(
    ({ x, y, size, width, text }) =>
      `<text x="${rounded(x)}" y="${rounded(y + ASCENT * size)}" font-size="${rounded(size)}"` +
      ` textLength="${rounded(width)}" lengthAdjust="spacingAndGlyphs">${escaped(text)}</text>`,
  );
  return `<path d="${path.join("")}"/><g font-family="DejaVu Sans Condensed, Arial Narrow, sans-serif" xml:space="preserve">${lines.join("")}</g>`;
}
