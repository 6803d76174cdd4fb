import { crc32, inflateRawSync } from "node:zlib";

/** The files of a ZIP archive by name (APPNOTE 6.3.10), read without the code of labd; throws where a checksum is wrong. */
export function unzipAll(bytes: Uint8Array): Map<string, Buffer> {
  const zip = Buffer.from(bytes);
  const end = zip.lastIndexOf("PK\x05\x06", undefined, "latin1");
  const found = new Map<string, Buffer>();
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    const [method, length] = [zip.readUInt16LE(at + 10), zip.readUInt16LE(at + 28)];
    const name = zip.toString("utf8", at + 46, at + 46 + length);
    const local = zip.readUInt32LE(at + 42);
    const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
    const data = zip.subarray(start, start + zip.readUInt32LE(at + 20));
    const content = method === 0 ? data : inflateRawSync(data);
    if (content.length !== zip.readUInt32LE(at + 24) || crc32(content) !== zip.readUInt32LE(at + 16))
      throw new Error(`${name} is damaged`);
    if (found.has(name)) throw new Error(`${name} is there twice`);
    found.set(name, content);
    // Java adds extra fields.
    at += 46 + length + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  if (at !== end) throw new Error("the directory does not end where it should");
  return found;
}
