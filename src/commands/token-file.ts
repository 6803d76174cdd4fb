import { Problem } from "../problem.ts";
import type { Call, Flags } from "./command.ts";
import { namedBytes } from "./named-file.ts";

/** The flags of commands that fetch a corpus. */
export const CORPUS_SOURCE_FLAGS: Flags = {
  "--from URL":
    "A labd server with the corpus (https://server); may be repeated; if one fails, the next is tried.",
  "--token-file FILE": "File with a token of that server; - reads standard input.",
};

/** Reads the token from its file: arguments are visible to every user of the machine. @throws Problem usage */
export async function readToken(call: Call): Promise<string | undefined> {
  const file = call.value("--token-file");
  if (file === undefined) return undefined;
  const token = new TextDecoder().decode(await namedBytes(file)).trim();
  if (!/^\S{1,1000}$/.test(token)) throw new Problem("usage", `--token-file: ${file} contains no token.`);
  return token;
}
