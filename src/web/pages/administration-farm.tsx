import { href } from "../address.ts";
import { type Farm, getFarm } from "../administration/farm.ts";
import { administrationPage } from "../administration/page.tsx";
import { Banner } from "../components/banner.tsx";
import { KeyValues, Tag } from "../components/layout.tsx";
import { formatCount, formatDuration, formatSize, Time } from "../format.tsx";

type Worker = Farm["workers"][number];

/** A farm may have a thousand workers. */
const WORKERS_SHOWN = 100;
const MISMATCHES_SHOWN = 20;

const STATES: Record<Farm["state"], string> = {
  there: "Connected",
  away: "The queue does not respond",
  taken: "Another server uses the queue",
  refuses: "The queue does not accept jobs",
};

const sinceServerStart = ({ finished, failed, late, returned, lost }: Farm["counts"]): string =>
  [
    `${formatCount(finished)} finished`,
    `${formatCount(failed)} failed`,
    `${formatCount(late)} finished twice`,
    `${formatCount(returned)} returned by workers`,
    `${formatCount(lost)} lost from the queue`,
  ].join(", ");

function FarmSummary({ farm }: { farm: Farm }) {
  const { state, cause, oldest, mixed } = farm;
  const waiting = oldest === null ? 0 : (Date.now() - Date.parse(oldest)) / 1000;
  return (
    <>
      {state !== "there" && (
        <Banner tone="danger">
          {STATES[state]}. {cause}
        </Banner>
      )}
      {mixed.length > 0 && (
        <Banner tone="warn">
          <ul>
            {mixed.slice(0, MISMATCHES_SHOWN).map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
            {mixed.length > MISMATCHES_SHOWN && (
              <li>
                And {formatCount(mixed.length - MISMATCHES_SHOWN)} more: see <code>labd farm status</code>.
              </li>
            )}
          </ul>
        </Banner>
      )}
      <section class="card card-body" aria-label="Queue">
        <KeyValues
          of={[
            ["Queue", `${farm.queue}: ${STATES[state].toLowerCase()}`],
            ["Jobs", `${formatCount(farm.waiting)} in the queue, ${formatCount(farm.running)} on workers`],
            [
              "Not started",
              oldest === null
                ? "none"
                : `${formatCount(farm.backlog)}, the oldest for ${formatDuration(waiting)}`,
            ],
            [
              "Workers of this server",
              `${farm.pool_works ? "active" : "idle"} (queue_local is ${farm.mode})`,
            ],
            ["Since the server started", sinceServerStart(farm.counts)],
          ]}
        />
      </section>
    </>
  );
}

export const administrationFarmPage = administrationPage({
  section: "farm",
  polls: true,
  load: async (_query, signal) => {
    const farm = await getFarm(signal);
    const results = farm.enabled ? farm.workers : [];
    return { farm, results: results.toSorted((a, b) => Number(a.fits) - Number(b.fits)) };
  },
  empty: {
    title: "No workers",
    text: "Set queue in the settings, and start labd worker on another machine with the same queue.",
  },
  rowKey: ({ name }: Worker) => name,
  rowName: ({ name }) => name,
  first: { rows: WORKERS_SHOWN, of: "workers" },
  above: ({ data: { farm } }) =>
    farm.enabled ? (
      <FarmSummary farm={farm} />
    ) : (
      <p>This server has no queue, so it scores every job itself.</p>
    ),
  columns: [
    {
      name: "name",
      title: "Worker",
      heading: true,
      cell: ({ name, version }) => (
        <>
          {name} <small>labd {version}</small>
        </>
      ),
    },
    {
      name: "state",
      title: "State",
      phone: "end",
      cell: ({ fits, draining }) => (
        <Tag tone={fits ? "ok" : "warn"}>{fits ? "active" : draining ? "draining" : "accepts no jobs"}</Tag>
      ),
    },
    {
      name: "jobs",
      title: "Jobs",
      cell: ({ jobs, families, concurrency }) => (
        <>
          {jobs.length} of {concurrency}
          {families.length > 0 && <div class="nowrap">computing families for a build: {families.length}</div>}
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
      title: "Returned",
      numeric: true,
      cell: ({ counts }) => formatCount(counts.returned),
    },
    { name: "memory", title: "Memory", numeric: true, cell: ({ memory }) => formatSize(memory) },
    { name: "since", title: "Since", cell: ({ since }) => <Time at={since} /> },
  ],
});
