/**
 * Findings of scans: known instances among the matches of proteins that have some, by q and by rank.
 *
 *   LABD_BENCH_DATA=DIR bun run test/bench/scan-quality.bench.ts PROTEINS.fasta [COUNT]
 *
 * PROTEINS.fasta is the corpus. COUNT proteins (160) with ELM instances are drawn from the benchmark's and scanned for
 * ELM's classes by `labd scan`. Build the executable first.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decode } from "../../src/motif/index.ts";
import { readResidues } from "../../src/motif/search.ts";
import type { Scan } from "../../src/scoring/index.ts";
import { LABD } from "../executable/labd.ts";
import { random } from "../fixtures/random-protein.ts";
import { benchCorpus, benchData, readCases } from "./benchmark-data.ts";
import { median, say } from "./harness.ts";

const SEED = 5;
const LEVELS = [0.05, 0.1, 0.2, 0.3];

type Match = Scan["matches"][number];

const percent = (part: number): string => `${Math.round(100 * part)} %`;

const [fasta, wanted = "160"] = Bun.argv.slice(2);
if (fasta === undefined) throw new Error("usage: scan-quality.bench.ts PROTEINS.fasta [COUNT]");
const data = benchData();
const known = Map.groupBy(
  readCases(data).filter(({ isTrue, parts }) => isTrue && parts[0] === "A"),
  ({ accession }) => accession,
);
const isKnown = (accession: string, { motif, start, end }: Match): boolean =>
  known.get(accession)!.some((one) => one.motifClass === motif && one.start < end && one.end >= start);

/** Random proteins with known instances, as FASTA. */
function drawn(): string {
  const corpus = benchCorpus(data);
  const next = random(SEED);
  const accessions = [...known.keys()].filter((accession) => corpus.findAccession(accession) >= 0);
  const chosen = accessions
    .map((accession) => ({ accession, order: next() }))
    .toSorted((a, b) => a.order - b.order)
    .slice(0, Number(wanted));
  return chosen
    .map(
      ({ accession }) => `>${accession}\n${decode(readResidues(corpus, corpus.findAccession(accession)))}\n`,
    )
    .join("");
}

function scans(): Scan[] {
  const directory = mkdtempSync(join(tmpdir(), "labd-bench-"));
  try {
    const proteins = join(directory, "proteins.fasta");
    writeFileSync(proteins, drawn());
    const run = (...words: string[]): string => {
      const { exitCode, stdout, stderr } = Bun.spawnSync([LABD, ...words, "--data-dir", directory], {
        env: {},
      });
      if (exitCode !== 0) throw new Error(stderr.toString());
      return stdout.toString();
    };
    run("corpus", "add", fasta);
    const table = join(data, "elm/elm_classes_2024-03-03.tsv");
    const lines = run("scan", "--fasta", proteins, "--elm", table, "--format", "json").trimEnd().split("\n");
    return lines.map((line) => JSON.parse(line) as Scan);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

const found = scans();
const rows = found.flatMap(({ identifier, matches }) =>
  matches.map((match) => ({ identifier, match, known: isKnown(identifier, match) })),
);
say(`${found.length} proteins, ${rows.length} matches, ${rows.filter((row) => row.known).length} known`);
for (const level of LEVELS) {
  const listed = rows.filter(({ match: { q } }) => (q ?? Infinity) <= level);
  const proteins = new Set(listed.map(({ identifier }) => identifier)).size;
  const count = listed.filter((row) => row.known).length;
  say(`q <= ${level}: ${listed.length} matches in ${proteins} proteins, ${count} known`);
}
const ranks = found
  .map(({ identifier, matches }) => matches.findIndex((match) => isKnown(identifier, match)) + 1)
  .filter((rank) => rank > 0);
const all = median(found.map(({ matches }) => matches.length));
say(`best known match: median rank ${median(ranks)} of ${all}`);
say(
  `among the first ten in ${percent(ranks.filter((rank) => rank <= 10).length / ranks.length)} of the proteins`,
);
const likely = rows.filter((row) => row.known && (row.match.overallPValue ?? 1) <= 0.05).length;
say(`P <= 0.05: ${percent(likely / rows.filter((row) => row.known).length)} of the known matches`);
