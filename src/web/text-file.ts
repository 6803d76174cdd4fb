/** A file that somebody chose, as text: UTF-8, or UTF-16 with its mark, as it is or compressed with gzip. */

const HEAD = 4;
const begins = (bytes: Uint8Array, first: readonly number[]): boolean =>
  first.every((byte, i) => bytes[i] === byte);

/** What people take for text. */
const FOREIGN: [first: number[], is: string][] = [
  [[0x50, 0x4b, 0x03, 0x04], "a ZIP archive, or a document of Word or Excel"],
  [[0xd0, 0xcf, 0x11, 0xe0], "a document of Word or Excel"],
  [[0x7b, 0x5c, 0x72, 0x74], "a document in RTF"],
  [[0x25, 0x50, 0x44, 0x46], "a PDF document"],
  [[0x42, 0x5a, 0x68], "compressed with bzip2"],
  [[0xfd, 0x37, 0x7a, 0x58], "compressed with xz"],
  [[0x28, 0xb5, 0x2f, 0xfd], "compressed with zstd"],
];

/** @throws Error in words for the person who chose it */
export async function readTextFile(file: File): Promise<string> {
  const isGzip = begins(await headOf(file), [0x1f, 0x8b]);
  const content = isGzip ? await unpacked(file) : file;
  const head = await headOf(content);
  const foreign = FOREIGN.find(([first]) => begins(head, first));
  if (foreign) throw new Error(`${file.name} is ${foreign[1]}. Save it as plain text.`);
  const encoding = begins(head, [0xff, 0xfe])
    ? "utf-16le"
    : begins(head, [0xfe, 0xff])
      ? "utf-16be"
      : "utf-8";
  return new TextDecoder(encoding).decode(await content.arrayBuffer());
}

const headOf = async (content: Blob): Promise<Uint8Array> =>
  new Uint8Array(await content.slice(0, HEAD).arrayBuffer());

async function unpacked(file: File): Promise<Blob> {
  try {
    return await new Response(file.stream().pipeThrough(new DecompressionStream("gzip"))).blob();
  } catch {
    throw new Error(`${file.name} is cut short or damaged: it cannot be unpacked.`);
  }
}
