import { SaxesParser } from "saxes";
import type { ScoringModel } from "../../motif/index.ts";
import { Problem } from "../../problem.ts";
import { utf8 } from "../batch/questions.ts";
import { fullProvenance } from "../prediction/provenance.ts";
import { joinProvenance, parseProvenance, type Provenance, PROVENANCE_SHEET } from "../table/provenance.ts";

const MISSING =
  "no provenance found. Expected TSV, GFF3, XLSX, JSON or XML of results, scans or batches, written by labd 0.2.0 or later.";

/** The provenance in a file of results, of several results joined. @throws Problem invalid_request if it has none, or was altered */
export async function readProvenance(bytes: Uint8Array): Promise<Provenance> {
  let found: Provenance[];
  try {
    const isZip = bytes[0] === 0x50 && bytes[1] === 0x4b;
    found = isZip ? await readWorkbook(bytes) : readText(utf8(bytes, "file"));
  } catch (error) {
    if (error instanceof Problem) throw error;
    throw new Problem("invalid_request", "its provenance was altered.", { cause: error });
  }
  if (found.length === 0) throw new Problem("invalid_request", MISSING);
  return requireValid(joinProvenance(found));
}

async function readWorkbook(bytes: Uint8Array): Promise<Provenance[]> {
  const { readXlsx } = await import("hucre/xlsx");
  const { sheets } = await readXlsx(bytes, { sheets: [PROVENANCE_SHEET] });
  const rows = sheets.find(({ name }) => name === PROVENANCE_SHEET)?.rows.slice(1) ?? [];
  const pairs = rows.map(([name, ...texts]): [string, string] => [
    String(name),
    texts.map((text) => String(text ?? "")).join(""),
  ]);
  return pairs.length > 0 ? [parseProvenance(pairs)] : [];
}

function readText(text: string): Provenance[] {
  if (text.startsWith("{")) return readJson(text);
  if (/^\s*</.test(text)) return readXml(text);
  const lines = text.split("\n").filter((line) => line.startsWith("# ") && line.includes(": "));
  const pairs = lines.map((line): [string, string] => {
    const at = line.indexOf(": ");
    return [line.slice(2, at), line.slice(at + 2).trimEnd()];
  });
  return pairs.some(([name]) => name === "labd") ? [parseProvenance(pairs)] : [];
}

/** A document of one result, or of `labd`, one on each line. */
type Document = { provenance?: Provenance; prediction?: Document } & Parameters<typeof fullProvenance>[1];

/** One object, or one on each line. */
function readJson(text: string): Provenance[] {
  let documents: Document[];
  try {
    documents = [JSON.parse(text) as Document];
  } catch {
    documents = text.split("\n").flatMap((line) => (line === "" ? [] : (JSON.parse(line) as Document)));
  }
  return documents.flatMap((document) =>
    document.provenance ? fullProvenance(document.provenance, document.prediction ?? document) : [],
  );
}

/** Predictions in one or more documents, also in SOAP envelopes. */
function readXml(text: string): Provenance[] {
  const found: Map<string, string[]>[] = [];
  let content = "";
  const parser = new SaxesParser({ xmlns: true, fragment: true });
  parser.on("opentag", ({ local }) => {
    content = "";
    if (local === "ConScorePrediction") found.push(new Map());
  });
  parser.on("text", (part) => (content += part));
  parser.on("closetag", ({ local }) => {
    const values = found.at(-1);
    values?.set(local, [...(values.get(local) ?? []), content]);
    content = "";
  });
  parser.write(text.replaceAll(/<\?xml[^>]*\?>/g, "")).close();
  return found.flatMap((values) => {
    const names = values.get("propertyName") ?? [];
    if (names.length === 0) return [];
    const texts = values.get("propertyValue") ?? [];
    const first = (name: string): string | undefined => values.get(name)?.[0];
    const hash = first("contentHash");
    const sequences = Number(first("sequenceCount"));
    return fullProvenance(parseProvenance(names.map((each, i) => [each, texts[i]])), {
      method: first("methodVersion")!,
      model: first("scoringModel") as ScoringModel,
      corpus: hash === undefined ? null : { name: first("corpusName")!, hash, sequences },
    });
  });
}

/** @throws Problem invalid_request for members that cannot be scored */
function requireValid(provenance: Provenance): Provenance {
  const { patterns = [], queries = [], options = {}, filters = {} } = provenance;
  const isText = (value: unknown): boolean => typeof value === "string";
  const lists = [patterns, ...queries.map((query) => query.patterns ?? [])];
  const isValid =
    lists.every((list) => list.every(({ expression }) => isText(expression))) &&
    queries.every(({ name, md5, sequence }) => [name, md5, sequence].every(isText)) &&
    [options, filters].every((value) => typeof value === "object");
  if (isValid) return provenance;
  throw new Problem("invalid_request", "its provenance was altered.");
}
