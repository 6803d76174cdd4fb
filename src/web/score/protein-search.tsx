import { Combobox, type Found } from "../components/combobox.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { formatCount, pluralize } from "../format.tsx";
import { call } from "../request.ts";
import type { ProteinObject } from "../../scoring/index.ts";
import { proteinHref, proteinTitle } from "./protein-identity.tsx";

const MOST = 10;

const find = (query: string, limit: number, signal: AbortSignal) =>
  call("GET /api/scoring/proteins", { query: { query: query.slice(0, 200), limit }, signal });

/** Proteins of the corpus with these words, as a combobox shows them. */
export async function findProteins(
  text: string,
  signal: AbortSignal,
  most = MOST,
): Promise<Found<ProteinObject>> {
  const { total, results, near, searched } = await find(text, most, signal);
  if (total > 0) return { options: results, note: describeFound(total, results.length) };
  const offer = near.length > 0 ? " Near misses:" : "";
  const note = `None of the ${pluralize(searched, "protein")} of the corpus has ${/\s/.test(text.trim()) ? "all these words" : "this word"}.${offer}`;
  return { options: near, note, areNear: true };
}

/** Finds a protein of the corpus by name, gene, species or accession. */
export const ProteinSearch = ({ onChoose }: { onChoose: (accession: string) => void }) => (
  <Combobox<ProteinObject>
    label="Find a protein"
    placeholder="Gene, name, species or accession, such as TP53 human"
    shown=""
    allowsTypedOnly
    search={findProteins}
    optionKey={({ accession }) => accession}
    onChoose={({ accession }) => onChoose(accession)}
  >
    {(protein) => <ProteinOption of={protein} />}
  </Combobox>
);

export const ProteinOption = ({ of }: { of: ProteinObject }) => (
  <>
    {proteinTitle(of)} <ProteinDetails of={of} />
  </>
);

/** Proteins that a search found, with links to their pages. */
export const ProteinList = ({ of: proteins }: { of: readonly ProteinObject[] }) => (
  <ul class="list found">
    {proteins.map((protein) => (
      <li key={protein.accession}>
        <a href={proteinHref(protein)}>{proteinTitle(protein)}</a>
        <ProteinDetails of={protein} />
      </li>
    ))}
  </ul>
);

function describeFound(total: number, shown: number): string | undefined {
  return total > shown ? `${formatCount(total - shown)} more. Add a word, such as a species.` : undefined;
}

/** Gene, species, accession and length. */
export const ProteinDetails = ({ of }: { of: ProteinObject }) => (
  <small>
    {of.gene && <>{of.gene}, </>}
    {of.organism && (
      <>
        <i>{of.organism}</i>,{" "}
      </>
    )}
    {of.accession}, {formatCount(of.length)} residues
  </small>
);

/** The protein of the corpus with this accession, once it has been looked up. */
export function CorpusProtein({
  accession,
  onChoose,
}: {
  accession: string;
  onChoose: (accession: string) => void;
}) {
  const wanted = /^\w+\|([^|]+)/.exec(accession)?.[1] ?? accession;
  const { value, error, busy } = useLoaded(wanted, async (signal) => ({
    wanted,
    ...(await find(wanted, MOST, signal)),
  }));
  if (error !== undefined && !busy) return <>{error instanceof Error ? error.message : ""}</>;
  if (value?.wanted !== wanted) return <>Looking up {wanted}…</>;
  const found = value.results.find((protein) => protein.accession === wanted);
  if (found)
    return (
      <>
        {found.name && <>{found.name}, </>}
        <ProteinDetails of={found} />
      </>
    );
  const near = [...value.results, ...value.near].slice(0, 3);
  return (
    <>
      None of the {pluralize(value.searched, "protein")} of the corpus has the accession {wanted}.
      {near.length > 0 && " Did you mean one of these?"}
      {near.map((protein) => (
        <button
          key={protein.accession}
          type="button"
          class="chip"
          onClick={() => onChoose(protein.accession)}
        >
          {protein.gene ?? protein.entryName ?? protein.accession} {protein.organism}
        </button>
      ))}
    </>
  );
}
