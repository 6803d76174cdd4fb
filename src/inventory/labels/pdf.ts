import fontFile from "dejavu-fonts-ttf/ttf/DejaVuSansCondensed.ttf" with { type: "file" };
import PDFDocument from "pdfkit";
import type { Label } from "./label.ts";
import { layOut, type Printer } from "./layout.ts";
import type { Symbology } from "./symbol.ts";
import { placeLabel, type Sheet } from "./sheet.ts";

/** Labels as PDF: text in an embedded subset of one font, symbols as vector shapes. */

/** Points in a millimetre. */
const MM = 72 / 25.4;

type Document = InstanceType<typeof PDFDocument>;

let font: Promise<Buffer> | undefined;

/** The executable has the font compressed (packaging/compressed-assets.ts). */
const unpacked = (bytes: Uint8Array<ArrayBuffer>): Buffer =>
  Buffer.from(bytes[0] === 0x1f ? Bun.gunzipSync(bytes) : bytes);

async function openDocument(sheet: Sheet, title = ""): Promise<Document> {
  font ??= Bun.file(fontFile).bytes().then(unpacked);
  const page = sheet.grid?.page ?? sheet.label;
  return new PDFDocument({
    size: [page.width * MM, page.height * MM],
    margin: 0,
    autoFirstPage: false,
    font: (await font) as unknown as string,
    info: { Title: title },
  });
}

/** Any printer, at 300 dpi or more. */
const pdfPrinter = (document: Document): Printer => ({
  margin: 1.2,
  narrowest: { qr: 0.19, code128: 0.165 },
  fitModule: (width) => width,
  measure: (text) => document.fontSize(10).widthOfString(text) / 10,
});

/** The printer of PDF files on a sheet. */
export const openPdfPrinter = async (sheet: Sheet): Promise<Printer> => pdfPrinter(await openDocument(sheet));

/** A PDF file of labels that leaves the first `skip` positions of the first page empty. */
export async function labelPdf(
  labels: readonly Label[],
  sheet: Sheet,
  symbol: Symbology,
  skip: number,
  title: string,
): Promise<Uint8Array<ArrayBuffer>> {
  const document = await openDocument(sheet, title);
  const printer = pdfPrinter(document);
  const parts: Uint8Array[] = [];
  document.on("data", (part: Uint8Array) => parts.push(part));
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  document.on("end", resolve).on("error", reject);
  for (const [i, label] of labels.entries()) {
    const { isFirst, x, y } = placeLabel(sheet, i + skip);
    if (i === 0 || isFirst) document.addPage();
    // Let other requests run.
    if (i % 100 === 99) await new Promise(setImmediate);
    draw(document, layOut(label, sheet, symbol, printer), x, y);
  }
  document.end();
  await promise;
  return new Uint8Array(Buffer.concat(parts));
}

/** Draws a label whose corner is at a place of the page. Runs of dark modules are one path: no seams show between them. */
function draw(
  document: Document,
  { symbol, texts }: ReturnType<typeof layOut>,
  left: number,
  top: number,
): void {
  const { module, height, runs } = symbol;
  for (const { x, y, width } of runs) {
    const [right, down] = [left + symbol.x + x * module, top + symbol.y + y * module];
    document.rect(right * MM, down * MM, width * module * MM, height * MM);
  }
  document.fill();
  for (const { x, y, size, text } of texts)
    document.fontSize(size * MM).text(text, (left + x) * MM, (top + y) * MM, { lineBreak: false });
}
