import { href } from "../address.ts";
import { LinkButton } from "../components/button.tsx";
import { ErrorBanner } from "../components/banner.tsx";
import { Empty } from "../components/empty.tsx";
import { PageHead } from "../components/layout.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import { pluralize } from "../format.tsx";
import { definePage, useParams, useTitle } from "../page.tsx";
import { ApiError, call, type Answer } from "../request.ts";
import { ProteinIdentity, proteinTitle } from "../score/protein-identity.tsx";
import { findProteins, ProteinList } from "../score/protein-search.tsx";

/** A protein with what is known about it. */
type Protein = Answer<"GET /api/scoring/proteins/:accession">;

function ProteinPage() {
  const { accession = "" } = useParams();
  const found = useLoaded(accession, (signal) =>
    call("GET /api/scoring/proteins/:accession", { params: { accession }, signal }),
  );
  const title = found.value ? proteinTitle(found.value.protein) : accession;
  useTitle(`${title}, protein`);
  const isUnknown = found.error instanceof ApiError && found.error.status === 404;
  return (
    <>
      <PageHead
        title={title}
        crumbs={[{ name: "Proteins", href: href("/proteins") }]}
        actions={found.value && <Actions accession={accession} />}
      >
        <ProteinIdentity of={found.value?.protein} />
        {found.value && <Facts of={found.value} />}
      </PageHead>
      {isUnknown ? <Unknown accession={accession} /> : <Loaded of={found}>{() => null}</Loaded>}
    </>
  );
}

const Actions = ({ accession: protein }: { accession: string }) => (
  <>
    <LinkButton icon="scan-search" href={href("/scan", { protein })}>
      Scan
    </LinkButton>
    <LinkButton look="primary" icon="crosshair" href={href("/score", { protein })}>
      Score a motif
    </LinkButton>
  </>
);

const Facts = ({ of: { protein, corpus } }: { of: Protein }) => (
  <>
    {protein.entryName && `${protein.entryName}, `}
    {pluralize(protein.length, "residue")}, in {corpus.name} ({pluralize(corpus.sequences, "protein")}).
  </>
);

/** Offers proteins with similar names. */
function Unknown({ accession }: { accession: string }) {
  const found = useLoaded(accession, (signal) => findProteins(accession, signal));
  return (
    <Empty title={`No protein of the corpus has the accession ${accession}`} icon="search-x">
      {found.error !== undefined && <ErrorBanner error={found.error} />}
      {found.value && (
        <>
          {found.value.options.length > 0 && <p>Did you mean one of these?</p>}
          <ProteinList of={found.value.options} />
        </>
      )}
      <LinkButton href={href("/proteins", { q: accession })}>Find a protein</LinkButton>
    </Empty>
  );
}

export const proteinPage = definePage({
  name: "protein",
  paths: ["/proteins/:accession"],
  title: "Protein",
  View: ProteinPage,
});
