import { spyOn } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listen, type Listening } from "../../src/app/listen.ts";
import { resolveConfig } from "../../src/config.ts";
import { main } from "../../src/commands/main.ts";
import { createMigrated } from "../database.ts";

export interface Outcome {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a command line in this process, as the executable would. */
export async function labd(
  words: readonly string[],
  { env = {}, stdin = "" }: { env?: Record<string, string>; stdin?: string | Uint8Array<ArrayBuffer> } = {},
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
  const input = new Blob([stdin]);
  const spies =
    stdin === ""
      ? []
      : [
          spyOn(Bun.stdin, "bytes").mockImplementation((() => input.bytes()) as typeof Bun.stdin.bytes),
          spyOn(Bun.stdin, "stream").mockImplementation((() => input.stream()) as typeof Bun.stdin.stream),
        ];
  try {
    const code = await main([...words], env, { stdout: stream("stdout"), stderr: stream("stderr") });
    return { code, ...written };
  } finally {
    for (const spy of spies) spy.mockRestore();
  }
}

/** A server in this process, on a free port, that stops when it is disposed of. */
export async function serveHere(
  directory: string,
  flags: Record<string, string> = {},
  options: Parameters<typeof listen>[1] = {},
): Promise<Listening & AsyncDisposable> {
  const given = { data_dir: directory, port: "0", log: "off", workers: "1", backup_hours: "0", ...flags };
  const service = await listen(resolveConfig({ flags: given, environment: {} }).config, options);
  return Object.assign(service, { [Symbol.asyncDispose]: () => service.stop() });
}

/** A data directory with an empty database, which is removed when it is disposed of. */
export function scratch(): { directory: string } & Disposable {
  const directory = mkdtempSync(join(tmpdir(), "labd-command-"));
  createMigrated(join(directory, "labd.sqlite"));
  return { directory, [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }) };
}
