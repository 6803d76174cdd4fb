import { createReadStream, existsSync, openSync, closeSync, type Stats, statSync } from "node:fs";
import { dirname } from "node:path";
import { Readable } from "node:stream";
import { Problem } from "../problem.ts";

/**
 * The content of a file, pipe or device; `-` is standard input.
 * @throws Problem not_found, forbidden, or usage for a directory
 */
export function namedFile(path: string): Blob | ReadableStream<Uint8Array> {
  if (path === "-") return Bun.stdin.stream();
  let found: Stats;
  try {
    found = statSync(path);
    if (found.isDirectory()) throw new Problem("usage", `${path} is a directory; expected a file.`);
    // Not for a pipe: opening it twice would lose its writer.
    if (found.isFile()) closeSync(openSync(path, "r"));
  } catch (error) {
    throw (systemProblem(error) ?? error) as Error;
  }
  if (found.isFile()) return Bun.file(path);
  return Readable.toWeb(createReadStream(path)) as unknown as ReadableStream<Uint8Array>;
}

/** The whole content. @throws Problem as namedFile */
export async function namedBytes(path: string): Promise<Uint8Array<ArrayBuffer>> {
  return new Response(namedFile(path)).bytes() as Promise<Uint8Array<ArrayBuffer>>;
}

/** A file-system error as a problem with advice; undefined for other errors. */
export function systemProblem(error: unknown): Problem | undefined {
  const { code, path } = (error ?? {}) as { code?: unknown; path?: unknown };
  if (typeof path !== "string") return undefined;
  switch (code) {
    case "ENOENT": {
      const directory = dirname(path);
      const nor = existsSync(directory) ? "" : `, and no directory ${directory}`;
      return new Problem("not_found", `There is no file ${path}${nor}.`);
    }
    case "EACCES":
    case "EPERM":
      return new Problem(
        "forbidden",
        `${path}: this account (uid ${process.getuid?.()}) may not open it. Change its permissions, or use another account.`,
      );
    case "EISDIR":
      return new Problem("usage", `${path} is a directory; expected a file.`);
    case "ENOTDIR":
      return new Problem("not_found", `${dirname(path)} is a file, not a directory.`);
    case "EMFILE":
    case "ENFILE":
      return new Problem("busy", `${path}: too many files are open. Raise the limit (ulimit -n).`);
    default:
      return undefined;
  }
}
