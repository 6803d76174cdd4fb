import { readStored, storedParts, writeStored } from "../stored.ts";
import type { Batch } from "./batch.ts";

/** Batches of former versions, which browsers kept and put into links. Their jobs are shown; none is submitted. */

interface FormerBatch {
  id: string;
  /** Milliseconds since 1970-01-01 UTC. */
  created: number;
  groups: { patterns: string[]; motifClasses: string[] }[];
  items: { name: string; group: number; line?: number; job: string | null }[];
}

type Motif = Batch["groups"][number][number];

/** A former batch in the form of one of the server; null where the value is not valid. */
function readFormer(value: unknown): (Batch & Pick<FormerBatch, "id" | "created">) | null {
  try {
    const { id, created, groups, items } = value as FormerBatch;
    const isText = (text: unknown): boolean => typeof text === "string";
    const isWhole =
      isText(id) &&
      groups.length > 0 &&
      groups.every((group) => group.patterns.every(isText) && group.motifClasses.every(isText)) &&
      items.every(({ name, group, job }) => isText(name) && group in groups && (job === null || isText(job)));
    if (!isWhole) return null;
    return {
      id,
      created,
      groups: groups.map(({ patterns, motifClasses }) =>
        patterns
          .map((expression): Motif => ({ expression, name: null }))
          .concat(motifClasses.map((name) => ({ expression: "", name }))),
      ),
      items: items
        .filter(({ job }) => job !== null)
        .map(({ name, group, line = null, job }, position) => {
          return { position, name, group, line, job, state: "queued", failure: null };
        }),
    };
  } catch {
    return null;
  }
}

/** Lists the former batches of this browser, newest first. */
export const formerBatches = () =>
  storedParts("batch")
    .flatMap((id) => readFormer(readStored("batch", null, id)) ?? [])
    .toSorted((a, b) => b.created - a.created);

export const forgetFormerBatch = (id: string): boolean => writeStored("batch", null, id);

/** The former batch of an address: in the browser's storage, or in the fragment of a link; null where there is none. */
export async function formerBatch(id: string, fragment: string): Promise<Batch | null> {
  const stored = readFormer(readStored("batch", null, id));
  if (stored || fragment === "") return stored;
  try {
    const blob = new Blob([Uint8Array.fromBase64(fragment, { alphabet: "base64url" })]);
    const text = await new Response(blob.stream().pipeThrough(new DecompressionStream("deflate-raw"))).text();
    return readFormer(JSON.parse(text));
  } catch {
    return null;
  }
}
