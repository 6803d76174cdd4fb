/**
 * The SOAP service, declared once. The WSDL, the schemas, the decoder, the encoder and the TypeScript types of
 * requests and responses all follow from here. Source: the service's published description; what it leaves open
 * (status words, conditions of the fault) is said in docs/soap.md.
 */

import type { CharacterClass } from "./characters.ts";
import type { PredictionReport } from "./prediction.ts";

/** A kind of text. Kinds without a name are plain strings. */
export interface TextType {
  /** Name of the simple type in the schema. */
  readonly name: string | null;
  readonly meaning: string;
  readonly characters?: CharacterClass;
  readonly choices?: readonly string[];
}

/** Stands for the element ConScorePrediction of the prediction namespace. */
export const PREDICTION = { name: "ConScorePrediction", isPrediction: true } as const;

export interface Field {
  readonly type: TextType | typeof PREDICTION;
  /** How often the element stands there, at least and at most. */
  readonly minOccurs: 0 | 1;
  readonly maxOccurs: number;
  /** What an empty element means. */
  readonly default?: string;
  readonly meaning: string;
}

/** Elements in the order in which a message has them. */
export type Fields = Readonly<Record<string, Field>>;

type Content<F extends Field> = F["type"] extends { isPrediction: true }
  ? PredictionReport
  : F["type"] extends { choices: readonly (infer Choice)[] }
    ? Choice
    : string;

/** The value of an element with these children: required, optional (null) or repeated. */
export type ValueOf<T extends Fields> = {
  -readonly [Name in keyof T]: T[Name]["maxOccurs"] extends 1
    ? T[Name]["minOccurs"] extends 1
      ? Content<T[Name]>
      : Content<T[Name]> | null
    : Content<T[Name]>[];
};

const TEXT = { name: null, meaning: "Any text." } as const satisfies TextType;

const SEQUENCE = {
  name: "QuerySequence",
  meaning: "A protein sequence in upper-case one-letter codes; white space is ignored.",
  characters: {
    ranges: ["A-Z"],
    singles: "",
    whiteSpace: true,
    words: "the upper-case letters A to Z and white space (space, tab, CR, LF)",
  },
} as const satisfies TextType;

const SCORING_MODEL = {
  name: "ScoringModel",
  meaning: "continuous: every homolog counts by how far it keeps the match; discontinuous: all or none.",
  choices: ["continuous", "discontinuous"],
} as const satisfies TextType;

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
} as const satisfies TextType;

const MOTIF_CLASS_NAME = {
  name: "ElmIdentifierName",
  meaning: "Name of a motif class, such as LIG_SH3_1.",
  characters: {
    ranges: ["A-Z", "a-z", "0-9"],
    singles: "-_",
    whiteSpace: false,
    words: "the letters A to Z and a to z, the digits 0 to 9, hyphen and underscore",
  },
} as const satisfies TextType;

const JOB_IDENTIFIER = {
  type: TEXT,
  minOccurs: 1,
  maxOccurs: 1,
  meaning: "Names the job, as RunJob returned it.",
} as const satisfies Field;

/** What is asked for and what is answered, per operation, and whether JobIdentifierFault is declared. */
interface Operation {
  readonly meaning: string;
  readonly request: Fields;
  readonly response: Fields;
  readonly faults: readonly "JobIdentifierFault"[];
}

export const SERVICE = {
  name: "ConservationScorer",
  meaning: "Scores the conservation of short linear motif matches in homologous protein sequences.",
  operations: {
    RunJob: {
      meaning: "Starts a job and returns its identifier.",
      request: {
        identifier: {
          type: TEXT,
          minOccurs: 1,
          maxOccurs: 1,
          meaning: "The client's own name for the query; it comes back with the prediction.",
        },
        querySequence: {
          type: SEQUENCE,
          minOccurs: 1,
          maxOccurs: 1,
          meaning: "The protein whose matches are scored.",
        },
        scoringModel: {
          type: SCORING_MODEL,
          minOccurs: 1,
          maxOccurs: 1,
          default: "continuous",
          meaning: "How homologs count.",
        },
        regularExpression: {
          type: EXPRESSION,
          minOccurs: 0,
          maxOccurs: 5,
          default: "",
          meaning: "Motifs to look for; an empty element means none.",
        },
        elmIdentifierName: {
          type: MOTIF_CLASS_NAME,
          minOccurs: 0,
          maxOccurs: 5,
          default: "",
          meaning: "Motif classes to look for, by name; an empty element means none.",
        },
      },
      response: {
        JobIdentifier: { ...JOB_IDENTIFIER, meaning: "Names the job in GetStatus and GetResult." },
      },
      faults: [],
    },
    GetStatus: {
      meaning: "Tells whether the results of a job are available.",
      request: { JobIdentifier: JOB_IDENTIFIER },
      response: {
        Status: {
          type: TEXT,
          minOccurs: 1,
          maxOccurs: 1,
          meaning: "queued, running, finished, failed and the like.",
        },
        StatusDetails: {
          type: TEXT,
          minOccurs: 0,
          maxOccurs: 1,
          meaning: "A sentence for people: place in the queue, progress, or why the job failed.",
        },
      },
      faults: ["JobIdentifierFault"],
    },
    GetResult: {
      meaning: "Returns the prediction of a job; without one while the job has not finished.",
      request: { JobIdentifier: JOB_IDENTIFIER },
      response: {
        ConScorePrediction: {
          type: PREDICTION,
          minOccurs: 0,
          maxOccurs: 1,
          meaning: "The prediction of a finished job.",
        },
      },
      faults: ["JobIdentifierFault"],
    },
  },
  faults: {
    JobIdentifierFault: {
      FaultDescription: {
        type: TEXT,
        minOccurs: 1,
        maxOccurs: 1,
        meaning: "What is wrong with the job identifier.",
      },
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
export type RunJobRequest = RequestOf<"RunJob">;
export type RunJobResponse = ResponseOf<"RunJob">;
export type GetStatusResponse = ResponseOf<"GetStatus">;
export type GetResultResponse = ResponseOf<"GetResult">;

/** A request and what was asked. */
export type Request = { [Name in OperationName]: { operation: Name; value: RequestOf<Name> } }[OperationName];

export const OPERATION_NAMES = Object.keys(SERVICE.operations) as OperationName[];

/** The value of the SOAPAction header. */
export const soapAction = (namespace: string, operation: OperationName): string =>
  `${namespace}/${SERVICE.name}/${operation}`;
