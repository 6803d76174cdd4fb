import { decode, encode } from "./alphabet.ts";
import type { Corpus } from "./corpus.ts";
import { type AlignedHomolog, buildFamily, passesThresholds, measureHomolog } from "./divergence.ts";
import { familyAlignment } from "./family-alignment.ts";
import { type ProteinIdentity, readHeader } from "./header.ts";
import { addHistories } from "./history.ts";
import type { Knowledge } from "./knowledge.ts";
import { isChosen } from "./homolog-choice.ts";
import { findLeftOut, equalResidues, findHomologs, findOwnHits, type ExcludedHits } from "./homologs.ts";
import { alignProgressively } from "./progressive.ts";
import { DEFAULTS, FEW_HOMOLOGS, METHOD, type Options } from "./options.ts";
import { addOrthology } from "./orthology.ts";
import { rounded, scorePattern } from "./pattern-scores.ts";
import { type Dialect, parsePattern, type Pattern } from "./pattern.ts";
import type { Homolog, Prediction, ScoringModel } from "./prediction.ts";
import { partWarning } from "./protein-text.ts";
import { type AlignedText, readAlignment, readQuery } from "./query.ts";
import { findWhole } from "./protein-part.ts";
import { rootTree } from "./rooted-tree.ts";
import { type Hit, readResidues } from "./search.ts";
import { newick } from "./tree.ts";
import { applyVariant } from "./variant.ts";
import { choiceWarnings, familyWarnings, leftOutWarnings, rowsWarning } from "./warnings.ts";

export interface PatternRequest {
  expression: string;
  /** Name of the motif class, if requested by name. */
  name: string | null;
  /** `plain` by default. Requests that earlier versions stored have `soap` instead of it. */
  dialect?: Dialect;
}

/** Stages in order. */
export type Stage = "homologs" | "tree" | "scores";
/** Receives the stage and the fraction of it that is done. */
export type ProgressCallback = (stage: Stage, fraction: number) => void;

interface ScoringRequest {
  patterns: readonly PatternRequest[];
  model: ScoringModel;
  knowledge?: Knowledge | undefined;
  /** Substitutions to score, as `readVariant` returns them, with the homologs and the alignment of the unchanged query. */
  variant?: string | undefined;
}

/**
 * Full pipeline: homologs of the query in a corpus, their tree, and the conservation of every match of every
 * pattern. Deterministic, no I/O. Warnings explain what cannot be scored.
 *
 * @param request.query letters A–Z and white space; may be empty.
 * @param hitsFound result of `findHits` for this query, options and corpus.
 * @throws SequenceError, PatternError
 */
export function predict(
  request: ScoringRequest & { query: string },
  corpus: Corpus,
  options: Readonly<Options> = DEFAULTS,
  report: ProgressCallback = () => {},
  hitsFound?: Hit[],
): Prediction {
  const query = readQuery(request.query);
  const patterns = readPatterns(request.patterns);
  report("homologs", 0);
  const reportSearch = (fraction: number): void => report("homologs", fraction);
  const hits = hitsFound ?? findOwnHits(query, corpus, options, reportSearch);
  const found = findHomologs(query, corpus, options, reportSearch, hits);
  const rows = alignProgressively(
    query,
    found.map(({ row }) => row),
  );
  const aligned = found.map((hit, k) => ({ source: hit, homolog: measureHomolog(query, rows[k]) }));
  const copies = hits.filter(({ index }) => equalResidues(query, readResidues(corpus, index)));
  let longer: readonly Hit[] = [];
  const prediction = assemble({ request, query, patterns, options, report }, aligned, {
    corpus: {
      name: corpus.name,
      hash: corpus.hash,
      sequences: corpus.sequenceCount,
      residues: corpus.residueCount,
    },
    findLeftOut(homologs) {
      const found = findLeftOut(query, corpus, options, {
        hits,
        homologs: homologs.map(({ index }) => index),
      });
      longer = found.long;
      return found;
    },
    organisms: copies.map(({ index }) => corpus.organism(index)),
    describe: (hit) => ({
      ...pickNames(corpus.identity(hit.index)),
      bitScore: rounded(hit.bitScore),
      eValue: Number(hit.eValue.toPrecision(6)),
    }),
  });
  const part = copies.length > 0 ? null : findWhole(query, [...hits, ...longer], corpus);
  if (part) prediction.warnings.unshift(partWarning(part));
  return prediction;
}

/**
 * Predicts on an alignment from the user: its first row is the query, the others are homologs, best first,
 * under the same criteria.
 *
 * @param request.rows texts of equal length with gaps `-` or `.`.
 * @throws SequenceError, PatternError
 */
export function predictFromAlignment(
  request: ScoringRequest & { rows: readonly AlignedText[] },
  options: Readonly<Options> = DEFAULTS,
  report: ProgressCallback = () => {},
): Prediction {
  const { query, rows } = readAlignment(request.rows);
  const patterns = readPatterns(request.patterns);
  const aligned = rows.map((row, i) => ({
    source: request.rows[i + 1],
    homolog: measureHomolog(query, row),
  }));
  const prediction = assemble({ request, query, patterns, options, report }, aligned, {
    corpus: null,
    findLeftOut: null,
    organisms: [readRowName(request.rows[0]).organism],
    describe: (row) => ({
      accession: row.name,
      description: row.description ?? "",
      ...readRowName(row),
      bitScore: null,
      eValue: null,
    }),
  });
  const leftOut = rows.length - prediction.homologs.length;
  if (leftOut > 0) prediction.warnings.push(rowsWarning(leftOut, rows.length, options));
  return prediction;
}

/** Organism and gene in the name of a row, read as a header; `/1-393` is the part of the protein. */
function readRowName({ name, description = "" }: AlignedText): Pick<ProteinIdentity, "organism" | "gene"> {
  const { organism, gene } = readHeader(`${name.replace(/\/\d+-\d+$/, "")} ${description}`);
  return { organism, gene };
}

const pickNames = ({ accession, description, organism, gene }: ProteinIdentity) => ({
  accession,
  description,
  organism,
  gene,
});

interface HomologSource<Source> {
  corpus: Prediction["corpus"];
  /** Finds the hits that are not among these homologs; null without a search. */
  findLeftOut: ((homologs: readonly Source[]) => ExcludedHits) | null;
  /** Organisms that have the query itself; null for unknown ones. */
  organisms: readonly (string | null)[];
  describe: (
    source: Source,
  ) => Pick<Homolog, "accession" | "description" | "organism" | "bitScore" | "eValue"> &
    Required<Pick<Homolog, "gene">>;
}

interface Job {
  request: ScoringRequest;
  query: Uint8Array;
  patterns: Pattern[];
  options: Readonly<Options>;
  report: ProgressCallback;
}

/** Tree, weights and scores for homologs of any source. */
function assemble<Source>(
  { request: { model, patterns: requests, knowledge = {}, variant }, query, patterns, options, report }: Job,
  aligned: { source: Source; homolog: AlignedHomolog }[],
  { corpus, findLeftOut, organisms, describe }: HomologSource<Source>,
): Prediction {
  report("tree", 0);
  const admitted = aligned
    .filter(({ homolog }) => passesThresholds(homolog, options))
    .slice(0, options.maxHomologs);
  const scoredQuery = variant === undefined ? query : encode(applyVariant(decode(query), variant));
  const family = buildFamily(
    scoredQuery,
    admitted.map(({ homolog }) =>
      scoredQuery === query ? homolog : measureHomolog(scoredQuery, homolog.row),
    ),
  );
  // With enough homologs, hits left out matter little, and a choice leaves out hits by itself.
  const leftOut =
    admitted.length < FEW_HOMOLOGS && !isChosen(options)
      ? findLeftOut?.(admitted.map(({ source }) => source))
      : undefined;
  const homologs = family.homologs.map(({ identity, coverage, weight }, i): Homolog => {
    const { accession, description, organism, gene, bitScore, eValue } = describe(admitted[i].source);
    return {
      accession,
      description,
      organism,
      gene,
      identity: rounded(identity),
      coverage: rounded(coverage),
      bitScore,
      eValue,
      weight: rounded(weight),
    };
  });
  const root = rootTree(family.tree);
  const names = ["query", ...homologs.map(({ accession }) => accession)];
  const scored = patterns.map((pattern, i) => {
    const { features, classes, classModels } = knowledge;
    const context = { model, family, options, features, facts: classes?.[i], classModel: classModels?.[i] };
    return scorePattern(pattern, requests[i].name, context, (fraction) =>
      report("scores", (i + fraction) / patterns.length),
    );
  });
  report("scores", 1);
  const prediction = {
    method: METHOD,
    model,
    queryLength: query.length,
    corpus,
    homologs,
    patterns: scored,
    alignment: familyAlignment(family),
    tree: homologs.length > 0 ? newick(family.tree, names) : "",
    ...(options.prior !== DEFAULTS.prior && { prior: options.prior }),
    warnings: [
      ...choiceWarnings(options),
      ...familyWarnings(family),
      ...(leftOut ? leftOutWarnings(leftOut, options) : []),
    ],
  };
  return addHistories(addOrthology(prediction, root, organisms), root);
}

function readPatterns(requests: readonly PatternRequest[]): Pattern[] {
  return requests.map(({ expression, dialect }) => parsePattern(expression, dialect));
}
