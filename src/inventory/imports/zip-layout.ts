import { CellScan } from "./check-cells.ts";
import { Problem } from "../../problem.ts";
import { readZip, unzipped, type ZipMember } from "../../platform/zip-file.ts";

/** Bytes that are read at a time. */
const CHUNK = 16_384;

/** Bytes of a part that is not read in pieces, such as the shared texts. */
const MAX_WHOLE = 100_000_000;

export const TRUNCATED_MESSAGE =
  "The file is truncated: it is neither a spreadsheet (XLSX) nor an archive (.eln).";

/**
 * Rearranges an archive so that it can be streamed: worksheets last, and sizes before the data instead of after it
 * (APPNOTE 6.3.10, sections 4.3.7, 4.3.9 and 4.3.12). `ready` is awaited before each chunk; what `check` throws ends
 * the examination of the parts.
 * @throws Problem malformed; too_large for more than `limit` uncompressed bytes, or a cell that is too long
 */
export function toStreamable(
  bytes: Uint8Array,
  limit: number,
  ready: () => Promise<void>,
  check: () => void = () => {},
): ReadableStream<Uint8Array> {
  const entries = readZip(bytes, TRUNCATED_MESSAGE);
  const isSheet = ({ name }: ZipMember): boolean => name.startsWith("xl/worksheets/");
  const isLarge = (entry: ZipMember): boolean =>
    entry.size > MAX_WHOLE && entry.name.endsWith(".xml") && !isSheet(entry);
  if (entries.reduce((sum, { size }) => sum + size, 0) > limit || entries.some(isLarge))
    throw new Problem("too_large", "The spreadsheet is too large when uncompressed.");
  entries.sort((a, b) => Number(isSheet(a)) - Number(isSheet(b)));

  function* parts(): Generator<Uint8Array> {
    const directory: Uint8Array[] = [];
    let offset = 0;
    for (const { at, nameLength, data } of entries) {
      // Not `slice`, which does not copy a Buffer.
      const central = new Uint8Array(bytes.subarray(at, at + 46 + nameLength));
      const header = new DataView(central.buffer);
      // A header without sizes after the data, extra fields and comment.
      header.setUint16(8, header.getUint16(8, true) & ~8, true);
      header.setUint32(30, 0, true);
      header.setUint32(42, offset, true);
      directory.push(central);
      const local = new Uint8Array(30 + nameLength);
      new DataView(local.buffer).setUint32(0, 0x04034b50, true);
      // The fields from "version needed" to "name length" are the same in both headers.
      local.set(central.subarray(6, 30), 4);
      local.set(central.subarray(46), 30);
      yield local;
      // In chunks, because a chunk is uncompressed at once.
      for (let at = 0; at < data.length; at += CHUNK) yield data.subarray(at, at + CHUNK);
      offset += local.length + data.length;
    }
    yield* directory;
    const end = new DataView(new ArrayBuffer(22));
    end.setUint32(0, 0x06054b50, true);
    end.setUint16(8, entries.length, true);
    end.setUint16(10, entries.length, true);
    const size = directory.reduce((sum, part) => sum + part.length, 0);
    end.setUint32(12, size, true);
    end.setUint32(16, offset, true);
    yield new Uint8Array(end.buffer);
  }
  const source = parts();
  return new ReadableStream({
    async start() {
      for (const entry of entries) {
        const hasCells = isSheet(entry) || entry.name === "xl/sharedStrings.xml";
        const scan = hasCells ? new CellScan() : undefined;
        // All parts: one with more bytes than the archive claims would fill the memory.
        for await (const piece of unzipped(entry)) {
          check();
          scan?.take(piece);
        }
      }
    },
    async pull(controller) {
      await ready();
      const { done, value } = source.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
}
