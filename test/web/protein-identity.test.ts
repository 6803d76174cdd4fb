import { expect, test } from "bun:test";
import { databaseLinks } from "../../src/web/score/protein-identity.tsx";

test("links only accessions of UniProt to databases", () => {
  expect(databaseLinks("P04637").map(([name]) => name)).toEqual([
    "UniProt",
    "AlphaFold DB",
    "InterPro",
    "ELM",
  ]);
  expect(databaseLinks("A0A024RBG1")[1][1]).toBe("https://alphafold.ebi.ac.uk/entry/A0A024RBG1");
  expect(databaseLinks("P04637-2").map(([, address]) => address)).toEqual([
    "https://www.uniprot.org/uniprotkb/P04637-2/entry",
    "https://alphafold.ebi.ac.uk/entry/P04637",
    "https://www.ebi.ac.uk/interpro/protein/UniProt/P04637/",
    "http://elm.eu.org/instances.html?q=P04637",
  ]);
  for (const other of ["NP_000537.3", "ENSP00000269305", "clone_17", ""])
    expect(databaseLinks(other)).toEqual([]);
});
