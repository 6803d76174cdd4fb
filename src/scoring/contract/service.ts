import type { CharacterClass } from "./characters.ts";

/**
 * The SOAP service, declared once: WSDL, schemas, decoder, encoder and the types of requests and responses follow from
 * here. Source: the published description of the service; docs/soap.md covers the details that it leaves open.
 */

/** A kind of text. One without a name is a plain string. */
export interface TextType {
  /** Name of the simple type in the schema. */
  readonly name: string | null;
  readonly meaning: string;
  readonly characters?: CharacterClass;
  readonly choices?: readonly string[];
}

/** Stands for the element ConScorePrediction of the prediction namespace. */
const PREDICTION = { name: "ConScorePrediction", isPrediction: true } as const;

export interface Field {
  readonly type: TextType | typeof PREDICTION;
  readonly minOccurs: 0 | 1;
  readonly maxOccurs: number;
  /** The value of an empty element. */
  readonly default?: string;
  readonly meaning: string;
}

/** Elements in the order of the message. */
export type Fields = Readonly<Record<string, Field>>;

/** The element as XML text: it is stored so, and not read again. */
type PrintedPrediction = string;

type Content<F extends Field> = F["type"] extends { isPrediction: true }
  ? PrintedPrediction
  : F["type"] extends { choices: readonly (infer Choice)[] }
    ? Choice
    : string;

/** The value of an element with these children: required, optional (null) or repeated. */
type ValueOf<T extends Fields> = {
  -readonly [Name in keyof T]: T[Name]["maxOccurs"] extends 1
    ? T[Name]["minOccurs"] extends 1
      ? Content<T[Name]>
      : Content<T[Name]> | null
    : Content<T[Name]>[];
};

const required = <const Type extends Field["type"]>(type: Type, meaning: string) =>
  ({ type, minOccurs: 1, maxOccurs: 1, meaning }) as const;
const optional = <const Type extends Field["type"]>(type: Type, meaning: string) =>
  ({ type, minOccurs: 0, maxOccurs: 1, meaning }) as const;
const optionalList = <const Type extends Field["type"]>(type: Type, meaning: string) =>
  ({ type, minOccurs: 0, maxOccurs: 5, default: "", meaning }) as const;

const TEXT = { name: null, meaning: "Any text." } as const;

const SEQUENCE = {
  name: "QuerySequence",
  meaning: "A protein sequence in upper-case one-letter codes; white space is ignored.",
  characters: {
    ranges: ["A-Z"],
    singles: "",
    whiteSpace: true,
    words: "the upper-case letters A to Z and white space (space, tab, CR, LF)",
  },
} as const;

const SCORING_MODEL = {
  name: "ScoringModel",
  meaning: "continuous: every homolog counts by how far it keeps the match; discontinuous: all or nothing.",
  choices: ["continuous", "discontinuous"],
} as const;

const EXPRESSION = {
  name: "RegularExpression",
  meaning:
    "A motif as a regular expression over one-letter codes; . is any residue, ^ and $ are the ends of the protein, white space is ignored.",
  characters: {
    ranges: ["0-9"],
    singles: "ACDEFGHIKLMNPQRSTVWY.,^$*+?|[]{}()",
    whiteSpace: true,
    words:
      "the amino-acid letters ACDEFGHIKLMNPQRSTVWY, the digits 0 to 9, the characters . , ^ $ * + ? | [ ] { } ( ) and white space (space, tab, CR, LF)",
  },
} as const;

const MOTIF_CLASS_NAME = {
  name: "ElmIdentifierName",
  meaning: "Name of a motif class, such as LIG_SH3_1.",
  characters: {
    ranges: ["A-Z", "a-z", "0-9"],
    singles: "-_",
    whiteSpace: false,
    words: "the letters A to Z and a to z, the digits 0 to 9, hyphen and underscore",
  },
} as const;

const JOB_IDENTIFIER = required(TEXT, "Identifies the job, as returned by RunJob.");

/** Declared faults: the one of the published description, and the code of every other rejection. */
export type FaultName = "JobIdentifierFault" | "Problem";

interface Operation {
  readonly meaning: string;
  readonly request: Fields;
  readonly response: Fields;
  readonly faults: readonly FaultName[];
}

export const SERVICE = {
  name: "ConservationScorer",
  meaning: "Scores the conservation of short linear motif matches in homologous protein sequences.",
  operations: {
    RunJob: {
      meaning: "Starts a job and returns its identifier.",
      request: {
        identifier: required(TEXT, "The client's name for the query, returned with the prediction."),
        querySequence: required(SEQUENCE, "The protein whose matches are scored."),
        scoringModel: {
          ...required(SCORING_MODEL, "The scoring model: how homologs count."),
          default: "continuous",
        },
        regularExpression: optionalList(EXPRESSION, "Motifs to look for; an empty element means none."),
        elmIdentifierName: optionalList(
          MOTIF_CLASS_NAME,
          "Motif classes to look for, by name; an empty element means none.",
        ),
      },
      response: { JobIdentifier: required(TEXT, "Identifies the job in GetStatus and GetResult.") },
      faults: ["Problem"],
    },
    GetStatus: {
      meaning: "Returns whether the results of a job are available.",
      request: { JobIdentifier: JOB_IDENTIFIER },
      response: {
        Status: required(TEXT, "State of the job, such as queued, running, finished or failed."),
        StatusDetails: optional(
          TEXT,
          "A sentence for people: place in the queue, progress, or why the job failed.",
        ),
      },
      faults: ["JobIdentifierFault", "Problem"],
    },
    GetResult: {
      meaning: "Returns the prediction of a job, which is missing until the job has finished.",
      request: { JobIdentifier: JOB_IDENTIFIER },
      response: { ConScorePrediction: optional(PREDICTION, "The prediction of a finished job.") },
      faults: ["JobIdentifierFault", "Problem"],
    },
  },
  faults: {
    JobIdentifierFault: {
      FaultDescription: required(TEXT, "The error in the job identifier."),
    },
  },
} as const satisfies {
  name: string;
  meaning: string;
  operations: Record<string, Operation>;
  faults: Record<"JobIdentifierFault", Fields>;
};

export type OperationName = keyof typeof SERVICE.operations;
type Operations = typeof SERVICE.operations;

export type RequestOf<Name extends OperationName> = ValueOf<Operations[Name]["request"]>;
export type ResponseOf<Name extends OperationName> = ValueOf<Operations[Name]["response"]>;

/** An operation and the values of its request. */
export type Request = {
  [Name in OperationName]: { operation: Name; value: ValueOf<Operations[Name]["request"]> };
}[OperationName];

export const OPERATION_NAMES = Object.keys(SERVICE.operations) as OperationName[];

/** The value of the SOAPAction header. */
export const soapAction = (namespace: string, operation: OperationName): string =>
  `${namespace.replace(/\/$/, "")}/${SERVICE.name}/${operation}`;
