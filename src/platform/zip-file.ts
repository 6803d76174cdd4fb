import { pipeline } from "node:stream";
import { crc32, createDeflateRaw, createInflateRaw, deflateRawSync } from "node:zlib";
import { Problem } from "../problem.ts";

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
const STORED_METHOD = 0;
const DEFLATED_METHOD = 8;

/** Date and time as MS-DOS has them, in UTC. */
function dosTime(at: Date): [time: number, date: number] {
  const time = (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1);
  const date =
    (Math.max(at.getUTCFullYear() - 1980, 0) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate();
  return [time, date];
}

interface Header {
  name: Buffer;
  flags: number;
  method: number;
  at: Date;
  /** Checksum, and sizes of the compressed and of the original data. */
  sums: readonly [crc: number, packed: number, size: number];
}

/** The fields from "version needed" to "extra field length", which both headers share. */
function sharedFields({ name, flags, method, at, sums }: Header): Buffer {
  const fields = Buffer.alloc(26);
  const [time, date] = dosTime(at);
  [VERSION, flags, method, time, date].forEach((value, index) => fields.writeUInt16LE(value, 2 * index));
  sums.forEach((value, index) => fields.writeUInt32LE(value, 10 + 4 * index));
  fields.writeUInt16LE(name.length, 22);
  return fields;
}

/** An entry of the central directory. @param offset of the local header */
function directoryEntry(header: Header, offset: number): Buffer {
  const central = Buffer.alloc(14);
  central.writeUInt32LE(offset, 10);
  const version = Buffer.from([VERSION, 0]);
  return Buffer.concat([signature(CENTRAL), version, sharedFields(header), central, header.name]);
}

/** The central directory and its end. @param offset of the directory */
function directoryBytes(directory: readonly Buffer[], offset: number): Uint8Array<ArrayBuffer> {
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(directory.length, 4);
  end.writeUInt16LE(directory.length, 6);
  end.writeUInt32LE(central.length, 8);
  end.writeUInt32LE(offset, 12);
  return new Uint8Array(Buffer.concat([central, signature(END), end]));
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
    const method = data === entry.bytes ? STORED_METHOD : DEFLATED_METHOD;
    const sums = [crc32(entry.bytes), data.length, entry.bytes.length] as const;
    const header: Header = { name, flags: UTF8, method, at, sums };
    const local = Buffer.concat([signature(LOCAL), sharedFields(header), name]);
    directory.push(directoryEntry(header, offset));
    yield new Uint8Array(local);
    yield new Uint8Array(data);
    offset += local.length + data.length;
  }
  yield directoryBytes(directory, offset);
}

/** A file in an archive whose content is made while it is read. */
export interface StreamedEntry {
  name: string;
  chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array>;
}

/** The sizes follow the data, in a data descriptor. */
const SIZES_FOLLOW = 1 << 3;
const DESCRIPTOR = 0x08074b50;

/** A ZIP archive of less than 4 GiB in pieces, of which one is in memory; its files have the earliest date of the format. */
export async function* streamZip(
  entries: Iterable<StreamedEntry> | AsyncIterable<StreamedEntry>,
): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
  const directory: Buffer[] = [];
  let offset = 0;
  for await (const { name, chunks } of entries) {
    const header = {
      name: Buffer.from(name),
      flags: UTF8 | SIZES_FOLLOW,
      method: DEFLATED_METHOD,
      at: new Date(0),
    };
    const local = Buffer.concat([
      signature(LOCAL),
      sharedFields({ ...header, sums: [0, 0, 0] }),
      header.name,
    ]);
    yield new Uint8Array(local);
    let [crc, packed, size] = [0, 0, 0];
    async function* counted(): AsyncGenerator<Uint8Array> {
      for await (const chunk of chunks) {
        crc = crc32(chunk, crc);
        size += chunk.length;
        yield chunk;
      }
    }
    const deflated = pipeline(counted, createDeflateRaw(), () => {}) as AsyncIterable<Uint8Array>;
    for await (const piece of deflated) {
      packed += piece.length;
      yield new Uint8Array(piece);
    }
    const sums = [crc, packed, size] as const;
    const descriptor = Buffer.alloc(16);
    [DESCRIPTOR, ...sums].forEach((value, index) => descriptor.writeUInt32LE(value, 4 * index));
    yield new Uint8Array(descriptor);
    directory.push(directoryEntry({ ...header, sums }, offset));
    offset += local.length + packed + descriptor.length;
  }
  yield directoryBytes(directory, offset);
}

function signature(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

/** A file of an archive that was read; its content is compressed until it is asked for. */
export interface ZipMember {
  name: string;
  /** Offset of its entry in the central directory, and length of the name there. */
  at: number;
  nameLength: number;
  /** Content as it is stored. */
  data: Uint8Array;
  /** Compression method of APPNOTE 6.3.10, section 4.4.5. */
  method: number;
  isEncrypted: boolean;
  crc: number;
  /** Uncompressed size in bytes, as the archive claims. */
  size: number;
}

const DAMAGED_MESSAGE = "The ZIP archive is truncated or damaged.";
const END_LENGTH = 22;
const MAX_COMMENT = 65_535;
/** Placeholder of a value that only ZIP64 can hold. */
const [ZIP64_ENTRIES, ZIP64_OFFSET] = [0xffff, 0xffffffff];

/**
 * The files of an archive by its central directory, without their contents. `problem`: the message for a damaged one.
 * @throws Problem malformed
 */
export function readZip(bytes: Uint8Array, problem = DAMAGED_MESSAGE): ZipMember[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let end = bytes.length - END_LENGTH;
  const first = Math.max(0, end - MAX_COMMENT);
  while (end >= first && view.getUint32(end, true) !== END) end--;
  if (end < first) throw new Problem("malformed", problem);
  const count = view.getUint16(end + 10, true);
  const start = view.getUint32(end + 16, true);
  if (count === ZIP64_ENTRIES || start === ZIP64_OFFSET)
    throw new Problem("malformed", "The archive uses ZIP64. Pack it without.");
  const members: ZipMember[] = [];
  let at = start;
  while (at + 46 <= bytes.length && view.getUint32(at, true) === CENTRAL) {
    const member = memberAt(bytes, view, at);
    if (!member) throw new Problem("malformed", problem);
    members.push(member);
    at += 46 + member.nameLength + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
  }
  // Few bytes could be the content of many files.
  const stored = members.reduce((sum, { data }) => sum + data.length, 0);
  if (members.length < count || stored > bytes.length) throw new Problem("malformed", problem);
  return members;
}

function memberAt(bytes: Uint8Array, view: DataView, at: number): ZipMember | undefined {
  const nameLength = view.getUint16(at + 28, true);
  const local = view.getUint32(at + 42, true);
  if (local + 30 > bytes.length || view.getUint32(local, true) !== LOCAL) return undefined;
  const start = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
  const data = bytes.subarray(start, start + view.getUint32(at + 20, true));
  return {
    name: new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + nameLength)),
    at,
    nameLength,
    data,
    method: view.getUint16(at + 10, true),
    isEncrypted: (view.getUint16(at + 8, true) & 1) !== 0,
    crc: view.getUint32(at + 16, true),
    size: view.getUint32(at + 24, true),
  };
}

/** Bytes that are read and written at a time. */
const [READ, WRITTEN] = [16_384, 1_048_576];

function* slices(data: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < data.length; at += READ) yield data.subarray(at, at + READ);
}

/**
 * The content of a file in pieces of up to 1 MiB, of at most as many bytes as the archive claims.
 * @throws Problem malformed, after the last piece for a wrong checksum
 */
export async function* unzipped(member: ZipMember): AsyncGenerator<Uint8Array> {
  const { name, data, method, isEncrypted, crc, size } = member;
  const refused = (text: string): Problem =>
    new Problem("malformed", `${shown(name)} in the archive ${text}`);
  if (isEncrypted) throw refused("is encrypted. Pack it without a password.");
  if (method !== STORED_METHOD && method !== DEFLATED_METHOD)
    throw refused(`is compressed with method ${method}. Pack it with the usual one (Deflate).`);
  const wrong = refused("is damaged: its size or checksum is wrong.");
  let [length, sum] = [0, 0];
  try {
    const inflate = () => pipeline(slices(data), createInflateRaw({ chunkSize: WRITTEN }), () => {});
    const pieces = method === STORED_METHOD ? slices(data) : (inflate() as AsyncIterable<Uint8Array>);
    for await (const piece of pieces) {
      length += piece.length;
      if (length > size) throw wrong;
      sum = crc32(piece, sum);
      yield piece;
    }
  } catch (error) {
    throw error === wrong ? wrong : refused("is damaged.");
  }
  if (length !== size || sum !== crc) throw wrong;
}

/** The whole content of a file. @throws Problem malformed */
export async function unzip(member: ZipMember): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = [];
  for await (const piece of unzipped(member)) pieces.push(piece);
  return Buffer.concat(pieces);
}

const MAX_SHOWN = 200;
const shown = (name: string): string => JSON.stringify(name.slice(0, MAX_SHOWN).toWellFormed());
