import { Problem } from "../../problem.ts";

/** One entry of a ZIP archive, by its header in the central directory. */
interface Entry {
  name: string;
  /** Of the header in the central directory. */
  at: number;
  /** Length of the name, in bytes. */
  nameLength: number;
  /** Compressed data. */
  data: Uint8Array;
  /** Bytes that the data unfolds to. */
  size: number;
}

/** Bytes of an archive that are read at a time. */
const PIECE = 16_384;

const CUT_OFF = "The spreadsheet is cut off, or no XLSX file.";

/**
 * The same archive laid out so that it can be read from front to back: worksheets last, and sizes before the data
 * instead of after it (APPNOTE 6.3.10, sections 4.3.7, 4.3.9 and 4.3.12). Reading it unfolds a worksheet piece by piece.
 * `turn` is waited for before each piece.
 * @throws Problem malformed; too_large where the entries unfold to more than `limit` bytes
 */
export function readableFromFront(
  bytes: Uint8Array,
  limit: number,
  turn: () => Promise<void>,
): ReadableStream<Uint8Array> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const entries = entriesOf(bytes, view);
  if (entries.reduce((sum, { size }) => sum + size, 0) > limit)
    throw new Problem("too_large", "The spreadsheet unfolds to more than can be read.");
  const last = ({ name }: Entry): number => (name.startsWith("xl/worksheets/") ? 1 : 0);
  entries.sort((a, b) => last(a) - last(b));

  function* parts(): Generator<Uint8Array> {
    const directory: Uint8Array[] = [];
    let offset = 0;
    for (const { at, nameLength, data } of entries) {
      // A copy, which `slice` of a Buffer is not.
      const central = new Uint8Array(bytes.subarray(at, at + 46 + nameLength));
      const about = new DataView(central.buffer);
      // No sizes after the data, no extra fields, no comment.
      about.setUint16(8, about.getUint16(8, true) & ~8, true);
      about.setUint32(30, 0, true);
      about.setUint32(42, offset, true);
      directory.push(central);
      const local = new Uint8Array(30 + nameLength);
      new DataView(local.buffer).setUint32(0, 0x04034b50, true);
      // From the version needed to the length of the name, both headers are the same.
      local.set(central.subarray(6, 30), 4);
      local.set(central.subarray(46), 30);
      yield local;
      // In pieces: a piece is unfolded at once, whoever reads slowly.
      for (let at = 0; at < data.length; at += PIECE) yield data.subarray(at, at + PIECE);
      offset += local.length + data.length;
    }
    yield* directory;
    const end = new DataView(new ArrayBuffer(22));
    end.setUint32(0, 0x06054b50, true);
    end.setUint16(8, entries.length, true);
    end.setUint16(10, entries.length, true);
    end.setUint32(
      12,
      directory.reduce((sum, part) => sum + part.length, 0),
      true,
    );
    end.setUint32(16, offset, true);
    yield new Uint8Array(end.buffer);
  }
  const source = parts();
  return new ReadableStream({
    async pull(controller) {
      await turn();
      const { done, value } = source.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
}

function entriesOf(bytes: Uint8Array, view: DataView): Entry[] {
  let end = bytes.length - 22;
  while (end >= 0 && end > bytes.length - 66_000 && view.getUint32(end, true) !== 0x06054b50) end--;
  if (end < 0 || view.getUint32(end, true) !== 0x06054b50) throw new Problem("malformed", CUT_OFF);
  const entries: Entry[] = [];
  let at = view.getUint32(end + 16, true);
  while (at + 46 <= bytes.length && view.getUint32(at, true) === 0x02014b50) {
    const [nameLength, extra, comment] = [28, 30, 32].map((field) => view.getUint16(at + field, true));
    const local = view.getUint32(at + 42, true);
    if (local + 30 > bytes.length || view.getUint32(local, true) !== 0x04034b50)
      throw new Problem("malformed", CUT_OFF);
    const start = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
    entries.push({
      name: new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + nameLength)),
      at,
      nameLength,
      data: bytes.subarray(start, start + view.getUint32(at + 20, true)),
      size: view.getUint32(at + 24, true),
    });
    at += 46 + nameLength + extra + comment;
  }
  return entries;
}
