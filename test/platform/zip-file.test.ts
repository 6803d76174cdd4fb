import { expect, test } from "bun:test";
import { randomBytes } from "node:crypto";
import { readZip, unzip, zipFile, type ZipMember } from "../../src/platform/zip-file.ts";
import { unzipAll } from "../unzip.ts";

const AT = new Date("2026-11-28T13:45:59Z");
const pack = (entries: { name: string; bytes: Uint8Array }[]): Buffer =>
  Buffer.concat([...zipFile(entries, AT)]);
/** Text that shrinks; bytes that do not, longer than one piece of reading; and none. */
const ENTRIES = [
  { name: "text.txt", bytes: Buffer.from("conserved ".repeat(500)) },
  { name: "noise/µ.bin", bytes: randomBytes(40_000) },
  { name: "empty/", bytes: new Uint8Array() },
];
/** Offset of the end record, and of an entry of the central directory. */
const findEnd = (zip: Buffer): number => zip.length - 22;
const readCentral = (zip: Buffer): number => zip.readUInt32LE(findEnd(zip) + 16);

test("stores incompressible entries, deflates others, and another reader reads both", () => {
  const zip = pack(ENTRIES);
  expect([...unzipAll(zip)].map(([name, bytes]) => [name, bytes.toString("hex")])).toEqual(
    ENTRIES.map(({ name, bytes }) => [name, Buffer.from(bytes).toString("hex")]),
  );
  const members = readZip(zip);
  expect(members.map(({ method, size, isEncrypted }) => [method, size, isEncrypted])).toEqual([
    [8, 5000, false],
    [0, 40_000, false],
    [0, 0, false],
  ]);
  // MS-DOS counts two seconds, months from 1 and years from 1980.
  expect(zip.readUInt16LE(10)).toBe((13 << 11) | (45 << 5) | 29);
  expect(zip.readUInt16LE(12)).toBe((46 << 9) | (11 << 5) | 28);
});

test.each(ENTRIES)("reads $name back", async ({ name, bytes }) => {
  const member = readZip(pack(ENTRIES)).find((one) => one.name === name)!;
  expect(Buffer.from(await unzip(member)).equals(Buffer.from(bytes))).toBe(true);
});

test.each([0, 1, 65_535])("finds the directory before a comment of %i bytes", (length) => {
  const zip = pack(ENTRIES);
  zip.writeUInt16LE(length, zip.length - 2);
  expect(readZip(Buffer.concat([zip, Buffer.alloc(length)]))).toHaveLength(3);
});

test.each<[string, (zip: Buffer) => Buffer, string]>([
  ["nothing", () => Buffer.alloc(0), "truncated or damaged"],
  ["half of it", (zip) => zip.subarray(0, zip.length / 2), "truncated or damaged"],
  ["a comment that is too long", (zip) => Buffer.concat([zip, Buffer.alloc(65_536)]), "truncated or damaged"],
  [
    "more entries than there are",
    (zip) => (zip.writeUInt16LE(4, findEnd(zip) + 10), zip),
    "truncated or damaged",
  ],
  ["too many entries", (zip) => (zip.writeUInt16LE(0xffff, findEnd(zip) + 10), zip), "ZIP64"],
  ["a directory too far away", (zip) => (zip.writeUInt32LE(0xffffffff, findEnd(zip) + 16), zip), "ZIP64"],
  ["an entry outside", (zip) => (zip.writeUInt32LE(zip.length - 29, readCentral(zip) + 42), zip), "damaged"],
  ["an invalid entry", (zip) => (zip.writeUInt32LE(1, readCentral(zip) + 42), zip), "damaged"],
  [
    "one content for many entries",
    (zip) => (zip.writeUInt32LE(zip.length, readCentral(zip) + 20), zip),
    "damaged",
  ],
])("refuses an archive with %s", (_, change, message) => {
  // The first of two is stored, so that its content could be all of the archive.
  const zip = change(pack([ENTRIES[1]!, ENTRIES[0]!, ENTRIES[1]!]));
  expect(() => readZip(zip)).toThrow(message);
});

test("skips extra fields and comments of entries, and sees that one is encrypted", async () => {
  const [first, second] = ["aaaa", "bbbb"].map((text) => pack([{ name: "n", bytes: Buffer.from(text) }]));
  // An entry has 31 bytes of header and name, 4 of content; in the directory, 47 of header and name.
  const local = (zip: Buffer): Buffer => {
    const header = Buffer.from(zip.subarray(0, 31));
    header.writeUInt16LE(1, 28);
    return Buffer.concat([header, Buffer.from("e"), zip.subarray(31, 35)]);
  };
  const central = (zip: Buffer, at: number, flags: number): Buffer => {
    const header = Buffer.from(zip.subarray(35, 82));
    header.writeUInt16LE(flags, 8);
    header.writeUInt16LE(1, 30);
    header.writeUInt16LE(2, 32);
    header.writeUInt32LE(at, 42);
    return Buffer.concat([header, Buffer.from("ecc")]);
  };
  const end = Buffer.from(first!.subarray(82));
  end.writeUInt16LE(2, 10);
  end.writeUInt32LE(72, 16);
  const zip = Buffer.concat([
    local(first!),
    local(second!),
    central(first!, 0, 2048),
    central(second!, 36, 2049),
    end,
  ]);
  const members = readZip(zip);
  expect(members.map(({ name, isEncrypted }) => [name, isEncrypted])).toEqual([
    ["n", false],
    ["n", true],
  ]);
  expect(members.map(({ data }) => Buffer.from(data).toString())).toEqual(["aaaa", "bbbb"]);
});

test.each<[string, number, Partial<ZipMember>, string]>([
  ["an encrypted entry", 1, { isEncrypted: true }, "is encrypted"],
  ["another method", 1, { method: 12 }, "is compressed with method 12"],
  ["a larger size", 1, { size: 40_001 }, "size or checksum is wrong"],
  ["a smaller size", 1, { size: 39_999 }, "size or checksum is wrong"],
  ["a smaller size of a deflated entry", 0, { size: 4999 }, "size or checksum is wrong"],
  ["another checksum", 1, { crc: 1 }, "size or checksum is wrong"],
  ["deflated bytes that are none", 0, { data: Buffer.from([255, 255, 255]) }, "is damaged"],
])("refuses %s", async (_, index, change, message) => {
  const member = { ...readZip(pack(ENTRIES))[index]!, ...change };
  const refused = await unzip(member).catch((error: Error) => error.message);
  expect(refused).toContain(message);
  expect(refused).toContain(ENTRIES[index]!.name);
});
