import { statSync } from "node:fs";
import { basename } from "node:path";
import { Problem } from "../../problem.ts";
import { calibrationPath, readCalibration } from "./calibration-file.ts";
import type { CorpusInfo } from "./corpus.ts";

/** What is named after its content never changes. */
const FOR_EVER = "private, max-age=31536000, immutable";

/**
 * The packed file of a corpus, or the part of it that `Range` names (RFC 9110, section 14): who was cut off goes on.
 * @throws Problem bad_corpus where the file is gone
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
    "Cache-Control": FOR_EVER,
    ETag: tag,
  };
  if (names(request.headers.get("if-none-match"), tag)) return new Response(null, { status: 304, headers });
  const range = request.headers.get("range");
  const condition = request.headers.get("if-range");
  const part = range !== null && (condition === null || condition === tag) ? partOf(range, size) : undefined;
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

/** The corpus's own null, as it lies beside it. @throws Problem not_found where it has none, bad_corpus */
export function calibrationOf(request: Request, { path, hash }: CorpusInfo): Response {
  const own = readCalibration(path);
  if (!own)
    throw new Problem(
      "not_found",
      `The corpus ${hash} has no calibration of its own: the built-in one serves.`,
    );
  const headers = {
    "Content-Type": "text/plain; charset=utf-8",
    "Cache-Control": "no-cache",
    ETag: `"${own.hash}"`,
  };
  if (names(request.headers.get("if-none-match"), headers.ETag))
    return new Response(null, { status: 304, headers });
  return new Response(Bun.file(calibrationPath(path)), { headers });
}

const names = (header: string | null, tag: string): boolean =>
  header !== null &&
  (header.trim() === "*" || header.split(",").some((one) => one.trim().replace(/^W\//, "") === tag));

/** First byte and the one behind the last; null where none of the file is in it, undefined for what is to be ignored. */
function partOf(range: string, size: number): [number, number] | null | undefined {
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
