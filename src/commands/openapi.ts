import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "../app/open.ts";
import type { Command } from "./command.ts";

export const openapi: Command = {
  name: "openapi",
  summary: "Print the OpenAPI document of the REST API, as /docs/json serves it.",
  settings: [],
  example: "labd openapi > openapi.json",
  async run(call) {
    // The document is generated from the routes, which need an open service.
    const directory = mkdtempSync(join(tmpdir(), "labd-openapi-"));
    const { config } = call.configuration();
    const service = await open({ ...config, data_dir: directory, workers: 1, log: "off" });
    try {
      const response = await service.answer(new Request("http://localhost/docs/json"));
      await call.print(await response.text());
    } finally {
      await service.close();
      rmSync(directory, { recursive: true });
    }
  },
};
