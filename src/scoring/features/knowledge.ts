import {
  type ClassFacts,
  type Compartment,
  factsMatter,
  type Knowledge,
  type KnownFeatures,
  type KnownSpan,
  type PatternRequest,
} from "../../motif/index.ts";
import { findClassFacts } from "../corpus/class-facts.ts";
import type { MotifClasses } from "../corpus/motif-classes.ts";
import type { EvidenceChoice } from "../jobs/job.ts";
import { findQueryFeatures } from "./annotation.ts";
import { type Feature, isPhosphosite } from "./feature.ts";
import type { FeatureFiles } from "./feature-files.ts";

/** Shorter domains are repeats, or motifs themselves. */
const MIN_DOMAIN = 20;

/** Signatures of whole proteins, of families and of parts of domains: their matches are no domains. */
const NO_DOMAINS =
  /^(family|homologous superfamily|panther|pirsf|hamap|sfld|ncbifam|tigrfam|prints|funfam|antifam)$/i;

/** Words of UniProt's locations, and the compartments of such a protein; the first that apply count. */
const LOCATIONS: readonly (readonly [words: RegExp, compartments: readonly Compartment[]])[] = [
  [/virion|viral|host/, []],
  [/extracellular side|lumenal side|gpi-anchor/, ["outside"]],
  [/cytoplasmic side|nucleoplasmic side/, ["inside"]],
  [/mitochondri|peroxisom|glyoxysom|glycosom|plastid|chloroplast|thylakoid/, ["inside"]],
  [/secreted|extracellular|reticulum lumen|periplasm|cell wall/, ["outside"]],
  [/membrane|reticulum|golgi|endosom|vesic|junction|synap|projection|surface|granule/, ["inside", "outside"]],
  [/lysosom|vacuol/, ["outside"]],
  [/nucle|chromosom|cytoplasm|cytosol|centro|spindle|sarcomere|midbody|cytoskelet|cilium|p-body/, ["inside"]],
];

/** Compartments of a protein by its locations; empty if one of them is not known to belong to any. */
function compartmentsOf(locations: readonly string[]): Compartment[] {
  const found = locations.map(
    (location) => LOCATIONS.find(([words]) => words.test(location.toLowerCase()))?.[1] ?? [],
  );
  return found.some((some) => some.length === 0) ? [] : [...new Set(found.flat())].toSorted();
}

const spans = (features: readonly Feature[]): KnownSpan[] =>
  features
    .map(({ start, end }): KnownSpan => [start, end])
    .toSorted((a, b) => a[0] - b[0] || a[1] - b[1])
    .filter(([start, end], i, all) => i === 0 || start !== all[i - 1][0] || end !== all[i - 1][1]);

/** The features that count as evidence; undefined without any. Instances of motifs never do (docs/features.md). */
function selectKnownFeatures(features: readonly Feature[]): KnownFeatures | undefined {
  const ofGroup = (group: Feature["group"]): Feature[] => features.filter((one) => one.group === group);
  const words = ({ type, id, name }: Feature): string =>
    `${type} ${id} ${name}`.replace(/[_-]/g, " ").toLowerCase();
  const sides = ofGroup("transmembrane").map((feature) => ({ feature, side: sideOf(words(feature)) }));
  const onSide = (wanted: Side): KnownSpan[] =>
    spans(sides.filter(({ side }) => side === wanted).map(({ feature }) => feature));
  const known = {
    domains: spans(
      ofGroup("domain").filter(
        ({ type, start, end }) =>
          end - start + 1 >= MIN_DOMAIN && !NO_DOMAINS.test(type.replaceAll("_", " ")),
      ),
    ),
    targeting: spans(ofGroup("signal").filter((feature) => !words(feature).includes("propep"))),
    membrane: onSide("membrane"),
    inside: onSide("inside"),
    outside: onSide("outside"),
    phosphosites: [...new Set(features.filter(isPhosphosite).map(({ start }) => start))].toSorted(
      (a, b) => a - b,
    ),
    compartments: compartmentsOf(ofGroup("location").map(({ name }) => name)),
  };
  if (Object.values(known).every((some) => some.length === 0)) return undefined;
  return { hash: new Bun.CryptoHasher("sha256").update(JSON.stringify(known)).digest("hex"), ...known };
}

type Side = "membrane" | "inside" | "outside" | "unknown";

/** The side of a topological domain in the words of UniProt or Phobius, or a part of the membrane. */
function sideOf(words: string): Side {
  if (!/topo|domain/.test(words)) return "membrane";
  if (/extracellular|lumenal|periplasm|exoplasm|non cytoplasmic/.test(words)) return "outside";
  return /cytoplasmic|nuclear/.test(words) ? "inside" : "unknown";
}

/** A query with its patterns. */
interface Question {
  identifier: string;
  query: string;
  patterns: readonly PatternRequest[];
}

/**
 * Knowledge beside the sequence, from imported features of the protein that has exactly the query's sequence; undefined
 * without any.
 */
export function readKnowledge(
  { identifier, query, patterns }: Question,
  files: FeatureFiles,
  classes: MotifClasses,
): Knowledge | undefined {
  const features = readKnownFeatures(files, query, identifier);
  if (!features) return undefined;
  const facts = Object.entries(findClassFacts(patterns, classes));
  return { features, classes: Object.fromEntries(facts.filter(([, one]) => factsMatter(one, features))) };
}

/** Imported features at the time of a request. */
export interface SearchedFeatures {
  /** SHA-256 of all of them: the search fails if they have changed. */
  hash: string;
  /** Facts about the class of the pattern. */
  facts?: ClassFacts | undefined;
}

/** Imported features for a search of a proteome; undefined without any, and if the caller leaves them out. */
export function searchedFeatures(
  pattern: PatternRequest,
  { ignoreFeatures }: EvidenceChoice,
  { files, classes }: { files: FeatureFiles; classes: MotifClasses },
): SearchedFeatures | undefined {
  if (ignoreFeatures || files.isEmpty) return undefined;
  return { hash: files.hash(), facts: findClassFacts([pattern], classes)[0] };
}

/** The features of a query that count as evidence; undefined without any. */
export const readKnownFeatures = (
  files: FeatureFiles,
  query: string,
  identifier: string,
): KnownFeatures | undefined =>
  files.isEmpty ? undefined : selectKnownFeatures(findQueryFeatures(files, query, identifier).features);
