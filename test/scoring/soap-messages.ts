import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The SOAP messages of test/golden/soap/messages.jsonl, one per line: a message is given as text (`message`), as a
 * replacement in another message (`base` and `replace`), or as bytes (`file`). `expect` describes the response.
 * `UPDATE_GOLDEN=1` rewrites `expect`; read the difference.
 */

export const FOLDER = join(import.meta.dir, "../golden/soap");
const TABLE = join(FOLDER, "messages.jsonl");
export const UPDATE = process.env.UPDATE_GOLDEN === "1";

/** A response without what differs between runs. */
export interface Outcome {
  status: number;
  soap: string;
  /** Fault code, code of the problem in the detail, and the text. */
  fault?: string;
  code?: string;
  text?: string;
}

interface Row {
  name: string;
  message?: string;
  base?: string;
  replace?: [string, string];
  file?: string;
  /** Of the request; null sends none. The default is text/xml in UTF-8. */
  contentType?: string | null;
  headers?: Record<string, string>;
  /** True if the service decides by what it knows besides the message: jobs, motif classes, patterns. */
  decidedBy?: "service";
  /** Values that the message carries, where they differ from those of the accepted message of its operation. */
  values?: Record<string, unknown>;
  /** True if responses/ has the response byte by byte. */
  response?: boolean;
  expect: Partial<Outcome>;
}

export interface SoapMessage extends Row {
  contentType: string | null;
  bytes: Uint8Array<ArrayBuffer>;
}

/** Stands for a finished job in the messages; tests replace it by a real identifier of the same length. */
export const FINISHED = "00000000-0000-4000-8000-000000000000";

const rows = readFileSync(TABLE, "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line) as Row);
const findRow = new Map(rows.map((row) => [row.name, row]));

function makeText({ name, message, base, replace }: Row): string {
  if (message !== undefined) return message;
  const text = makeText(findRow.get(base!)!);
  if (replace && !text.includes(replace[0])) throw new Error(`${name}: nothing to replace`);
  return replace ? text.replace(replace[0], () => replace[1]) : text;
}

export const MESSAGES: readonly SoapMessage[] = rows.map((row) => ({
  ...row,
  contentType: row.contentType === undefined ? "text/xml; charset=utf-8" : row.contentType,
  bytes: new Uint8Array(
    row.file ? readFileSync(join(FOLDER, "files", row.file)) : new TextEncoder().encode(makeText(row)),
  ),
}));

export const messageNamed = (name: string): SoapMessage => MESSAGES.find((one) => one.name === name)!;

/** The request as an HTTP client sends it, with a finished job's identifier where it asks for one. */
export function makeRequest({ contentType, headers, bytes }: SoapMessage, finished: string): RequestInit {
  // As Latin-1, every byte stays itself.
  const text = Buffer.from(bytes).toString("latin1").replaceAll(FINISHED, finished);
  const sent = { ...headers, ...(contentType === null ? {} : { "Content-Type": contentType }) };
  return { method: "POST", headers: sent, body: Buffer.from(text, "latin1") };
}

const unescape = (text: string): string =>
  text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");

export function readOutcome(status: number, xml: string): Outcome {
  const [, version] =
    /^<\?xml[^>]*\?>\n<soap:Envelope xmlns:soap="([^"]*)">(?:<soap:Header>.*<\/soap:Header>)?<soap:Body>/.exec(
      xml,
    ) ?? [];
  const soap = version === "http://www.w3.org/2003/05/soap-envelope" ? "1.2" : "1.1";
  const pattern =
    soap === "1.1"
      ? /<faultcode>soap:(.*?)<.*<faultstring>(.*?)</
      : /<soap:Value>soap:(.*?)<.*<soap:Text xml:lang="en">(.*?)</;
  const [, fault, text = ""] = pattern.exec(xml) ?? [];
  if (fault === undefined) return { status, soap };
  const code = xml.includes("<tns:JobIdentifierFault ")
    ? "unknown_job"
    : (/<p:code>(.*?)</.exec(xml)?.[1] ?? "");
  return {
    status,
    soap,
    fault,
    code,
    text: unescape(text)
      .replace(/\d+ names are known/, "# names are known")
      .replace(/http:\/\/127\.0\.0\.1:\d+\/api/, "http://…/api"),
  };
}

/** The outcome that a row expects: what it leaves out is that of an accepted message, or of the usual fault. */
export function expected({ expect }: Row): Outcome {
  if (expect.text === undefined) return { status: 200, soap: "1.1", ...expect };
  return { status: 500, soap: "1.1", fault: "Client", code: "invalid_request", ...expect } as Outcome;
}

/** Writes what was found into the table, for UPDATE_GOLDEN. */
export function updateRow(name: string, found: Outcome, values?: Record<string, unknown>): void {
  const usual = expected({ name, expect: found.text === undefined ? {} : { text: "" } });
  const row = findRow.get(name)!;
  row.expect = Object.fromEntries(
    Object.entries(found).filter(([key, value]) => usual[key as keyof Outcome] !== value),
  );
  delete row.values;
  if (values && Object.keys(values).length > 0) row.values = values;
  writeFileSync(TABLE, `${rows.map((one) => JSON.stringify(one)).join("\n")}\n`);
}

/** The response with the parts that differ between runs replaced. */
export const withoutVariableParts = (xml: string): string =>
  xml
    .replace(/(<tns:JobIdentifier>)[0-9a-f-]{36}(<\/tns:JobIdentifier>)/, "$1JOB$2")
    .replace(/\d+\.\d\d s; GetResult/, "0.00 s; GetResult")
    .replace(/(<p:ConScorePrediction [^>]*>).*(<\/p:ConScorePrediction>)/s, "$1…$2");
