import { Problem } from "../../problem.ts";

/** A residue with coordinates. */
interface ModelResidue {
  /** Number in the file, with its insertion code, such as `27A`. */
  number: string;
  letter: string;
  bFactor: number;
}

export interface ModelChain {
  id: string;
  residues: ModelResidue[];
}

/** The protein chains of a structure model, the first model of several. */
export interface ModelFile {
  format: ModelFormat;
  /** True if its B factors are confidences (pLDDT) of a predicted structure. */
  isPrediction: boolean;
  chains: ModelChain[];
}

export type ModelFormat = "mmcif" | "pdb";

/** Bytes of a model when it is unpacked: AlphaFold's largest have 3 MB. */
export const MAX_MODEL = 10_000_000;

const THREE =
  "ALA ARG ASN ASP CYS GLN GLU GLY HIS ILE LEU LYS MET PHE PRO SER THR TRP TYR VAL SEC PYL ASX GLX";
const ONE = "ARNDCQEGHILKMFPSTWYVUOBZ";
/** Modified residues that are common in structures, by the residue that they come from. */
const MODIFIED_RESIDUES =
  "MSE:M SEP:S TPO:T PTR:Y CSO:C CME:C OCS:C HYP:P MLY:K M3L:K ALY:K KCX:K MLZ:K PCA:Q CGU:E";
const LETTERS = new Map([
  ...THREE.split(" ").map((name, i) => [name, ONE[i]] as const),
  ...MODIFIED_RESIDUES.split(" ").map((pair) => pair.split(":") as [string, string]),
]);

interface Atom {
  isHetero: boolean;
  name: string;
  /** Three-letter code of its residue. */
  component: string;
  chain: string;
  number: string;
  bFactor: number;
}

/** @throws Problem invalid_request naming the line */
export function readModel(text: string): ModelFile {
  const format = detectFormat(text);
  const chains = new Map<string, ModelChain>();
  // Predictions have one value per residue, experiments one per atom.
  let isUniform = true;
  let previous: Atom | undefined;
  for (const atom of format === "pdb" ? pdbAtoms(text) : cifAtoms(text)) {
    const { chain, number, bFactor } = atom;
    const letter = findLetter(atom);
    if (letter === undefined) continue;
    if (previous?.number === number && previous.chain === chain) isUniform &&= previous.bFactor === bFactor;
    previous = atom;
    if (atom.name !== "CA") continue;
    const { residues }: Pick<ModelChain, "residues"> = chains.get(chain) ?? { residues: [] };
    // The first of several alternative positions.
    if (residues.at(-1)?.number !== number) residues.push({ number, letter, bFactor });
    chains.set(chain, { id: chain, residues });
  }
  const found = [...chains.values()];
  if (found.length === 0)
    throw invalid("the file has no protein with coordinates. Expected residues with CA atoms.");
  const isPrediction = isUniform && areConfidences(found) && !isExperiment(text, format);
  return { format, isPrediction, chains: found };
}

/** Residue letter; undefined for ligands, ions and water. */
const findLetter = ({ component, isHetero }: Atom): string | undefined =>
  LETTERS.get(component) ?? (isHetero ? undefined : "X");

/** True if the B factors are percentages. */
function areConfidences(chains: readonly ModelChain[]): boolean {
  const values = chains.flatMap(({ residues }) => residues.map(({ bFactor }) => bFactor));
  return values.every((value) => value >= 0 && value <= 100) && values.some((value) => value > 1);
}

const isExperiment = (text: string, format: ModelFormat): boolean =>
  format === "pdb"
    ? /^EXPDTA(?!.*THEORETICAL)/m.test(text)
    : /^_exptl\./m.test(text) && !/^_ma_|THEORETICAL MODEL/m.test(text);

/** @throws Problem invalid_request */
export function detectFormat(text: string): ModelFormat {
  if (/^_atom_site\./m.test(text)) return "mmcif";
  if (/^(?:ATOM {2}|HETATM)/m.test(text)) return "pdb";
  throw invalid("the file is neither mmCIF nor PDB. Expected _atom_site or ATOM records.");
}

/** The path of a model in requests, for errors. */
export const MODEL = { path: ["model"] };

const invalid = (reason: string): Problem => new Problem("invalid_request", reason, MODEL);

/** Atoms of the first model of a PDB file (format 3.30). */
function* pdbAtoms(text: string): Generator<Atom> {
  let number = 0;
  for (const line of text.split(/\r\n|\r|\n/)) {
    number++;
    if (line.startsWith("ENDMDL")) return;
    const isHetero = line.startsWith("HETATM");
    if (!isHetero && !line.startsWith("ATOM  ")) continue;
    yield {
      isHetero,
      name: line.slice(12, 16).trim(),
      component: line.slice(17, 20).trim(),
      chain: line.slice(21, 22).trim(),
      number: readNumber(line.slice(22, 26), line.slice(26, 27), number),
      bFactor: readValue(line.slice(60, 66), number),
    };
  }
}

/** Names of the columns of `_atom_site`; the authors' numbers are those that viewers show. */
const CIF = {
  group: ["group_PDB"],
  name: ["label_atom_id", "auth_atom_id"],
  component: ["label_comp_id", "auth_comp_id"],
  chain: ["auth_asym_id", "label_asym_id"],
  number: ["auth_seq_id", "label_seq_id"],
  insertion: ["pdbx_PDB_ins_code"],
  bFactor: ["B_iso_or_equiv"],
  model: ["pdbx_PDB_model_num"],
} as const;
const REQUIRED_COLUMNS = ["name", "component", "chain", "number"] as const;

/** Atoms of the first model of an mmCIF file. */
function* cifAtoms(text: string): Generator<Atom> {
  const names: string[] = [];
  let at: Record<keyof typeof CIF, number> | undefined;
  let model: string | undefined;
  let number = 0;
  for (const line of text.split(/\r\n|\r|\n/)) {
    number++;
    if (line.startsWith("_atom_site.")) names.push(line.slice("_atom_site.".length).trim());
    else if (names.length > 0 && !/^(?:#|loop_|data_|_|\s*$)/.test(line)) {
      at ??= findColumns(names);
      const cells = splitCells(line);
      if (cells.length !== names.length)
        throw invalid(`line ${number} has ${cells.length} values; _atom_site has ${names.length} columns.`);
      const cell = (column: keyof typeof CIF): string => cells[at![column]] ?? "";
      model ??= cell("model");
      if (cell("model") === model) yield parseAtom(cell, number);
    } else if (at) return;
  }
}

function findColumns(names: readonly string[]): Record<keyof typeof CIF, number> {
  const found = Object.entries(CIF).map(([column, choices]) => [
    column,
    names.indexOf(choices.find((choice) => names.includes(choice)) ?? ""),
  ]);
  const columns = Object.fromEntries(found) as Record<keyof typeof CIF, number>;
  const missing = REQUIRED_COLUMNS.find((column) => columns[column] < 0);
  if (missing !== undefined) throw invalid(`_atom_site lacks the column ${CIF[missing][0]}.`);
  return columns;
}

/** Values of a line, of which some are quoted. */
const splitCells = (line: string): string[] =>
  /['"]/.test(line)
    ? [...line.matchAll(/'(.*?)'(?=\s|$)|"(.*?)"(?=\s|$)|\S+/g)].map(
        ([whole, one, two]) => one ?? two ?? whole,
      )
    : line.trim().split(/\s+/);

const parseAtom = (cell: (column: keyof typeof CIF) => string, line: number): Atom => ({
  isHetero: cell("group") === "HETATM",
  name: cell("name"),
  component: cell("component"),
  chain: cell("chain"),
  number: readNumber(cell("number"), cell("insertion"), line),
  bFactor: readValue(cell("bFactor"), line),
});

function readNumber(text: string, insertion: string, line: number): string {
  const number = text.trim();
  if (!/^-?\d+$/.test(number)) throw invalid(`line ${line}: "${number}" is not the number of a residue.`);
  return Number(number) + insertion.replace(/^[?. ]$/, "");
}

/** Files without B factors are read, too. */
function readValue(text: string, line: number): number {
  const word = text.trim();
  const value = word === "" || word === "?" || word === "." ? 0 : Number(word);
  if (Number.isFinite(value)) return value;
  throw invalid(`line ${line}: "${word}" is not a B factor.`);
}
