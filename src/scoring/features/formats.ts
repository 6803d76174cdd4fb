import { Problem } from "../../problem.ts";
import type { TextReader } from "../corpus/text-reader.ts";
import type { Emit, Skip } from "./feature-reader.ts";
import {
  readBed,
  readElmInstances,
  readGff3,
  readInterProTsv,
  readPfamRegions,
  readProtein2Ipr,
} from "./tables.ts";
import { readUniProtFlat, readUniProtJson } from "./uniprot.ts";

interface FeatureFormat {
  /** Name of the format. */
  title: string;
  /** True if a file with this beginning has the format. @param lines the lines with content, without comments */
  detect(head: string, lines: readonly string[]): boolean;
  /**
   * @param head the beginning of the file
   * @param skip tells the lines that need not be parsed, where a file has many proteins that the corpus lacks
   */
  read(emit: Emit, head: string, skip: Skip): TextReader;
}

const WHOLE = /^\d{1,9}$/;
const splitCells = (line = ""): string[] => line.split("\t");

/** The formats that are read; a file has the first that its beginning fits. */
export const FEATURE_FORMATS = {
  elm: {
    title: "ELM's table of instances",
    detect: (head, [first = ""]) =>
      head.startsWith("#ELM_Instance") || (first.includes("Primary_Acc") && first.includes("ELMIdentifier")),
    read: readElmInstances,
  },
  "uniprot-json": { title: "UniProt JSON", detect: (head) => /^[{[]/.test(head), read: readUniProtJson },
  uniprot: { title: "UniProt flat file", detect: (head) => /^ID {3}\S/.test(head), read: readUniProtFlat },
  gff3: {
    title: "GFF3",
    detect: (head, [first]) => {
      const [from, to, , strand] = splitCells(first).slice(3);
      const isFeature = WHOLE.test(from) && WHOLE.test(to) && /^[-+.?]$/.test(strand);
      return /^##gff-version/i.test(head) || isFeature;
    },
    read: readGff3,
  },
  interpro: {
    title: "InterProScan TSV",
    detect: (_, [first]) =>
      splitCells(first).length >= 11 &&
      WHOLE.test(splitCells(first)[6].trim()) &&
      WHOLE.test(splitCells(first)[7].trim()),
    read: readInterProTsv,
  },
  protein2ipr: {
    title: "InterPro's protein2ipr.dat",
    detect: (_, [first]) => /^\S+\tIPR\d{6}\t[^\t]*\t\S+\t\d+\t\d+$/.test(first),
    read: (emit, _, skip) => readProtein2Ipr(emit, skip),
  },
  pfam: {
    title: "Pfam-A.regions.tsv",
    detect: (head, [first]) =>
      /^#?(pfamseq|uniprot)_acc\t/.test(head) || /^\S+\t\d+\t\w+\t[0-9a-f]{32}\tPF\d{5}\t/i.test(first),
    read: (emit, _, skip) => readPfamRegions(emit, skip),
  },
  bed: {
    title: "BED",
    detect: (_, lines) => {
      const [, from = "", to = ""] = (lines.find((line) => !/^(track|browser)\b/.test(line)) ?? "").split(
        /\t| +/,
      );
      return WHOLE.test(from) && WHOLE.test(to);
    },
    read: readBed,
  },
} as const satisfies Record<string, FeatureFormat>;

export type FeatureFormatName = keyof typeof FEATURE_FORMATS;
/** Title of the format of an imported file; the name of a format that is no longer read. */
export const formatTitle = (name: string): string =>
  Object.hasOwn(FEATURE_FORMATS, name) ? FEATURE_FORMATS[name as FeatureFormatName].title : name;
export const FEATURE_FORMAT_NAMES = Object.keys(FEATURE_FORMATS) as FeatureFormatName[];

/** Detects the format of a file by its beginning. @throws Problem invalid_request */
export function detectFormat(head: string): FeatureFormatName {
  const text = head.trimStart();
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "" && !line.startsWith("#"));
  const found = FEATURE_FORMAT_NAMES.find((name) => FEATURE_FORMATS[name].detect(text, lines));
  if (found) return found;
  const titles = FEATURE_FORMAT_NAMES.map(formatTitle).join(", ");
  if (text.startsWith("<"))
    throw new Problem(
      "invalid_request",
      `XML files are not supported. Download the entries from UniProt as text or JSON. Supported formats: ${titles}.`,
    );
  const begins = JSON.stringify((lines[0] ?? text).slice(0, 80));
  throw new Problem(
    "invalid_request",
    text === ""
      ? "The file is empty."
      : `The format of the file is not supported (${titles}). The file begins with ${begins}.`,
  );
}
