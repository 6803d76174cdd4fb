import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** The sample proteins agree with their documentation. Uses an independent FASTA reader. */

const SAMPLE = join(import.meta.dir, "../../src/sample");
const FASTA = readFileSync(join(SAMPLE, "proteins.fasta"), "utf8");
// The formatter pads the cells of tables.
const README = readFileSync(join(SAMPLE, "README.md"), "utf8").replaceAll(/ {2,}/g, " ");

const table = (path: string): Record<string, string>[] => {
  const [head, ...lines] = readFileSync(path, "utf8").trimEnd().split("\n");
  const columns = head.split("\t");
  return lines.map((line) => {
    const cells = line.split("\t");
    expect(cells).toHaveLength(columns.length);
    return Object.fromEntries(columns.map((column, i) => [column, cells[i]]));
  });
};

const FAMILIES = table(join(SAMPLE, "families.tsv"));
const EXPRESSIONS = new Map(
  table(join(SAMPLE, "../scoring/corpus/motif-classes.tsv")).map((row) => [row.name, row.expression]),
);

const records = FASTA.split(/^>/m)
  .slice(1)
  .map((record) => {
    const [header, ...lines] = record.trimEnd().split("\n");
    return { header, lines, accession: header.split(" ")[0], sequence: lines.join("") };
  });
const sequences = new Map(records.map(({ accession, sequence }) => [accession, sequence]));

/** UniProtKB accession numbers, https://www.uniprot.org/help/accession_numbers */
const ACCESSION = /^(?:[OPQ][0-9][A-Z0-9]{3}[0-9]|[A-NR-Z][0-9](?:[A-Z][A-Z0-9]{2}[0-9]){1,2})$/;

const members = (family: Record<string, string>): string[] => family.members.split(",");

const words = (sequence: string): Set<string> =>
  new Set(Array.from({ length: sequence.length - 4 }, (_, i) => sequence.slice(i, i + 5)));

const sharing = (one: Set<string>, other: string): number =>
  [...words(other)].filter((word) => one.has(word)).length;

/** Number of homologs with the motif, and of all. */
const counts = (query: string): string[] => {
  const family = FAMILIES.find((one) => one.query === query)!;
  return [family.with_motif, family.homologs];
};

/** Match of the motif class with exactly these residues (1-based, inclusive). */
function isMatch(sequence: string, motifClass: string, start: number, end: number): boolean {
  const expression = EXPRESSIONS.get(motifClass);
  if (expression === undefined) throw new Error(`no motif class ${motifClass}`);
  if (expression.endsWith("$") && end !== sequence.length) return false;
  return new RegExp(`^(?:${expression.replace(/\$$/, "")})$`).test(sequence.slice(start - 1, end));
}

describe("proteins.fasta", () => {
  test("the sample has several hundred proteins in less than 400 kB", () => {
    expect(records.length).toBeGreaterThanOrEqual(300);
    expect(records.length).toBeLessThanOrEqual(600);
    expect(FASTA.length).toBeLessThan(400_000);
    expect(README).toContain(`${records.length} proteins`);
  });

  test("every record is well-formed", () => {
    expect(FASTA).toStartWith(">");
    expect(FASTA).toEndWith("\n");
    for (const { header, lines, accession, sequence } of records) {
      expect(accession).toMatch(ACCESSION);
      expect(header).toMatch(
        /^\w+(?: [A-Z0-9]{1,5}_[A-Z0-9]{1,5})?(?: [^=\s]+)*(?: OS=[^=]+?(?: OX=\d+)?)?(?: GN=\S+)?$/,
      );
      expect(sequence).toMatch(/^[ACDEFGHIKLMNPQRSTVWY]{30,}$/);
      expect(lines.slice(0, -1).filter((line) => line.length !== 60)).toEqual([]);
      expect(lines.at(-1)!.length).toBeLessThanOrEqual(60);
    }
  });

  test("the sample has as many names as the page states", () => {
    const named = records.filter(({ header, accession }) => header !== accession).length;
    const withName = records.filter(({ header }) =>
      /\S/.test(header.replace(/^\S+( [A-Z0-9]+_[A-Z0-9]+)?/, "").replace(/ (OS|GN)=.*$/, "")),
    );
    const counts = `${named} headers have some of these, ${withName.length} the name of the protein`;
    expect(README.replaceAll("\n", " ")).toContain(counts);
  });

  test("the sample has unique accessions and sequences", () => {
    expect(sequences.size).toBe(records.length);
    expect(new Set(sequences.values()).size).toBe(records.length);
  });
});

describe("families", () => {
  test("families have unique names and homologs", () => {
    expect(new Set(FAMILIES.map(({ family }) => family)).size).toBe(FAMILIES.length);
    expect(README).toContain(`${FAMILIES.length} families`);
    for (const family of FAMILIES) {
      expect(new Set(members(family)).size).toBe(members(family).length);
      expect(members(family)).not.toContain(family.query);
    }
  });

  test.each(FAMILIES)("$family: the motif is at the listed position", (family) => {
    const [start, end] = [Number(family.start), Number(family.end)];
    const sequence = sequences.get(family.query)!;
    expect(sequence.slice(start - 1, end)).toBe(family.motif);
    expect(isMatch(sequence, family.motif_class, start, end)).toBe(true);
  });

  test.each(FAMILIES)("$family: the homologs are in the file", (family) => {
    const found = members(family).flatMap((accession) => sequences.get(accession) ?? []);
    const expression = new RegExp(EXPRESSIONS.get(family.motif_class)!);
    expect(found).toHaveLength(Number(family.homologs));
    expect(found.length).toBeGreaterThanOrEqual(5);
    expect(found.filter((sequence) => expression.test(sequence))).toHaveLength(Number(family.with_motif));
  });

  test("homologs share more words of five residues with their query than unrelated proteins", () => {
    const ofFamilies = new Set(FAMILIES.flatMap((family) => [family.query, ...members(family)]));
    const strangers = records.filter(({ accession }) => !ofFamilies.has(accession));
    expect(README).toContain(`${strangers.length} proteins of other folds`);
    expect(strangers.length).toBeGreaterThanOrEqual(30);
    for (const family of FAMILIES) {
      const query = words(sequences.get(family.query)!);
      const shares = members(family).map((accession) => sharing(query, sequences.get(accession)!));
      // Distant homologs may share no word; compare the closest fifth.
      const close = shares.sort((a, b) => b - a)[Math.floor(shares.length / 5)];
      const byChance = Math.max(...strangers.map(({ sequence }) => sharing(query, sequence)));
      expect({ family: family.family, apart: close > 2 * byChance }).toEqual({
        family: family.family,
        apart: true,
      });
    }
  });
});

describe("README of the sample", () => {
  test("the page contains the table of families", () => {
    for (const f of FAMILIES) {
      const row = [
        f.family,
        f.query,
        f.motif_class,
        `${f.start}–${f.end} ${f.motif}`,
        f.citation,
        f.homologs,
        f.with_motif,
      ];
      expect(README).toContain(`| ${row.join(" | ")} |`);
    }
  });

  test.each([
    ["P04637", "MDM2-SWIB", 19, 26, "FSDLWKLL"],
    ["P35222", "SCF-TrCP", 32, 37, "DSGIHS"],
    ["P03129", "LxCxE", 22, 26, "LYCYE"],
    ["P49407", "Clathrin-box", 376, 380, "LIELD"],
    ["P46060", "SUMO-consensus", 523, 526, "LKSE"],
  ] as const)("the example %s, %s, is at %i–%i", (accession, motifClass, start, end, motif) => {
    const sequence = sequences.get(accession)!;
    expect(sequence.slice(start - 1, end)).toBe(motif);
    expect(isMatch(sequence, motifClass, start, end)).toBe(true);
    expect(README).toContain(`\`${motif}\``);
    expect(README).toContain(`${start}–${end}`);
  });

  test("the table names the right residues", () => {
    const p53 = sequences.get("P04637")!;
    expect([19, 23, 26].map((position) => p53[position - 1])).toEqual(["F", "W", "L"]);
    const catenin = sequences.get("P35222")!;
    expect([33, 37].map((position) => catenin[position - 1])).toEqual(["S", "S"]);
    expect(sequences.get("P18824")).toMatch(/DSG[AFILMVWY].S/);
    expect(sequences.get("P11745")).toHaveLength(407);
  });

  test("the page states the right counts of proteins and families", () => {
    expect(counts("P35222")).toEqual(["11", "12"]);
    expect(counts("P03129")).toEqual(["23", "24"]);
    expect(counts("P49407")).toEqual(["6", "20"]);
  });
});
