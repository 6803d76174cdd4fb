import { crc32, deflateRawSync } from "node:zlib";

/** A file in an archive; folders end in a slash. */
export interface ZipEntry {
  name: string;
  bytes: Uint8Array;
}

const LOCAL = 0x04034b50;
const CENTRAL = 0x02014b50;
const END = 0x06054b50;
const VERSION = 20;
const UTF8 = 1 << 11;
const STORED = 0;
const DEFLATED = 8;

/** Date and time as MS-DOS has them, in UTC. */
function dosTime(at: Date): [time: number, date: number] {
  const time = (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1);
  const date =
    (Math.max(at.getUTCFullYear() - 1980, 0) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate();
  return [time, date];
}

/** The fields from "version needed" to "extra field length", which both headers share. */
function sharedFields({ name, bytes }: ZipEntry, data: Uint8Array, at: Date): Buffer {
  const fields = Buffer.alloc(26);
  const [time, date] = dosTime(at);
  const method = data === bytes ? STORED : DEFLATED;
  [VERSION, UTF8, method, time, date].forEach((value, index) => fields.writeUInt16LE(value, 2 * index));
  [crc32(bytes), data.length, bytes.length].forEach((value, index) =>
    fields.writeUInt32LE(value, 10 + 4 * index),
  );
  fields.writeUInt16LE(Buffer.byteLength(name), 22);
  return fields;
}

/**
 * A ZIP archive in pieces (APPNOTE 6.3.10), of fewer than 65,535 entries and less than 4 GiB; each entry is in memory
 * while it is written. Those that do not shrink are stored.
 */
export function* zipFile(entries: Iterable<ZipEntry>, at: Date): Generator<Uint8Array<ArrayBuffer>> {
  const directory: Buffer[] = [];
  let offset = 0;
  for (const entry of entries) {
    const name = Buffer.from(entry.name);
    const deflated = deflateRawSync(entry.bytes);
    const data = deflated.length < entry.bytes.length ? deflated : entry.bytes;
    const shared = sharedFields(entry, data, at);
    const local = Buffer.concat([signature(LOCAL), shared, name]);
    const central = Buffer.alloc(14);
    central.writeUInt32LE(offset, 10);
    const version = Buffer.from([VERSION, 0]);
    directory.push(Buffer.concat([signature(CENTRAL), version, shared, central, name]));
    yield new Uint8Array(local);
    yield new Uint8Array(data);
    offset += local.length + data.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(directory.length, 4);
  end.writeUInt16LE(directory.length, 6);
  end.writeUInt32LE(central.length, 8);
  end.writeUInt32LE(offset, 12);
  yield new Uint8Array(Buffer.concat([central, signature(END), end]));
}

function signature(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
