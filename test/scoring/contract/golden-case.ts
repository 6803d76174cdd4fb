import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "bun:test";

/**
 * test/golden/soap: per message a folder with request.xml (bytes as they are sent), response.xml and case.json. Three
 * tests hold them: against the contract alone, against the service in memory, and against the executable.
 * `UPDATE_GOLDEN=1` writes answers anew; read the difference.
 */

export const FOLDER = join(import.meta.dir, "../../golden/soap");
export const UPDATE = process.env.UPDATE_GOLDEN === "1";

/** What case.json holds. */
interface Meta {
  /** Of the request; null sends none. */
  contentType: string | null;
  /** Further headers of the request. */
  headers?: Record<string, string>;
  /** HTTP status of the answer. */
  status: number;
  /** Whether the message alone decides ("contract", where nothing is said) or what the service knows besides. */
  decidedBy?: "service";
  /** What an accepted message says: operation and values. */
  means?: { operation: string; value: unknown };
}

export interface GoldenCase extends Meta {
  name: string;
  message: Uint8Array<ArrayBuffer>;
  /** The answer, as `settled` prints it. */
  response: string;
}

/** Stands in requests for a job that is finished; the tests put a true identifier, which is as long, in its place. */
export const FINISHED = "00000000-0000-4000-8000-000000000000";

export const CASES: readonly GoldenCase[] = readdirSync(FOLDER, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => {
    const folder = join(FOLDER, name);
    const meta = JSON.parse(readFileSync(join(folder, "case.json"), "utf8")) as Meta;
    return Object.assign(meta, {
      name,
      message: new Uint8Array(readFileSync(join(folder, "request.xml"))),
      response: readFileSync(join(folder, "response.xml"), "utf8"),
    });
  })
  .toSorted((a, b) => (a.name < b.name ? -1 : 1));

/** Holds a file of the folder to a text. */
export function expectGolden(file: string, actual: string): void {
  const path = join(FOLDER, file);
  if (UPDATE) writeFileSync(path, actual);
  expect(actual).toBe(readFileSync(path, "utf8"));
}

/** Holds part of a case.json to what was found. */
export function expectMeta(golden: GoldenCase, found: Partial<Meta>): void {
  if (UPDATE) {
    const { name, message: _, response: __, ...meta } = { ...golden, ...found };
    Object.assign(golden, found);
    writeFileSync(join(FOLDER, name, "case.json"), `${JSON.stringify(meta, null, 2)}\n`);
  }
  for (const key of Object.keys(found) as (keyof Meta)[]) expect(golden[key]).toEqual(found[key]);
}

/** The request as an HTTP client sends it, with a finished job's identifier where it asks for one. */
export function requestOf({ contentType, headers, message }: GoldenCase, finished: string): RequestInit {
  // As Latin-1, every byte stays itself.
  const text = Buffer.from(message).toString("latin1").replaceAll(FINISHED, finished);
  const sent: Record<string, string> = { ...headers };
  if (contentType !== null) sent["Content-Type"] = contentType;
  return { method: "POST", headers: sent, body: Buffer.from(text, "latin1") };
}

/** An answer without what differs between runs and grows with time: identifiers, times, predictions, numbers of names. */
export function settled(xml: string): string {
  return xml
    .replace(/(<tns:JobIdentifier>)[0-9a-f-]{36}(<\/tns:JobIdentifier>)/, "$1a-new-one$2")
    .replace(/\d+ names are known/, "# names are known")
    .replace(/\d+\.\d\d s; GetResult/, "0.00 s; GetResult")
    .replace(/(<p:ConScorePrediction [^>]*>).*(<\/p:ConScorePrediction>)/s, "$1…$2");
}
