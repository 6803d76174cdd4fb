import { type Corpus, findMatches, lookaroundTable, type Pattern, shuffled } from "../../motif/index.ts";

/** Random matches of a class that are scored, and fewer of which families of further proteins are computed for. */
export const RANDOM_MATCHES = 500;
const FEW_MATCHES = 100;
/** Proteins whose families are computed for the random matches of one class. */
const MAX_COMPUTED = 100;
const SEED = 28;

/** Proteins in which random matches of a class are scored. */
export interface RandomProteins {
  /** Those that have a family. */
  known: number[];
  /** Those whose family has to be computed. */
  missing: number[];
}

/**
 * Draws proteins of the species in which the class has instances, until they have RANDOM_MATCHES matches. Proteins without a
 * family are drawn only if the others have few matches.
 *
 * @param withFamilies indexes in the corpus.
 */
export function drawProteins(
  corpus: Corpus,
  pattern: Pattern,
  { withFamilies, bearing }: { withFamilies: ReadonlySet<number>; bearing: readonly number[] },
): RandomProteins {
  const species = new Set(bearing.map((protein) => corpus.species(protein)));
  const excluded = new Set(bearing);
  const drawn: RandomProteins = { known: [], missing: [] };
  let matches = 0;
  const order = Array.from(shuffled(corpus.sequenceCount, SEED)).filter(
    (protein) => species.has(corpus.species(protein)) && !excluded.has(protein),
  );
  const draw = (candidates: readonly number[], into: number[], enough: number, most: number): void => {
    for (const protein of candidates) {
      if (matches >= enough || into.length >= most) return;
      const found = countMatches(corpus, protein, pattern);
      if (found > 0) into.push(protein);
      matches += found;
    }
  };
  const isKnown = (protein: number): boolean => withFamilies.has(protein);
  draw(order.filter(isKnown), drawn.known, RANDOM_MATCHES, Infinity);
  draw(
    order.filter((protein) => !isKnown(protein)),
    drawn.missing,
    FEW_MATCHES,
    MAX_COMPUTED,
  );
  return drawn;
}

function countMatches({ residues, offsets }: Corpus, protein: number, { automaton }: Pattern): number {
  const query = residues.subarray(offsets[protein], offsets[protein + 1]);
  return findMatches(automaton, query, lookaroundTable(automaton, query)).length;
}
