import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "../app/open.ts";
import type { Command } from "./command.ts";

export const openapi: Command = {
  name: "openapi",
  summary: "Print the OpenAPI document of the REST API, as /docs/json serves it.",
  settings: [],
  flags: {
    "--part inventory|scoring|administration": "Only this part, for generators of clients.",
  },
  example: "labd openapi --part inventory > openapi.json",
  async run(call) {
    // The document is generated from the routes, which need an open service.
    const directory = mkdtempSync(join(tmpdir(), "labd-openapi-"));
    const { config } = call.configuration();
    const service = await open({ ...config, data_dir: directory, workers: 1, log: "off" });
    try {
      const part = call.value("--part");
      const query = part === undefined ? "" : `?part=${part}`;
      const response = await service.answer(new Request(`http://localhost/docs/json${query}`));
      await call.print(await response.text());
    } finally {
      await service.close();
      rmSync(directory, { recursive: true });
    }
  },
};
