import type { Json } from "../model/field.ts";
import { Problem } from "../../problem.ts";
import { checkFields } from "../../platform/json-members.ts";
import { mediaType, readBytes, readJson, readText } from "../../platform/body.ts";

/** Media types of JSON; a body without a type is taken for JSON. */
const JSON_TYPES = ["", "application/json", "application/json-patch+json", "application/merge-patch+json"];

/** The JSON body of a call. @throws Problem unsupported_media_type, too_large, malformed */
export const readJsonBody = ({ request, maxBytes }: { request: Request; maxBytes: number }): Promise<Json> =>
  readJson(request, { maxBytes, types: JSON_TYPES });

/** A JSON object, or a form (application/x-www-form-urlencoded). */
export async function readPairs(request: Request, maxBytes: number): Promise<Json> {
  if (!isForm(request)) return readJsonBody({ request, maxBytes });
  return Object.fromEntries(await readFields(request, maxBytes));
}

/** An uploaded file, and the other fields of its form. */
export interface Upload {
  name: string;
  type: string;
  /** True if the client named the file. */
  named: boolean;
  bytes: Uint8Array;
  fields: [string, string][];
}

/**
 * A file: the body itself, or the first file of a form (RFC 7578).
 * @throws Problem too_large, malformed
 */
export async function readUpload(request: Request, maxBytes: number): Promise<Upload> {
  const bytes = await readBytes(request, maxBytes);
  const type = mediaType(request);
  if (type !== "multipart/form-data") return { name: "file", named: false, type, bytes, fields: [] };
  const headers = { "Content-Type": request.headers.get("content-type")! };
  let form: FormData;
  try {
    form = await new Response(bytes as Uint8Array<ArrayBuffer>, { headers }).formData();
  } catch (cause) {
    throw new Problem("malformed", "The form is not valid multipart/form-data.", { cause });
  }
  const fields: [string, string][] = [];
  let file: Blob | undefined;
  for (const [name, value] of form as Iterable<[string, string | Blob]>) {
    if (typeof value === "string") fields.push([name, value]);
    else file ??= value;
  }
  if (!file) throw new Problem("malformed", "The form must have a file.");
  const { name } = file as File;
  return {
    name: name ?? "file",
    named: name !== undefined,
    type: (detectFileType(bytes, headers["Content-Type"]) ?? file.type).split(";")[0].trim(),
    bytes: await file.bytes(),
    fields,
  };
}

/** The media type that the first file of a form was sent with. Bun replaces it by one that the name suggests. */
function detectFileType(bytes: Uint8Array, contentType: string): string | undefined {
  const boundary = /;\s*boundary="?([^";]+)/i.exec(contentType)?.[1];
  const form = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  for (let start = form.indexOf(`--${boundary}`); start >= 0;) {
    const end = form.indexOf("\r\n\r\n", start);
    const head = form.toString("latin1", start, Math.max(start, end));
    if (/;\s*filename\*?=/i.test(head)) return /^content-type:(.+)$/im.exec(head)?.[1];
    start = end < 0 ? -1 : form.indexOf(`--${boundary}`, end);
  }
  return undefined;
}

/** True if the body is a form without files. */
export const isForm = (request: Request): boolean =>
  mediaType(request) === "application/x-www-form-urlencoded";

/** Fields of the form. @throws Problem too_large, malformed */
export async function readFields(request: Request, maxBytes: number): Promise<URLSearchParams> {
  const text = await readText(request, maxBytes);
  checkFields(text);
  return new URLSearchParams(text);
}
