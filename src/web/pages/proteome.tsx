import { href } from "../address.ts";
import { LinkButton } from "../components/button.tsx";
import { Empty } from "../components/empty.tsx";
import { PageHead } from "../components/layout.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import { formatCount, formatSize, pluralize } from "../format.tsx";
import { definePage, useQuery } from "../page.tsx";
import { call } from "../request.ts";
import { recentProteomes } from "../score/job.ts";
import { ProteomeForm } from "../score/proteome-form.tsx";
import { ProteomeBuilds } from "../score/proteome-builds.tsx";
import { RecentJobs } from "../score/recent-jobs.tsx";

function ProteomePage() {
  const [query] = useQuery();
  const proteome = useLoaded("proteome", (signal) => call("GET /api/scoring/proteome", { signal }));
  return (
    <div class="stack">
      <PageHead
        title="Search a proteome"
        actions={<LinkButton href={href("/scan")}>Scan a protein</LinkButton>}
      >
        Find the proteins of an organism that have a motif, ranked by the evidence for each match.
      </PageHead>
      <Loaded of={proteome}>
        {(value) =>
          value.families === 0 ? (
            <NoFamiliesCard corpus={value.corpus} />
          ) : (
            <>
              <ProteomeForm proteome={value} initial={query} />
              <p class="muted">
                {formatCount(value.families)} of {pluralize(value.sequences, "protein")} of {value.corpus} can
                be searched. Their families take {formatSize(value.bytes)}.
              </p>
            </>
          )
        }
      </Loaded>
      {proteome.value && <ProteomeBuilds onStored={proteome.reload} />}
      <RecentJobs title="Recent searches of this browser" path="/proteome" read={recentProteomes} />
    </div>
  );
}

/** Instructions for building the missing data. */
const NoFamiliesCard = ({ corpus }: { corpus: string }) => (
  <Empty title="No protein can be searched yet" icon="dna">
    <p>
      labd needs the family of each protein: its homologs, their alignment and tree. An administrator computes
      the families of {corpus} once: signed in, on this page, or on the server with
    </p>
    <pre tabIndex={0} aria-label="Command">
      labd proteome build --organism 9606
    </pre>
    <p>
      The command says beforehand how much time and disk it needs, and continues where it was interrupted.
      Each protein can be searched as soon as its family is stored.
    </p>
    <LinkButton href={href("/help/batches")}>Read how to build</LinkButton>
  </Empty>
);

export const proteomePage = definePage({
  name: "proteome",
  paths: ["/proteome"],
  title: "Search a proteome",
  View: ProteomePage,
});
