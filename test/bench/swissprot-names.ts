/**
 * Gives the sequences of a FASTA file full UniProt headers: `bun test/bench/swissprot-names.ts FASTA TABLE [fill] > OUT`.
 * TABLE has the columns accession, entry_name, protein_name, gene, organism and taxon_id. Proteins that it lacks keep their
 * header, or with `fill` take names and organism of other rows in turn, so that all have names, as in Swiss-Prot.
 */
const [fasta, table, fill] = process.argv.slice(2);
const [, ...lines] = (await Bun.file(table).text()).trimEnd().split("\n");
const rows = lines.map((line) => line.split("\t"));
const byAccession = new Map(rows.map((row) => [row[0], row]));
const full = rows.filter((row) => row.every((cell) => cell !== ""));

function header(accession: string, [, entryName, name, gene, organism, taxon]: string[]): string {
  const fields = Object.entries({ OS: organism, OX: taxon, GN: gene }).filter(([, value]) => value);
  return `>sp|${accession}|${entryName} ${[name, ...fields.map((pair) => pair.join("="))].join(" ")}`;
}

const out = Bun.stdout.writer();
let next = 0;
for (const line of (await Bun.file(fasta).text()).split("\n")) {
  const accession = /^>(\S+)/.exec(line)?.[1];
  const row = accession === undefined ? undefined : byAccession.get(accession);
  const other = accession !== undefined && fill ? full[next++ % full.length] : undefined;
  out.write(`${accession !== undefined && (row ?? other) ? header(accession, (row ?? other)!) : line}\n`);
}
await out.end();
