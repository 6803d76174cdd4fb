import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import { type Corpus, KNOWN_SPECIES, speciesRank } from "../../motif/index.ts";
import { Problem } from "../../problem.ts";
import { type Shard, shardRange } from "../batch/shard-range.ts";
import { type CorpusInfo, openCorpusFile } from "../corpus/corpus.ts";
import { type CarryOver, planCarryOver } from "./carry-over.ts";
import { listFamilies } from "../corpus/families-file.ts";
import { type ProteinSelection, selectProteins } from "./protein-selection.ts";

/** Families to compute. */
export interface BuildPlan {
  corpus: CorpusInfo;
  /** Proteins without a family, as indexes in the corpus, those of the most studied species first; and their lengths. */
  missing: number[];
  lengths: number[];
  /** Selected proteins that have one. */
  existing: number;
  /** Families of other corpora, which are taken over if they are the same. */
  carryOvers: CarryOver[];
  /** Estimates: seconds of one processor if all of those are the same, and bytes on disk. */
  seconds: number;
  bytes: number;
}

export interface BuildRequest {
  corpus: CorpusInfo;
  selection: ProteinSelection;
  shard?: Shard | undefined;
  /** Corpora whose families may be carried over. */
  others: readonly CorpusInfo[];
}

/**
 * Processor time per residue: for the search proportional to the residues searched, and for the alignments. Measured with
 * 200 human proteins in Swiss-Prot, like the bytes; families of 100 homologs take about twice as many.
 */
const SEARCH_SECONDS = 8.4e-13;
const ALIGNMENT_SECONDS = 1.6e-4;
/** For indexing the seeds of a query twice, and for many short ranges of the corpora. */
const CHECK_SECONDS = 1.2e-5;
const BYTES = 6;

/** @throws Problem not_found, invalid_request for the selection; disk_full */
export function planBuild({
  corpus,
  selection,
  shard = { shard: 1, of: 1 },
  others,
}: BuildRequest): BuildPlan {
  const opened = openCorpusFile(corpus.path);
  const proteinLength = (index: number): number => opened.offsets[index + 1] - opened.offsets[index];
  const selected = selectProteins(opened, selection);
  const { from, to } = shardRange(selected.map(proteinLength), shard);
  const own = selected.slice(from, to);
  const known = new Set(listFamilies(corpus).flatMap(({ proteins }) => proteins));
  const missing = orderBySpecies(
    opened,
    own.filter((index) => !known.has(index)),
  );
  const lengths = missing.map(proteinLength);
  const bytes = addUp(lengths) * BYTES;
  requireSpace(corpus, bytes);
  const carryOvers = planCarryOver(corpus, missing, others);
  const carried = new Set(carryOvers.flatMap(({ proteins }) => proteins));
  const computed = missing.filter((index) => !carried.has(index)).map(proteinLength);
  const checks = carryOvers.map(({ proteins, changed }) =>
    estimateCheckSeconds(proteins.map(proteinLength), changed),
  );
  const seconds = addUp(checks) + estimateSeconds(computed, corpus);
  return { corpus, missing, lengths, existing: own.length - missing.length, carryOvers, seconds, bytes };
}

/** Proteins of the most studied species first: they can be searched while the others are computed. */
function orderBySpecies(corpus: Corpus, indexes: readonly number[]): number[] {
  const ranks = new Map<number, number>([[-1, KNOWN_SPECIES.length]]);
  const rank = (index: number): number => {
    const species = corpus.species(index);
    const known = ranks.get(species) ?? speciesRank(corpus.identity(index).organism ?? "");
    ranks.set(species, known < 0 ? KNOWN_SPECIES.length : known);
    return ranks.get(species)!;
  };
  return indexes.toSorted((a, b) => rank(a) - rank(b));
}

/** A plan to make in a thread: it reads the whole corpus. */
export interface PlanTask {
  ticket: number;
  corpusPath: string;
  plan: BuildRequest;
}

export interface PlanReport {
  ticket: number;
  kind: "planned";
  plan: BuildPlan;
}

const addUp = (numbers: readonly number[]): number => numbers.reduce((sum, one) => sum + one, 0);

/** Estimated time for families of proteins of these lengths. */
export const estimateSeconds = (
  lengths: readonly number[],
  { residues }: Pick<CorpusInfo, "residues">,
): number => addUp(lengths) * (SEARCH_SECONDS * residues + ALIGNMENT_SECONDS);

/** Estimated seconds for finding out whether families are unchanged. @param changed as in CarryOver */
export const estimateCheckSeconds = (lengths: readonly number[], changed: number): number =>
  addUp(lengths) * (SEARCH_SECONDS * changed + CHECK_SECONDS);

function requireSpace({ path }: CorpusInfo, bytes: number): void {
  const { bavail, bsize } = statfsSync(dirname(path));
  if (bytes <= bavail * bsize) return;
  throw new Problem(
    "disk_full",
    `The families need about ${Math.ceil(bytes / 1e6)} MB; ${Math.floor((bavail * bsize) / 1e6)} MB are free in ${dirname(path)}. Free space, or select fewer proteins.`,
  );
}
