import { SaxesParser, type SaxesTagPlain } from "saxes";
import { badLine, type Emit, type FeatureReader, MAX_PER_PROTEIN } from "./feature-reader.ts";
import { UniProtEntry } from "./uniprot-entry.ts";

/** Elements within each other; UniProt has seven. saxes is quadratic in depth. */
const MAX_DEPTH = 32;
/** Characters of one text, attribute or tag. */
const MAX_TEXT = 1_000_000;

/** A feature while its elements arrive. */
interface OpenFeature {
  type: string;
  name: string;
  id: string;
  start: number | null;
  end: number | null;
  isoform: string | undefined;
  original: string;
  variations: string[];
}

/** A reference to the PDB while its elements arrive. */
interface OpenStructure {
  id: string;
  properties: Map<string, string>;
}

type Attributes = Readonly<Record<string, string>>;

/** UniProt's XML, as a stream of any size. */
export function readUniProtXml(emit: Emit): FeatureReader {
  return new XmlReader(emit);
}

class XmlReader implements FeatureReader {
  readonly #sax = new SaxesParser({
    xmlns: false,
    position: true,
    forceXMLVersion: true,
    defaultXMLVersion: "1.0",
  });
  readonly #path: string[] = [];
  #entry = new UniProtEntry();
  #feature: OpenFeature | undefined;
  #structure: OpenStructure | undefined;
  #text = "";
  /** Characters since the last event. */
  #silent = 0;

  constructor(private readonly emit: Emit) {
    const sax = this.#sax;
    sax.on("error", (error) =>
      this.#fail(`the XML is not well-formed: ${error.message.replace(/^[\d:\s]+/, "")}.`),
    );
    sax.on("doctype", () => this.#fail("a DOCTYPE is not allowed."));
    sax.on("opentag", (tag) => this.#onOpen(tag));
    sax.on("closetag", (tag) => this.#onClose(tag.name));
    sax.on("text", (text) => this.#onText(text));
    sax.on("cdata", (text) => this.#onText(text));
  }

  write(text: string): void {
    this.#silent += text.length;
    this.#sax.write(text);
    if (this.#silent > MAX_TEXT + text.length)
      this.#fail(`a text has more than ${MAX_TEXT.toLocaleString("en")} characters.`);
  }

  end(): void {
    this.#sax.close();
  }

  #fail(reason: string): never {
    throw badLine(this.#sax.line, reason);
  }

  #onText(text: string): void {
    this.#silent = 0;
    if (this.#text.length < MAX_TEXT) this.#text += text;
  }

  #onOpen({ name: full, attributes }: SaxesTagPlain): void {
    this.#silent = 0;
    this.#text = "";
    const name = localName(full);
    if (this.#path.length === 0 && name !== "uniprot" && name !== "entry")
      this.#fail(`the root is ${full}. Expected UniProt's XML, whose root is uniprot.`);
    this.#path.push(name);
    if (this.#path.length > MAX_DEPTH) this.#fail(`more than ${MAX_DEPTH} elements within each other.`);
    if (name === "entry") this.#entry = new UniProtEntry();
    else if (name === "feature") this.#openFeature(attributes);
    else if (this.#feature) this.#place(this.#feature, name, attributes);
    else this.#openOther(name, attributes);
  }

  #openOther(name: string, { type = "", id = "", value = "", length = "" }: Attributes): void {
    const isOfEntry = this.#path.at(-2) === "entry";
    if (name === "dbReference" && type === "PDB" && isOfEntry)
      this.#structure = { id, properties: new Map() };
    if (name === "property") this.#structure?.properties.set(type, value);
    if (name === "sequence" && isOfEntry) this.#entry.length = Number(length) || 0;
  }

  #openFeature(attributes: Attributes): void {
    if (this.#entry.features.length > MAX_PER_PROTEIN) this.#fail("too many features of one protein.");
    const { type = "", description = "", id = "" } = attributes;
    this.#feature = {
      type,
      name: description,
      id,
      start: null,
      end: null,
      isoform: undefined,
      original: "",
      variations: [],
    };
  }

  /** Reads the location of a feature. */
  #place(feature: OpenFeature, name: string, attributes: Attributes): void {
    if (name === "location") feature.isoform = attributes["sequence"];
    if (!["position", "begin", "end"].includes(name)) return;
    const text = attributes["position"];
    if (text !== undefined && !/^\d{1,9}$/.test(text))
      this.#fail(`position: expected a whole number; ${JSON.stringify(text.slice(0, 20))} was given.`);
    const position = text === undefined || attributes["status"] === "unknown" ? null : Number(text);
    if (name !== "end") feature.start = position;
    if (name !== "begin") feature.end = position;
  }

  #onClose(full: string): void {
    this.#silent = 0;
    const name = localName(full);
    this.#path.pop();
    const text = this.#text.trim();
    this.#text = "";
    if (name === "entry") this.#entry.emit(this.emit);
    else if (name === "feature" && this.#feature) this.#closeFeature(this.#feature);
    else if (this.#feature) {
      if (name === "original") this.#feature.original = text;
      if (name === "variation") this.#feature.variations.push(text);
    } else if (name === "dbReference" && this.#structure) this.#closeStructure(this.#structure);
    else if (this.#path.at(-1) === "entry") this.#closeField(name, text);
  }

  #closeField(name: string, text: string): void {
    if (name === "accession") this.#entry.accessions.push(text);
    if (name === "name") this.#entry.entryName = text;
    if (name === "sequence") this.#entry.residues = text.replace(/\s+/g, "");
  }

  #closeFeature({ type, name, id, start, end, isoform, original, variations }: OpenFeature): void {
    const change = variations.length === 0 ? "" : `${original} -> ${variations.join(" or ")}`;
    const described = [change, name].filter(Boolean).join(" ");
    this.#entry.add({ type, start, end, name: described, id, ...(isoform === undefined ? {} : { isoform }) });
    this.#feature = undefined;
  }

  #closeStructure({ id, properties }: OpenStructure): void {
    const value = (key: string): string => properties.get(key) ?? "";
    const resolution = value("resolution") === "" ? "" : `${value("resolution")} A`;
    this.#entry.addStructure(id, value("method"), resolution, value("chains"));
    this.#structure = undefined;
  }
}

const localName = (name: string): string => name.slice(name.indexOf(":") + 1);
