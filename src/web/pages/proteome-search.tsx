import { href } from "../address.ts";
import { Banner, ErrorBanner } from "../components/banner.tsx";
import { Button, LinkButton } from "../components/button.tsx";
import { Empty } from "../components/empty.tsx";
import { PageHead } from "../components/layout.tsx";
import { type Loadable, Skeleton, useLoaded, useReloadUntil } from "../components/loaded.tsx";
import { TaskProgress } from "../components/task-progress.tsx";
import { withErrorToast } from "../components/toast.tsx";
import { pluralize, formatCount } from "../format.tsx";
import { definePage, useParams, useQuery, useTitle } from "../page.tsx";
import { ApiError, call } from "../request.ts";
import { MotifLink } from "../score/class-link.tsx";
import { copyLink } from "../score/downloads.tsx";
import {
  isOver,
  motifQuery,
  motifName,
  pageQuery,
  type Search,
  searchAnswer,
  searchTitle,
} from "../score/proteome.ts";
import { PValueChart } from "../score/p-value-chart.tsx";
import { startSearch } from "../score/proteome-form.tsx";
import { HowToCite } from "../score/how-to-cite.tsx";
import { ProteomeMatches } from "../score/proteome-matches.tsx";

/** Milliseconds between requests while the search is not over. */
const POLL = 700;

/** A search with a page of its matches, loaded again until it is over. */
function useSearch(id: string, query: URLSearchParams): Loadable<Search> {
  const search = useLoaded(`${id} ${query}`, (signal) =>
    call("GET /api/scoring/proteome/searches/:id", { params: { id }, query: pageQuery(query), signal }),
  );
  useReloadUntil(search, isOver, POLL);
  return search;
}

function ProteomeSearchPage() {
  const id = useParams().search ?? "";
  const [query] = useQuery();
  const search = useSearch(id, query);
  const { value, error } = search;
  useTitle(value && searchTitle(value));
  return (
    <div class="stack">
      <PageHead
        title={value ? searchTitle(value) : "Proteome search"}
        crumbs={[{ name: "Proteome searches", href: href("/proteome") }]}
        actions={
          <>
            <Button icon="copy" onClick={() => void copyLink()}>
              Copy link
            </Button>
            <LinkButton look="primary" icon="plus" href={href("/proteome", value && toForm(value))}>
              New search
            </LinkButton>
          </>
        }
      >
        {value && <Facts search={value} />}
      </PageHead>
      {error !== undefined && <LoadError error={error} retry={search.reload} />}
      {value && <SearchView search={value} />}
      {!value && error === undefined && <Skeleton />}
    </div>
  );
}

/** The parameters with which the form begins. */
const toForm = ({ motifClass, expression, organism }: Search) => ({
  ...motifQuery({ name: motifClass, expression }),
  organism,
});

const LoadError = ({ error, retry }: { error: unknown; retry: () => void }) =>
  error instanceof ApiError && error.status === 404 ? (
    <Empty title="This search has expired">
      <p>The search was removed to make room for newer ones, or the link is incomplete.</p>
      <LinkButton href={href("/proteome")}>Search again</LinkButton>
    </Empty>
  ) : (
    <ErrorBanner error={error} retry={retry} />
  );

const Facts = ({ search: { motifClass, expression, searched, corpus } }: { search: Search }) => (
  <p>
    {motifClass !== null && (
      <>
        <MotifLink of={{ name: motifClass, expression }} />: <code>{expression}</code>.{" "}
      </>
    )}
    {pluralize(searched, "protein")} of {corpus.name} searched.
  </p>
);

const again = ({ motifClass, expression, organism, scoringModel }: Search): Promise<void> =>
  withErrorToast(() =>
    startSearch({
      ...(motifClass === null ? { pattern: expression } : { motifClass }),
      organism: organism ?? undefined,
      scoringModel,
    }),
  );

function SearchView({ search }: { search: Search }) {
  const { state, failure, missing, matches } = search;
  if (state === "failed" || state === "cancelled")
    return (
      <Empty title={state === "failed" ? "The search failed" : "The search was cancelled"}>
        {failure !== null && <p>{failure}</p>}
        <Button onClick={() => void again(search)}>Search again</Button>
      </Empty>
    );
  return (
    <>
      {!isOver(search) && <SearchProgress search={search} />}
      {isOver(search) && missing > 0 && (
        <Banner tone="warn">
          {pluralize(missing, "protein")} of the selection {missing === 1 ? "was" : "were"} not searched,
          because the server has not aligned {missing === 1 ? "its" : "their"} homologs yet.{" "}
          <a href={href("/proteome")}>See how far it is</a>.
        </Banner>
      )}
      {matches > 0 && <Matches search={search} />}
      {matches === 0 && isOver(search) && (
        <Empty title="No protein has this motif">
          <p>{motifName(search)} matches none of the searched proteins.</p>
          <LinkButton href={href("/proteome", toForm(search))}>Change the search</LinkButton>
        </Empty>
      )}
    </>
  );
}

function SearchProgress({ search: { id, state, place, searched, total, mayChange } }: { search: Search }) {
  const isWaiting = state === "queued";
  return (
    <TaskProgress
      name="Progress"
      message={
        isWaiting
          ? `Waiting: place ${place ?? 1} in the queue.`
          : total > 0
            ? `${formatCount(searched)} of ${formatCount(total)} proteins searched; ranks and q may still change`
            : "Starting"
      }
      fraction={total > 0 ? searched / total : null}
      isWaiting={isWaiting}
      onCancel={
        mayChange ? () => call("DELETE /api/scoring/proteome/searches/:id", { params: { id } }) : undefined
      }
      isShared
    />
  );
}

const Matches = ({ search }: { search: Search }) => (
  <>
    <div class="answer">
      <p>{searchAnswer(search)}</p>
      <small>
        The verdict follows P. With {formatCount(search.matches)} matches, many P values are low by chance: q
        is the share of random matches to expect among a match and those with lower q, and a match with q ≤
        0.05 stands out.
      </small>
    </div>
    <PValueChart bins={search.pValues} />
    <ProteomeMatches search={search} />
    <HowToCite of={search.provenance} motifs={[search.motifClass ?? search.expression]} />
  </>
);

export const proteomeSearchPage = definePage({
  name: "proteome-search",
  paths: ["/proteome/:search"],
  title: "Proteome search",
  View: ProteomeSearchPage,
});
