import type { ClassModel } from "./class-model.ts";
import { average } from "./disorder/disorder.ts";
import {
  COMPARTMENT_EVIDENCE,
  DOMAIN_EVIDENCE,
  FOLDED_ORDER,
  MEMBRANE_EVIDENCE,
  NO_PHOSPHOSITE_EVIDENCE,
  PHOSPHOSITE_EVIDENCE,
  SIDE_EVIDENCE,
  TARGETING_EVIDENCE,
} from "./options.ts";
import type { Contributions } from "./prediction.ts";

/** First and last residue, from 1. */
export type KnownSpan = readonly [start: number, end: number];

/** Outside is the extracellular space and the lumen of the secretory pathway; inside is the rest of the cell. */
export type Compartment = "inside" | "outside";

/** Features of the query that count as evidence. */
export interface KnownFeatures {
  /** SHA-256 of the other fields. */
  hash: string;
  domains: readonly KnownSpan[];
  /** Signal and transit peptides. */
  targeting: readonly KnownSpan[];
  membrane: readonly KnownSpan[];
  /** Parts of a membrane protein on the cytosolic side, and on the other. */
  inside: readonly KnownSpan[];
  outside: readonly KnownSpan[];
  /** Phosphorylated residues. */
  phosphosites: readonly number[];
  /** Compartments in which the protein was found; empty if unknown. */
  compartments: readonly Compartment[];
}

/** Facts about a motif class. */
export interface ClassFacts {
  /** Compartments of proteins with the motif; empty if unknown. */
  compartments: readonly Compartment[];
  /** The residue that has to be phosphorylated; null if none has. */
  phosphosite: PhosphoResidue | null;
}

export interface PhosphoResidue {
  /** Letters that it may be. */
  letters: string;
  /** Its place in the match, 1 for the first residue and -1 for the last; null if the length before and after it varies. */
  at: number | null;
}

/**
 * Knowledge beside the sequences of one query; absent members are nothing. It is fixed when a job is accepted, so that a
 * restart or another machine gives equal numbers.
 */
export interface Knowledge {
  features?: KnownFeatures;
  /** Facts about classes, by the index of their pattern. */
  classes?: Readonly<Record<number, ClassFacts>>;
  /** Class models, by the index of their pattern. */
  classModels?: Readonly<Record<number, ClassModel>>;
}

interface Place {
  start: number;
  end: number;
  text: string;
}

/** True if at least half of a place lies in one of the spans. */
const isIn = (spans: readonly KnownSpan[], { start, end }: Place): boolean =>
  spans.some(([from, to]) => (Math.min(to, end) - Math.max(from, start) + 1) * 2 >= end - start + 1);

/**
 * Evidence of known features for or against a match, without the kinds that say nothing (docs/method.md).
 *
 * @param place first and last residue, from 1, and the matched residues.
 * @param order predicted order per residue of the query.
 */
export function featureEvidence(
  features: KnownFeatures,
  facts: ClassFacts | undefined,
  place: Place,
  order: Float32Array,
): Partial<Contributions> {
  const folded = features.domains.filter(([from, to]) => average(order, from - 1, to) >= FOLDED_ORDER);
  const all = {
    domain: isIn(folded, place) ? DOMAIN_EVIDENCE : 0,
    topology: topologyEvidence(features, facts, place),
    compartment: facts && excludes(features.compartments, facts.compartments) ? COMPARTMENT_EVIDENCE : 0,
    phosphosite: facts?.phosphosite ? phosphositeEvidence(features, facts.phosphosite, place) : 0,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== 0));
}

/** The strongest of the reasons: each excludes the partner. */
function topologyEvidence(features: KnownFeatures, facts: ClassFacts | undefined, place: Place): number {
  const isElsewhere = facts !== undefined && excludes(sidesOf(features, place), facts.compartments);
  return Math.min(
    isIn(features.targeting, place) ? TARGETING_EVIDENCE : 0,
    isIn(features.membrane, place) ? MEMBRANE_EVIDENCE : 0,
    isElsewhere ? SIDE_EVIDENCE : 0,
  );
}

/** Compartments at a place of a membrane protein; empty if its side is unknown. */
function sidesOf({ inside, outside }: KnownFeatures, place: Place): readonly Compartment[] {
  if (isIn(outside, place)) return ["outside"];
  return isIn(inside, place) ? ["inside"] : [];
}

/**
 * True if facts about a class can count anywhere in a protein with these features; others need not be kept.
 */
export function factsMatter(
  { compartments, phosphosite }: ClassFacts,
  { inside, outside, phosphosites, compartments: found }: KnownFeatures,
): boolean {
  if (phosphosite && phosphosites.length > 0) return true;
  const sides: (readonly Compartment[])[] = [found];
  if (inside.length > 0) sides.push(["inside"]);
  if (outside.length > 0) sides.push(["outside"]);
  return sides.some((places) => excludes(places, compartments));
}

/** True if both are known and have nothing in common. */
const excludes = (places: readonly Compartment[], partner: readonly Compartment[]): boolean =>
  places.length > 0 && partner.length > 0 && !partner.some((one) => places.includes(one));

/** A known phosphosite at the right residue, or its absence in a protein with known phosphosites. */
function phosphositeEvidence(
  { phosphosites }: KnownFeatures,
  { letters, at }: PhosphoResidue,
  { start, end, text }: Place,
): number {
  if (phosphosites.length === 0) return 0;
  const wanted = at === null ? null : at > 0 ? start + at - 1 : end + at + 1;
  const isKnown = phosphosites.some(
    (site) =>
      site >= start && site <= end && (wanted ?? site) === site && letters.includes(text[site - start]),
  );
  return isKnown ? PHOSPHOSITE_EVIDENCE : NO_PHOSPHOSITE_EVIDENCE;
}
