/**
 * The clients that the server offers at `/clients/`: archives of a Python wheel, an R package and an npm package, made
 * from the OpenAPI document. Equal sources give equal bytes.
 */
import { join } from "node:path";
import { $ } from "bun";
import { DOCUMENT_PARTS } from "../../src/app/tags.ts";
import { selectPart } from "../../src/platform/openapi-part.ts";
import type { OpenApi } from "../../src/platform/openapi.ts";
import { type ZipEntry, zipFile } from "../../src/platform/zip-file.ts";
import { readModel, RELEASED } from "./api-model.ts";
import { makeNpmPackage } from "./npm.ts";
import { makeWheel } from "./python.ts";
import { makeRPackage } from "./r.ts";

const MAIN = join(import.meta.dir, "../../src/main.ts");

/** @param folder for what is bundled @returns the archives as one ZIP file, which the executable embeds */
export async function buildClients(version: string, folder: string): Promise<Uint8Array> {
  const whole: OpenApi = await $`${process.execPath} ${MAIN} openapi`.quiet().json();
  const documents = Object.fromEntries(
    Object.entries(DOCUMENT_PARTS).map(([name, part]) => [name, selectPart(whole, part)]),
  );
  const model = readModel(documents.inventory, version);
  const archives: ZipEntry[] = [
    makeWheel(model),
    makeRPackage(model),
    await makeNpmPackage(model, documents, folder),
  ];
  return Buffer.concat([...zipFile(archives, RELEASED)]);
}
