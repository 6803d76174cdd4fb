import { Problem } from "../../problem.ts";
import { decodeText, decompressed, type FastaSource } from "./fasta-stream.ts";
import { lineProblem, type TextReader } from "./text-reader.ts";
import type { TakeEntry, UniProtEntry } from "./uniprot-entry.ts";
import { readFlatEntries } from "./uniprot-flat.ts";
import { readJsonEntries } from "./uniprot-json.ts";

/** Characters by which the format is detected. */
const HEAD = 8192;

/**
 * FASTA of proteins from a file of FASTA or of UniProt's entries (flat file or JSON), plain or compressed. Entries get the
 * headers of UniProt's FASTA, so that the same release gives the same corpus.
 * @throws Problem invalid_request that names the line
 */
export async function* readAsFasta(source: FastaSource): AsyncGenerator<Uint8Array> {
  const chunks = decompressed(source);
  const held: Uint8Array[] = [];
  let text = "";
  for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
    held.push(next.value);
    text = new TextDecoder().decode(Buffer.concat(held)).trimStart();
    if (text.length >= HEAD || /^[>;]/.test(text)) break;
  }
  if (text.startsWith("<"))
    throw new Problem(
      "invalid_request",
      "XML files are not supported. Download the proteins as FASTA, or from UniProt as text or JSON.",
    );
  const all = prepend(held, chunks);
  if (/^ID {3}\S/.test(text)) yield* convert(all, readFlatEntries);
  else if (/^[{[]/.test(text)) yield* convert(all, (take) => readJsonEntries(take, text));
  else yield* all;
}

async function* prepend(
  held: readonly Uint8Array[],
  rest: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield* held;
  yield* rest;
}

async function* convert(
  chunks: AsyncIterable<Uint8Array>,
  open: (take: TakeEntry) => TextReader,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  let out: string[] = [];
  const take = (): Uint8Array => {
    const bytes = encoder.encode(out.join(""));
    out = [];
    return bytes;
  };
  const reader = open((entry, line) => out.push(printFasta(entry, line)));
  for await (const text of decodeText(chunks)) {
    reader.write(text);
    yield take();
  }
  reader.end();
  yield take();
}

/** An entry with the header of UniProt's FASTA (uniprot.org/help/fasta-headers). @throws Problem that names the line */
function printFasta(entry: UniProtEntry, line: number): string {
  const { accessions, entryName, isReviewed, name, organism, taxon, gene, existence, version } = entry;
  const { residues, length } = entry;
  const [accession = ""] = accessions;
  if (accession === "") throw lineProblem(line, "the entry that begins here has no accession.");
  if (residues === "") throw lineProblem(line, `the entry ${accession} has no sequence.`);
  if (length > 0 && length !== residues.length)
    throw lineProblem(line, `the entry ${accession} says ${length} residues, but has ${residues.length}.`);
  const other = /[^A-Za-z]/.exec(residues)?.[0];
  if (other !== undefined)
    throw lineProblem(line, `the entry ${accession} has ${JSON.stringify(other)} in its sequence.`);
  const fields = [
    ["OS", organism],
    ["OX", taxon],
    ["GN", gene],
    ["PE", existence],
    ["SV", version],
  ].flatMap(([key, value]) => (value === "" ? [] : `${key}=${value}`));
  const header = [`${isReviewed ? "sp" : "tr"}|${accession}|${entryName}`, name, ...fields].join(" ");
  return `>${header.replace(/\s+/g, " ")}\n${residues}\n`;
}
