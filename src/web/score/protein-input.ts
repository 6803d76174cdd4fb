/** Proteins as people enter them: a sequence, FASTA, or accessions of proteins in the corpus. */

export interface Entry {
  /** Empty for a bare sequence. */
  name: string;
  /** Null for an accession, whose sequence is in the corpus. */
  sequence: string | null;
}

export type ProteinInput =
  { kind: "empty" } | { kind: "proteins"; entries: [Entry, ...Entry[]] } | { kind: "wrong"; message: string };

export function readProtein(text: string): ProteinInput {
  const trimmed = text.trim();
  if (trimmed === "") return { kind: "empty" };
  if (trimmed.startsWith(">")) return readFasta(trimmed);
  const words = trimmed.split(/[\s,;]+/).filter((word) => word !== "");
  // A word of letters and digits is not a sequence: numbers beside one are separate words.
  const accessions = words.filter(
    (word) => /^[\w.:|-]{1,40}$/.test(word) && /\d/.test(word) && /[A-Z]/i.test(word),
  );
  if (accessions.length > 0 && accessions.length === words.length) {
    const [first, ...others] = accessions.map((name): Entry => ({ name, sequence: null }));
    return { kind: "proteins", entries: [first, ...others] };
  }
  if (accessions.length > 0)
    return {
      kind: "wrong",
      message: `“${accessions[0]}” is an accession, but the rest is not. Enter either accessions or sequences.`,
    };
  const { sequence, wrong } = readSequence(trimmed);
  if (wrong !== null) return { kind: "wrong", message: badLetter(wrong) };
  if (sequence === "") return { kind: "wrong", message: "The sequence is empty. Use one-letter codes." };
  return { kind: "proteins", entries: [{ name: "", sequence }] };
}

const badLetter = (text: string): string => `“${text}” is not an amino-acid letter. Use one-letter codes.`;

/** Upper-case letters, without white space, the numbers that databases print beside a sequence, and a final stop. */
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
    const [header, ...lines] = part.split(/\r\n|\r|\n/);
    const name = nameIn(header) || `sequence ${entries.length + 1}`;
    const { sequence, wrong } = readSequence(lines.join(""));
    if (wrong !== null) return { kind: "wrong", message: `${name}: ${badLetter(wrong)}` };
    if (sequence === "") return { kind: "wrong", message: `${name}: there is no sequence below the header.` };
    entries.push({ name, sequence });
  }
  const [first, ...others] = entries;
  return { kind: "proteins", entries: [first, ...others] };
}

/** P04637 of `sp|P04637|P53_HUMAN Cellular tumor antigen p53`, else the first word. */
function nameIn(header: string): string {
  const word = header.trim().split(/\s/)[0];
  return word.match(/^(?:sp|tr|ref|gb|emb)\|([^|]+)/)?.[1] ?? word;
}

/** Whether all sequences look like DNA or RNA; the service warns as well. */
export function looksLikeNucleotides(entries: readonly Entry[]): boolean {
  return entries.every(({ sequence }) => sequence !== null && /^[ACGTUN]{30,}$/.test(sequence));
}
