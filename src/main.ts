#!/usr/bin/env bun
import { REQUEST_PROCESS } from "./inventory/api/remote-request.ts";
import { VERSION } from "./version.ts";

// The modules of commands are not loaded by a request process, which the server starts and which needs half of them.
if (import.meta.main) {
  // These signals would end the process; some administrators send them to every service, as for rotating logs.
  if (process.platform !== "win32") for (const signal of ["SIGUSR1", "SIGUSR2"]) process.on(signal, () => {});
  const words = process.argv.slice(2);
  const code =
    words[0] === REQUEST_PROCESS && process.send
      ? await import("./inventory/api/request-process.ts").then((m) => m.serveRequests(VERSION))
      : await import("./commands/main.ts").then((m) => m.main(words, process.env));
  // exit() would cut off output that a pipe has not taken yet.
  await Promise.all(
    [process.stdout, process.stderr].map((stream) => new Promise<void>((resolve) => stream.end(resolve))),
  );
  process.exit(code);
}
