/**
 * The clients that the server offers at `/clients/`: archives of a Python wheel, an R package and an npm package, made
 * from the OpenAPI document. Equal sources give equal bytes.
 */
import { $ } from "bun";
import type { OpenApi } from "../../src/platform/openapi.ts";
import { type ZipEntry, zipFile } from "../../src/platform/zip-file.ts";
import { readModel, RELEASED } from "./api-model.ts";
import { makeWheel } from "./python.ts";

/** @returns the archives as one ZIP file, which the executable embeds */
export async function buildClients(version: string): Promise<Uint8Array> {
  const inventory = await readDocument("inventory");
  const model = readModel(inventory, version);
  const archives: ZipEntry[] = [makeWheel(model)];
  return Buffer.concat([...zipFile(archives, RELEASED)]);
}

/** A part of the OpenAPI document. */
const readDocument = (part: string): Promise<OpenApi> =>
  $`${process.execPath} src/main.ts openapi --part ${part}`.quiet().json();
