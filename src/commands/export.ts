import { renameSync, rmSync } from "node:fs";
import type { Command } from "./command-line.ts";
import { Problem } from "../problem.ts";
import { openInventory, segmentOf, SERVICE_SETTINGS, USER_FLAG } from "./open-inventory.ts";
import { progressLine } from "./progress.ts";

const FORMATS = ["csv", "xlsx", "json"] as const;
const USAGE = "labd export takes one LIST.";

export const exportFile: Command = {
  name: "export",
  summary: "Write the records of a list to a CSV, XLSX or JSON file, as they are at one time.",
  operands: "LIST",
  flags: [
    {
      name: "--format",
      value: "FORMAT",
      sentence: `${FORMATS.join(", ")}; by default that of the file's name, else the first.`,
    },
    {
      name: "--query",
      value: "PARAMETERS",
      sentence: "Filters, fields and order as in an address: place__room=002&ordering=-label.",
    },
    { name: "--output", value: "FILE", sentence: "File to write; without it, standard output." },
    USER_FLAG,
  ],
  settings: SERVICE_SETTINGS,
  example:
    "labd export locations --user kim --query 'place__room=002&fields=id,label,path' --output boxes.xlsx",
  async run(call) {
    if (call.operands.length > 1) throw new Problem("usage", `${USAGE} See labd export --help.`);
    const segment = segmentOf(call.operands[0], USAGE);
    const output = call.value("--output");
    const named = call.value("--format") ?? FORMATS.find((one) => output?.endsWith(`.${one}`)) ?? FORMATS[0];
    const format = FORMATS.find((one) => one === named);
    if (!format) throw new Problem("usage", `--format: expected ${FORMATS.join(", ")}.`);
    if (format === "xlsx" && output === undefined && process.stdout.isTTY)
      throw new Problem("usage", "A spreadsheet is nothing for a terminal: name a file with --output FILE.");
    const parameters = new URLSearchParams(call.value("--query") ?? "");
    parameters.set("format", format);
    if (format === "json" && !parameters.has("page_size")) parameters.set("page_size", "max");
    const service = await openInventory(call);
    try {
      const response = await service.send(`${segment}/?${parameters}`);
      if (output === undefined) {
        for await (const chunk of response.body ?? []) await written(chunk);
      } else await save(response, output);
    } finally {
      await service.close();
    }
    return 0;
  },
};

/** Under another name until all of it is there. */
async function save(response: Response, output: string): Promise<void> {
  const part = `${output}.part`;
  const progress = progressLine();
  try {
    const sink = Bun.file(part).writer();
    let bytes = 0;
    for await (const chunk of response.body ?? []) {
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

/** Waits until the reader has it. */
const written = (chunk: Uint8Array): Promise<void> =>
  new Promise((resolve) => process.stdout.write(chunk, () => resolve()));
