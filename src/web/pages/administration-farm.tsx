import { href } from "../address.ts";
import { type FarmAnswer, useFarm } from "../administration/farm.ts";
import { Administration } from "../administration/frame.tsx";
import { formatCount, formatDuration, formatSize, Time } from "../format.tsx";
import { usePolling } from "../components/loaded.tsx";
import { definePage } from "../page.tsx";
import { Empty } from "../components/empty.tsx";
import { ErrorBanner } from "../components/banner.tsx";
import { Table } from "../components/table.tsx";

type Farm = Extract<FarmAnswer, { enabled: true }>;
type Worker = Farm["workers"][number];

/** Workers, and sentences of what does not go together, that are shown at first: a farm may have a thousand. */
const SHOWN = 100;
const MOST_SENTENCES = 20;

const STATES: Record<Farm["state"], { tone: string; words: string }> = {
  there: { tone: "good", words: "The queue is there" },
  away: { tone: "bad", words: "The queue is away" },
  taken: { tone: "bad", words: "The queue is another server's" },
  refuses: { tone: "bad", words: "The queue takes no jobs" },
};

function FarmPage() {
  const { value, error, reload } = useFarm();
  usePolling(reload);
  return (
    <Administration path="/administration/farm" title="Farm">
      {error !== undefined && <ErrorBanner error={error} retry={reload} />}
      {value?.enabled === false && (
        <Empty title="No farm">
          <p>
            This server scores for itself. Workers on other machines take its jobs where it has a queue: the
            setting <code>queue</code>.
          </p>
        </Empty>
      )}
      {value?.enabled && <Shown farm={value} />}
    </Administration>
  );
}

function Shown({ farm }: { farm: Farm }) {
  const { tone, words } = STATES[farm.state];
  const { finished, failed, late, returned, lost } = farm.counts;
  return (
    <>
      <p class="row">
        <span class={`tag ${tone}`}>{words}</span>
        <span class="tag">{formatCount(farm.waiting)} in the queue</span>
        <span class="tag">{formatCount(farm.running)} on workers</span>
      </p>
      {farm.cause !== null && <p>{farm.cause}</p>}
      <p>
        {farm.oldest === null
          ? "No job waits."
          : `${formatCount(farm.backlog)} ${farm.backlog === 1 ? "job waits" : "jobs wait"}, the oldest for ${formatDuration((Date.now() - Date.parse(farm.oldest)) / 1000)}.`}{" "}
        The queue is at {farm.queue}. The server's own workers {farm.pool_works ? "score, too" : "rest"} (
        <code>queue_local</code> is {farm.mode}). Since the server began {formatCount(finished)} jobs were
        finished and {formatCount(failed)} failed; {formatCount(late)} were handed in twice,{" "}
        {formatCount(returned)} given back or lost by workers, {formatCount(lost)} lost from the queue.
      </p>
      {farm.mixed.length > 0 && (
        <section aria-labelledby="mixed">
          <h2 id="mixed">What does not go together</h2>
          <ul>
            {farm.mixed.slice(0, MOST_SENTENCES).map((sentence) => (
              <li key={sentence} class="anywhere">
                {sentence}
              </li>
            ))}
            {farm.mixed.length > MOST_SENTENCES && (
              <li>
                And {formatCount(farm.mixed.length - MOST_SENTENCES)} more; <code>labd farm status</code>{" "}
                names all.
              </li>
            )}
          </ul>
        </section>
      )}
      {farm.workers.length === 0 ? (
        <Empty title="No workers">
          <p>
            Start <code>labd worker</code> on another machine, with the same <code>queue</code>.
          </p>
        </Empty>
      ) : (
        <Workers workers={farm.workers} />
      )}
    </>
  );
}

function Workers({ workers }: { workers: readonly Worker[] }) {
  return (
    <Table
      caption="Workers"
      rows={workers.toSorted((a, b) => Number(a.fits) - Number(b.fits))}
      first={{ rows: SHOWN, of: "workers" }}
      keyOf={({ name }) => name}
      columns={[
        {
          name: "name",
          title: "Worker",
          heading: true,
          cell: ({ name, version }) => (
            <>
              {name}
              <div>
                <small>labd {version}</small>
              </div>
            </>
          ),
        },
        {
          name: "state",
          title: "State",
          cell: ({ fits, draining }) => (
            <span class={`tag ${fits ? "good" : "warn"}`}>
              {fits ? "works" : draining ? "drains" : "takes no work"}
            </span>
          ),
        },
        {
          name: "jobs",
          title: "What it runs",
          cell: ({ jobs, concurrency }) => (
            <>
              {jobs.length} of {concurrency}
              {jobs.map(({ id, stage, fraction }) => (
                <div key={id} class="nowrap">
                  <a href={href(`/score/${id}`)}>{id.slice(-8)}</a>, {stage} {Math.floor(fraction * 100)} %
                </div>
              ))}
            </>
          ),
        },
        {
          name: "finished",
          title: "Finished",
          numeric: true,
          cell: ({ counts }) => formatCount(counts.finished),
        },
        { name: "failed", title: "Failed", numeric: true, cell: ({ counts }) => formatCount(counts.failed) },
        {
          name: "returned",
          title: "Given back",
          numeric: true,
          cell: ({ counts }) => formatCount(counts.returned),
        },
        { name: "memory", title: "Memory", numeric: true, cell: ({ memory }) => formatSize(memory) },
        { name: "since", title: "Since", cell: ({ since }) => <Time at={since} /> },
      ]}
    />
  );
}

export const administrationFarmPage = definePage({
  name: "administration-farm",
  paths: ["/administration/farm"],
  title: "Farm",
  View: FarmPage,
});
