import { Problem } from "../problem.ts";

const CTRL_C = "\u0003";
const CTRL_D = "\u0004";

/**
 * Reads a password from standard input without a final line break, or asks at a terminal without echo.
 * @throws Problem malformed for invalid UTF-8; usage for Ctrl-C
 */
export async function readPassword(): Promise<string> {
  if (process.stdin.isTTY) return ask("Password: ");
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
      .decode(await Bun.stdin.bytes())
      .replace(/\r?\n$/, "");
  } catch (cause) {
    throw new Problem("malformed", "The password on standard input is not UTF-8.", { cause });
  }
}

async function ask(prompt: string): Promise<string> {
  process.stdin.setRawMode(true);
  process.stderr.write(prompt);
  try {
    let text = "";
    const decoder = new TextDecoder();
    for await (const chunk of process.stdin) {
      for (const character of decoder.decode(chunk as Uint8Array, { stream: true })) {
        if (character === "\r" || character === "\n") return text;
        if (character === CTRL_C || (character === CTRL_D && text === ""))
          throw new Problem("usage", "No password was entered.");
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
