import { type Static, Type } from "typebox";
import {
  type HomologState,
  type MatchScore,
  type Prediction,
  revertVariant,
  SHIFT,
} from "../../motif/index.ts";
import { nullable, oneOf } from "../../platform/schema.ts";
import { Problem } from "../../problem.ts";
import {
  choice,
  CorpusSchema,
  count,
  fraction,
  list,
  number,
  object,
  ProteinOfQuery,
  type ProteinObject,
  text,
} from "../prediction/prediction.ts";
import type { MatchNotes } from "../features/annotation.ts";
import { currentMatch } from "../table/earlier-match.ts";
import { CHANGE_NAMES, FATE_NAMES, findChange, type MatchFate } from "../table/match-changes.ts";
import { patternName } from "../table/match-row.ts";
import type { Provenance } from "../table/provenance.ts";
import { findVerdict, type MatchVerdict, VERDICTS } from "../table/verdict.ts";
import { findPartner, type PairedBlock } from "../table/sequence-pairs.ts";
import { pairSequences } from "./pair-sequences.ts";

/** Two results, also of two proteins, match by match. */

const VERDICT_NAMES = Object.keys(VERDICTS) as MatchVerdict[];

const NumbersSchema = object(
  {
    number: count("Number of the match over all motifs of the result, from 1."),
    start: count("First residue, from 1."),
    end: count("Last residue."),
    text: text("The matched residues."),
    verdict: oneOf(VERDICT_NAMES, "All evidence in words, or known instance."),
    overallVerdict: nullable(oneOf(VERDICT_NAMES, "Earlier name of verdict.")),
    overallPValue: nullable(fraction("As in the result.")),
    overallPValueIs: nullable(choice("PValueKind", "As in the result.")),
    z: nullable(number("As in the result.")),
    conservationLevel: choice("Verdict", "Conservation alone, as in the result."),
    score: nullable(fraction("Conservation score, as in the result.")),
    expected: nullable(fraction("As in the result.")),
    pValue: nullable(fraction("Of conservation, as in the result.")),
    pValueIs: nullable(choice("PValueKind", "As in the result.")),
    kept: count("Homologs that keep the match in place."),
    nearby: Type.Optional(
      count("Homologs that have it only nearby. Missing in changes found by earlier versions."),
    ),
    homologs: count("Homologs that reach the match."),
  },
  "A match in one result.",
  "ComparedNumbers",
);
type Numbers = Static<typeof NumbersSchema>;

const state = (description: string) => nullable(choice("HomologState", description));

const HomologSchema = object(
  {
    accession: text("Identifier in the corpus."),
    organism: nullable(text("Organism or species code, if known.")),
    a: state("State of the match in the homolog; null if the protein is not a homolog in the first result."),
    b: state("State in the second result."),
  },
  "A homolog in which the results differ.",
);

const MatchSchema = object(
  {
    motif: text("Name of the motif class, or the expression."),
    start: count("First residue, from 1; in b if only b has the match."),
    end: count("Last residue."),
    text: text("The matched residues."),
    fate: Type.Optional(
      oneOf(
        FATE_NAMES,
        `Kept at the paired residues, moved by up to ${SHIFT}, lost in b or gained. Missing if one result lacks the motif.`,
      ),
    ),
    isFlipped: Type.Boolean({ description: "Whether the verdicts differ." }),
    change: Type.Optional(
      oneOf(
        CHANGE_NAMES,
        "With a variant: broken if only a has the match, new if only b has; weaker and stronger by z and verdict.",
      ),
    ),
    a: nullable(NumbersSchema, { description: "Null if only the second result has the match." }),
    b: nullable(NumbersSchema, { description: "Null if only the first result has the match." }),
    responsible: list(
      HomologSchema,
      "For matches whose verdict changed: homologs of only one result or with another state.",
    ),
  },
  "A match.",
);
export type ComparedMatch = Static<typeof MatchSchema>;

const SideSchema = object(
  {
    job: text("Identifier of the job."),
    identifier: text("The client's name for the query."),
    variant: Type.Optional(text("Substitutions in the query.")),
    protein: ProteinOfQuery,
    method: text("Version of the method."),
    model: choice("AppliedScoringModel", "The scoring model."),
    corpus: nullable(CorpusSchema),
    homologs: count("Number of homologs."),
    onlyHere: list(text("An accession."), "Homologs that the other result lacks."),
    warnings: list(text("A caveat."), "Other differences, such as the choice of homologs."),
  },
  "A result.",
  "ComparedResult",
);

export const ComparisonSchema = object(
  {
    a: SideSchema,
    b: SideSchema,
    pairing: Type.Optional(
      object(
        {
          by: oneOf(
            ["position", "alignment", "none"],
            "Position for one protein and its mutants; none if they are not similar.",
          ),
          identity: nullable(fraction("Identical share of the paired residues, 0 to 1.")),
          blocks: list(
            object(
              { a: count("First residue in a."), b: count("In b."), length: count("Residues.") },
              "Paired residues without a gap.",
            ),
            "In the order of both.",
          ),
        },
        "How residues are paired. Missing in changes found by earlier versions.",
      ),
    ),
    shared: count("Number of homologs of both results."),
    flipped: count("Number of matches whose verdicts differ."),
    matches: list(
      MatchSchema,
      "Matches in both results in the order of motif and position, then matches in one.",
    ),
  },
  "Two results.",
  "Comparison",
);
export type Comparison = Static<typeof ComparisonSchema>;

/** A result and its job. */
export interface ComparedResult {
  job: string;
  identifier: string;
  protein?: ProteinObject | null | undefined;
  provenance?: Provenance | undefined;
  prediction: Prediction;
  notes?: readonly MatchNotes[] | undefined;
}

/** A stored comparison with the members that comparisons have now. */
export const currentComparison = (comparison: Comparison): Comparison => ({
  ...comparison,
  matches: comparison.matches.map(({ a, b, ...match }) => {
    const { start, end, text } = match;
    const current = (numbers: Numbers | null) =>
      numbers && currentMatch(Object.assign({ start, end, text }, numbers));
    return { ...match, a: current(a), b: current(b) };
  }),
});

/** @throws Problem conflict for results of earlier versions */
export function compare(a: ComparedResult, b: ComparedResult): Comparison {
  const [queryA, queryB] = [a, b].map(
    ({ prediction: { alignment }, provenance }) =>
      alignment && revertVariant(alignment.query, provenance?.variant),
  );
  if (queryA === undefined || queryB === undefined)
    throw new Problem(
      "conflict",
      "A result of an earlier version cannot be compared. Score the protein again.",
    );
  const pairing = pairSequences(queryA, queryB);
  const [namesA, namesB] = [a, b].map(({ prediction }) => listAccessions(prediction));
  const isVariant = queryA === queryB && [a, b].some(({ provenance }) => provenance?.variant !== undefined);
  const tested = [a, b].map(({ prediction }) => new Set(prediction.patterns.map(patternName)));
  const all =
    pairing.by === "position"
      ? pairMatches(numberMatches(a), numberMatches(b), (residue) => residue)
      : pairAligned(numberMatches(a), numberMatches(b), pairing.blocks);
  const matches = all.map((pair) => {
    const { motif } = (pair.a ?? pair.b)!;
    const match = comparedMatch(pair, a.prediction, b.prediction);
    if (!tested.every((motifs) => motifs.has(motif))) return match;
    const change = isVariant && { change: findChange(match.a, match.b) };
    return Object.assign(match, { fate: findFate(pair) }, change);
  });
  return {
    a: describeSide(a, namesB),
    b: describeSide(b, namesA),
    pairing,
    shared: namesA.intersection(namesB).size,
    flipped: matches.filter(({ isFlipped }) => isFlipped).length,
    matches,
  };
}

const listAccessions = ({ homologs }: Prediction): Set<string> =>
  new Set(homologs.map(({ accession }) => accession));

function describeSide(
  { job, identifier, protein, provenance, prediction }: ComparedResult,
  others: ReadonlySet<string>,
): Comparison["a"] {
  const { method, model, corpus, homologs, warnings } = prediction;
  const onlyHere = [...listAccessions(prediction)].filter((accession) => !others.has(accession));
  return {
    job,
    identifier,
    ...(provenance?.variant !== undefined && { variant: provenance.variant }),
    protein: protein ?? null,
    method,
    model,
    corpus,
    homologs: homologs.length,
    onlyHere,
    warnings,
  };
}

interface Match {
  motif: string;
  number: number;
  match: MatchScore;
  verdict: MatchVerdict;
}
interface Pair {
  a?: Match | undefined;
  b?: Match | undefined;
  isMoved?: boolean;
}

const findFate = ({ a, b, isMoved }: Pair): MatchFate =>
  isMoved ? "moved" : a && b ? "kept" : a ? "lost" : "gained";

function numberMatches({ prediction, notes }: ComparedResult): Match[] {
  let number = 0;
  return prediction.patterns.flatMap((pattern) =>
    pattern.matches.map((match) => {
      const verdict = findVerdict({ verdict: match.verdict, notes: notes?.[number] });
      return { motif: patternName(pattern), number: ++number, match, verdict };
    }),
  );
}

/** Matches of one motif at paired residues; then those that only one result has. */
function pairMatches(
  a: readonly Match[],
  b: readonly Match[],
  partner: (residue: number) => number | null,
): Pair[] {
  const matchKey = (motif: string, start: number | null, end: number | null) => `${motif} ${start} ${end}`;
  const others = new Map(b.map((one) => [matchKey(one.motif, one.match.start, one.match.end), one]));
  const both = a.map((one): Pair => {
    const key = matchKey(one.motif, partner(one.match.start), partner(one.match.end));
    const other = others.get(key);
    others.delete(key);
    return { a: one, b: other };
  });
  return [...both, ...[...others.values()].map((one) => ({ b: one }))];
}

/** Also pairs a match that only one result has with the nearest of its motif: alignments slip. */
function pairAligned(a: readonly Match[], b: readonly Match[], blocks: readonly PairedBlock[]): Pair[] {
  const pairs = pairMatches(a, b, (residue) => findPartner(blocks, residue, "a"));
  const left = new Set(pairs.filter((pair) => !pair.a));
  const byMotif = Map.groupBy(left, (pair) => pair.b!.motif);
  const moved = pairs.map((pair): Pair => {
    const at = pair.a && !pair.b ? nearPartner(blocks, pair.a.match.start) : null;
    if (at === null) return pair;
    const distance = (one: Pair): number => Math.abs(one.b!.match.start - at);
    const [nearest] = (byMotif.get(pair.a!.motif) ?? [])
      .filter((one) => left.has(one) && distance(one) <= SHIFT)
      .toSorted((x, y) => distance(x) - distance(y));
    return nearest && left.delete(nearest) ? { a: pair.a, b: nearest.b, isMoved: true } : pair;
  });
  return moved.filter((pair) => pair.a || left.has(pair));
}

/** The place of a residue in b, beside a gap by the nearest residue with a partner; null if none is near. */
function nearPartner(blocks: readonly PairedBlock[], residue: number): number | null {
  for (let by = 0; by <= SHIFT; by++)
    for (const offset of [-by, by]) {
      const partner = findPartner(blocks, residue + offset, "a");
      if (partner !== null) return partner - offset;
    }
  return null;
}

function comparedMatch({ a, b }: Pair, predictionA: Prediction, predictionB: Prediction): ComparedMatch {
  const { motif, match } = (a ?? b)!;
  const isFlipped = a && b ? a.verdict !== b.verdict : false;
  const isChanged = isFlipped || (a && b ? a.match.conservationLevel !== b.match.conservationLevel : false);
  return {
    motif,
    start: match.start,
    end: match.end,
    text: match.text,
    isFlipped,
    a: a ? pickNumbers(a) : null,
    b: b ? pickNumbers(b) : null,
    responsible: isChanged ? differences([a!.match, predictionA], [b!.match, predictionB]) : [],
  };
}

function pickNumbers({ number, match, verdict }: Match): Numbers {
  const { overallPValue, overallPValueIs, z, conservationLevel } = match;
  const { score, expected, pValue, pValueIs, kept, nearby, homologs } = match;
  const overall = { verdict, overallVerdict: verdict, overallPValue, overallPValueIs, z };
  const conservation = { conservationLevel, score, expected, pValue, pValueIs, kept, nearby, homologs };
  const { start, end, text } = match;
  return { number, start, end, text, ...overall, ...conservation };
}

/** Homologs with another state, those of the first result first. */
function differences(a: [MatchScore, Prediction], b: [MatchScore, Prediction]): ComparedMatch["responsible"] {
  const [statesA, statesB] = [a, b].map(([match, prediction]) => mapStates(match, prediction));
  const organisms = new Map(
    [a, b].flatMap(([, { homologs }]) => homologs.map(({ accession, organism }) => [accession, organism])),
  );
  return [...new Set([...statesA.keys(), ...statesB.keys()])].flatMap((accession) => {
    const [before, after] = [statesA.get(accession) ?? null, statesB.get(accession) ?? null];
    const organism = organisms.get(accession) ?? null;
    return before === after ? [] : [{ accession, organism, a: before, b: after }];
  });
}

const mapStates = ({ atHomologs }: MatchScore, { homologs }: Prediction): Map<string, HomologState> =>
  new Map(atHomologs.map(({ homolog, state }) => [homologs[homolog].accession, state]));
