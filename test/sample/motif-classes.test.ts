import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Starter table of motif classes: format, and published motifs that its expressions must match. */

const ROOT = join(import.meta.dir, "../..");
const [HEAD, ...LINES] = readFileSync(join(ROOT, "src/scoring/corpus/motif-classes.tsv"), "utf8")
  .trimEnd()
  .split("\n");
const CLASSES = LINES.map((line) => {
  const [name, alias, expression, description, citation] = line.split("\t");
  return {
    name,
    aliases: alias === "" ? [] : alias.split(","),
    expression,
    description,
    citation,
    cells: line.split("\t").length,
  };
});
const FASTA = readFileSync(join(ROOT, "src/sample/proteins.fasta"), "utf8");
const findExpression = (name: string): string => CLASSES.find((one) => one.name === name)!.expression;

test("the table has its five columns", () => {
  expect(HEAD).toBe("name\talias\texpression\tdescription\tcitation");
  expect(CLASSES.filter(({ cells }) => cells !== 5)).toEqual([]);
  expect(CLASSES.length).toBeGreaterThanOrEqual(25);
});

test("names and aliases are valid and unique", () => {
  const names = CLASSES.flatMap(({ name, aliases }) => [name, ...aliases]);
  expect(names.filter((name) => !/^[A-Za-z0-9_-]+$/.test(name))).toEqual([]);
  expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
});

test("well-known ELM identifiers are included", () => {
  const aliases = new Set(CLASSES.flatMap((one) => one.aliases));
  for (const known of [
    "LIG_SH3_1",
    "LIG_SH3_2",
    "DOC_WW_Pin1_4",
    "DEG_MDM2_SWIB_1",
    "LIG_PCNA_PIPBox_1",
    "LIG_PDZ_Class_1",
    "DEG_APCC_KENBOX_2",
    "TRG_NES_CRM1_1",
  ]) {
    expect(aliases).toContain(known);
  }
});

test.each(CLASSES)("$name is a valid pattern with meaning and citation", (motifClass) => {
  const { expression, description, citation } = motifClass;
  expect(expression).toMatch(/^[ACDEFGHIKLMNPQRSTVWY0-9.,^$*+?|[\]{}()]+$/);
  expect(() => new RegExp(expression)).not.toThrow();
  expect(new RegExp(`^(?:${expression})$`).test("")).toBe(false);
  expect(description).toMatch(/^[A-Z].*\.$/);
  // Authors (year) journal volume:pages, one or more.
  for (const one of citation.split("; ")) {
    expect(one).toMatch(/^[A-Za-z].+ \((?:19|20)\d\d\) [A-Z][A-Za-z ]+ \d+:\d+-\d+$/);
  }
});

describe("expressions match their known motifs", () => {
  test.each([
    // Residues counted from 1 on the UniProt sequence.
    ["MDM2-SWIB", "QETFSDLWKLLPEN", "P04637", 16],
    ["PIP-box", "KRRQTSMTDFYHSK", "P38936", 141],
    ["14-3-3-mode-1", "GLYRSPSMPENL", "P30307", 210],
    ["SCF-TrCP", "SYLDSGIHSGAT", "P35222", 29],
    ["NLS-monopartite", "PPKKKRKVED", "P03070", 125],
    ["NLS-bipartite", "KRPAATKKAGQAKKKK", "P05221", 155],
    ["NES-CRM1", "NELALKLAGLDINK", "P61925", 36],
    ["LxCxE", "DLYCYEQL", "P03129", 21],
    ["ER-KDEL", "GQAKDEL", "P27797", 411],
    ["WW-PPxY", "TPPPNYDSL", "P51168", 615],
    ["PBX-hexapeptide", "RTFDWMKVK", "P14653", 178],
    ["eIF4E", "RIIYDRKFLMECR", "Q13541", 51],
  ] as const)("%s matches %s (%s, from %i)", (name, peptide, accession, start) => {
    const record = FASTA.split(/^>/m).find((one) => one.startsWith(accession))!;
    const sequence = record.slice(record.indexOf("\n")).replaceAll("\n", "");
    expect(sequence.slice(start - 1, start - 1 + peptide.length)).toBe(peptide);
    expect(peptide).toMatch(new RegExp(findExpression(name)));
  });

  test.each([
    ["Caspase-3", "GDEVDGVD", "human PARP1, cut after Asp214"],
    ["ITAM", "NQLYNELNLGRREEYDVLDKR", "human CD3 zeta, Tyr72 and Tyr83"],
    ["SH3-class-II", "VPPPVPPRRR", "human SOS1, the peptide bound by GRB2"],
    ["PTS1", "GGKSKL", "firefly luciferase"],
    ["14-3-3-mode-1", "RQRSTSTPNVH", "human RAF1, Ser259"],
    ["KEAP1-ETGE", "QLDEETGEFLP", "human NRF2"],
  ] as const)("%s matches %s: %s", (name, peptide) => {
    expect(peptide).toMatch(new RegExp(findExpression(name)));
  });

  test.each([
    ["MDM2-SWIB", "QETFSDLAKLLPEN", "Trp23 lost"],
    ["PIP-box", "KRRQTSMTDAAHSK", "both aromatic residues lost"],
    ["SCF-TrCP", "SYLDSGIHAGAT", "Ser37 lost, as in tumours"],
    ["NLS-monopartite", "PPKTKRKVED", "Lys128 lost: the large T antigen stays in the cytoplasm"],
    ["NES-CRM1", "NELALKLAGADANK", "the last hydrophobic pair lost"],
    ["LxCxE", "DLYGYEQL", "Cys24 lost"],
    ["ER-KDEL", "GQAKDELGL", "no longer at the end"],
    ["WW-PPxY", "TPPPNHDSL", "the tyrosine of Liddle's syndrome lost"],
    ["ITAM", "NQLYNELNLGRREEADVLDKR", "the second tyrosine lost"],
  ] as const)("%s does not match %s: %s", (name, peptide) => {
    expect(peptide).not.toMatch(new RegExp(findExpression(name)));
  });
});
