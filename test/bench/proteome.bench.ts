/**
 * Families of a proteome: processor time and bytes per protein of `labd proteome build`, and processor time of
 * `labd proteome search` per protein with a match.
 *
 *   bun run test/bench/proteome.bench.ts CORPUS [ORGANISM] [PROTEINS]
 *
 * CORPUS is a file of `corpora/`. Every record is compared with the family it was made of, and the time of the same
 * patterns by `predict`, with search and alignment, is that of the peer.
 */
import { decode } from "../../src/motif/alphabet.ts";
import { decodeFamily, encodeFamily } from "../../src/motif/family-record.ts";
import { findFamilies } from "../../src/motif/family-search.ts";
import { groupQueries, parsePattern, predict } from "../../src/motif/index.ts";
import { scoreRecord } from "../../src/motif/proteome.ts";
import { shuffled } from "../../src/motif/random.ts";
import { readResidues } from "../../src/motif/search.ts";
import { openCorpusFile } from "../../src/scoring/corpus/corpus.ts";
import { selectProteins } from "../../src/scoring/proteome/protein-selection.ts";

const [path, organism = "9606", count = "200"] = process.argv.slice(2);
const PATTERNS = ["F...W..[LIV]", "P..P", "[ST]P", "[RK].L.{0,1}[FYLIVMP]"];

const seconds = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
};

const corpus = openCorpusFile(path);
const selected = selectProteins(corpus, { organism });
const drawn = [...shuffled(selected.length, 1)].slice(0, Number(count)).map((k) => selected[k]);
const lengths = drawn.map((index) => readResidues(corpus, index).length);
const records = new Map<number, Uint8Array>();
let [time, bytes, homologs] = [0, 0, 0];
for (const group of groupQueries(lengths)) {
  const members = group.map((k) => drawn[k]);
  let from = seconds();
  let at = 0;
  for (const { family, indexes } of findFamilies(corpus, members)) {
    const record = encodeFamily(family, indexes);
    time += seconds() - from;
    bytes += record.length;
    homologs += indexes.length;
    const read = decodeFamily(record, family.query, (index) => readResidues(corpus, index));
    const { disorder: _shown, ...prediction } = read.family.prediction;
    const { disorder: _exact, ...expected } = family.prediction;
    if (
      !Bun.deepEquals({ ...read.family, prediction }, { ...family, prediction: expected }) ||
      !Bun.deepEquals(read.indexes, indexes)
    )
      throw new Error(`${corpus.accession(members[at])}: the record differs from its family`);
    records.set(members[at++], record);
    from = seconds();
  }
}
const residues = lengths.reduce((sum, length) => sum + length, 0);
const average = (sum: number, digits = 1): string => (sum / drawn.length).toFixed(digits);
console.log(
  `${drawn.length} of ${selected.length} proteins of ${organism}, ${average(residues)} residues, ${average(homologs)} homologs on average`,
);
console.log(
  `build: ${average(1000 * time)} ms and ${average(bytes, 0)} bytes per protein (${(bytes / residues).toFixed(1)} per residue)`,
);

for (const expression of PATTERNS) {
  const motif = { pattern: parsePattern(expression), model: "continuous" as const };
  const matches = (): [matches: number, proteins: number] => {
    let [all, proteins] = [0, 0];
    for (const [protein, record] of records) {
      const { length } = scoreRecord(record, protein, corpus, motif);
      all += length;
      if (length > 0) proteins++;
    }
    return [all, proteins];
  };
  matches();
  const from = seconds();
  const [all, proteins] = matches();
  const milliseconds = 1000 * (seconds() - from);
  console.log(
    `search ${expression}: ${all} matches in ${proteins} proteins, ${(milliseconds / Math.max(1, proteins)).toFixed(2)} ms per protein with a match`,
  );
}

const few = drawn.slice(0, 20);
const from = seconds();
for (const index of few)
  predict(
    {
      query: decode(readResidues(corpus, index)),
      patterns: PATTERNS.map((expression) => ({ expression, name: null })),
      model: "continuous",
    },
    corpus,
  );
console.log(
  `without families: ${((1000 * (seconds() - from)) / few.length).toFixed(0)} ms per protein for all ${PATTERNS.length} patterns`,
);
