import { href } from "../address.ts";
import { ErrorBanner } from "../components/banner.tsx";
import { Button, LinkButton } from "../components/button.tsx";
import { Empty } from "../components/empty.tsx";
import { Card, PageHead, Tag } from "../components/layout.tsx";
import { Loaded, Skeleton, useLoaded, usePolling } from "../components/loaded.tsx";
import { Progress } from "../components/progress.tsx";
import { type Column, Table } from "../components/table.tsx";
import { withErrorToast } from "../components/toast.tsx";
import { pluralize, Time } from "../format.tsx";
import { definePage } from "../page.tsx";
import { type Answer, ApiError, call } from "../request.ts";
import { FlippedMatches } from "../score/comparison.tsx";
import { toDraft } from "../score/homolog-choice.tsx";
import { ProteinCell, shortJobTitle } from "../score/protein-identity.tsx";
import type { Watched } from "../score/watch-button.tsx";
import { useSession } from "../session.ts";

type Change = Answer<"GET /api/scoring/watched-queries/changes">["results"][number];
interface State {
  queries: Watched[];
  changes: Change[];
}

function Changes() {
  const session = useSession();
  return (
    <>
      <PageHead title="Changes" crumbs={[{ name: "Scoring", href: href("/score") }]}>
        Verdicts that changed because another corpus is used. Queries that you watch are scored again after
        all other jobs.
      </PageHead>
      {session === undefined ? (
        <Skeleton />
      ) : session === null ? (
        <ErrorBanner error={new ApiError(401, "unauthenticated", "Sign in to watch queries.")} />
      ) : (
        <WatchedQueries />
      )}
    </>
  );
}

function WatchedQueries() {
  const state = useLoaded<State>("changes", async (signal) => {
    const [queries, changes] = await Promise.all([
      call("GET /api/scoring/watched-queries", { signal }),
      call("GET /api/scoring/watched-queries/changes", { signal }),
    ]);
    return { queries: queries.results, changes: changes.results };
  });
  usePolling(state.reload, state.value?.queries.some(isLeft) ? 2 : 15);
  const act = (write: () => Promise<unknown>): Promise<void> =>
    withErrorToast(async () => {
      await write();
      state.reload();
    });
  return (
    <>
      <Loaded of={state}>
        {({ queries, changes }) =>
          queries.length === 0 ? (
            <Empty title="You watch no query">
              <p>Open a result and choose “Watch”.</p>
              <LinkButton href={href("/score")}>Score a protein</LinkButton>
            </Empty>
          ) : (
            <div class="stack">
              <Reruns queries={queries} act={act} />
              {changes.length === 0 ? (
                <Empty title="No verdict has changed">
                  <p>Verdicts appear here once another corpus changes them.</p>
                </Empty>
              ) : (
                changes.map((change) => (
                  <ChangeCard key={`${change.query} ${change.found}`} change={change} />
                ))
              )}
              <Card title="Watched queries" bare count={queries.length}>
                <Table
                  caption="Watched queries"
                  columns={COLUMNS}
                  rows={queries}
                  first={{ rows: 50, of: "queries" }}
                  rowKey={({ id }) => id}
                  actions={({ id, identifier }) => (
                    <Button
                      small
                      aria-label={`Stop watching ${identifier || "protein"}`}
                      onClick={() =>
                        void act(() => call("DELETE /api/scoring/watched-queries/:id", { params: { id } }))
                      }
                    >
                      Stop watching
                    </Button>
                  )}
                />
              </Card>
            </div>
          )
        }
      </Loaded>
    </>
  );
}

const isLeft = ({ state }: Watched): boolean => state === "waiting" || state === "running";

/** Progress of the reruns, with their actions. */
function Reruns({
  queries,
  act,
}: {
  queries: readonly Watched[];
  act: (write: () => Promise<unknown>) => Promise<void>;
}) {
  const left = queries.filter(isLeft).length;
  const failed = queries.filter(({ state }) => state === "failed").length;
  const done = queries.length - left;
  return (
    <>
      {left > 0 && (
        <div class="note stack" role="status">
          <Progress
            label={`${done} of ${pluralize(queries.length, "query", "queries")} scored with the corpus in use`}
            fraction={done / queries.length}
          />
          <div>
            <Button onClick={() => void act(() => call("POST /api/scoring/watched-queries/cancel"))}>
              Cancel
            </Button>
          </div>
        </div>
      )}
      {failed > 0 && left === 0 && (
        <div class="note row">
          <span class="grow">{pluralize(failed, "query", "queries")} could not be scored again.</span>
          <Button onClick={() => void act(() => call("POST /api/scoring/watched-queries/retry"))}>
            Try again
          </Button>
        </div>
      )}
    </>
  );
}

function ChangeCard({ change: { found, comparison } }: { change: Change }) {
  const { a, b, flipped, matches } = comparison;
  const source = (side: typeof a): string => side.corpus?.name ?? "no corpus";
  return (
    <Card
      title={shortJobTitle(a.protein ? a : b)}
      count={pluralize(flipped, "changed verdict")}
      bare
      actions={
        <LinkButton icon="arrow-left-right" href={href("/score/compare", { a: a.job, b: b.job })}>
          Compare
        </LinkButton>
      }
      foot={
        <span>
          {source(a)} ({pluralize(a.homologs, "homolog")}, {a.onlyHere.length} lost) → {source(b)} (
          {pluralize(b.homologs, "homolog")}, {b.onlyHere.length} gained), found <Time at={found} />.
          {matches.length < flipped && ` ${flipped - matches.length} more verdicts are in the comparison.`}
        </span>
      }
    >
      <FlippedMatches matches={matches} />
    </Card>
  );
}

const TONES = { current: "ok", waiting: undefined, running: undefined, failed: "danger" } as const;
const NAMES = { current: "up to date", waiting: "waiting", running: "running", failed: "not scored again" };

const COLUMNS: readonly Column<Watched>[] = [
  {
    name: "identifier",
    title: "Protein",
    heading: true,
    cell: ({ identifier, protein, job, queryLength }) => (
      <>
        <a href={href(`/score/${job}`)}>
          <ProteinCell identifier={identifier || "Protein"} of={protein} />
        </a>
        <small class="second-line">{pluralize(queryLength, "residue")}</small>
      </>
    ),
  },
  {
    name: "motifs",
    title: "Motifs",
    cell: ({ patterns }) => motifsText(patterns.map(({ name, expression }) => name ?? expression)),
  },
  {
    name: "homologs",
    title: "Homologs",
    cell: ({ homologs }) => (homologs ? choiceText(homologs) : "default choice"),
  },
  { name: "created", title: "Watched since", cell: ({ created }) => <Time at={created} short /> },
  {
    name: "state",
    title: "State",
    cell: ({ state, failure }) => (
      <span>
        <Tag tone={TONES[state]}>{NAMES[state]}</Tag>
        {failure && <small class="second-line">{failure}</small>}
      </span>
    ),
  },
];

const motifsText = (names: readonly string[]): string =>
  names.length > 3 ? `${names.slice(0, 3).join(", ")} and ${names.length - 3} others` : names.join(", ");

function choiceText(choice: NonNullable<Watched["homologs"]>): string {
  const { organisms, minIdentity, maxIdentity, maxHomologs, leaveOut } = toDraft(choice);
  return [
    organisms && `of ${organisms}`,
    minIdentity && `at least ${minIdentity} % identity`,
    maxIdentity && `at most ${maxIdentity} % identity`,
    maxHomologs && `at most ${maxHomologs}`,
    leaveOut && `without ${leaveOut}`,
  ]
    .filter(Boolean)
    .join("; ");
}

export const changesPage = definePage({
  name: "changes",
  paths: ["/changes"],
  title: "Changes",
  View: Changes,
});
