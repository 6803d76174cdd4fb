import { Problem } from "../problem.ts";

/** A body of more than the setting max_message_bytes, told before it is read where its length is declared. */
export const bodyTooLarge = (maxBytes: number): Problem =>
  new Problem("too_large", `The body has more than ${maxBytes} bytes (setting max_message_bytes).`);

/** The body of a request, whole. @throws Problem too_large */
export async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) throw bodyTooLarge(maxBytes);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * The body as text. Strict UTF-8: request.text() would put replacement characters in the place of wrong bytes.
 * @throws Problem too_large, malformed
 */
export async function readText(request: Request, maxBytes: number): Promise<string> {
  const bytes = await readBytes(request, maxBytes);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new Problem("malformed", "The body is not UTF-8.", { cause });
  }
}
