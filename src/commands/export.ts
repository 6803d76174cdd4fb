import { renameSync, rmSync } from "node:fs";
import { Problem } from "../problem.ts";
import type { Call, Command } from "./command.ts";
import { resourceSegment, SERVICE_SETTINGS, USER_FLAG, withInventory } from "./with-inventory.ts";
import { progressLine } from "./progress.ts";

const FORMATS = ["csv", "xlsx", "json", "eln"];
/** Formats that are no text. */
const BINARY = new Set(["xlsx", "eln"]);

export const exportFile: Command = {
  name: "export",
  summary: "Write a consistent snapshot of a list to a CSV, XLSX or JSON file, or an archive (.eln).",
  operands: "LIST",
  flags: {
    [`--format ${FORMATS.join("|")}`]: "File format; by default the extension of --output, otherwise csv.",
    "--query PARAMETERS": "Filters, fields and order as in a URL: place__room=002&ordering=-label.",
    "--output FILE": "File to write instead of standard output.",
    ...USER_FLAG,
  },
  settings: SERVICE_SETTINGS,
  example:
    "labd export locations --user kim --query 'place__room=002&fields=id,label,path' --output boxes.xlsx",
  async run(call) {
    const segment = resourceSegment(call.operands[0]);
    const output = call.value("--output");
    const format =
      call.value("--format") ?? FORMATS.find((format) => output?.endsWith(`.${format}`)) ?? FORMATS[0];
    if (BINARY.has(format) && output === undefined && call.streams.stdout.isTTY)
      throw new Problem("usage", "A terminal cannot show this format. Name a file with --output FILE.");
    const parameters = new URLSearchParams(call.value("--query") ?? "");
    parameters.set("format", format);
    if (format === "json" && !parameters.has("page_size")) parameters.set("page_size", "max");
    await withInventory(call, async ({ send }) => {
      const { body } = await send(`${segment}/?${parameters}`);
      if (output === undefined) for await (const chunk of body ?? []) await call.print(chunk);
      else await save(call, body, output);
    });
  },
};

/** Writes to another name until the file is complete. */
async function save(call: Call, body: Response["body"], output: string): Promise<void> {
  const part = `${output}.part`;
  const progress = progressLine(call.streams.stderr);
  try {
    const sink = Bun.file(part).writer();
    let bytes = 0;
    for await (const chunk of body ?? []) {
      bytes += chunk.byteLength;
      progress.show(`${output}: ${(bytes / 1e6).toFixed(1)} MB`);
      void sink.write(chunk);
      await sink.flush();
    }
    await sink.end();
    renameSync(part, output);
  } catch (error) {
    rmSync(part, { force: true });
    throw error;
  } finally {
    progress.clear();
  }
}
