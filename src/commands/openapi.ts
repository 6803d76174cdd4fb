import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "../app/open.ts";
import type { Command } from "./command-line.ts";

export const openapi: Command = {
  name: "openapi",
  summary: "Print the OpenAPI document of the REST face, as /docs/json serves it.",
  flags: [],
  settings: [],
  example: "labd openapi > openapi.json",
  async run(call) {
    // The document comes from the routes, and the routes want a service; it gets one that nobody sees.
    const directory = mkdtempSync(join(tmpdir(), "labd-openapi-"));
    const service = await open({
      ...call.configuration().config,
      data_dir: directory,
      workers: 1,
      log: "off",
    });
    try {
      const response = await service.answer(new Request("http://localhost/docs/json"));
      process.stdout.write(`${JSON.stringify(await response.json(), null, 2)}\n`);
    } finally {
      await service.close();
      rmSync(directory, { recursive: true });
    }
    return 0;
  },
};
