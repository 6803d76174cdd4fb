import { hashResidues, type FeatureFiles } from "../features/feature-files.ts";
import { type Corpus, decode } from "../../motif/index.ts";
import type { Feature } from "../features/feature.ts";
import { placesCoincide } from "../features/annotation.ts";
import type { MotifClass, MotifClasses } from "../corpus/motif-classes.ts";

/** A place at which a motif class was looked for by experiment. */
export interface Instance {
  /** Index of the protein in the corpus. */
  protein: number;
  /** First and last residue, from 1. */
  start: number;
  end: number;
  /** The imported instance. */
  feature: Feature;
  /** False for a place without the motif, or of which it is unknown. */
  isTrue: boolean;
}

/** Instances of each class, or of one, in proteins of a corpus, in the order of the corpus. Several files may have the same instance. */
export function collectInstances(
  files: FeatureFiles,
  corpus: Corpus,
  classes: MotifClasses,
  only?: MotifClass,
): Map<MotifClass, Instance[]> {
  const instances = new Map<MotifClass, Instance[]>();
  for (const { accession, md5, features } of files.motifs()) {
    const named = features.flatMap((feature) => {
      const motifClass = feature.group === "motif" ? classes.get(feature.name) : undefined;
      return motifClass && (only ?? motifClass) === motifClass ? [{ motifClass, feature }] : [];
    });
    const protein = named.length === 0 ? -1 : corpus.findAccession(accession);
    if (protein < 0 || hashOf(corpus, protein) !== md5) continue;
    for (const { motifClass, feature } of named) {
      const { start, end, logic = "true positive" } = feature;
      const own = instances.get(motifClass) ?? [];
      instances.set(motifClass, own);
      if (!own.some((one) => one.protein === protein && placesCoincide(one, feature)))
        own.push({ protein, start, end, feature, isTrue: logic === "true positive" });
    }
  }
  for (const own of instances.values()) own.sort((a, b) => a.protein - b.protein || a.start - b.start);
  return instances;
}

const hashOf = (corpus: Corpus, protein: number): string =>
  hashResidues(decode(corpus.residues.subarray(corpus.offsets[protein], corpus.offsets[protein + 1])));
