import type { Prediction } from "../../motif/index.ts";
import { encodePrediction } from "../prediction/encode-prediction.ts";
import { PREDICTION_NAMESPACE } from "../prediction/con-score-prediction.ts";
import { escapeAttribute, XML_DECLARATION } from "../../platform/xml-text.ts";
import type { AnnotatedReport } from "../features/annotation.ts";
import { ELN_MEDIA_TYPE } from "../../platform/ro-crate.ts";
import type { FileFormat } from "../table/table-formats.ts";
import { printJalviewAnnotations, printJalviewFeatures } from "./jalview-files.ts";
import {
  printA3m,
  printAlignedFasta,
  printClustal,
  printNewick,
  printStockholm,
} from "./result-alignment.ts";

/** A format of one prediction that is no table. */
export interface DocumentFormat extends FileFormat {
  /** @param match number of the alignment to print, from 1; only for alignments */
  print(report: AnnotatedReport, match?: number): string;
}

/** Text before and after the stored bytes of the formats in which predictions are stored. */
export const STORED_FORMATS = {
  json: ["", ""],
  xml: [`${XML_DECLARATION}\n`, "\n"],
} as const;

/** The prediction with one of its matches, from 1 over all patterns, and its pattern. */
function withOneMatch(prediction: Prediction, number: number): Prediction {
  let before = 0;
  const patterns = prediction.patterns.flatMap((pattern) => {
    const matches = pattern.matches.slice(number - 1 - before, number - before);
    const isHere = number > before && matches.length > 0;
    before += pattern.matches.length;
    return isHere ? [Object.assign({}, pattern, { matches })] : [];
  });
  return { ...prediction, patterns };
}

export const DOCUMENT_FORMATS = {
  json: {
    title: "JSON",
    contentType: "application/json",
    aliases: [],
    extension: "json",
    sentence: "The whole prediction, and the names of the query; `match` leaves out all other matches.",
    print: ({ identifier, protein, provenance, prediction }, match) =>
      JSON.stringify({
        identifier,
        protein: protein ?? null,
        provenance,
        ...(match === undefined ? prediction : withOneMatch(prediction, match)),
      }),
  },
  stockholm: {
    title: "Stockholm",
    contentType: "text/x-stockholm; charset=utf-8",
    aliases: ["text/stockholm"],
    extension: "sto",
    sentence: "The whole alignment, with its matches; `match` selects the columns of one.",
    print: printStockholm,
  },
  fasta: {
    title: "FASTA",
    contentType: "text/x-fasta; charset=utf-8",
    aliases: ["text/fasta"],
    extension: "fasta",
    sentence: "The whole alignment as aligned FASTA; `match` selects the columns of one match.",
    print: printAlignedFasta,
  },
  a3m: {
    title: "A3M",
    contentType: "text/x-a3m; charset=utf-8",
    aliases: ["text/a3m"],
    extension: "a3m",
    sentence:
      "The whole alignment from which the scores were computed: query first, insertions in lower case.",
    print: printA3m,
  },
  clustal: {
    title: "Clustal",
    contentType: "text/x-clustal; charset=utf-8",
    aliases: ["text/clustal"],
    extension: "aln",
    sentence: "The whole alignment; `match` selects the columns of one match.",
    print: printClustal,
  },
  newick: {
    title: "Newick",
    contentType: "text/x-nh; charset=utf-8",
    aliases: ["text/newick", "text/x-newick"],
    extension: "nwk",
    sentence: "The tree of the homologs and the query, with the names of alignments.",
    print: printNewick,
  },
  "jalview-features": {
    title: "Jalview features",
    contentType: "text/x-jalview-features; charset=utf-8",
    aliases: [],
    extension: "features",
    sentence: "The matches by verdict, to load onto an alignment in Jalview.",
    print: printJalviewFeatures,
  },
  "jalview-annotations": {
    title: "Jalview annotations",
    contentType: "text/x-jalview-annotations; charset=utf-8",
    aliases: [],
    extension: "annotations",
    sentence: "Conservation, disorder and order of each residue, to load onto an alignment in Jalview.",
    print: printJalviewAnnotations,
  },
  xml: {
    title: "XML",
    contentType: "application/xml; charset=utf-8",
    aliases: ["text/xml"],
    extension: "xml",
    sentence: "ConScorePrediction, as GetResult of the SOAP service returns it.",
    print: (report) => STORED_FORMATS.xml.join(encodePrediction(report)),
  },
} as const satisfies Record<string, DocumentFormat>;

export type DocumentFormatName = keyof typeof DOCUMENT_FORMATS;

/** An archive of several formats, of results only. */
export const ARCHIVE_FORMAT: FileFormat = {
  title: "ELN",
  contentType: ELN_MEDIA_TYPE,
  aliases: [],
  extension: "eln",
  sentence:
    "An archive for laboratory notebooks, with the query, the result in several forms, and checksums.",
};

/** The layout of several predictions in one document. */
export interface DocumentSeries {
  head: string;
  tail: string;
  /** A remark between predictions; `json` is one line. */
  remark: (json: string) => string;
}

export const DOCUMENT_SERIES = {
  // One object per line, so that readers need not wait for the end of a list.
  json: { head: "", tail: "", remark: (json) => `{"labd-shard":${json}}\n` },
  // Predictions of the schema in a root element.
  xml: {
    head: `${XML_DECLARATION}\n<ConScorePredictions xmlns="${escapeAttribute(PREDICTION_NAMESPACE)}">\n`,
    tail: "</ConScorePredictions>\n",
    // Two hyphens would end the comment.
    remark: (json) => `<!--labd-shard ${json.replaceAll("-", "\\u002d")}-->\n`,
  },
} as const satisfies Partial<Record<DocumentFormatName, DocumentSeries>>;
