import type { Prediction } from "../../motif/index.ts";
import type { Database } from "../../platform/sqlite.ts";
import { gzipMember, isGzip } from "../../platform/gzip-members.ts";
import { Problem } from "../../problem.ts";
import { encodePrediction } from "../prediction/encode-prediction.ts";
import { currentPrediction } from "../table/earlier-match.ts";
import type { ScoringVersion } from "../corpus/corpus.ts";
import { MAX_PREDICTION, printJson, tooLarge } from "./prediction-json.ts";

/** Stored forms of predictions, which are sent unchanged except for the client's name of the query. */
export const FORMS = ["json", "xml"] as const;
export type Form = (typeof FORMS)[number];

type Bytes = Uint8Array<ArrayBuffer>;

/** The stored text of a prediction, of which one part is in memory at a time. */
export interface Parts {
  readonly count: number;
  /** The stored form. @throws Problem job_expired if the result has been deleted meanwhile, content_damaged */
  compressed(part: number): Bytes;
  /** As a member of gzip that can be joined with others. @throws Problem likewise */
  member(part: number): Bytes;
  /** @throws Problem job_expired, content_damaged */
  read(part: number): Bytes;
}

/** Bytes of a part before it is compressed. */
const PART = 256 * 1024;
/** Bytes of the first of several parts, in which the client's name of the query is: it is compressed for each response. */
const FIRST_PART = 1024;

/** First bytes of a packed prediction; those of one in JSON only are the magic number of Zstandard. */
const MAGIC = 0x3150_424c;
const ZSTD_MAGIC = 0xfd2f_b528;

/**
 * A prediction in all forms, for the store. Workers make it, to spare the thread that answers requests.
 * @throws Problem too_large
 */
export function packPrediction(prediction: Prediction): Bytes {
  const json = printJson(prediction);
  const xml = encodePrediction({ identifier: "", prediction }, MAX_PREDICTION, tooLarge);
  const forms = [compressed(json), compressed(xml)];
  const lengths = forms.flatMap((parts) => [parts.length, ...parts.map(({ length }) => length)]);
  return new Uint8Array(Buffer.concat([toBytes([MAGIC, ...lengths]), ...forms.flat()]));
}

const toBytes = (numbers: number[]): Uint8Array => new Uint8Array(Uint32Array.from(numbers).buffer);

function compressed(text: string): Bytes[] {
  const bytes = Buffer.from(text);
  if (bytes.length > MAX_PREDICTION) throw tooLarge();
  const parts: Bytes[] = [];
  let end = bytes.length > PART ? FIRST_PART : PART;
  for (let at = 0; at < bytes.length; at = end, end += PART) parts.push(gzipMember(bytes.subarray(at, end)));
  return parts;
}

/** The compressed parts of each form. JSON text, and JSON packed by former versions, have one form. */
function splitForms(prediction: string | Bytes): [Form, Bytes[]][] {
  if (typeof prediction === "string") return [["json", compressed(prediction)]];
  const view = new DataView(prediction.buffer, prediction.byteOffset, prediction.byteLength);
  const magic = view.getUint32(0, true);
  if (magic === ZSTD_MAGIC) return [["json", [prediction]]];
  if (magic !== MAGIC) throw new Error("Not a packed prediction.");
  let at = 4;
  const next = (): number => view.getUint32((at += 4) - 4, true);
  const lengths = FORMS.map(() => Array.from({ length: next() }, next));
  return FORMS.map((form, i) => [form, lengths[i].map((length) => prediction.slice(at, (at += length)))]);
}

/** Stores a result. @returns its row; null if it is stored already */
export function storeResult(
  database: Database,
  digest: string,
  { corpus, method }: ScoringVersion,
  prediction: string | Bytes,
  now: number,
): number | null {
  const row = database
    .query(
      `INSERT INTO result (digest, corpus, method, prediction, computed) VALUES (?, ?, ?, 'null', ?)
       ON CONFLICT DO NOTHING RETURNING rid`,
    )
    .get(digest, corpus, method, now) as { rid: number } | null;
  if (row === null) return null;
  const insert = database.query("INSERT INTO result_part (result, form, part, bytes) VALUES (?, ?, ?, ?)");
  for (const [form, parts] of splitForms(prediction))
    for (const [part, bytes] of parts.entries()) insert.run(row.rid, form, part, bytes);
  return row.rid;
}

const RESULT = "SELECT rid FROM result WHERE digest = ? AND corpus = ? AND method = ?";
const RESULT_OF_CLIENT = `${RESULT} AND EXISTS (SELECT 1 FROM job WHERE job.result = result.rid AND job.client = ?)`;

/** Row of the result on this corpus by this method; null if there is none. */
export function findResult(
  database: Database,
  digest: string,
  { corpus, method }: ScoringVersion,
  client?: string,
): number | null {
  const row = (
    client === undefined
      ? database.query(RESULT).get(digest, corpus, method)
      : database.query(RESULT_OF_CLIENT).get(digest, corpus, method, client)
  ) as { rid: number } | null;
  return row?.rid ?? null;
}

/** A result in one form. */
export function readResult(database: Database, result: number, form: Form): Parts {
  const { count } = database
    .query("SELECT count(*) AS count FROM result_part WHERE result = ? AND form = ?")
    .get(result, form) as { count: number };
  if (count === 0) return encoded(database, result, form);
  const select = database.query("SELECT bytes FROM result_part WHERE result = ? AND form = ? AND part = ?");
  const compressed = (part: number): Bytes => {
    const row = select.get(result, form, part) as { bytes: Bytes } | null;
    if (row) return row.bytes;
    if (database.query("SELECT 1 FROM result WHERE rid = ?").get(result)) throw damaged("a part is missing");
    throw new Problem("job_expired", "The prediction was removed while it was sent.");
  };
  return {
    count,
    compressed,
    member: (part) => {
      const bytes = compressed(part);
      return isGzip(bytes) ? bytes : gzipMember(decompressed(bytes));
    },
    read: (part) => decompressed(compressed(part)),
  };
}

/**
 * Reads every part, with turns of the event loop in between, so that damage is found before the first is sent. Gzip has a
 * checksum.
 * @throws Problem content_damaged, job_expired
 */
export async function verifyParts({ count, read }: Parts): Promise<void> {
  for (let part = 0; part < count; part++) {
    if (part > 0) await new Promise(setImmediate);
    read(part);
  }
}

const damaged = (cause: unknown): Problem =>
  new Problem("content_damaged", "The stored prediction is damaged. Score again.", { cause });

function intact<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw damaged(error);
  }
}

/** Former versions compressed with Zstandard. @throws Problem content_damaged */
const decompressed = (bytes: Bytes): Bytes =>
  intact(() => {
    if (isGzip(bytes)) return Bun.gunzipSync(bytes);
    // Bun compresses an empty input to nothing.
    if (bytes.length === 0) throw new Error("a part is empty");
    return Bun.zstdDecompressSync(bytes) as Bytes;
  });

/** A result that a former version stored, or a worker of one: it has no parts in this form. */
function encoded(database: Database, result: number, form: Form): Parts {
  const json =
    form === "json" ? formerText(database, result) : unpackParts(readResult(database, result, "json"));
  const text = intact(() => {
    const prediction = JSON.parse(json) as Prediction;
    return form === "json"
      ? json
      : encodePrediction({ identifier: "", prediction: currentPrediction(prediction) });
  });
  const bytes = Buffer.from(text);
  const member = (): Bytes => gzipMember(bytes);
  return { count: 1, compressed: member, member, read: () => bytes };
}

function formerText(database: Database, result: number): string {
  const { prediction, packed } = database
    .query("SELECT prediction, packed FROM result WHERE rid = ?")
    .get(result) as { prediction: string; packed: Bytes | null };
  if (packed) return decoded(decompressed(packed));
  // The text of a result in parts is "null".
  if (prediction === "null") throw damaged("all parts are missing");
  return prediction;
}

const decoded = (bytes: Uint8Array): string =>
  intact(() => new TextDecoder("utf-8", { fatal: true }).decode(bytes));

/** The whole text. @throws Problem content_damaged */
export const unpackParts = (parts: Parts): string => unpackText(compressedParts(parts));

/** All stored parts. */
export const compressedParts = ({ count, compressed }: Parts): Bytes[] =>
  Array.from({ length: count }, (_, part) => compressed(part));

export const unpackText = (parts: readonly Bytes[]): string =>
  decoded(Buffer.concat(parts.map(decompressed)));
