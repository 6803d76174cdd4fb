import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Problem } from "../problem.ts";
import type { Command } from "./command.ts";

export const clients: Command = {
  name: "clients",
  summary: "Write the clients for Python, R and TypeScript, which /clients/ serves, into a directory.",
  operands: "DIRECTORY",
  flags: {},
  settings: [],
  example: "labd clients /srv/packages",
  async run(call) {
    const { clientFiles } = await import("../platform/clients.ts");
    const files = await clientFiles();
    if (files.length === 0) throw new Problem("usage", "Only the compiled executable has the clients.");
    const [directory] = call.operands;
    mkdirSync(directory, { recursive: true });
    for (const { name, bytes } of files) {
      await Bun.write(join(directory, name), bytes);
      await call.print(`${join(directory, name)}\n`);
    }
  },
};
