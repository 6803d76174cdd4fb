import { describe, expect, test } from "bun:test";
import { packCorpus } from "../../src/motif/corpus-builder.ts";
import { openCorpus } from "../../src/motif/corpus.ts";
import { readFasta } from "../../src/motif/fasta.ts";
import { proteinsNamed } from "../../src/motif/name-lookup.ts";
import { searchNames } from "../../src/motif/name-search.ts";
import { random } from "../fixtures/random-protein.ts";

const FASTA = `>sp|P02340|P53_MOUSE Cellular tumor antigen p53 OS=Mus musculus OX=10090 GN=Tp53
MK
>sp|P04637|P53_HUMAN Cellular tumor antigen p53 OS=Homo sapiens OX=9606 GN=TP53
MKV
>sp|Q12888|TP53B_HUMAN TP53-binding protein 1 OS=Homo sapiens OX=9606 GN=TP53BP1
MK
>sp|P48754|BRCA1_MOUSE Breast cancer type 1 susceptibility protein homolog OS=Mus musculus OX=10090 GN=Brca1
MK
>sp|P38398|BRCA1_HUMAN Breast cancer type 1 susceptibility protein OS=Homo sapiens OX=9606 GN=BRCA1
MK
>sp|Q00653|NFKB2_HUMAN Nuclear factor NF-kappa-B p100 subunit OS=Homo sapiens OX=9606 GN=NFKB2
MK
>sp|P0A6F5|CH60_ECOLI Chaperonin GroEL OS=Escherichia coli (strain K12) OX=83333 GN=groEL
MK
>sp|Q9Y0H4|HUM_DROME Human homolog OS=Drosophila melanogaster OX=7227
MK
>ENSMUSP00000104298.3 pep gene:ENSMUSG00000059552.14 gene_symbol:Trp53 description:transformation related protein 53
MK
>NP_000537.3 cellular tumor antigen p53 isoform a [Homo sapiens]
MK
>Q29537 P53_CANLF OS=Canis lupus familiaris OX=9615
MK
>P03129 VE7_HPV16 OS=Human papillomavirus type 16
MK
>bare
MK
`;
const corpus = openCorpus(packCorpus("names", readFasta(FASTA)));
const find = (text: string, limit = 20): string[] =>
  searchNames(corpus, text, limit).proteins.map(({ accession }) => accession);

test.each([
  ["P04637", "P04637"],
  ["sp|P04637|P53_HUMAN", "P04637"],
  ["p53_human", "P04637"],
  // The most studied species first.
  ["TP53", "P04637", "P02340"],
  ["tp53 mouse", "P02340"],
  ["TP53 Homo sapiens", "P04637"],
  ["TP53 10116"],
  // Without a gene of the species, entry names like that of the gene's human protein.
  ["TP53 dog", "Q29537"],
  ["P04637 mouse"],
  // Not a beginning, and not a word of a name.
  ["TP5"],
  ["antigen"],
  [""],
])("an exact search for %p finds the proteins %p", (name, ...accessions) => {
  expect(proteinsNamed(corpus, name!).map((index) => corpus.accession(index))).toEqual(
    accessions as string[],
  );
});

describe("searchNames", () => {
  const rows: [text: string, found: string[]][] = [
    ["TP53", ["P04637", "P02340", "Q29537", "Q12888"]],
    ["tp53", ["P04637", "P02340", "Q29537", "Q12888"]],
    ["TP53 canlf", ["Q29537"]],
    ["E7", ["P03129"]],
    ["e7 papillomavirus", ["P03129"]],
    ["P53_HUMAN", ["P04637"]],
    ["P04637", ["P04637"]],
    ["p04637", ["P04637"]],
    ["P0", ["P04637", "P02340", "P0A6F5", "P03129"]],
    ["cellular tumor antigen", ["P04637", "NP_000537.3", "P02340"]],
    ["cellular tumor ant", ["P04637", "NP_000537.3", "P02340"]],
    ["antigen tumor", ["P04637", "NP_000537.3", "P02340"]],
    ["BRCA1", ["P38398", "P48754"]],
    ["BRCA1 mouse", ["P48754"]],
    ["mouse, BRCA1", ["P48754"]],
    ["BRCA1 Mus musculus", ["P48754"]],
    ["BRCA1 10090", ["P48754"]],
    ["brca1 mou", ["P48754"]],
    ["53 mouse", ["ENSMUSP00000104298.3"]],
    ["ENSMUSG00000059552", []],
    ["Trp53", ["ENSMUSP00000104298.3"]],
    ["NP_000537", ["NP_000537.3"]],
    ["NF-kappa-B", ["Q00653"]],
    ["nf-kappa", ["Q00653"]],
    ["groel e.coli", ["P0A6F5"]],
    ["drome", ["Q9Y0H4"]],
    ["bare", ["bare"]],
    ["TP53 nothing", []],
    ["", []],
    ["  ?! ", []],
  ];
  test.each(rows)("%s", (text, found) => expect(find(text)).toEqual(found));

  test("prefers species to words of names", () => {
    expect(find("human").indexOf("P04637")).toBeLessThan(find("human").indexOf("Q9Y0H4"));
    expect(find("human")).toHaveLength(7);
  });

  test("a search returns the names in the header and the total number", () => {
    const { total, proteins } = searchNames(corpus, "TP53", 1);
    expect(total).toBe(4);
    expect(proteins).toEqual([
      {
        index: 1,
        length: 3,
        accession: "P04637",
        entryName: "P53_HUMAN",
        gene: "TP53",
        description: "Cellular tumor antigen p53",
        organism: "Homo sapiens",
        taxon: 9606,
      },
    ]);
  });

  test("finds the proteins that a plain search of all headers finds", () => {
    const next = random(5);
    const letters = "abc";
    const word = (): string =>
      Array.from({ length: 1 + Math.floor(next() * 3) }, () => letters[Math.floor(next() * 3)]).join("");
    const entries = Array.from({ length: 300 }, (_, i) => ({
      accession: `${word()}${i}`.toUpperCase(),
      words: Array.from({ length: 1 + Math.floor(next() * 4) }, word),
    }));
    const fasta = entries.map(({ accession, words }) => `>${accession} ${words.join(" ")}\nMK\n`).join("");
    const other = openCorpus(packCorpus("random", readFasta(fasta)));
    for (let k = 0; k < 200; k++) {
      const wanted = [word(), word()].slice(0, 1 + (k % 2));
      const expected = entries
        .filter(({ accession, words }) =>
          wanted.every((one) => [accession.toLowerCase(), ...words].some((text) => text.startsWith(one))),
        )
        .map(({ accession }) => accession);
      const found = searchNames(other, wanted.join(" "), 1000);
      expect(found.total).toBe(expected.length);
      expect(found.proteins.map(({ accession }) => accession).sort()).toEqual(expected.sort());
    }
  });
});
