/** The content of a cell; text always stays text, even after `=`. */
export type XlsxCell = string | number | boolean | null;

/** Maximum length of a spreadsheet cell, in characters. */
const CELL_LENGTH = 32_767;

/** Cuts a text off at Excel's limit. */
export const xlsxText = (text: string): string =>
  text.length > CELL_LENGTH ? text.slice(0, CELL_LENGTH) : text;

/** Office Open XML with one sheet and a header, made while it is read. */
export async function xlsxFile(
  { title, names }: { title: string; names: readonly string[] },
  rows: Iterable<XlsxCell[]> | AsyncIterable<XlsxCell[]>,
): Promise<ReadableStream<Uint8Array>> {
  const { writeXlsxStream } = await import("hucre/xlsx");
  return writeXlsxStream(rows, {
    // Excel allows 31 characters, and none of []:*?/\.
    name: title.replaceAll(/[[\]:*?/\\]/g, " ").slice(0, 31),
    columns: names.map((header) => ({ header })),
    freezePane: { rows: 1 },
  });
}
