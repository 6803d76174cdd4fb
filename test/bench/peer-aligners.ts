/** Programs that align several sequences, where they are installed; their answers as rows anchored to the first sequence. */
import { decode, encode, GAP } from "../../src/motif/alphabet.ts";
import { type Row, rowFromGapped } from "../../src/motif/msa.ts";

export interface Aligner {
  name: string;
  /** Alignment of FASTA in as FASTA out. */
  command: readonly string[];
}

/** kalign and MAFFT's FFT-NS-2, one thread each, as Debian packages them; those of them that are there. */
export function peerAligners(): Aligner[] {
  const all: Aligner[] = [
    { name: "kalign", command: ["kalign", "-n", "1", "-f", "fasta"] },
    {
      name: "MAFFT FFT-NS-2",
      command: ["mafft", "--quiet", "--amino", "--retree", "2", "--maxiterate", "0", "--thread", "1", "-"],
    },
  ];
  return all.filter(({ name, command }) => {
    const isThere = Bun.which(command[0]) !== null;
    if (!isThere) console.error(`SKIPPED: ${name} is not installed`);
    return isThere;
  });
}

export function printFasta(sequences: readonly Uint8Array[]): string {
  return sequences.map((sequence, i) => `>s${i}\n${decode(sequence)}\n`).join("");
}

/** The gapped sequences, as text. @throws where the program fails */
export function runAligner({ name, command }: Aligner, fasta: string): string {
  const { stdout, stderr, exitCode } = Bun.spawnSync([...command], { stdin: Buffer.from(fasta) });
  if (exitCode !== 0) throw new Error(`${name}: ${stderr.toString().slice(-500)}`);
  return stdout.toString();
}

/** Rows of the sequences but the first, in order, anchored to the first. */
export function parseRows(fasta: string): Row[] {
  const gapped: Uint8Array[] = [];
  for (const block of fasta.slice(fasta.indexOf(">")).split(">").slice(1)) {
    const line = block.indexOf("\n");
    const letters = block.slice(line).replaceAll(/\s/g, "");
    const codes = encode(letters.replaceAll("-", "X"));
    for (let i = 0; i < letters.length; i++) if (letters[i] === "-") codes[i] = GAP;
    gapped[Number(block.slice(1, line))] = codes;
  }
  return gapped.slice(1).map((homolog) => rowFromGapped(gapped[0], homolog));
}
