/** What a person may put in as a protein: a sequence, FASTA, or the accession of a protein of the corpus. */

export interface Entry {
  name: string;
  sequence: string;
}

export type ProteinInput =
  | { kind: "empty" }
  | { kind: "accession"; accession: string }
  | { kind: "sequences"; entries: Entry[] }
  | { kind: "wrong"; message: string };

export function readProtein(text: string): ProteinInput {
  const trimmed = text.trim();
  if (trimmed === "") return { kind: "empty" };
  if (trimmed.startsWith(">")) return readFasta(trimmed);
  // No residue is a digit, and numbered sequences have more than one word.
  if (/^[\w.:|-]{1,40}$/.test(trimmed) && /\d/.test(trimmed))
    return { kind: "accession", accession: trimmed };
  const { sequence, wrong } = readSequence(trimmed);
  if (wrong !== null) return { kind: "wrong", message: `“${wrong}” is no residue.` };
  if (sequence === "") return { kind: "wrong", message: "There are no residues in it." };
  return { kind: "sequences", entries: [{ name: "", sequence }] };
}

/** Letters in upper case; white space, the numbers that databases put beside a sequence, and a stop at its end are left out. */
function readSequence(text: string): { sequence: string; wrong: string | null } {
  const sequence = text
    .replace(/[\s\d]+/g, "")
    .replace(/\*$/, "")
    .toUpperCase();
  return { sequence, wrong: sequence.match(/[^A-Z]/u)?.[0] ?? null };
}

function readFasta(text: string): ProteinInput {
  const entries: Entry[] = [];
  for (const part of text.slice(1).split(/^>/m)) {
    const [heading, ...lines] = part.split(/\r\n|\r|\n/);
    const name = nameIn(heading) || `sequence ${entries.length + 1}`;
    const { sequence, wrong } = readSequence(lines.join(""));
    if (wrong !== null) return { kind: "wrong", message: `${name}: “${wrong}” is no residue.` };
    if (sequence === "")
      return { kind: "wrong", message: `${name}: there are no residues below the heading.` };
    entries.push({ name, sequence });
  }
  return { kind: "sequences", entries };
}

/** P04637 of `sp|P04637|P53_HUMAN Cellular tumor antigen p53`, else the first word. */
function nameIn(heading: string): string {
  const word = heading.trim().split(/\s/)[0];
  return word.match(/^(?:sp|tr|ref|gb|emb)\|([^|]+)/)?.[1] ?? word;
}

/** The text of a file, unpacked where it is compressed with gzip. */
export async function readFile(file: File): Promise<string> {
  if (!file.name.endsWith(".gz")) return file.text();
  return new Response(file.stream().pipeThrough(new DecompressionStream("gzip"))).text();
}
