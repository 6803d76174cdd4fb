import { findSpecies, findEnsemblSpecies } from "./species.ts";

/** Facts from a FASTA header about a protein. */
export interface ProteinIdentity {
  /** Identifier: `P04637` of `sp|P04637|P53_HUMAN`, otherwise the first word. */
  accession: string;
  /** Name of the protein without accession, organism and database fields; may be empty. */
  description: string;
  /** UniProt's name of the entry, such as `P53_HUMAN`. */
  entryName: string | null;
  /** Symbol of the gene; Ensembl's stable identifier of a gene without symbol. */
  gene: string | null;
  /** Scientific name, or a species mnemonic that is not known. */
  organism: string | null;
  /** NCBI's number of the organism. */
  taxon: number | null;
}

/** A parsed FASTA header. */
export interface FastaHeader extends ProteinIdentity {
  /** The header line without `>`. */
  header: string;
  /**
   * Equal for proteins of one species from one source: `ox:9606`, else `os:homo sapiens`, else `id:HUMAN`
   * (UniProt mnemonic), else `ensembl:ENSMUS` (prefix of a stable identifier), else null.
   */
  speciesKey: string | null;
}

/** UniProt entry name: protein part, `_`, species mnemonic. */
const ENTRY_NAME = /^[A-Z0-9]{1,11}_([A-Z0-9]{2,5})$/;
/** Stable identifier of Ensembl: prefix of the species (none for human), type letters, eleven digits. */
const ENSEMBL = /^(ENS[A-Z]{0,4}?)(?:FM|GT|[EGPRT])\d{11}(?:\.\d+)?$/;

/** Fields of a header by any database; a source gives some of them. */
interface HeaderFields {
  name: string;
  gene?: string | undefined;
  organism?: string | undefined;
  /** Text in brackets at the end, usually the organism. */
  bracket?: string | undefined;
  taxon?: string | undefined;
  accession?: string | undefined;
  /** Entry name that is not part of the identifier. */
  entryName?: string | undefined;
}

/**
 * Parses a FASTA header of UniProt (`sp|P04637|P53_HUMAN Name OS=… OX=… GN=…`, `Q02843 GAG_SIVG1 OS=…`), UniRef
 * (`UniRef90_P04637 Name n=… Tax=… TaxID=… RepID=…`), NCBI (`NP_000537.3 name [Homo sapiens]`, `gi|…|ref|…|`,
 * `[organism=…] [gene=…]`), Ensembl (`ENSP00000269305.9 pep … gene_symbol:… description:… [Source:…]`), or an accession
 * and a name.
 */
export function readHeader(header: string): FastaHeader {
  const text = header.trim();
  const first = text.split(/\s/, 1)[0];
  const identifier = readIdentifier(first);
  const rest = text.slice(first.length).trim();
  const ensembl = ENSEMBL.exec(identifier.accession)?.[1];
  const fields = readFields(rest, ensembl !== undefined);
  const named = readEntryName(fields.entryName ?? identifier.entryName, fields.name);
  const organism = fields.organism ?? fields.bracket;
  const known = ensembl === undefined ? findSpecies(organism ?? named.mnemonic) : findEnsemblSpecies(ensembl);
  return {
    header: text,
    accession: fields.accession ?? identifier.accession,
    description: named.rest,
    entryName: named.entryName,
    gene: fields.gene ?? null,
    organism: organism ?? known?.organism ?? named.mnemonic ?? null,
    taxon: Number(fields.taxon ?? known?.taxon) || null,
    speciesKey: makeSpeciesKey(fields, named.mnemonic, ensembl),
  };
}

function makeSpeciesKey(
  { taxon, organism, bracket }: HeaderFields,
  mnemonic: string | undefined,
  ensembl: string | undefined,
): string | null {
  const keys = [
    ["ox", taxon],
    ["os", organism?.toLowerCase()],
    ["id", mnemonic],
    ["os", bracket?.toLowerCase()],
    ["ensembl", ensembl],
  ];
  return keys.find(([, value]) => value !== undefined)?.join(":") ?? null;
}

function readFields(text: string, isEnsembl: boolean): HeaderFields {
  if (isEnsembl || /(^|\s)gene:\S/.test(text)) return ensemblFields(text);
  if (/(^|\s)(OS|OX|GN|PE|SV)=/.test(text)) return uniprotFields(text);
  if (/(^|\s)n=\d+\s+Tax=/.test(text)) return unirefFields(text);
  if (/\[\w+=[^\]]*\]/.test(text)) return ncbiFields(text);
  const bracket = lastBracket(text);
  return { name: bracket?.before ?? text, bracket: bracket?.inside };
}

/** The text before UniProt's ` XY=value` fields, and those fields. */
function uniprotFields(text: string): HeaderFields {
  const organism = field(text, "OS");
  const name = text.slice(0, text.search(/(^|\s)(OS|OX|GN|PE|SV)=/)).trim();
  const bracket = organism === undefined ? lastBracket(name) : null;
  return {
    name: bracket?.before ?? name,
    organism,
    bracket: bracket?.inside,
    taxon: /^\d+/.exec(field(text, "OX") ?? "")?.[0],
    gene: field(text, "GN"),
  };
}

function unirefFields(text: string): HeaderFields {
  const value = (key: string): string | undefined =>
    new RegExp(`(?:^|\\s)${key}=(.*?)(?=\\s+(?:n|Tax|TaxID|RepID)=|$)`).exec(text)?.[1];
  return {
    name: text.slice(0, text.search(/(^|\s)n=\d/)).trim(),
    organism: value("Tax"),
    taxon: /^\d+$/.exec(value("TaxID") ?? "")?.[0],
    entryName: value("RepID"),
  };
}

/** NCBI's `[key=value]` fields. */
function ncbiFields(text: string): HeaderFields {
  const fields = new Map([...text.matchAll(/\[(\w+)=([^\]]*)\]/g)].map(([, key, value]) => [key, value]));
  return {
    name: text.slice(0, text.search(/\[\w+=/)).trim() || (fields.get("protein") ?? ""),
    organism: fields.get("organism"),
    gene: fields.get("gene"),
    accession: fields.get("protein_id"),
  };
}

/** Ensembl's `key:value` fields; its description is the last. */
function ensemblFields(text: string): HeaderFields {
  const value = (key: string): string | undefined =>
    new RegExp(`(?:^|\\s)${key}:(\\S+)`).exec(text)?.[1].replace(/^"|"$/g, "");
  const hasFields = /(^|\s)(pep|gene:\S+)(\s|$)/.test(text);
  const description = /(?:^|\s)description:(.*)$/.exec(text)?.[1];
  return {
    name: (description ?? (hasFields ? "" : text))
      .replace(/^"|"$/g, "")
      .replace(/\s*\[Source:[^\]]*\]\s*$/, "")
      .trim(),
    gene: value("gene_symbol") ?? value("gene")?.replace(/\.\d+$/, ""),
  };
}

/** The entry name, in the identifier or the word after it, its species mnemonic, and the other words. */
function readEntryName(
  identifier: string,
  text: string,
): { entryName: string | null; mnemonic: string | undefined; rest: string } {
  const word = text.split(/\s/, 1)[0];
  const inIdentifier = ENTRY_NAME.exec(identifier);
  const [entryName, mnemonic] = inIdentifier ?? ENTRY_NAME.exec(word) ?? [];
  return {
    entryName: entryName ?? null,
    // UniProt mnemonics that start with 9 denote groups of organisms.
    mnemonic: mnemonic?.startsWith("9") ? undefined : mnemonic,
    rest: !inIdentifier && entryName !== undefined ? text.slice(word.length).trim() : text,
  };
}

/** First word of a header: `db|accession|name`, NCBI's longer chains, or an accession. */
function readIdentifier(word: string): { accession: string; entryName: string } {
  const parts = word.split("|");
  if (parts.length === 1) return { accession: word, entryName: word };
  const chain = parts[0] === "gi" && parts.length >= 4 ? parts.slice(2) : parts;
  if (chain[0] === "pdb" && chain[2]) return { accession: `${chain[1]}_${chain[2]}`, entryName: "" };
  if (chain[0] === "gnl" && chain[2]) return { accession: chain[2], entryName: "" };
  return { accession: chain[1] || chain[2] || word, entryName: chain[2] ?? "" };
}

/** Value of ` XY=value` up to the next field. */
function field(text: string, key: string): string | undefined {
  const value = new RegExp(`(?:^|\\s)${key}=(.*?)(?=\\s+[A-Z]{2}=|$)`).exec(text)?.[1].trim();
  return value === "" ? undefined : value;
}

/** Bracketed text at the end, with nested brackets. */
function lastBracket(text: string): { before: string; inside: string } | null {
  if (!text.endsWith("]")) return null;
  let depth = 0;
  for (let i = text.length - 1; i >= 0; i--) {
    if (text[i] === "]") depth++;
    else if (text[i] === "[" && --depth === 0) {
      const inside = text.slice(i + 1, -1).trim();
      return inside === "" ? null : { before: text.slice(0, i).trim(), inside };
    }
  }
  return null;
}
