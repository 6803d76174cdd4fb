/** Proteins of Swiss-Prot outside the collection of the benchmarks, drawn by seed: for fitting and for judging the null. */
import { type Corpus, openCorpus } from "../../src/motif/corpus.ts";
import { packCorpus } from "../../src/motif/corpus-builder.ts";
import { type FastaEntry, readFasta } from "../../src/motif/fasta.ts";
import { shuffled } from "../../src/motif/random.ts";
import { groupByHomology, readOrganisms, unpack } from "./benchmark-data.ts";

const SEED = 28;
const MIN_LENGTH = 60;
const MAX_LENGTH = 2000;

export type Kingdom = "eukaryotes" | "bacteria" | "archaea" | "viruses" | "reversed";

/** Proteins to draw for the fit and for judging. */
const COUNTS: Readonly<Record<Exclude<Kingdom, "reversed">, { fit: number; judge: number }>> = {
  eukaryotes: { fit: 1300, judge: 320 },
  bacteria: { fit: 700, judge: 500 },
  archaea: { fit: 450, judge: 400 },
  viruses: { fit: 400, judge: 350 },
};
/** Eukaryotic and bacterial proteins each, read backwards. */
const REVERSED = 100;

export interface NullProtein {
  accession: string;
  kingdom: Kingdom;
  isFit: boolean;
  residues: Uint8Array;
}

const words = (text: string): Set<string> => new Set(text.trim().split(/\s+/));

const ARCHAEA =
  /^(Methan|Halo|Natron|Pyrococc|Thermococc|Sulfolob|Archaeo|Aeropyr|Pyrobacul|Thermoplasma|Picrophil|Thermoprote|Caldivirg|Metallosph|Nitrosopum|Cenarch|Nanoarch|Ferroplas|Korarch)/;
const EUKARYOTES =
  words(`Homo Mus Saccharomyces Rattus Bos Xenopus Danio Drosophila Caenorhabditis Arabidopsis Gallus Pongo
  Schizosaccharomyces Dictyostelium Sus Macaca Oryctolagus Candida Oryza Canis Pan Nicotiana Solanum Neurospora Aspergillus Zea
  Ovis Kluyveromyces Cavia Cricetulus Emericella Pisum Oncorhynchus Mesocricetus Equus Takifugu Hordeum Debaryomyces Anopheles
  Trypanosoma Plasmodium Glycine Spinacia Salmo Nematostella Felis Aedes Yarrowia Triticum Gorilla Brassica Chlamydomonas`);
const BACTERIA =
  words(`Escherichia Bacillus Mycobacterium Staphylococcus Pseudomonas Streptococcus Haemophilus Salmonella
  Helicobacter Neisseria Rickettsia Chlamydia Streptomyces Buchnera Mycoplasma Synechocystis Vibrio Clostridium Rhizobium
  Corynebacterium Aquifex Lactococcus Thermotoga Yersinia Campylobacter Shewanella Lactobacillus Treponema Pasteurella
  Burkholderia Prochlorococcus Borrelia Brucella Acinetobacter Synechococcus Thermus Deinococcus Xylella Chlorobium Francisella`);

function kingdomOf(organism: string): Exclude<Kingdom, "reversed"> | null {
  if (/virus|phage/i.test(organism)) return "viruses";
  if (ARCHAEA.test(organism)) return "archaea";
  const [genus] = organism.split(" ");
  if (EUKARYOTES.has(genus)) return "eukaryotes";
  return BACTERIA.has(genus) ? "bacteria" : null;
}

/** The proteins, sorted by length; those for judging have no homologs among those for the fit. */
export function drawNullProteins(directory: string, collection: Corpus): NullProtein[] {
  const organisms = readOrganisms(directory);
  const pools: Record<Exclude<Kingdom, "reversed">, FastaEntry[]> = {
    eukaryotes: [],
    bacteria: [],
    archaea: [],
    viruses: [],
  };
  for (const entry of readFasta(unpack(directory, "swissprot2014_all.fasta.xz"))) {
    const { length } = entry.residues;
    const kingdom = kingdomOf(organisms.get(entry.accession) ?? "");
    if (kingdom === null || length < MIN_LENGTH || length > MAX_LENGTH) continue;
    if (collection.findAccession(entry.accession) < 0) pools[kingdom].push(entry);
  }
  const drawn = (Object.keys(pools) as (keyof typeof pools)[]).flatMap((kingdom, k) => {
    const { fit, judge } = COUNTS[kingdom];
    const order = shuffled(pools[kingdom].length, SEED + k);
    const take = (from: number, count: number): FastaEntry[] =>
      Array.from(order.subarray(from, from + count), (i) => pools[kingdom][i]);
    const backwards = kingdom === "eukaryotes" || kingdom === "bacteria" ? REVERSED : 0;
    const fitted = take(0, fit).map((entry) => proteinOf(entry, kingdom, true));
    const judged = take(fit, judge).map((entry) => proteinOf(entry, kingdom, false));
    return fitted.concat(
      judged,
      take(fit + judge, backwards).map((entry) => proteinOf(entry, "reversed", false)),
    );
  });
  return withoutRelatives(drawn).sort((a, b) => a.residues.length - b.residues.length);
}

const proteinOf = ({ accession, residues }: FastaEntry, kingdom: Kingdom, isFit: boolean): NullProtein => ({
  accession,
  kingdom,
  isFit,
  residues: kingdom === "reversed" ? residues.toReversed() : residues,
});

/** Leaves out the proteins for judging that share a family with one for the fit. */
function withoutRelatives(proteins: readonly NullProtein[]): NullProtein[] {
  const entries = proteins.map(({ accession, residues }) => ({
    accession,
    description: "",
    organism: null,
    speciesKey: null,
    residues,
  }));
  const small = openCorpus(packCorpus("drawn", entries));
  const families = groupByHomology(
    small,
    proteins.map(({ accession }) => accession),
  );
  const fitted = new Set(
    proteins.filter(({ isFit }) => isFit).map(({ accession }) => families.get(accession)),
  );
  return proteins.filter(({ accession, isFit }) => isFit || !fitted.has(families.get(accession)));
}
