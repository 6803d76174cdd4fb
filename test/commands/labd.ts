import { main } from "../../src/main.ts";

export interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a command line in this process, as the executable would. */
export async function labd(
  words: readonly string[],
  environment: Record<string, string> = {},
): Promise<Outcome> {
  const written = { stdout: "", stderr: "" };
  const stream = (name: keyof typeof written) => ({
    isTTY: false,
    write(chunk: string | Uint8Array, done?: () => void) {
      written[name] += typeof chunk === "string" ? chunk : new TextDecoder().decode(chunk);
      done?.();
      return true;
    },
  });
  const code = await main([...words], environment, { stdout: stream("stdout"), stderr: stream("stderr") });
  return { code, ...written };
}
