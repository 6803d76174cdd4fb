/**
 * Families of the proteins that train the predictor of disorder (src/motif/disorder/README.md): one line each,
 * accession, tab, name of the family. Run as `bun test/bench/disorder-families.ts disorder_teacher.txt.xz > families.tsv`.
 */
import { encode } from "../../src/motif/alphabet.ts";
import { packCorpus } from "../../src/motif/corpus-builder.ts";
import { openCorpus } from "../../src/motif/corpus.ts";
import { groupByHomology } from "./benchmark-data.ts";

/** Higher than a search's, so that remote relatives of a held-out protein are held out, too. */
const MAX_E_VALUE = 1e-4;

/** Proteins of the teacher's file: accession after `>`, sequence, and two lines of predictions. */
function readTeacher(path: string) {
  const { exitCode, stdout } = Bun.spawnSync(["xz", "-dc", path]);
  if (exitCode !== 0) throw new Error(`${path} could not be unpacked`);
  const lines = stdout.toString().trimEnd().split("\n");
  return Array.from({ length: lines.length / 4 }, (_, i) => ({
    accession: lines[4 * i]!.slice(1),
    description: "",
    organism: null,
    speciesKey: null,
    residues: encode(lines[4 * i + 1]!),
  }));
}

const path = process.argv[2];
if (path === undefined) throw new Error("Give the path of disorder_teacher.txt.xz.");
const entries = readTeacher(path);
const accessions = entries.map(({ accession }) => accession);
const families = groupByHomology(openCorpus(packCorpus("teacher", entries)), accessions, MAX_E_VALUE);
for (const [accession, family] of families) console.log(`${accession}\t${family}`);
