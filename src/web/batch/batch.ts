import { type Model, MOST_PER_JOB } from "../score/job.ts";
import type { Entry } from "../score/protein-input.ts";

/** Several proteins with the same motifs: which jobs they are, kept in this browser so that a reload goes on. */

/** Motifs that go into one job, which takes only so many. */
export interface Group {
  patterns: string[];
  motifClasses: string[];
}

/** One job, sent or not. */
export interface Item {
  name: string;
  /** What to score, until the server has it or it is called off. */
  query: { querySequence: string } | { accession: string } | null;
  /** Of the groups, by index. */
  group: number;
  /** Its identifier, once it is sent. */
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
  for (let at = 0; at < Math.max(patterns.length, classes.length); at += MOST_PER_JOB)
    groups.push({
      patterns: patterns.slice(at, at + MOST_PER_JOB),
      motifClasses: classes.slice(at, at + MOST_PER_JOB),
    });
  const items = entries.flatMap(({ name, sequence }, i) =>
    groups.map((_, group): Item => ({
      name: name || `sequence ${i + 1}`,
      query: sequence === null ? { accession: name } : { querySequence: sequence },
      group,
      job: null,
    })),
  );
  return { id: newId(), created: Date.now(), model, groups, items };
}

/** Not randomUUID, which browsers refuse where there is no HTTPS. */
const newId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(9)), (byte) => (byte % 36).toString(36)).join("");

const PREFIX = "labd.batch.";

/** Batches of this browser, newest first. */
export function keptBatches(): Batch[] {
  try {
    return Object.keys(localStorage)
      .filter((key) => key.startsWith(PREFIX))
      .flatMap((key) => readBatch(localStorage.getItem(key)) ?? [])
      .toSorted((a, b) => b.created - a.created);
  } catch {
    return [];
  }
}

export function keptBatch(id: string): Batch | null {
  try {
    return readBatch(localStorage.getItem(PREFIX + id));
  } catch {
    return null;
  }
}

/** @returns false where the browser's storage is full or forbidden */
export function keepBatch(batch: Batch): boolean {
  try {
    localStorage.setItem(PREFIX + batch.id, JSON.stringify(batch));
    return true;
  } catch {
    return false;
  }
}

export function forgetBatch(id: string): void {
  try {
    localStorage.removeItem(PREFIX + id);
  } catch {
    // Nothing was kept.
  }
}

/** A batch out of text that may be anybody's; null where it is none. */
function readBatch(text: string | null): Batch | null {
  if (text === null) return null;
  try {
    const batch = JSON.parse(text) as Batch;
    const isText = (value: unknown): boolean => typeof value === "string";
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

/** The batch as text for the fragment of a link, which stays out of logs: the jobs that are sent, without sequences. */
export async function packed(batch: Batch): Promise<string> {
  const sent = { ...batch, items: batch.items.filter(({ job }) => job !== null) };
  const bytes = await through(new Blob([JSON.stringify(sent)]), new CompressionStream("deflate-raw"));
  const text = Array.from(new Uint8Array(bytes), (byte) => String.fromCharCode(byte)).join("");
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** What `packed` made; null for anything else. */
export async function unpacked(text: string): Promise<Batch | null> {
  try {
    const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    const blob = new Blob([Uint8Array.from(binary, (sign) => sign.charCodeAt(0))]);
    const bytes = await through(blob, new DecompressionStream("deflate-raw"));
    const batch = readBatch(new TextDecoder().decode(bytes));
    // A link may show what was scored, and not have this browser send anything.
    return batch && { ...batch, items: batch.items.filter(({ job }) => job !== null) };
  } catch {
    return null;
  }
}

const through = (blob: Blob, stream: CompressionStream | DecompressionStream): Promise<ArrayBuffer> =>
  new Response(blob.stream().pipeThrough(stream)).arrayBuffer();
