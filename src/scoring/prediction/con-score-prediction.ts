import type { MatchScore, Prediction } from "../../motif/index.ts";
import { listProvenance } from "../table/provenance.ts";
import {
  caveats,
  type ChoiceName,
  CorpusSchema,
  HomologAtMatchSchema,
  HomologSchema,
  MatchSchema,
  PatternSchema,
  PREDICTION_CHOICES,
  type PredictionReport,
  ResultSchema,
} from "./prediction.ts";

/**
 * ConScorePrediction: its schema and its printed elements follow from here. Everything is an element, because many
 * toolkits hide attributes. No element is named after a keyword of the languages that generate classes (`match`, `end`,
 * `class`, `default`) or a method of their objects (`hash`, `method`).
 */

/** Namespace of ConScorePrediction; the number at the end changes when its schema changes incompatibly. */
export const PREDICTION_NAMESPACE = "http://labd.example/conservation-prediction/1";

type SimpleName = "string" | "int" | "long" | "double" | ChoiceName;

/** One child element of a complex type whose values are `Source`. */
export interface Part<Source> {
  readonly name: string;
  readonly type: SimpleName | ComplexType<never>;
  readonly occurs: "once" | "optional" | "any number";
  readonly meaning: string;
  /** The contents of the element: none, one or many, as `occurs` says. */
  readonly read: (source: Source, report: PredictionReport) => readonly unknown[];
}

export interface ComplexType<Source> {
  readonly name: string;
  readonly meaning: string;
  readonly parts: readonly Part<Source>[];
}

interface JsonSchema {
  type: string | [type: string, "null"];
  description: string;
  format?: string;
  enum?: readonly string[];
  /** A schema, or null. */
  anyOf?: readonly [JsonSchema, unknown];
}

const readDescription = (schema: object): string => (schema as JsonSchema).description;

/**
 * Elements made from the fields of a JSON schema; a pair is the name of the element and that of the field.
 * @param added whether earlier versions did not have them: such elements are optional
 */
function fields<Source>(
  schema: { properties: object },
  names: readonly ((keyof Source & string) | readonly [string, keyof Source & string])[],
  added = false,
): Part<Source>[] {
  const properties = schema.properties as Record<string, JsonSchema>;
  return names.map((pair) => {
    const [name, field] = (typeof pair === "string" ? [pair, pair] : pair) as [string, keyof Source & string];
    const property = properties[field];
    const shape = property.anyOf?.[0] ?? property;
    const occurs = added || property.anyOf || Array.isArray(property.type) ? "optional" : "once";
    // Predictions stored by earlier versions lack some fields.
    const read = (source: Source) =>
      source[field] === null || source[field] === undefined ? [] : [source[field]];
    return { name, type: simpleType(shape), occurs, meaning: shape.description, read };
  });
}

function simpleType({ type: types, format, enum: values }: JsonSchema): SimpleName {
  const [type] = [types].flat();
  const choices = Object.entries(PREDICTION_CHOICES).find(([, choices]) => choices === values);
  if (choices) return choices[0] as ChoiceName;
  if (type === "number") return "double";
  if (type === "integer") return format === "int64" ? "long" : "int";
  return "string";
}

/** An element whose value is not a field. */
const computed = <Source>(
  name: string,
  type: SimpleName,
  meaning: string,
  read: (source: Source) => string | number | null,
): Part<Source> => ({
  name,
  type,
  occurs: "once",
  meaning,
  read: (source) => [read(source)],
});

const many = <Source, Item>(
  name: string,
  type: ComplexType<Item> | "string",
  meaning: string,
  read: (source: Source, report: PredictionReport) => readonly Item[],
): Part<Source> => ({ name, type: type as Part<Source>["type"], occurs: "any number", meaning, read });

const warnings = <Source extends { warnings: string[] }>(what: string): Part<Source> =>
  many("warning", "string", caveats(what), (source) => source.warnings);

const QUERY: ComplexType<PredictionReport> = {
  name: "QueryProtein",
  meaning: "The query protein.",
  parts: [
    computed("identifier", "string", "The client's name for it, as given to RunJob.", (r) => r.identifier),
    computed("sequenceLength", "int", "Number of residues.", (r) => r.prediction.queryLength),
  ],
};

const CORPUS: ComplexType<NonNullable<Prediction["corpus"]>> = {
  name: "ProteinCorpus",
  meaning: readDescription(CorpusSchema),
  parts: fields(CorpusSchema, [
    ["corpusName", "name"],
    ["contentHash", "hash"],
    ["sequenceCount", "sequences"],
    ["residueCount", "residues"],
  ]),
};

const HOMOLOG: ComplexType<Prediction["homologs"][number] & { number: number }> = {
  name: "Homolog",
  meaning: readDescription(HomologSchema),
  parts: [
    computed(
      "homologNumber",
      "int",
      "Number from 1, best first; matches refer to this number.",
      (h) => h.number,
    ),
    ...fields<Prediction["homologs"][number]>(HomologSchema, [
      "accession",
      "description",
      "organism",
      "identity",
      "coverage",
      "bitScore",
      ["expectValue", "eValue"],
      ["treeWeight", "weight"],
    ]),
  ],
};

const POSITION: ComplexType<{ number: number; residue: string; conservation: number | null }> = {
  name: "MatchPosition",
  meaning: "One residue of a match.",
  parts: [
    computed("residueNumber", "int", "Position in the query, from 1.", (p) => p.number),
    computed("residue", "string", "One-letter code of the residue.", (p) => p.residue),
    {
      name: "conservation",
      type: "double",
      occurs: "optional",
      meaning:
        "Weighted fraction of the homologs that keep the residue, 0 to 1; missing at wildcards and without homologs.",
      read: ({ conservation }) => (conservation === null ? [] : [conservation]),
    },
  ],
};

const HOMOLOG_AT_MATCH: ComplexType<MatchScore["atHomologs"][number] & { accession: string }> = {
  name: "HomologAtMatch",
  meaning: readDescription(HomologAtMatchSchema),
  parts: [
    computed("homologNumber", "int", "Number of the homolog in this prediction.", (h) => h.homolog + 1),
    computed("accession", "string", "Identifier of the homolog.", (h) => h.accession),
    ...fields<MatchScore["atHomologs"][number]>(HomologAtMatchSchema, [
      "state",
      ["alignedResidues", "residues"],
      "retention",
    ]),
  ],
};

const MATCH: ComplexType<MatchScore> = {
  name: "MotifMatch",
  meaning: readDescription(MatchSchema),
  parts: [
    ...fields<MatchScore>(MatchSchema, [
      ["firstResidue", "start"],
      ["lastResidue", "end"],
      ["matchedText", "text"],
      ["verdict", "conservationLevel"],
      ["conservationScore", "score"],
      ["expectedScore", "expected"],
      ["zScore", "z"],
      "pValue",
      ["pValueKind", "pValueIs"],
      ["homologCount", "homologs"],
      "effectiveHomologs",
      "localIdentity",
      "informationContent",
    ]),
    many("position", POSITION, "Its residues.", (m) =>
      m.conservation.map((conservation, i) => ({
        number: m.start + i,
        residue: m.text[i] ?? "",
        conservation,
      })),
    ),
    many("homologAtMatch", HOMOLOG_AT_MATCH, "The match in each homolog.", (m, { prediction }) =>
      m.atHomologs.map((at) => ({ ...at, accession: prediction.homologs[at.homolog]?.accession ?? "" })),
    ),
    warnings("the match"),
    // Last, so that clients generated before these existed read the elements that they know.
    ...fields<MatchScore>(
      MatchSchema,
      [
        "overallVerdict",
        "overallPValue",
        ["overallPValueKind", "overallPValueIs"],
        ["keptCount", "kept"],
        ["nearbyCount", "nearby"],
        "probability",
        "scoreVerdict",
      ],
      true,
    ),
  ],
};

const PATTERN: ComplexType<Prediction["patterns"][number]> = {
  name: "PatternResult",
  meaning: readDescription(PatternSchema),
  parts: [
    ...fields<Prediction["patterns"][number]>(PatternSchema, [
      "expression",
      ["elmIdentifierName", "name"],
      "explanation",
      "informationContent",
    ]),
    computed("matchCount", "int", "Number of matches.", (p) => p.matches.length),
    many("motifMatch", MATCH, "The matches in the order of the query.", (p) => p.matches),
    warnings("the pattern"),
  ],
};

const PROPERTY: ComplexType<readonly [name: string, value: string]> = {
  name: "ProvenanceProperty",
  meaning: "A property of the scoring, such as the version of labd.",
  parts: [
    computed(
      "propertyName",
      "string",
      "Name, such as labd, date, options, patterns or queries.",
      ([name]) => name,
    ),
    computed(
      "propertyValue",
      "string",
      "Text, or JSON for options, patterns and queries.",
      ([, value]) => value,
    ),
  ],
};

/** Last, because stored predictions get it when they are sent. */
export const PROVENANCE: Part<PredictionReport> = many(
  "provenance",
  PROPERTY,
  "With what it was scored, besides method, model and corpus.",
  ({ provenance }) => (provenance ? listProvenance(provenance) : []),
);

/** The content of the element ConScorePrediction. */
export const CON_SCORE_PREDICTION: ComplexType<PredictionReport> = {
  name: "ConScorePrediction",
  meaning: readDescription(ResultSchema),
  parts: [
    computed(
      "methodVersion",
      "string",
      readDescription(ResultSchema.properties.method),
      (r) => r.prediction.method,
    ),
    computed(
      "scoringModel",
      "AppliedScoringModel",
      "The scoring model: how homologs counted.",
      (r) => r.prediction.model,
    ),
    { ...many("query", QUERY, QUERY.meaning, (r: PredictionReport) => [r]), occurs: "once" },
    {
      ...many(
        "corpus",
        CORPUS,
        `${CORPUS.meaning} Missing if the user supplied the alignment.`,
        ({ prediction: { corpus } }: PredictionReport) => (corpus ? [corpus] : []),
      ),
      occurs: "optional",
    },
    many("homolog", HOMOLOG, "The homologs, best first.", (r) =>
      r.prediction.homologs.map((homolog, i) => ({ ...homolog, number: i + 1 })),
    ),
    many("pattern", PATTERN, "The patterns in the order of the request.", (r) => r.prediction.patterns),
    {
      ...many(
        "newickTree",
        "string",
        "Tree of the query and its homologs in Newick notation.",
        (r: PredictionReport) => (r.prediction.tree === "" ? [] : [r.prediction.tree]),
      ),
      occurs: "optional",
    },
    many("warning", "string", caveats("the prediction"), (r) => r.prediction.warnings),
    PROVENANCE,
  ],
};

/** Every complex type inside a type, once each, inner ones first. */
export function complexTypes(type: ComplexType<never> = CON_SCORE_PREDICTION): ComplexType<never>[] {
  const inner = type.parts.flatMap((part) =>
    typeof part.type === "string" ? [] : [...complexTypes(part.type), part.type],
  );
  return [...new Set(inner)];
}
