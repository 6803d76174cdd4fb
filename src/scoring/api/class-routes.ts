import type { Static } from "typebox";
import {
  type ClassModel,
  type Corpus,
  decode,
  explain,
  listPositions,
  minBits,
  parsePattern,
  type Pattern,
  type PhosphoResidue,
  SCORING_MODELS,
} from "../../motif/index.ts";
import { mount } from "../../platform/mount.ts";
import { type Guards, operation } from "../../platform/operation.ts";
import { singlePage } from "../../platform/page.ts";
import { Problem } from "../../problem.ts";
import { findClassFacts } from "../corpus/class-facts.ts";
import type { ClassModels } from "../corpus/class-models.ts";
import { summarize } from "../corpus/find-proteins.ts";
import { findClassType, type MotifClass } from "../corpus/motif-classes.ts";
import { featureFilesIn, type FeatureSource } from "../features/annotation.ts";
import { collectInstances, type Instance } from "../learning/instances.ts";
import {
  ClassModelSchema,
  MotifClassesSchema,
  MotifClassParameters,
  MotifClassSchema,
} from "./class-schemas.ts";
import { readBody } from "./json-schemas.ts";
import { ProteomeSearchSchema } from "./proteome-schemas.ts";
import { activeCorpus, describeSearch, type ProteomeParts } from "./proteome-routes.ts";

/** Dependencies of the operations of motif classes. */
interface ClassParts extends ProteomeParts {
  classModels: ClassModels;
  corpus: () => Corpus;
  featureSource: () => FeatureSource;
}

/** Instances that are listed and scored. */
const MAX_INSTANCES = 300;
/** Residues beside an instance that are shown. */
const FLANK = 4;

const ofClass = {
  access: "public",
  params: { name: ["Name or alias of the class.", "LIG_PCNA_PIPBox_1"] },
  errors: [404],
} as const;

/** Motif classes, with their known instances. */
export const classOperations = [
  operation("GET /api/scoring/motif-classes", {
    access: "public",
    operationId: "listMotifClasses",
    summary: "List motif classes",
    query: MotifClassParameters,
    returns: MotifClassesSchema,
    run({ query: { query = "", limit } }, parts: ClassParts) {
      const words = query.toLowerCase().split(/\s+/).filter(Boolean);
      const found = parts.classes.classes.filter((one) =>
        words.every((word) => searchText(one).includes(word)),
      );
      const described = found.slice(0, limit).map((one) => withModel(one, parts));
      return { ...singlePage(described), total: found.length };
    },
  }),
  operation("GET /api/scoring/motif-classes/:name/model", {
    access: "anyone",
    operationId: "getClassModel",
    summary: "Get the model of a motif class",
    description: "What imported instances of the class tell about its matches.",
    params: { name: ["Name of the class, or hash of a model.", "LIG_PCNA_PIPBox_1"] },
    returns: ClassModelSchema,
    errors: [404],
    run({ params: { name } }, { classes, classModels, corpora }: ClassParts) {
      const model = classModels.find(classes.get(name)?.name ?? name, corpora.scoringVersion().corpus);
      if (!model) throw new Problem("not_found", "No class with this name has a model.");
      return describeModel(model);
    },
  }),
  operation("GET /api/scoring/motif-classes/:name", {
    ...ofClass,
    operationId: "getMotifClass",
    summary: "Get a motif class",
    description: "With its known instances in proteins of the corpus in use.",
    returns: MotifClassSchema,
    run: ({ params: { name } }, parts: ClassParts) => showClass(findClass(parts, name), parts),
  }),
  operation("GET /api/scoring/motif-classes/:name/matches", {
    ...ofClass,
    operationId: "scoreKnownInstances",
    summary: "Score the known instances of a motif class",
    description:
      "A proteome search of the proteins with known instances, with the matches at these. Ask again until it is finished.",
    returns: ProteomeSearchSchema,
    errors: [404, 409, 503],
    run: ({ params: { name }, request, context: { baseUrl } }, parts: ClassParts) =>
      scoreInstances(findClass(parts, name), parts, request, baseUrl),
  }),
];

/** The routes of motif classes. */
export const classRoutes = (dependencies: ClassParts, guards: Guards) =>
  mount(classOperations, { tag: "scoring", guards, dependencies, readBody });

/** @throws Problem not_found with near names */
function findClass({ classes }: ClassParts, name: string): MotifClass {
  try {
    return classes.find(name);
  } catch (cause) {
    throw new Problem("not_found", (cause as Problem).message, { cause });
  }
}

/** The known instances of a class in proteins of the corpus in use, in its order. */
function listInstances(motifClass: MotifClass, { classes, corpora, corpus, featureSource }: ClassParts) {
  if (!corpora.active()) return [];
  const files = featureFilesIn(featureSource().dataDirectory);
  return collectInstances(files, corpus(), classes, motifClass).get(motifClass) ?? [];
}

function showClass(motifClass: MotifClass, parts: ClassParts): Static<typeof MotifClassSchema> {
  const { classes, corpora, corpus } = parts;
  const { name, title, expression, dialect } = motifClass;
  const pattern = { name, expression, dialect };
  const facts = findClassFacts([pattern], classes)[0];
  const instances = listInstances(motifClass, parts);
  const residues = corpora.active()?.residues ?? 0;
  return {
    motifClass: withModel(motifClass, parts),
    positions: listPositions(parsePattern(expression, dialect)),
    expected: residues / 2 ** describeClass(motifClass).informationContent,
    compartments: [...(facts?.compartments ?? [])],
    phosphorylated: facts?.phosphosite ? describePhosphosite(facts.phosphosite) : null,
    instances: instances.length,
    results: instances.slice(0, MAX_INSTANCES).map((instance) => showInstance(instance, corpus())),
    similar: classes.classes
      .filter((one) => one !== motifClass && one.title === title && title !== "")
      .map((one) => withModel(one, parts)),
  };
}

const describePhosphosite = ({ letters, at }: PhosphoResidue): string =>
  [...letters].join(" or ") + (at === null ? "" : ` at position ${at}`);

function showInstance({ protein, feature }: Instance, corpus: Corpus) {
  const { start, end } = feature;
  const { residues, offsets } = corpus;
  const [first, past] = [offsets[protein], offsets[protein + 1]];
  const read = (from: number, to: number): string =>
    decode(residues.subarray(Math.max(first, first + from - 1), Math.min(past, first + to)));
  return {
    protein: summarize(corpus, protein),
    before: read(start - FLANK, start - 1),
    text: read(start, end),
    after: read(end + 1, end + FLANK),
    feature,
  };
}

/** Starts the search, unless it was made before, and shows how far it is. */
async function scoreInstances(
  motifClass: MotifClass,
  parts: ClassParts,
  request: Request,
  baseUrl: string,
): Promise<Static<typeof ProteomeSearchSchema>> {
  const { client, clock, corpus, identifyClient, knowledge } = parts;
  const { name, hash } = activeCorpus(parts.corpora);
  const { name: motif, expression, dialect } = motifClass;
  const pattern = { name: motif, expression, dialect };
  const known = listInstances(motifClass, parts).slice(0, MAX_INSTANCES);
  const places = known.map(({ protein, start, end }) => ({
    accession: corpus().accession(protein),
    start,
    end,
  }));
  const accessions = [...new Set(places.map(({ accession }) => accession))];
  if (accessions.length === 0)
    throw new Problem("not_found", "No protein of the corpus in use has a known instance of the class.");
  const wanted = {
    corpus: { name, hash },
    pattern,
    model: SCORING_MODELS[0],
    organism: null,
    accessions,
    ...knowledge.forProteome(pattern, {}, hash),
  };
  const id = await client.call<string>({ do: "identify", request: wanted });
  const search = { id, computation: id, owner: "", isCancelled: false };
  const view = describeSearch(parts, {
    search,
    request,
    baseUrl,
    query: { limit: 2 * MAX_INSTANCES },
  });
  const now = clock.now();
  const json = await client.call<string>({
    do: "open",
    request: wanted,
    now,
    client: identifyClient(request),
    view: { ...view, places },
  });
  return JSON.parse(json) as Static<typeof ProteomeSearchSchema>;
}

function describeModel({ slopes, ...model }: ClassModel) {
  const { motifClass, expression, hash, method, corpus, instances, families, randomMatches } = model;
  const weights = Object.entries(slopes).map(([term, slope]) => [term, Number((1 + slope).toFixed(3))]);
  const counts = { instances, families, randomMatches };
  const names = { motifClass, expression, hash, method, corpus };
  return {
    ...names,
    ...counts,
    windows: [...model.windows],
    weights: Object.fromEntries(weights) as Record<string, number>,
    gain: model.gain,
  };
}

const searchText = ({ name, title, aliases, expression, description }: MotifClass): string =>
  [name, title, ...aliases, expression, description].join(" ").toLowerCase();

/** A class as lists show it, with its model in use. */
function withModel(motifClass: MotifClass, { classModels, corpora }: ClassParts): ClassObject {
  const model = classModels.applied(corpora.scoringVersion().corpus).get(motifClass.name);
  return Object.assign({}, describeClass(motifClass), model && { model });
}

/** Descriptions of classes: there may be hundreds of expressions to parse. */
const descriptions = new WeakMap<MotifClass, ClassObject>();
type ClassObject = Static<typeof MotifClassesSchema>["results"][number];

function describeClass(motifClass: MotifClass): ClassObject {
  const { name, title, aliases, expression, dialect, description, citation } = motifClass;
  const known = descriptions.get(motifClass);
  if (known) return known;
  const meaning = describePattern(expression, parsePattern(expression, dialect));
  const type = [name, ...aliases].map(findClassType).find((one) => one !== null) ?? null;
  const described = { name, title, aliases: [...aliases], type, ...meaning, description, citation };
  descriptions.set(motifClass, described);
  return described;
}

/** The meaning of an expression. */
export const describePattern = (expression: string, pattern: Pattern) => ({
  expression,
  explanation: explain(pattern),
  // Six decimals, as in results.
  informationContent: Math.round(minBits(pattern.root) * 1e6) / 1e6,
});
