import {
  type Corpus,
  decode,
  type MatchScore,
  type PatternScores,
  type Prediction,
  readHeader,
  revertVariant,
} from "../../motif/index.ts";
import type { PredictionReport } from "../prediction/prediction.ts";
import { openCorpusFile } from "../corpus/corpus.ts";
import { type Feature, isInstance, isPhosphosite } from "./feature.ts";
import { hashResidues, FeatureFiles, type Flagged, type ProteinFeatures } from "./feature-files.ts";

/** The files with features; can be sent to a thread. */
export interface FeatureSource {
  dataDirectory: string;
  /** Path of the corpus in use; null without one. */
  corpusPath: string | null;
  /** Names that mean one motif class. */
  synonyms: readonly (readonly string[])[];
}

/** An instance of the motif in a homolog, at the same columns of the alignment. */
export interface HomologInstance {
  accession: string;
  organism: string | null;
  /** Identifier of the instance. */
  id: string;
  start: number;
  end: number;
  logic: string;
}

/** Features at a match. */
export interface MatchNotes {
  /** Instances of the motif at the match. */
  instances: Feature[];
  homologs: HomologInstance[];
  /** Domains that contain at least half of the match. */
  domains: string[];
  /** Residues between the match and the nearest phosphosite, 0 inside; null without one. */
  phosphosite: number | null;
  /** Instances in words; null without any. */
  sentence: string | null;
}

/** A prediction with the features at each of its matches, in the order of their numbers. */
export type AnnotatedReport = PredictionReport & { notes?: readonly MatchNotes[] };

/** Features of the query of a result, and at its matches. */
export interface ResultFeatures {
  /** Protein of the corpus whose features these are; null if it is unknown or has none. */
  protein: string | null;
  features: Feature[];
  flagged: Flagged;
  notes: MatchNotes[];
}

interface Span {
  start: number;
  end: number;
}

const countOverlap = (a: Span, b: Span): number => Math.min(a.end, b.end) - Math.max(a.start, b.start) + 1;
const spanLength = ({ start, end }: Span): number => end - start + 1;
/** True if two places overlap by half of the shorter one. */
export const placesCoincide = (a: Span, b: Span): boolean =>
  countOverlap(a, b) * 2 >= Math.min(spanLength(a), spanLength(b));

/** Names of domains that contain at least half of a place. */
export const domainsAt = (features: readonly Feature[], place: Span): string[] => [
  ...new Set(
    features
      .filter(
        (feature) => feature.group === "domain" && countOverlap(feature, place) * 2 >= spanLength(place),
      )
      .map(({ name }) => name),
  ),
];

/** Residues between a place and the nearest phosphosite. */
export function phosphositeDistance(features: readonly Feature[], { start, end }: Span): number | null {
  const distances = features
    .filter(isPhosphosite)
    .map((site) => Math.max(0, site.start - end, start - site.end));
  return distances.length === 0 ? null : Math.min(...distances);
}

/** True if an instance is of the motif; an expression is compared by its place only. */
type IsSameMotif = (instance: Feature) => boolean;

export function motifComparison(name: string | null, synonyms: FeatureSource["synonyms"]): IsSameMotif {
  if (name === null) return () => true;
  const names = new Set(synonyms.filter((one) => one.includes(name)).flat()).add(name);
  return (instance) => names.has(instance.name);
}

export const instancesAt = (features: readonly Feature[], place: Span, isSame: IsSameMotif): Feature[] =>
  features.filter((one) => isInstance(one) && isSame(one) && placesCoincide(one, place));

/** `ELMI002256`, or `ELMI002256 (false positive)`. */
export const instanceName = ({ id, logic }: { id: string; logic?: string }): string =>
  logic === undefined || logic === "true positive" ? id : `${id} (${logic})`;

/** The features of a data directory; each is opened once per thread. */
export function featureFilesIn(dataDirectory: string): FeatureFiles {
  const known = opened.get(dataDirectory) ?? new FeatureFiles(dataDirectory);
  opened.set(dataDirectory, known);
  return known;
}
const opened = new Map<string, FeatureFiles>();

/** Features of the query of a prediction, and at its matches. */
export function annotate(
  { identifier, prediction, provenance }: PredictionReport,
  source: FeatureSource,
): ResultFeatures {
  const files = featureFilesIn(source.dataDirectory);
  // Features are found by the sequence of the protein, and a substitution moves none.
  const query = revertVariant(prediction.alignment?.query ?? "", provenance?.variant);
  const own = files.isEmpty || query === "" ? NO_FEATURES : findQueryFeatures(files, query, identifier);
  const homologs = files.isEmpty ? [] : homologInstances(files, prediction, source);
  const notes = prediction.patterns.flatMap((pattern) => {
    const isSame = motifComparison(pattern.name, source.synonyms);
    return pattern.matches.map((match) => makeNotes(pattern, match, own.features, { isSame, homologs }));
  });
  return { protein: own.accession, features: own.features, flagged: own.flagged, notes };
}

/** The prediction with its notes, unless nothing is imported. */
export const withNotes = (report: PredictionReport, source: FeatureSource): AnnotatedReport =>
  featureFilesIn(source.dataDirectory).isEmpty
    ? report
    : { ...report, notes: annotate(report, source).notes };

type OwnFeatures = Pick<ProteinFeatures, "features" | "flagged"> & { accession: string | null };
const NO_FEATURES: OwnFeatures = { accession: null, features: [], flagged: {} };

/** Features of the protein with the query's sequence, of several the one of its name; else those of its name, flagged. */
export function findQueryFeatures(files: FeatureFiles, query: string, identifier: string): OwnFeatures {
  const { accession } = readHeader(identifier);
  const same = files.findBySequence(hashResidues(query));
  const found = same.find((one) => one.accession === accession) ?? same[0];
  if (found) return found;
  const named = accession === "" ? undefined : files.findByAccession([accession]).get(accession);
  if (!named) return NO_FEATURES;
  const sequence = named.features.length + (named.flagged.sequence ?? 0);
  return { accession: named.accession, features: [], flagged: { ...named.flagged, sequence } };
}

/** An instance in a homolog, and the residues of the query to which it is aligned. */
type AlignedInstance = HomologInstance & { instance: Feature; place: Span };

function homologInstances(
  files: FeatureFiles,
  prediction: Prediction,
  { corpusPath }: FeatureSource,
): AlignedInstance[] {
  const { homologs, alignment } = prediction;
  if (corpusPath === null || !alignment || homologs.length === 0) return [];
  const known = files.findByAccession(homologs.map(({ accession }) => accession));
  let corpus: Corpus | undefined;
  return homologs.flatMap(({ accession, organism }, i): AlignedInstance[] => {
    const protein = known.get(accession);
    const instances = protein?.features.filter(isInstance) ?? [];
    if (!protein || instances.length === 0) return [];
    const residues = readSequence((corpus ??= openCorpusFile(corpusPath)), accession);
    const columns =
      residues !== null && hashResidues(residues) === protein.md5 && mapColumns(alignment.rows[i], residues);
    if (!columns) return [];
    return instances.flatMap((instance): AlignedInstance[] => {
      const place = placeIn(columns, instance);
      const { id, start, end, logic = "unknown" } = instance;
      return place ? [{ accession, organism, id, start, end, logic, instance, place }] : [];
    });
  });
}

export function readSequence({ findAccession, residues, offsets }: Corpus, accession: string): string | null {
  const index = findAccession(accession);
  return index < 0 ? null : decode(residues.subarray(offsets[index], offsets[index + 1]));
}

/** Of each residue of a homolog, from 1, its column from 1 in a row in A3M; 0 for insertions. Null if the row is not of it. */
export function mapColumns(row: string, residues: string): { first: number; columns: number[] } | null {
  const letters = row.replaceAll("-", "").toUpperCase();
  const at = letters === "" ? -1 : residues.indexOf(letters);
  if (at < 0) return null;
  const columns: number[] = [];
  let column = 0;
  for (const letter of row) {
    const isInserted = letter >= "a" && letter <= "z";
    if (!isInserted) column++;
    if (letter !== "-") columns.push(isInserted ? 0 : column);
  }
  return { first: at + 1, columns };
}

/** The columns from the first to the last aligned residue of a place in a homolog. */
function placeIn(
  { first, columns }: { first: number; columns: number[] },
  { start, end }: Span,
): Span | null {
  const aligned = columns
    .slice(Math.max(0, start - first), Math.max(0, end - first + 1))
    .filter((column) => column > 0);
  return aligned.length === 0 ? null : { start: aligned[0], end: aligned.at(-1)! };
}

function makeNotes(
  { name, expression }: PatternScores,
  match: MatchScore,
  features: readonly Feature[],
  known: { isSame: IsSameMotif; homologs: readonly AlignedInstance[] },
): MatchNotes {
  const instances = instancesAt(features, match, known.isSame);
  const homologs = known.homologs
    .filter(({ instance, place }) => known.isSame(instance) && placesCoincide(place, match))
    .map(({ accession, organism, id, start, end, logic }) => ({
      accession,
      organism,
      id,
      start,
      end,
      logic,
    }));
  return {
    instances,
    homologs,
    domains: domainsAt(features, match),
    phosphosite: phosphositeDistance(features, match),
    sentence: describeInstances(instances, homologs, name ?? expression),
  };
}

/** Homologs that a sentence names. */
const NAMED = 3;

/** `This is ELMI002256, a known instance of LIG_X; also annotated in Mus musculus P02340 (ELMI002257).` */
export function describeInstances(
  instances: readonly Feature[],
  homologs: readonly HomologInstance[],
  motif: string,
): string | null {
  const known = homologs.filter(({ logic }) => logic === "true positive");
  const places = known
    .slice(0, NAMED)
    .map(({ organism, accession, id }) => `${[organism, accession].filter(Boolean).join(" ")} (${id})`);
  const otherPlaces =
    places.join(", ") + (known.length > NAMED ? ` and ${known.length - NAMED} other homologs` : "");
  const proven = instances.filter(({ logic }) => logic === "true positive");
  if (proven.length > 0) {
    const ids = proven.map(({ id }) => id).join(" and ");
    const what = proven.length === 1 ? `a known instance of ${proven[0].name}` : "known instances";
    return `This is ${ids}, ${what}${otherPlaces === "" ? "" : `; also annotated in ${otherPlaces}`}.`;
  }
  const annotated = instances
    .map((one) => `${one.id}, annotated as ${one.logic} of ${one.name}`)
    .join(" and ");
  if (annotated !== "")
    return `This is ${annotated}${otherPlaces === "" ? "" : `; annotated as known in ${otherPlaces}`}.`;
  return otherPlaces === "" ? null : `A known instance of ${motif} is aligned here in ${otherPlaces}.`;
}
