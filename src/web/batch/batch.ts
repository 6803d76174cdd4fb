import { type Model, MAX_PER_JOB } from "../score/job.ts";
import type { Entry } from "../score/protein-input.ts";
import { readStored, storedParts, writeStored } from "../stored.ts";

/** Several proteins with the same motifs, as jobs. It is stored in this browser, so that a reload continues it. */

/** Motifs of one job, which has a limit. */
export interface Group {
  patterns: string[];
  motifClasses: string[];
}

/** One job, submitted or not. */
export interface Item {
  name: string;
  /** The protein, until the job is submitted or cancelled. */
  query: { querySequence: string } | { accession: string } | null;
  /** Index of its group. */
  group: number;
  /** Its line in a list of accessions. */
  line?: number;
  /** Its identifier, once it is submitted. */
  job: string | null;
}

export interface Batch {
  id: string;
  /** Milliseconds since 1970-01-01 UTC. */
  created: number;
  model: Model;
  groups: Group[];
  items: Item[];
}

export function newBatch(
  entries: readonly Entry[],
  patterns: readonly string[],
  classes: readonly string[],
  model: Model,
): Batch {
  const groups: Group[] = [];
  for (let at = 0; at < Math.max(patterns.length, classes.length); at += MAX_PER_JOB)
    groups.push({
      patterns: patterns.slice(at, at + MAX_PER_JOB),
      motifClasses: classes.slice(at, at + MAX_PER_JOB),
    });
  const items = entries.flatMap(({ name, sequence, line }, i) =>
    groups.map((_, group): Item => ({
      name: name || `sequence ${i + 1}`,
      query: sequence === null ? { accession: name } : { querySequence: sequence },
      group,
      job: null,
      ...(line === undefined ? {} : { line }),
    })),
  );
  return { id: newId(), created: Date.now(), model, groups, items };
}

/** `randomUUID` needs HTTPS. */
const newId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(9)), (byte) => (byte % 36).toString(36)).join("");

/** Batches of this browser, newest first. */
export const storedBatches = (): Batch[] =>
  storedParts("batch")
    .flatMap((id) => storedBatch(id) ?? [])
    .toSorted((a, b) => b.created - a.created);

export const storedBatch = (id: string): Batch | null => validBatch(readStored("batch", null, id));

/** @returns false where the browser's storage is full or forbidden */
export const storeBatch = (batch: Batch): boolean => writeStored("batch", batch, batch.id);

export const forgetBatch = (id: string): boolean => writeStored("batch", null, id);

/** A batch of unknown origin; null where it is not valid. */
function validBatch(value: unknown): Batch | null {
  try {
    const batch = value as Batch;
    const isText = (text: unknown): boolean => typeof text === "string";
    const isGroup = ({ patterns, motifClasses }: Group): boolean =>
      patterns.every(isText) && motifClasses.every(isText);
    const isItem = ({ name, group, job }: Item): boolean =>
      isText(name) && group in batch.groups && (job === null || isText(job));
    const isWhole = batch.groups.length > 0 && batch.groups.every(isGroup) && batch.items.every(isItem);
    return isWhole && isText(batch.id) ? batch : null;
  } catch {
    return null;
  }
}

/** The submitted jobs of a batch, without sequences, as text for the fragment of a link, which servers do not log. */
export async function packBatch(batch: Batch): Promise<string> {
  const sent = { ...batch, items: batch.items.filter(({ job }) => job !== null) };
  const bytes = await pipe(new Blob([JSON.stringify(sent)]), new CompressionStream("deflate-raw"));
  return new Uint8Array(bytes).toBase64({ alphabet: "base64url", omitPadding: true });
}

/** The batch in a link; null where there is none. */
export async function unpackBatch(text: string): Promise<Batch | null> {
  try {
    const blob = new Blob([Uint8Array.fromBase64(text, { alphabet: "base64url" })]);
    const bytes = await pipe(blob, new DecompressionStream("deflate-raw"));
    const batch = validBatch(JSON.parse(new TextDecoder().decode(bytes)));
    // A link shows jobs; it must not make this browser submit any.
    return batch && { ...batch, items: batch.items.filter(({ job }) => job !== null) };
  } catch {
    return null;
  }
}

const pipe = (blob: Blob, stream: CompressionStream | DecompressionStream): Promise<ArrayBuffer> =>
  new Response(blob.stream().pipeThrough(stream)).arrayBuffer();
