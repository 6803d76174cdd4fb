import { Problem } from "../problem.ts";

const CTRL_C = "\u0003";
const CTRL_D = "\u0004";

/**
 * A password from standard input: all of a pipe or file but a line break at its end, or what is typed at a terminal,
 * which does not show it.
 * @throws Problem malformed for bytes that are no UTF-8; usage where the person gives up
 */
export async function readPassword(): Promise<string> {
  if (process.stdin.isTTY) return typed("Password: ");
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
      .decode(await Bun.stdin.bytes())
      .replace(/\r?\n$/, "");
  } catch (cause) {
    throw new Problem("malformed", "The password on standard input is not UTF-8.", { cause });
  }
}

async function typed(prompt: string): Promise<string> {
  // Before anybody types, so that nothing of it is shown.
  process.stdin.setRawMode(true);
  process.stderr.write(prompt);
  try {
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of process.stdin) {
      for (const character of decoder.decode(chunk as Uint8Array, { stream: true })) {
        if (character === "\r" || character === "\n") return text;
        if (character === CTRL_C || (character === CTRL_D && text === ""))
          throw new Problem("usage", "No password was typed.");
        if (character === "\u007f" || character === "\b") text = [...text].slice(0, -1).join("");
        else text += character;
      }
    }
    return text;
  } finally {
    process.stdin.setRawMode(false);
    process.stdin.pause();
    process.stderr.write("\n");
  }
}
