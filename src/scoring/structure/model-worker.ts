import { readFileSync, statSync } from "node:fs";
import { gunzipSync } from "node:zlib";
import { answerTasks } from "../../platform/thread-queue.ts";
import { Problem } from "../../problem.ts";
import type { StructureModel } from "./model-schemas.ts";
import { mapModel } from "./map-model.ts";
import { MAX_MODEL, MODEL, readModel } from "./model-file.ts";

/** A file of a model to describe: its bytes, or its path. */
export interface ModelTask {
  file: Uint8Array | string;
  name: string;
  source: StructureModel["source"];
  /** Sequence of the query. */
  sequence: string;
}

export interface DescribedModel {
  /** A StructureModel as JSON. */
  description: string;
  /** The unpacked file, compressed by Zstandard. */
  content: Uint8Array<ArrayBuffer>;
}

answerTasks(({ file, name, source, sequence }: ModelTask) => {
  const text = unpacked(typeof file === "string" ? readSmall(file) : file);
  const read = readModel(text);
  const { format, isPrediction } = read;
  const model: StructureModel = { name, source, format, isPrediction, ...mapModel(sequence, read) };
  const content = new Uint8Array(Bun.zstdCompressSync(text));
  const value: DescribedModel = { description: JSON.stringify(model), content };
  return { value, transfer: [content.buffer] };
});

/** @throws Problem too_large */
function readSmall(path: string): Uint8Array {
  if (statSync(path).size > MAX_MODEL) throw tooLarge();
  return readFileSync(path);
}

const tooLarge = (): Problem =>
  new Problem(
    "too_large",
    `the file has more than ${MAX_MODEL / 1e6} MB. Remove other chains and models.`,
    MODEL,
  );

/** @throws Problem too_large, invalid_request */
function unpacked(bytes: Uint8Array): string {
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  // PDB files of old programs may have other characters in their remarks.
  return new TextDecoder().decode(isGzip ? gunzip(bytes) : bytes);
}

function gunzip(bytes: Uint8Array): Uint8Array {
  try {
    return gunzipSync(bytes, { maxOutputLength: MAX_MODEL });
  } catch (cause) {
    if ((cause as { code?: string }).code === "ERR_BUFFER_TOO_LARGE") throw tooLarge();
    throw new Problem("invalid_request", "the gzip file is truncated or damaged.", { ...MODEL, cause });
  }
}
