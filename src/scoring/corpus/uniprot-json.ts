import { lineProblem, type TextReader } from "./text-reader.ts";
import {
  emptyEntry,
  type EntryFeature,
  type TakeEntry,
  type UniProtEntry,
  withFragment,
} from "./uniprot-entry.ts";

/** Characters of one entry: titin's has 12 million. */
const MAX_ENTRY = 64_000_000;

interface Position {
  value?: number;
  modifier?: string;
}
interface Text {
  value?: string;
}
/** The members of an entry that are read; every field may be absent or of another kind. */
interface JsonEntry {
  primaryAccession?: string;
  uniProtkbId?: string;
  secondaryAccessions?: string[];
  entryType?: string;
  entryAudit?: { sequenceVersion?: number };
  organism?: { scientificName?: string; taxonId?: number };
  proteinExistence?: string;
  proteinDescription?: {
    recommendedName?: { fullName?: Text };
    submissionNames?: { fullName?: Text }[];
    flag?: string;
  };
  genes?: { geneName?: Text; orderedLocusNames?: Text[]; orfNames?: Text[] }[];
  features?: {
    type?: string;
    description?: string;
    featureId?: string;
    location?: { start?: Position; end?: Position; sequence?: string };
    alternativeSequence?: { originalSequence?: string; alternativeSequences?: string[] };
  }[];
  comments?: {
    commentType?: string;
    molecule?: string;
    subcellularLocations?: { location?: Text; topology?: Text; orientation?: Text }[];
  }[];
  sequence?: { value?: string; length?: number };
  uniProtKBCrossReferences?: {
    database?: string;
    id?: string;
    properties?: { key?: string; value?: string }[];
  }[];
}

/**
 * UniProt's JSON: the answer of a search (`{"results": […]}`), a list, one entry, or an entry per line. Entries are parsed
 * one at a time.
 */
export function readJsonEntries(take: TakeEntry, head: string): TextReader {
  return new ObjectSplitter(RESULTS.test(head), (text, line) => {
    let entry: JsonEntry;
    try {
      entry = JSON.parse(text) as JsonEntry;
    } catch (error) {
      throw lineProblem(
        line,
        `the entry that begins here is no valid JSON: ${(error as Error).message}.`,
        text.slice(0, 120),
      );
    }
    if (typeof entry.primaryAccession !== "string")
      throw lineProblem(
        line,
        "the entry that begins here has no primaryAccession. Expected UniProt's JSON.",
        text.slice(0, 120),
      );
    if (entry.entryType === "Inactive") return;
    let parsed: UniProtEntry;
    try {
      parsed = parseEntry(entry);
    } catch {
      throw lineProblem(line, `the entry ${entry.primaryAccession} is not of UniProt's form.`);
    }
    take(parsed, line);
  });
}

/** The beginning of the answer of a search. */
const RESULTS = /^\s*\{\s*("facets"\s*:\s*\[\]\s*,\s*)?"results"\s*:/;

type JsonFeature = NonNullable<JsonEntry["features"]>[number];

function parseEntry(read: JsonEntry): UniProtEntry {
  const { secondaryAccessions = [], sequence = {}, features = [], uniProtKBCrossReferences = [] } = read;
  const entry = emptyEntry();
  entry.entryName = read.uniProtkbId ?? "";
  entry.accessions = [read.primaryAccession!, ...secondaryAccessions];
  addHeader(entry, read);
  entry.residues = sequence.value ?? "";
  entry.length = sequence.length ?? 0;
  entry.features = features.map(parseFeature);
  entry.locations = findLocations(read.comments);
  for (const { database, id = "", properties = [] } of uniProtKBCrossReferences) {
    const value = (key: string): string => properties.find((one) => one.key === key)?.value ?? "";
    if (database === "PDB")
      entry.structures.push({
        id,
        method: value("Method"),
        resolution: value("Resolution"),
        chains: value("Chains"),
      });
  }
  return entry;
}

const findLocations = (comments: JsonEntry["comments"] = []): string[] =>
  comments
    .filter(
      ({ commentType, molecule = "" }) =>
        commentType === "SUBCELLULAR LOCATION" && !molecule.startsWith("Isoform "),
    )
    .flatMap(({ subcellularLocations = [] }) => subcellularLocations)
    .map(({ location, topology, orientation }) =>
      [location, topology, orientation]
        .map((one) => one?.value)
        .filter(Boolean)
        .join("; "),
    )
    .filter(Boolean);

/** What UniProt's FASTA says about an entry. */
function addHeader(entry: UniProtEntry, read: JsonEntry): void {
  const { organism: { scientificName = "", taxonId = "" } = {}, entryAudit: { sequenceVersion = "" } = {} } =
    read;
  entry.isReviewed = !read.entryType?.includes("unreviewed");
  entry.name = findName(read.proteinDescription);
  entry.organism = scientificName;
  entry.taxon = String(taxonId);
  entry.gene = findGene(read.genes);
  entry.existence = (read.proteinExistence ?? "").charAt(0);
  entry.version = String(sequenceVersion);
}

const findName = ({
  recommendedName,
  submissionNames = [],
  flag = "",
}: JsonEntry["proteinDescription"] = {}): string =>
  withFragment((recommendedName ?? submissionNames[0])?.fullName?.value ?? "", flag);

const findGene = ([gene = {}]: JsonEntry["genes"] = []): string =>
  (gene.geneName ?? gene.orderedLocusNames?.[0] ?? gene.orfNames?.[0])?.value ?? "";

const at = (position: Position = {}): number | null =>
  position.modifier === "UNKNOWN" ? null : (position.value ?? null);

function parseFeature(read: JsonFeature): EntryFeature {
  const { type = "", description = "", featureId = "", location = {}, alternativeSequence } = read;
  return {
    type,
    start: at(location.start),
    end: at(location.end),
    name: [parseChange(alternativeSequence), description].filter(Boolean).join(" "),
    id: featureId,
    isoform: location.sequence,
  };
}

function parseChange(
  change: { originalSequence?: string; alternativeSequences?: string[] } | undefined,
): string {
  const { originalSequence = "", alternativeSequences = [] } = change ?? {};
  return alternativeSequences.length === 0
    ? ""
    : `${originalSequence} -> ${alternativeSequences.join(" or ")}`;
}

const [OPEN, CLOSE, LIST, LIST_END, QUOTE, BACKSLASH, NEWLINE] = Array.from('{}[]"\\\n', (one) =>
  one.charCodeAt(0),
);
const isSpace = (code: number): boolean => code === 32 || (code >= 9 && code <= 13);

/** Cuts JSON into its entries, without parsing the text around them. */
class ObjectSplitter implements TextReader {
  #line = 1;
  /** Open brackets around the entries, and inside the current one. */
  #outer = "";
  #depth = 0;
  #isString = false;
  #isEscaped = false;
  /** Text of the current entry, and the line where it begins. */
  #parts: string[] = [];
  #size = 0;
  #begun = 1;

  /** @param isWrapped whether the first object is not an entry, but has a list of them */
  constructor(
    private readonly isWrapped: boolean,
    private readonly entry: (text: string, line: number) => void,
  ) {}

  write(text: string): void {
    let from = 0;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === NEWLINE) this.#line++;
      if (this.#isString) this.#inString(code);
      else if (code === QUOTE) this.#isString = true;
      else if (this.#depth > 0) {
        if (code === OPEN || code === LIST) this.#depth++;
        else if (code === CLOSE || code === LIST_END) this.#depth--;
        if (this.#depth === 0) {
          this.#keep(text.slice(from, at + 1));
          this.#finish();
        }
      } else if (this.#isEntry(code)) {
        this.#depth = 1;
        this.#begun = this.#line;
        from = at;
      } else this.#around(code);
    }
    if (this.#depth > 0) this.#keep(text.slice(from));
  }

  #inString(code: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (code === BACKSLASH) this.#isEscaped = true;
    else if (code === QUOTE) this.#isString = false;
  }

  end(): void {
    if (this.#depth > 0 || this.#outer !== "" || this.#isString)
      throw lineProblem(this.#line, "the text ends within an entry or a list. The file is truncated.");
  }

  #isEntry(code: number): boolean {
    return code === OPEN && (this.#outer === "" ? !this.isWrapped : this.#outer.endsWith("["));
  }

  #around(code: number): void {
    if (code === OPEN || code === LIST) this.#outer += String.fromCharCode(code);
    else if (code === CLOSE || code === LIST_END) this.#outer = this.#outer.slice(0, -1);
    else if (this.#outer === "" && !isSpace(code))
      throw lineProblem(
        this.#line,
        "expected JSON of UniProt: an entry, a list of entries, or a search result.",
      );
  }

  #keep(part: string): void {
    this.#parts.push(part);
    this.#size += part.length;
    if (this.#size > MAX_ENTRY)
      throw lineProblem(
        this.#begun,
        `the entry that begins here has more than ${MAX_ENTRY.toLocaleString("en")} characters.`,
      );
  }

  #finish(): void {
    const text = this.#parts.join("");
    this.#parts = [];
    this.#size = 0;
    this.entry(text, this.#begun);
  }
}
