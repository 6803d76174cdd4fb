import { statSync } from "node:fs";
import { basename } from "node:path";
import { Problem } from "../../problem.ts";
import type { CorpusInfo } from "./corpus.ts";

/** Content-addressed files never change. */
const IMMUTABLE = "private, max-age=31536000, immutable";

/**
 * The packed file of a corpus, or the part that `Range` names (RFC 9110, section 14), to resume downloads.
 * @throws Problem bad_corpus if the file is missing
 */
export function corpusFile(request: Request, { path, hash }: CorpusInfo): Response {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) throw new Problem("bad_corpus", `corpora/${basename(path)} is missing. Add the corpus again.`);
  const { size } = stat;
  const tag = `"${hash}"`;
  const headers: Record<string, string> = {
    "Content-Type": "application/octet-stream",
    "Content-Disposition": `attachment; filename="${hash}.labc"`,
    "Accept-Ranges": "bytes",
    "Cache-Control": IMMUTABLE,
    ETag: tag,
  };
  if (namesTag(request.headers.get("if-none-match"), tag))
    return new Response(null, { status: 304, headers });
  const range = request.headers.get("range");
  const condition = request.headers.get("if-range");
  const part =
    range !== null && (condition === null || condition === tag) ? parseRange(range, size) : undefined;
  if (part === null)
    return new Response(null, { status: 416, headers: { ...headers, "Content-Range": `bytes */${size}` } });
  const [from, to] = part ?? [0, size];
  Object.assign(headers, {
    "Content-Length": String(to - from),
    ...(part ? { "Content-Range": `bytes ${from}-${to - 1}/${size}` } : {}),
  });
  return new Response(Bun.file(path).slice(from, to), {
    status: part ? 206 : 200,
    headers,
  });
}

/** True if If-None-Match has a tag (weak comparison). */
export const namesTag = (header: string | null, tag: string): boolean =>
  header !== null &&
  (header.trim() === "*" || header.split(",").some((one) => one.trim().replace(/^W\//, "") === tag));

/** Half-open range [from, to); null if it lies outside the file, undefined for a header to ignore. */
function parseRange(range: string, size: number): [number, number] | null | undefined {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range.trim());
  if (!match || (match[1] === "" && match[2] === "")) return undefined;
  if (match[1] === "") {
    const last = Math.min(Number(match[2]), size);
    return last === 0 ? null : [size - last, size];
  }
  const from = Number(match[1]);
  if (match[2] !== "" && Number(match[2]) < from) return undefined;
  return from >= size ? null : [from, match[2] === "" ? size : Math.min(Number(match[2]) + 1, size)];
}
