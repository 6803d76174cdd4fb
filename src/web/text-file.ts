/** First bytes of formats that people take for text. */
const UNSUPPORTED_FORMATS: readonly (readonly [bytes: string, format: string])[] = [
  ["504b0304", "a ZIP archive or an Office document"],
  ["d0cf11e0", "an Office document"],
  ["7b5c7274", "an RTF document"],
  ["25504446", "a PDF document"],
  ["425a68", "compressed with bzip2"],
  ["fd377a58", "compressed with xz"],
  ["28b52ffd", "compressed with zstd"],
];

/** The text of a file in UTF-8 or, with a byte order mark, UTF-16, plain or gzip. @throws Error to show to people */
export async function readTextFile(file: File): Promise<string> {
  const isGzip = (await firstBytes(file)).startsWith("1f8b");
  const content = isGzip ? await unpack(file) : file;
  const first = await firstBytes(content);
  const foreign = UNSUPPORTED_FORMATS.find(([bytes]) => first.startsWith(bytes));
  if (foreign) throw new Error(`${file.name} is ${foreign[1]}. Save it as plain text.`);
  const encoding = first.startsWith("fffe") ? "utf-16le" : first.startsWith("feff") ? "utf-16be" : "utf-8";
  return new TextDecoder(encoding).decode(await content.arrayBuffer());
}

/** The first four bytes in hexadecimal. */
const firstBytes = async (content: Blob): Promise<string> =>
  new Uint8Array(await content.slice(0, 4).arrayBuffer()).toHex();

const unpack = (file: File): Promise<Blob> =>
  new Response(file.stream().pipeThrough(new DecompressionStream("gzip"))).blob().catch(() => {
    throw new Error(`${file.name} is truncated or damaged.`);
  });
