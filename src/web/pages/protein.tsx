import { useMemo } from "preact/hooks";
import type { PatternScores } from "../../motif/index.ts";
import type { StructureModel } from "../../scoring/index.ts";
import { href } from "../address.ts";
import { ErrorBanner } from "../components/banner.tsx";
import { LinkButton } from "../components/button.tsx";
import { DataLink } from "../components/data-link.tsx";
import { Empty } from "../components/empty.tsx";
import { Card, PageHead } from "../components/layout.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import { pluralize } from "../format.tsx";
import { definePage, useParams, useQuery, useTitle } from "../page.tsx";
import { useSession } from "../session.ts";
import { GeneRecords } from "../inventory/gene-records.tsx";
import { ApiError } from "../request.ts";
import { AllFeatures } from "../score/known-card.tsx";
import { CladeView } from "../score/clade-view.tsx";
import { type Protein, type ProteinMatch, readProtein, scoredJobs, useScored } from "../score/protein.ts";
import { PositionProvider, usePosition } from "../score/position.ts";
import { ProteinIdentity, proteinTitle } from "../score/protein-identity.tsx";
import { ProteinAnswer, ProteinMatches } from "../score/protein-matches.tsx";
import { ProteinRecent } from "../score/protein-recent.tsx";
import { findProteins, ProteinList } from "../score/protein-search.tsx";
import { type ClassName, useClassNames } from "../score/scan.ts";
import type { NumberedMatch, Result } from "../score/result.ts";
import { modelOfProtein, readPLddt, Structure, useStructure } from "../score/structure.tsx";
import { parseSpan } from "../score/track-geometry.ts";
import { ProteinTracks } from "../score/tracks.tsx";
import { Variants } from "../score/variants.tsx";
import { WatchButton } from "../score/watch-button.tsx";

function ProteinPage() {
  const { accession = "" } = useParams();
  const found = useLoaded(accession, (signal) => readProtein(accession, signal));
  const title = found.value ? proteinTitle(found.value.protein) : accession;
  useTitle(`${title}, protein`);
  const isUnknown = found.error instanceof ApiError && found.error.status === 404;
  return (
    <>
      <PageHead
        title={title}
        crumbs={[{ name: "Proteins", href: href("/proteins") }]}
        actions={found.value && <Actions of={found.value} />}
      >
        <ProteinIdentity of={found.value?.protein} isHere structures={listStructures(found.value)} />
        {found.value && <Facts of={found.value} />}
      </PageHead>
      {isUnknown ? (
        <Unknown accession={accession} />
      ) : (
        <Loaded of={found}>{(protein) => <ProteinView of={protein} />}</Loaded>
      )}
    </>
  );
}

/** Entries of the PDB that links lead to. */
const MAX_STRUCTURES = 4;

/** Structures of known motifs of the protein. */
const listStructures = (of: Protein | undefined): string[] =>
  [...new Set(of?.features.flatMap(({ structures = [] }) => structures))].slice(0, MAX_STRUCTURES);

/** The last result can be watched. */
const Actions = ({ of }: { of: Protein }) => (
  <>
    <WatchButton job={scoredJobs(of)[0] ?? null} />
    <LinkButton icon="scan-search" href={href("/scan", { protein: of.protein.accession })}>
      Scan
    </LinkButton>
    <LinkButton look="primary" icon="crosshair" href={href("/score", { protein: of.protein.accession })}>
      Score a motif
    </LinkButton>
  </>
);

const Facts = ({ of: { protein, corpus } }: { of: Protein }) => (
  <>
    {pluralize(protein.length, "residue")}, in {corpus.name} ({pluralize(corpus.sequences, "protein")}).
  </>
);

const NO_VALUES: (number | null)[] = [];

function ProteinView({ of }: { of: Protein }) {
  const [query] = useQuery();
  const scored = useScored(of, query.get("match"));
  const { jobs, matches, byJob, selected, shown, error } = scored;
  const session = useSession();
  const findClass = useClassNames();
  const source = modelOfProtein(of.protein.accession);
  const structure = useStructure(source);
  const position = usePosition(of.protein.length, (residue) => {
    const here = matches?.filter(({ start, end }) => start <= residue && residue <= end) ?? [];
    return here.length === 0 || here.includes(selected!) ? {} : { match: here[0].key };
  });
  return (
    <PositionProvider value={position}>
      <div class="stack">
        <ProteinAnswer {...{ of, matches, findClass }} />
        {error !== undefined && <ErrorBanner error={error} retry={scored.reload} />}
        <ProteinPicture
          {...{ of, matches, selected, findClass }}
          result={shown?.result}
          pLddt={readPLddt(structure)}
        />
        <div class="with-panel wide">
          <div class="stack">
            {selected && (
              <ProteinMatches {...{ jobs, findClass }} matches={matches!} selected={selected.key} />
            )}
            {selected && shown && shown.match.homologs > 0 && (
              <CladeView key={selected.key} result={shown.result} match={shown.match} />
            )}
            <ProteinRecent {...{ of, byJob }} />
          </div>
          <div class="stack">
            <Structure
              of={structure}
              source={source}
              mayChange={session != null || of.results.length > 0}
              conservation={shown?.result.alignment.conservation ?? NO_VALUES}
              match={selected}
            />
            {jobs.length > 0 && <Variants job={{ id: jobs[0].id, variant: null }} />}
            <GeneRecords gene={of.protein.gene} />
            <Features of={of} />
          </div>
        </div>
      </div>
    </PositionProvider>
  );
}

/** The lane of all scored matches. */
const SCORED = { name: "Scored matches", expression: "", matches: [] } as unknown as PatternScores;

/** A match in the tracks, numbered as in the table. */
const toMark = (match: ProteinMatch, number: number, motif: string): NumberedMatch =>
  Object.assign({}, match, { number, motif, pattern: SCORED, atHomologs: [] }) as unknown as NumberedMatch;

/** Features, predictions and matches along the protein; conservation once a match is loaded. */
function ProteinPicture(props: {
  of: Protein;
  matches: readonly ProteinMatch[] | undefined;
  selected: ProteinMatch | undefined;
  result: Result | undefined;
  pLddt: StructureModel["pLddt"];
  findClass: (motif: string) => ClassName;
}) {
  const { of, matches = [], selected, result, pLddt, findClass } = props;
  const { protein, sequence, disorder, order, features } = of;
  const [query, setQuery] = useQuery();
  const marks = useMemo(
    () => matches.map((match, i) => toMark(match, i + 1, findClass(match.motif).name)),
    [matches, findClass],
  );
  const tracked = useMemo(
    () => ({
      queryLength: protein.length,
      homologs: result?.homologs ?? [],
      patterns: [SCORED],
      alignment: {
        query: sequence,
        disorder,
        order,
        conservation: result?.alignment.conservation ?? NO_VALUES,
      },
    }),
    [of, result],
  );
  return (
    <ProteinTracks
      result={tracked}
      matches={marks}
      known={features}
      fileName={protein.accession}
      span={parseSpan(query, protein.length)}
      pLddt={pLddt}
      selected={selected && marks[matches.indexOf(selected)]}
      onSelect={(number) => setQuery({ match: matches[number - 1].key }, { replace: true })}
      onSpan={(span) => setQuery({ from: span?.from, to: span?.to }, { replace: true })}
    />
  );
}

const Features = ({ of: { protein, features } }: { of: Protein }) => (
  <Card title="Features">
    {features.length > 0 ? (
      <AllFeatures known={{ protein: protein.accession, features }} />
    ) : (
      <p>
        No domains, modifications or known motifs of this protein are imported. <DataLink />
      </p>
    )}
  </Card>
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
