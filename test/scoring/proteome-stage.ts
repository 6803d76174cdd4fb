import { writeDurably } from "../../src/platform/durable-file.ts";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { familyRecords, openCorpus, packCorpus, readFasta } from "../../src/motif/index.ts";
import SAMPLE from "../../src/sample/proteins.fasta" with { type: "text" };
import { type CorpusInfo, corpusPath } from "../../src/scoring/index.ts";
import { writeFamilies } from "../../src/scoring/corpus/families-file.ts";

const COUNT = 24;

/** The beginnings of sample proteins with other headers: every third is human, the others are of the mouse. */
export const PROTEOME = SAMPLE.split(/^>/m)
  .slice(1, COUNT + 1)
  .map((record, i) => {
    const [header, ...lines] = record.split("\n", 6);
    const [accession] = header.split(" ", 1);
    const species = i % 3 === 0 ? "OS=Homo sapiens OX=9606" : "OS=Mus musculus OX=10090";
    return `>sp|${accession}|E${i}_TEST Name ${i} ${species} GN=GENE${i}\n${lines.join("\n")}\n`;
  })
  .join("");

/** A data directory with a corpus of these proteins. */
export function proteomeStage() {
  const dataDirectory = mkdtempSync(join(tmpdir(), "labd-proteome-"));
  const content = packCorpus("some", readFasta(PROTEOME));
  const { hash, sequenceCount: sequences, residueCount: residues } = openCorpus(content);
  const path = corpusPath(dataDirectory, hash);
  writeDurably(path, [content]);
  const facts = { sequences, residues, bytes: content.length, added: 0, active: true };
  const corpus: CorpusInfo = { name: "some", hash, path, ...facts };
  return { corpus, dataDirectory, remove: () => rmSync(dataDirectory, { recursive: true, force: true }) };
}

/** Computes and stores the families of proteins in one file. */
export function storeFamilies(corpus: Pick<CorpusInfo, "path" | "hash">, proteins: number[]): void {
  const opened = openCorpus(packCorpus("some", readFasta(PROTEOME)));
  writeFamilies(corpus, [...familyRecords(opened, proteins)]);
}
