import { expect, test } from "bun:test";
import { openCorpus, packCorpus, readFasta } from "../../src/motif/index.ts";
import { identifyProtein, proteinsNamed } from "../../src/motif/name-lookup.ts";

const HEADERS = [
  "sp|P02340|P53_MOUSE Tumor antigen OS=Mus musculus OX=10090 GN=Tp53",
  "sp|P04637|P53_HUMAN Tumor antigen OS=Homo sapiens OX=9606 GN=TP53",
  "sp|Q00987|MDM2_HUMAN Ligase OS=Homo sapiens OX=9606 GN=MDM2",
  "NP_000537.3 cellular tumor antigen p53 [Homo sapiens]",
  "tr|A0A0TP|TP53_ODD Protein named as a gene OS=Odd animal OX=99999999 GN=TP53",
  "ABC.d not a version",
];
const fasta = HEADERS.map((header, i) => `>${header}\nMK${"ACDEFGHIKL".slice(0, i + 1)}\n`).join("");
const corpus = openCorpus(packCorpus("names", [...readFasta(fasta)]));

test.each([
  ["P04637", [1]],
  ["sp|P04637|P53_HUMAN", [1]],
  [" P04637 ", [1]],
  // An accession has one species, which need not be named.
  ["P04637 human", []],
  ["p53_human", [1]],
  ["P53", []],
  ["TP53", [1, 0, 4]],
  ["tp53 mouse", [0]],
  ["TP53 human", [1]],
  ["TP53 Homo sapiens", [1]],
  ["TP53 yeast", []],
  ["mdm2", [2]],
  ["MDM", []],
  ["", []],
])("the name %p means the proteins %p", (name, proteins) => {
  expect(proteinsNamed(corpus, name)).toEqual(proteins);
});

test.each([
  ["P04637", 1, "same"],
  ["sp|P04637|P53_HUMAN", 1, "same"],
  ["P53_HUMAN", 1, "same"],
  ["sp|P00000|MDM2_HUMAN", 2, "same"],
  ["P04637-1", 1, "same"],
  ["P04637-2", 1, "isoform"],
  ["P04637.4", 1, "same"],
  ["NP_000537.3", 3, "same"],
  ["NP_000537.2", 3, "version"],
  ["NP_000537", 3, "same"],
  ["NP_00053", null, null],
  ["ABC", null, null],
  ["TP53", null, null],
  ["P00000", null, null],
  ["P00000-2", null, null],
])("the identifier %p denotes protein %p, in the form %p", (identifier, index, form) => {
  expect(identifyProtein(corpus, identifier)).toEqual(
    index === null ? null : ({ index, form } as ReturnType<typeof identifyProtein>),
  );
});
