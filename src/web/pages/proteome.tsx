import { href } from "../address.ts";
import { LinkButton } from "../components/button.tsx";
import { Empty } from "../components/empty.tsx";
import { PageHead } from "../components/layout.tsx";
import { Loaded, useLoaded, useReloadUntil } from "../components/loaded.tsx";
import { TaskProgress } from "../components/task-progress.tsx";
import { formatCount, formatDuration, formatSize, pluralize } from "../format.tsx";
import { definePage, useQuery } from "../page.tsx";
import { type Answer, call } from "../request.ts";
import { ProteomeForm } from "../score/proteome-form.tsx";
import { ProteomeBuilds } from "../score/proteome-builds.tsx";
import { NoCorpus, useNoCorpus } from "../score/score-form.tsx";
import { ResultList } from "../score/recent-results.tsx";
import { useSession } from "../session.ts";

/** Milliseconds between requests while the server computes families. */
const POLL = 10_000;

type Proteome = Answer<"GET /api/scoring/proteome">;

function ProteomePage() {
  const [query] = useQuery();
  const noCorpus = useNoCorpus();
  const proteome = useLoaded("proteome", (signal) => call("GET /api/scoring/proteome", { signal }));
  useReloadUntil(proteome, ({ building, families }) => building === null && families > 0, POLL);
  return (
    <div class="stack">
      <PageHead
        title="Search a proteome"
        actions={<LinkButton href={href("/scan")}>Scan a protein</LinkButton>}
      >
        Find the proteins of an organism that have a motif, ranked by the evidence for each match.
      </PageHead>
      {noCorpus ? (
        <NoCorpus />
      ) : (
        <Loaded of={proteome}>{(value) => <SearchCard proteome={value} query={query} />}</Loaded>
      )}
      {proteome.value && <ProteomeBuilds onStored={proteome.reload} />}
      <ResultList title="Recent searches" kinds={["proteome-search"]} shown={5} />
    </div>
  );
}

function SearchCard({ proteome, query }: { proteome: Proteome; query: URLSearchParams }) {
  const { families, sequences, corpus, bytes, building } = proteome;
  if (families === 0) return <NoFamiliesCard proteome={proteome} />;
  return (
    <>
      <ProteomeForm proteome={proteome} initial={query} />
      <p class="muted">
        {formatCount(families)} of {pluralize(sequences, "protein")} of {corpus} can be searched. Their
        homologs and alignments take {formatSize(bytes)}.
      </p>
      <BuildingText building={building} />
    </>
  );
}

/** How far the server is with the families that were missing; administrators see it among the builds. */
function BuildingText({ building }: Pick<Proteome, "building">) {
  if (useSession()?.user.is_superuser === true || building === null) return null;
  const { done, missing, secondsLeft } = building;
  return (
    <TaskProgress
      name="Homologs of all proteins"
      message={`The server aligns the homologs of the missing proteins: ${formatCount(done)} of ${formatCount(missing)}${
        secondsLeft === null ? "" : `, about ${formatDuration(secondsLeft)} left`
      }. Each protein can be searched once that is done.`}
      fraction={missing > 0 ? done / missing : null}
    />
  );
}

const NoFamiliesCard = ({ proteome: { corpus, building } }: { proteome: Proteome }) => (
  <Empty title="No protein can be searched yet" icon="dna">
    <p>
      labd needs the homologs of each protein, their alignment and tree, which it calls a family. Within a
      minute of using a new corpus, the server begins to compute those of {corpus}.
    </p>
    <BuildingText building={building} />
    <p>If the build was cancelled or is too large, an administrator starts one here, or on the server with</p>
    <pre tabIndex={0} aria-label="Command">
      labd proteome build --organism 9606
    </pre>
    <LinkButton href={href("/help/batches")}>Read how to build</LinkButton>
  </Empty>
);

export const proteomePage = definePage({
  name: "proteome",
  paths: ["/proteome"],
  title: "Search a proteome",
  View: ProteomePage,
});
