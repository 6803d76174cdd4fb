import type { ProteinObject } from "../../scoring/index.ts";
import { href } from "../address.ts";
import type { Job } from "./job.ts";

/** Names of a protein in lists and tables. */
export type ProteinNames = Pick<ProteinObject, "accession" | "gene" | "name" | "organism">;

/** The name of a protein for headings: its own, else that of its gene or entry. */
export const proteinTitle = ({ name, gene, entryName, accession }: ProteinObject): string =>
  name || gene || entryName || accession;

/** The page with all about a protein of the corpus. */
export const proteinHref = ({ accession }: Pick<ProteinObject, "accession">): string =>
  href(`/proteins/${encodeURIComponent(accession)}`);

/** The query of a job in a heading. */
export const jobTitle = (job: Job | null, otherwise: string): string => queryTitle(job, otherwise);

/** The heading for anything that names a query. */
export const queryTitle = (query: Pick<Job, "identifier" | "protein"> | null, otherwise: string): string =>
  query?.protein ? proteinTitle(query.protein) : query?.identifier || otherwise;

/** The query of a job in a list: gene and species. */
export const shortJobTitle = ({ protein, identifier }: Pick<Job, "identifier" | "protein">): string =>
  protein
    ? [protein.gene ?? protein.accession, protein.organism].filter(Boolean).join(", ")
    : identifier || "protein";

/** Gene, species and accession below a heading, with links to its page and to databases that know it. */
export function ProteinIdentity(props: {
  of: ProteinObject | null | undefined;
  /** True on the page of the protein. */
  isHere?: boolean;
  /** Entries of the PDB with the protein. */
  structures?: readonly string[];
}) {
  const { of, isHere = false, structures = [] } = props;
  if (!of) return null;
  const { gene, organism, accession, entryName } = of;
  const entries = structures.map((id): [string, string] => [`PDB ${id}`, `${PDB}${id}`]);
  const databases = [...databaseLinks(accession), ...entries];
  return (
    <p class="identity">
      {gene && <b>{gene}</b>}
      {organism && <i>{organism}</i>}
      {isHere ? (
        <span>{[accession, entryName].filter(Boolean).join(", ")}</span>
      ) : (
        <a href={proteinHref(of)}>{accession}</a>
      )}
      {databases.map(([name, address]) => (
        <a key={name} href={address}>
          {name}
        </a>
      ))}
    </p>
  );
}

/** The client's name of a protein, and below it gene, species and name. */
export function ProteinCell({ identifier, of }: { identifier: string; of: ProteinNames | null }) {
  if (!of) return <>{identifier}</>;
  const gene = of.gene === identifier ? null : of.gene;
  const name = [gene && `${gene}, `, of.organism, of.organism && of.name && ", ", of.name];
  return (
    <>
      {identifier}
      <small class="second-line names" title={name.join("")}>
        {name[0]}
        <i>{name[1]}</i>
        {name[2]}
        {name[3]}
      </small>
    </>
  );
}

/** The page of a structure of the Protein Data Bank is this with its id. */
export const PDB = "https://www.rcsb.org/structure/";
/** Accession of UniProtKB, https://www.uniprot.org/help/accession_numbers */
const UNIPROT = /^(?:[OPQ]\d[A-Z\d]{3}\d|[A-NR-Z]\d(?:[A-Z][A-Z\d]{2}\d){1,2})$/;

/** Pages about a protein of UniProt; none for other accessions. */
export function databaseLinks(accession: string): [name: string, address: string][] {
  const [own, isoform] = accession.split("-");
  if (!UNIPROT.test(own)) return [];
  return [
    ["UniProt", `https://www.uniprot.org/uniprotkb/${isoform ? accession : own}/entry`],
    ["AlphaFold DB", `https://alphafold.ebi.ac.uk/entry/${own}`],
    ["InterPro", `https://www.ebi.ac.uk/interpro/protein/UniProt/${own}/`],
    ["ELM", `http://elm.eu.org/instances.html?q=${own}`],
  ];
}
