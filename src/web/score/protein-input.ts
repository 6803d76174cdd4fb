/** What a person may put in as proteins: a sequence, FASTA, or accessions of proteins of the corpus. */

export interface Entry {
  /** Empty for a sequence without one. */
  name: string;
  /** Null where the name is an accession, whose sequence the corpus has. */
  sequence: string | null;
}

export type ProteinInput =
  { kind: "empty" } | { kind: "proteins"; entries: [Entry, ...Entry[]] } | { kind: "wrong"; message: string };

export function readProtein(text: string): ProteinInput {
  const trimmed = text.trim();
  if (trimmed === "") return { kind: "empty" };
  if (trimmed.startsWith(">")) return readFasta(trimmed);
  const words = trimmed.split(/[\s,;]+/).filter((word) => word !== "");
  // Letters and digits in one word: no residue is a digit, and numbers beside a sequence are words of their own.
  const accessions = words.filter(
    (word) => /^[\w.:|-]{1,40}$/.test(word) && /\d/.test(word) && /[A-Z]/i.test(word),
  );
  if (accessions.length > 0 && accessions.length === words.length) {
    const [first, ...others] = accessions.map((name): Entry => ({ name, sequence: null }));
    return { kind: "proteins", entries: [first, ...others] };
  }
  if (accessions.length > 0)
    return { kind: "wrong", message: `“${accessions[0]}” is no sequence, and the rest are no accessions.` };
  const { sequence, wrong } = readSequence(trimmed);
  if (wrong !== null) return { kind: "wrong", message: `“${wrong}” is no residue.` };
  if (sequence === "") return { kind: "wrong", message: "There are no residues in it." };
  return { kind: "proteins", entries: [{ name: "", sequence }] };
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
  const [first, ...others] = entries;
  return { kind: "proteins", entries: [first, ...others] };
}

/** P04637 of `sp|P04637|P53_HUMAN Cellular tumor antigen p53`, else the first word. */
function nameIn(heading: string): string {
  const word = heading.trim().split(/\s/)[0];
  return word.match(/^(?:sp|tr|ref|gb|emb)\|([^|]+)/)?.[1] ?? word;
}

/** Whether all sequences are of DNA or RNA, by their letters, as the service warns of it. */
export function looksLikeNucleotides(entries: readonly Entry[]): boolean {
  return entries.every(({ sequence }) => sequence !== null && /^[ACGTUN]{30,}$/.test(sequence));
}
