import { GAP } from "./alphabet.ts";
import { abundance, chanceOfPath } from "./abundance.ts";
import type { Match } from "./automaton-matches.ts";
import { type Conservation, expectedRetention, residuesAt } from "./conserve.ts";
import { disorderAround, terminality } from "./disorder.ts";
import { type AlignedHomolog, type Family, localIdentity, overlap } from "./divergence.ts";
import { positionBits } from "./information.ts";
import {
  CLOSENESS,
  DIVERGENCE_PRIOR,
  MAX_OUTSIDE,
  MIN_IDENTITY_SEEN,
  SCORE_OFFSET,
  SHIFT,
  SHIFT_RETENTION,
  PERSISTENCE_RETENTION,
  PERSISTENCE_SLOWNESS,
  WEIGHT_ABUNDANCE,
  WEIGHT_BURIAL,
  WEIGHT_CHAIN,
  WEIGHT_CHARGE,
  WEIGHT_DISORDER,
  WEIGHT_DIVERGENCE,
  WEIGHT_HYDROXYLS,
  WEIGHT_PERSISTENCE,
  WEIGHT_TERMINALITY,
} from "./options.ts";
import type { Contributions, HomologAtMatch } from "./prediction.ts";
import { describeMatch, type Motif, type MotifMatch, retention, type Retention } from "./retention.ts";
import { burial, chainDisorder, familyDisorder, regionCharge, regionHydroxyls } from "./surroundings.ts";
import { tailRetention } from "./tail.ts";
import { type Sighting, slownessLikelihood } from "./tree-likelihood.ts";

/** What speaks for or against a match: chain, burial and charge against it where they are large, the others for it. */
export interface Terms {
  /** Retention beyond expectation, in standard deviations, on a signed logarithmic scale. */
  retention: number;
  /** Log-likelihood ratio of slow against ordinary loss along the tree, on the same scale. */
  slowness: number;
  /** ln of local against overall divergence: motifs lie where a protein changes fast. */
  divergence: number;
  /** Mean TOP-IDP of what the homologs have beside the match. */
  disorder: number;
  /** Mean TOP-IDP of the whole chain. */
  chain: number;
  /** Hydropathy of the most hydrophobic segment about the match. */
  burial: number;
  /** Net charge per residue of the region. */
  charge: number;
  /** Part of serine and threonine in the region. */
  hydroxyls: number;
  /** Nearness of an end of the chain, 0..1. */
  terminality: number;
  /** ln of matches in the query against chance. */
  abundance: number;
}

/** The numbers of a match by `labd-2`; `terms` is null where nothing can be scored. */
export interface Evidence extends Conservation {
  terms: Terms | null;
  /** What of z tells of conservation alone: P values come from it. */
  persistence: number | null;
  /** Mean TOP-IDP of the query around the match, by which the null has its bins; told even where nothing can be scored. */
  disorder: number;
}

/** The part of `combined` that tells how the motif was kept, whatever surrounds it. */
export function persistenceOf(terms: Terms): number {
  return PERSISTENCE_RETENTION * terms.retention + PERSISTENCE_SLOWNESS * terms.slowness;
}

/** The terms put together: what `labd-2` reports as z. Random matches have mean 0 and standard deviation 1. */
export function combined(terms: Terms): number {
  return Object.values(contributionsOf(terms)).reduce((sum, part) => sum + part, 0);
}

/** What each term adds to `combined`. */
export function contributionsOf(terms: Terms): Contributions {
  return {
    offset: SCORE_OFFSET,
    retention: WEIGHT_PERSISTENCE * PERSISTENCE_RETENTION * terms.retention,
    slowness: WEIGHT_PERSISTENCE * PERSISTENCE_SLOWNESS * terms.slowness,
    divergence: WEIGHT_DIVERGENCE * terms.divergence,
    disorder: WEIGHT_DISORDER * terms.disorder,
    chain: WEIGHT_CHAIN * terms.chain,
    burial: WEIGHT_BURIAL * terms.burial,
    charge: WEIGHT_CHARGE * terms.charge,
    hydroxyls: WEIGHT_HYDROXYLS * terms.hydroxyls,
    terminality: WEIGHT_TERMINALITY * terms.terminality,
    abundance: WEIGHT_ABUNDANCE * terms.abundance,
  };
}

/**
 * The conservation of one match by `labd-2` (docs/algorithm.md): retention as in `labd-1`, near relatives counting more and
 * loose ends looked into, against an expectation that knows of chance matches nearby; how slowly the motif is lost along the
 * tree; and what surrounds it.
 *
 * @param path the residues admitted at each matched position, as masks.
 * @param matches of the pattern in the query.
 */
export function evidenceOf(
  motif: Motif,
  family: Family,
  match: Match,
  path: Int32Array,
  matches: number,
): Evidence {
  const { query } = family;
  const length = match.end - match.start;
  const described = describeMatch(motif, query, match, path);
  const exact = 2 ** -described.defined.reduce((bits, p) => bits + positionBits(path[p]), 0);
  const near = motif.automaton.anchored ? 0 : 1 - Math.exp(-2 * SHIFT * exact);
  const kept = new Float64Array(described.defined.length);
  const sums = { homologs: 0, weight: 0, squares: 0, score: 0, expected: 0, variance: 0, identity: 0 };
  const diverged = { local: DIVERGENCE_PRIOR, overall: DIVERGENCE_PRIOR };
  const sightings: Sighting[] = ["kept"];
  const atHomologs = family.homologs.map((homolog, index): HomologAtMatch => {
    const residues = residuesAt(homolog, match);
    const found = retentionOf(motif, described, homolog, query.length);
    if (found === null) {
      sightings.push("unknown");
      return { homolog: index, state: "missing", residues, retention: null };
    }
    sightings.push(found.state === "conserved" ? "kept" : found.state === "shifted" ? "shifted" : "lost");
    const identity = localIdentity(homolog, match.start, match.end);
    diverged.local += homolog.weight * divergenceAt(identity);
    diverged.overall += homolog.weight * divergenceAt(homolog.identity);
    const aligned = expectedRetention(described, identity);
    const expectation = aligned + (1 - aligned) * SHIFT_RETENTION * near;
    const weight = homolog.weight * Math.exp((homolog.identity - 1) / CLOSENESS);
    sums.homologs++;
    sums.weight += weight;
    sums.squares += weight * weight;
    sums.identity += identity;
    sums.score += weight * found.value;
    sums.expected += weight * expectation;
    sums.variance += weight * weight * expectation * (1 - expectation);
    for (let i = 0; i < kept.length; i++) {
      const residue = homolog.row.anchored[match.start + described.defined[i]];
      if (residue !== GAP && (path[described.defined[i]] >>> residue) & 1) kept[i] += weight;
    }
    return { homolog: index, state: found.state, residues, retention: found.value };
  });
  const disorder = disorderAround(query, match);
  const conservation: (number | null)[] = Array.from({ length }, () => null);
  if (sums.homologs > 0) {
    for (let i = 0; i < kept.length; i++) conservation[described.defined[i]] = kept[i] / sums.weight;
  }
  const isScored = sums.homologs > 0 && kept.length > 0;
  let terms: Terms | null = null;
  if (isScored) {
    const divergence = Math.log(diverged.local / diverged.overall);
    const changeable = described.substituted.reduce((sum, share) => sum + 1 - share, 0);
    const places = motif.automaton.anchored ? 1 : query.length;
    terms = {
      retention: tempered((sums.score - sums.expected) / Math.sqrt(sums.variance)),
      slowness: tempered(
        slownessLikelihood(family.tree, sightings, Math.exp(divergence) * changeable, { exact, near }),
      ),
      divergence,
      disorder: familyDisorder(query, family.homologs, match),
      chain: chainDisorder(query),
      burial: burial(query, match),
      charge: regionCharge(query, match),
      hydroxyls: regionHydroxyls(query, match),
      terminality: terminality(query.length, match),
      abundance: abundance(matches, places, chanceOfPath(path, family.shares)),
    };
  }
  return {
    homologs: sums.homologs,
    effectiveHomologs: sums.homologs > 0 ? (sums.weight * sums.weight) / sums.squares : 0,
    score: isScored ? sums.score / sums.weight : null,
    expected: isScored ? sums.expected / sums.weight : null,
    z: terms && combined(terms),
    localIdentity: sums.homologs > 0 ? sums.identity / sums.homologs : null,
    conservation,
    atHomologs,
    terms,
    persistence: terms && persistenceOf(terms),
    disorder,
  };
}

/** Retention where the homolog is aligned, else in its loose end; null where nothing can be told. */
function retentionOf(
  motif: Motif,
  match: MotifMatch,
  homolog: AlignedHomolog,
  queryLength: number,
): Retention | null {
  const { anchored } = motif.automaton;
  const length = match.end - match.start;
  const inside = overlap(homolog.first, homolog.last, match.start, match.end);
  if ((length - inside) / length > MAX_OUTSIDE) return tailRetention(motif, match, homolog, queryLength);
  const found = retention(motif, match, homolog);
  if (!anchored || found.value === 1) return found;
  const atEnd = tailRetention(motif, match, homolog, queryLength);
  return atEnd !== null && atEnd.value > found.value ? atEnd : found;
}

function divergenceAt(identity: number): number {
  return -Math.log(Math.max(MIN_IDENTITY_SEEN, identity));
}

/** sign(x) · ln(1 + |x|): keeps the order, takes the weight out of the tails. */
function tempered(x: number): number {
  return Math.sign(x) * Math.log1p(Math.abs(x));
}
