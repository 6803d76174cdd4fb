import { existsSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { element, inEnvelope, NAMESPACE } from "./messages.ts";
import { waitFor } from "../wait.ts";

export * from "./messages.ts";
export * from "../scratch.ts";

/** The compiled executable, started and called as a person would. */

export const LABD =
  process.env.LABD ?? join(import.meta.dir, `../../dist/labd${process.platform === "win32" ? ".exe" : ""}`);

if (!existsSync(LABD)) throw new Error("dist/labd is missing: run `bun run build` first (npm test does).");

export interface ProcessResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs one command line to its end. */
export async function labd(
  words: string[],
  { stdin = "", env = {} as Record<string, string>, cwd = tmpdir() } = {},
): Promise<ProcessResult> {
  const run = Bun.spawn([LABD, ...words], {
    stdin: new Blob([stdin]),
    stdout: "pipe",
    stderr: "pipe",
    env: { PATH: "", ...env },
    cwd,
  });
  const [stdout, stderr, code] = await Promise.all([
    Bun.readableStreamToText(run.stdout),
    Bun.readableStreamToText(run.stderr),
    run.exited,
  ]);
  return { code, stdout, stderr };
}

/** Starts a command and ends it by SIGKILL once `isReady`. */
export async function killedWhen(
  words: string[],
  env: Record<string, string>,
  isReady: () => boolean,
): Promise<void> {
  const run = Bun.spawn([LABD, ...words], { stdout: "ignore", stderr: "ignore", env: { PATH: "", ...env } });
  await waitFor(() => {
    if (isReady()) return true;
    if (run.exitCode === null) return false;
    throw new Error(`labd ${words[0]} ended with ${run.exitCode} before it was killed.`);
  });
  run.kill("SIGKILL");
  await run.exited;
}

/**
 * Starts a batch that writes to a file and ends it by SIGKILL once so many queries are done, and before all are: one that
 * was too quick is begun again.
 * @returns how many were done
 */
export async function killWhileWriting(
  words: string[],
  env: Record<string, string>,
  output: string,
  least: number,
  cwd = tmpdir(),
): Promise<number> {
  const done = (): number => {
    try {
      return (JSON.parse(readFileSync(`${output}.progress`, "utf8")) as { queries: number }).queries;
    } catch {
      // It is not there yet, or not any more.
      return 0;
    }
  };
  for (;;) {
    rmSync(output, { force: true });
    const options = { env: { PATH: "", ...env }, cwd, stdout: "ignore", stderr: "ignore" } as const;
    const run = Bun.spawn([LABD, ...words], options);
    await waitFor(() => done() >= least || run.exitCode !== null);
    run.kill("SIGKILL");
    const code = await run.exited;
    if (done() >= least) return done();
    if (run.signalCode === null && code !== 0) throw new Error(`labd ${words.join(" ")} ended with ${code}`);
  }
}

export interface Server extends AsyncDisposable {
  url: string;
  process: Bun.Subprocess<"ignore", "pipe", "pipe">;
  /** The standard error so far: the log. */
  log(): string;
  /** Sends a signal and waits for the end. @returns exit code, or the signal's negative number */
  end(signal: NodeJS.Signals): Promise<number>;
}

/** Starts `labd serve` on a free port and waits until it says where. */
export async function serve(
  directory: string,
  words: string[] = [],
  env: Record<string, string> = {},
  executable = LABD,
): Promise<Server> {
  const process = Bun.spawn([executable, "serve", "--data-dir", directory, "--port", "0", ...words], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    env: { PATH: "", ...env },
    cwd: directory,
  });
  let written = "";
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const read = async (): Promise<void> => {
    const decoder = new TextDecoder();
    for await (const chunk of process.stderr) {
      written += decoder.decode(chunk, { stream: true });
      const url = written.match(/serves (https?:\S+)/)?.[1];
      if (url) resolve(url);
    }
    reject(new Error(`labd serve ended: ${written}`));
  };
  void read();
  const url = await promise;
  const end = async (signal: NodeJS.Signals): Promise<number> => {
    process.kill(signal);
    return process.exited;
  };
  return {
    url,
    process,
    log: () => written,
    end,
    async [Symbol.asyncDispose]() {
      if (process.exitCode === null) await end("SIGKILL");
    },
  };
}

/** Milliseconds of processor time that a process has taken, whatever else the machine does; 0 where the system does not tell. */
export function processorTime({ pid }: { pid: number }): number {
  if (process.platform !== "linux") return 0;
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1].split(" ");
  // Hundredths of a second, of its own and in the kernel for it.
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

/**
 * Two requests, one after the other. Once the second one is answered the server has seen all that was sent before them:
 * it looks at what has arrived on any connection before it looks again.
 */
export async function seenBy(url: string): Promise<void> {
  for (let i = 0; i < 2; i++) await (await fetch(`${url}/healthz`)).text();
}

/** Posts a message to the SOAP endpoint. */
export async function post(
  url: string,
  message: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<{ status: number; text: string; headers: Headers }> {
  const response = await fetch(`${url}/soap/ConservationScorer`, {
    method: "POST",
    headers: { "Content-Type": "text/xml; charset=utf-8", ...headers },
    body: message,
  });
  return { status: response.status, text: await response.text(), headers: response.headers };
}

export const ask = (url: string, operation: string, job: string): ReturnType<typeof post> =>
  post(
    url,
    inEnvelope(`<${operation} xmlns="${NAMESPACE}"><JobIdentifier>${job}</JobIdentifier></${operation}>`),
  );

/** Waits until the job has ended. @returns its status */
export const ended = (url: string, job: string): Promise<string> =>
  waitFor(async () => {
    const status = element((await ask(url, "GetStatus", job)).text, "Status") ?? "none";
    return status !== "queued" && status !== "running" && status;
  });
