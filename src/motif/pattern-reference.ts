import { encode } from "./alphabet.ts";
import { residueFrequencies } from "./abundance.ts";
import type { Automaton } from "./automaton.ts";
import { findMatches, findMatchPath, lookaroundTable } from "./automaton-matches.ts";
import {
  DEFAULTS,
  MAX_REFERENCE_MATCHES,
  MAX_REFERENCE_STEPS,
  REFERENCE_PSEUDOCOUNT,
  REFERENCE_SHARES,
} from "./options.ts";
import { ORDER, SEQUENCES } from "./reference-proteins.ts";
import { type Chain, CONTEXT_TERMS, type ContextTerms, contextTerms } from "./region.ts";
import { shapeAt } from "./shape.ts";
import { TERM_SHAPES, TYPICAL_REFERENCE } from "./term-shapes.ts";

/** A random match of a pattern. The weights of the matches in a protein add up to the square root of their number. */
export interface ReferenceMatch {
  terms: ContextTerms;
  weight: number;
}

/** Terms that are kept, and letters of the text of an automaton that has one. */
const MAX_KEPT = 5000;
const MAX_KEPT_TEXT = 5000;

let chains: Chain[] | undefined;

/** Proteins of many kinds in which the matches of a pattern are random. */
function referenceChains(): Chain[] {
  if (chains) return chains;
  const levels = Uint8Array.fromBase64(ORDER);
  let at = 0;
  chains = SEQUENCES.split(" ").map((letters) => {
    const query = encode(letters);
    const order = Float32Array.from(levels.subarray(at, (at += query.length)), (level) => level / 255);
    return { query, composition: residueFrequencies(query), prediction: { order } };
  });
  return chains;
}

/** Matches of a pattern in the reference proteins; of a large pattern in some of them, so that time is limited. */
export function findReferenceMatches(automaton: Automaton): ReferenceMatch[] {
  const matches: ReferenceMatch[] = [];
  let steps = 0;
  for (const chain of referenceChains()) {
    if (steps > MAX_REFERENCE_STEPS) break;
    const lookarounds = lookaroundTable(automaton, chain.query);
    const found = findMatches(automaton, chain.query, lookarounds);
    steps += chain.query.length * automaton.program.size;
    const every = Math.ceil(found.length / MAX_REFERENCE_MATCHES);
    const chosen = found.filter(
      ({ start, end }, i) => i % every === 0 && end - start <= DEFAULTS.maxMatchLength,
    );
    for (const match of chosen) {
      steps += (match.end - match.start + 1) * automaton.program.size;
      const path = findMatchPath(automaton, chain.query, match, lookarounds)!;
      const terms = contextTerms(automaton, chain, match, path, found.length);
      matches.push({ terms, weight: Math.sqrt(found.length) / chosen.length });
    }
  }
  return matches;
}

/** Terms by automaton, and by its text, so that jobs with the same pattern share them. */
const byAutomaton = new WeakMap<Automaton, number>();
const byText = new Map<string, number>();

/**
 * How much less than those of other patterns the random matches of this one look like motifs: minus the sum of
 * REFERENCE_SHARES of their mean contributions, 0 for a pattern without any. Random matches of a proline-rich pattern, for
 * example, lie in disordered regions, so that disorder says less about its matches.
 */
export function patternTerm(automaton: Automaton): number {
  const known = byAutomaton.get(automaton);
  if (known !== undefined) return known;
  const text = automatonText(automaton);
  const term = byText.get(text) ?? computePatternTerm(automaton);
  if (byText.size >= MAX_KEPT) byText.clear();
  if (text.length <= MAX_KEPT_TEXT) byText.set(text, term);
  byAutomaton.set(automaton, term);
  return term;
}

function computePatternTerm(automaton: Automaton): number {
  let total = REFERENCE_PSEUDOCOUNT * TYPICAL_REFERENCE;
  let weights = REFERENCE_PSEUDOCOUNT;
  for (const { terms, weight } of findReferenceMatches(automaton)) {
    weights += weight;
    for (const name of CONTEXT_TERMS)
      total += weight * REFERENCE_SHARES[name] * shapeAt(TERM_SHAPES[name], terms[name]);
  }
  return TYPICAL_REFERENCE - total / weights;
}

const automatonText = ({ program, lookarounds, anchored }: Automaton): string =>
  [program, ...lookarounds.map((one) => ({ ...one.program, lookbehind: one.lookbehind }))]
    .map((one) => Object.values(one).join())
    .concat(String(anchored))
    .join(";");
