import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import { type Corpus, groupQueries, METHOD } from "../../motif/index.ts";
import { Problem } from "../../problem.ts";
import { resultsInOrder } from "../batch/task-results.ts";
import { type Shard, shardRange } from "../batch/shard.ts";
import { type CorpusInfo, openCorpusFile } from "../corpus/corpus.ts";
import { listFamilies, removeFamilies, sweepFamilies, writeFamilies } from "./families-file.ts";
import type { FamiliesReport, FamiliesTask } from "./proteome-tasks.ts";
import { type ProteinSelection, selectProteins } from "./protein-selection.ts";

/** Families to compute. */
export interface BuildPlan {
  corpus: CorpusInfo;
  /** Proteins without a family, as indexes in the corpus. */
  missing: number[];
  /** Selected proteins that have one. */
  existing: number;
  /** Residues of the missing ones. */
  residues: number;
  /** Estimates: seconds of one processor, and bytes on disk. */
  seconds: number;
  bytes: number;
}

/** Proteins per file: what a kill loses at most, about a minute of work. */
const BATCH = 256;

/**
 * Processor time per residue: for the search proportional to the corpus, and for the alignments. Measured with 200 human
 * proteins in Swiss-Prot, like the bytes; families of 100 homologs take about twice as many.
 */
const SEARCH_SECONDS = 8.4e-13;
const ALIGNMENT_SECONDS = 1.6e-4;
const BYTES = 6;

/** @throws Problem not_found, invalid_request for the selection; disk_full */
export function planBuild(
  corpus: CorpusInfo,
  selection: ProteinSelection,
  shard: Shard = { shard: 1, of: 1 },
): BuildPlan {
  const opened = openCorpusFile(corpus.path);
  const selected = selectProteins(opened, selection);
  const { from, to } = shardRange(
    selected.map((index) => lengthOf(opened, index)),
    shard,
  );
  const own = selected.slice(from, to);
  const known = new Set(listFamilies(corpus).flatMap(({ proteins }) => proteins));
  const missing = own.filter((index) => !known.has(index));
  const residues = missing.reduce((sum, index) => sum + lengthOf(opened, index), 0);
  const bytes = residues * BYTES;
  const { bavail, bsize } = statfsSync(dirname(corpus.path));
  if (bytes > bavail * bsize)
    throw new Problem(
      "disk_full",
      `The families need about ${Math.ceil(bytes / 1e6)} MB; ${Math.floor((bavail * bsize) / 1e6)} MB are free in ${dirname(corpus.path)}. Free space, or select fewer proteins.`,
    );
  return {
    corpus,
    missing,
    existing: own.length - missing.length,
    residues,
    seconds: residues * (SEARCH_SECONDS * opened.residueCount + ALIGNMENT_SECONDS),
    bytes,
  };
}

const lengthOf = (corpus: Corpus, index: number): number => corpus.offsets[index + 1] - corpus.offsets[index];

/**
 * Computes the missing families on threads and stores them in files of BATCH proteins. What is stored survives a kill; the
 * next plan contains only the rest.
 * @param report called with numbers of proteins and residues done
 */
export async function buildFamilies(
  { corpus, missing }: BuildPlan,
  workers: number,
  report: (proteins: number, residues: number) => void = () => {},
): Promise<void> {
  sweepFamilies(corpus.path);
  const opened = openCorpusFile(corpus.path);
  const tasks = groupQueries(missing.map((index) => lengthOf(opened, index))).map(
    (group, ticket): FamiliesTask => ({
      ticket,
      corpusPath: corpus.path,
      members: group.map((k) => missing[k]),
    }),
  );
  let proteins: number[] = [];
  let records: Uint8Array[] = [];
  const done = { proteins: 0, residues: 0 };
  const write = (): void => {
    if (proteins.length > 0) writeFamilies(corpus, proteins, records);
    [proteins, records] = [[], []];
  };
  for await (const result of resultsInOrder<FamiliesReport>(tasks, workers)) {
    const { members } = tasks[result.ticket];
    if (proteins.length + members.length > BATCH) write();
    proteins.push(...members);
    records.push(...result.records);
    done.proteins += members.length;
    done.residues += members.reduce((sum, index) => sum + lengthOf(opened, index), 0);
    report(done.proteins, done.residues);
  }
  write();
  removeFamilies(corpus.path, METHOD);
}
