import { useState } from "preact/hooks";
import { href } from "../address.ts";
import { Confirm, type Question } from "../components/confirm.tsx";
import { Administration } from "../administration/frame.tsx";
import { formatCount, formatDuration, formatSize, Time } from "../format.tsx";
import { useLoaded, usePolling } from "../components/loaded.tsx";
import { definePage, useQuery } from "../page.tsx";
import { Button } from "../components/button.tsx";
import { Empty } from "../components/empty.tsx";
import { ErrorBanner } from "../components/banner.tsx";
import { SelectField } from "../components/field.tsx";
import { Table } from "../components/table.tsx";
import { requestJson, get } from "../request.ts";

const STATES = ["queued", "running", "finished", "failed", "cancelled", "expired"] as const;
type State = (typeof STATES)[number];

interface Job {
  id: string;
  state: State;
  client: string;
  submitted: string;
  started: string | null;
  ended: string | null;
  failure: string | null;
  attempts: number;
  name: string | null;
  residues: number | null;
}
interface Worker {
  alive: boolean;
  job: string | null;
  helps: string | null;
  progress: { stage: string; fraction: number } | null;
}
interface Jobs {
  counts: Record<State, number>;
  queue_seconds: number;
  memory: { bytes: number; limit: number };
  workers: Worker[];
  results: Job[];
}

const TONE: Record<State, string> = {
  queued: "",
  running: "",
  finished: "good",
  failed: "bad",
  cancelled: "warn",
  expired: "",
};

function JobsPage() {
  const [query, setQuery] = useQuery();
  const state = (query.get("state") ?? "") as State | "";
  const { value, error, reload } = useLoaded(`jobs ${state}`, (signal) =>
    get<Jobs>("/api/admin/jobs", { state }, signal),
  );
  const [question, setQuestion] = useState<Question | null>(null);
  usePolling(reload);
  return (
    <Administration path="/administration/jobs" title="Jobs and workers">
      {error !== undefined && <ErrorBanner error={error} retry={reload} />}
      {value && (
        <>
          <p class="row">
            {STATES.map((one) => (
              <span key={one} class={`tag ${value.counts[one] > 0 ? TONE[one] : ""}`}>
                {formatCount(value.counts[one])} {one}
              </span>
            ))}
          </p>
          <p>
            {value.counts.queued === 0
              ? "No job waits."
              : `The job that waits longest has done so for ${formatDuration(value.queue_seconds)}.`}{" "}
            The process has {formatSize(value.memory.bytes)} of memory; from {formatSize(value.memory.limit)}{" "}
            on the job that has run longest is stopped.
          </p>
          <Workers workers={value.workers} />
          <section aria-labelledby="jobs">
            <h2 id="jobs">The newest jobs</h2>
            <div class="narrow">
              <SelectField
                label="State"
                value={state}
                choices={[
                  { value: "", name: "all" },
                  ...STATES.map((one) => ({
                    value: one,
                    name: `${one} (${formatCount(value.counts[one])})`,
                  })),
                ]}
                onChange={(chosen) => setQuery({ state: chosen })}
              />
            </div>
            {value.results.length === 0 ? (
              <Empty title="No jobs">
                <p>Nobody has asked for a score, or those who did not of this state.</p>
              </Empty>
            ) : (
              <Table
                caption="Jobs"
                rows={value.results}
                keyOf={({ id }) => id}
                columns={[
                  {
                    name: "name",
                    title: "Query",
                    heading: true,
                    cell: (row) => <a href={href(`/score/${row.id}`)}>{row.name || "unnamed"}</a>,
                  },
                  {
                    name: "residues",
                    title: "Residues",
                    numeric: true,
                    cell: (row) => (row.residues === null ? "–" : formatCount(row.residues)),
                  },
                  {
                    name: "state",
                    title: "State",
                    cell: (row) => (
                      <>
                        <span class={`tag ${TONE[row.state]}`}>{row.state}</span>
                        {row.failure && row.state === "failed" && <div>{row.failure}</div>}
                      </>
                    ),
                  },
                  { name: "client", title: "Who", cell: (row) => row.client || "unknown" },
                  { name: "submitted", title: "Submitted", cell: (row) => <Time at={row.submitted} /> },
                  {
                    name: "took",
                    title: "Took",
                    numeric: true,
                    cell: (row) =>
                      row.ended === null || row.started === null
                        ? "–"
                        : `${((Date.parse(row.ended) - Date.parse(row.started)) / 1000).toFixed(1)} s`,
                  },
                  {
                    name: "cancel",
                    title: <span class="unseen">What can be done</span>,
                    cell: (row) =>
                      (row.state === "queued" || row.state === "running") && (
                        <Button
                          look="quiet"
                          aria-label={`Call off ${row.name || "unnamed"}`}
                          onClick={() =>
                            setQuestion({
                              title: `Call off ${row.name || "this job"}?`,
                              text: `${row.client || "Whoever asked"} gets no result, and has to submit it again.`,
                              verb: "Call it off",
                              run: () => requestJson("DELETE", `/api/admin/jobs/${row.id}`),
                              done: "The job is called off.",
                            })
                          }
                        >
                          Call off
                        </Button>
                      ),
                  },
                ]}
              />
            )}
          </section>
        </>
      )}
      {question && <Confirm question={question} onClose={() => setQuestion(null)} onDone={reload} />}
    </Administration>
  );
}

function Workers({ workers }: { workers: readonly Worker[] }) {
  return (
    <section aria-labelledby="workers">
      <h2 id="workers">Workers</h2>
      <ul>
        {workers.map((worker, i) => (
          // They have no names but their places.
          <li key={i}>
            Worker {i + 1}: {doing(worker)}
          </li>
        ))}
      </ul>
    </section>
  );
}

function doing({ alive, job, helps, progress }: Worker) {
  if (job !== null)
    return (
      <>
        scores <a href={href(`/score/${job}`)}>{job.slice(-8)}</a>
        {progress && `, ${progress.stage} ${Math.round(progress.fraction * 100)} %`}
      </>
    );
  if (helps !== null) return `helps to search for ${helps.slice(-8)}`;
  return alive ? "idle" : "not started, for want of a job";
}

export const administrationJobsPage = definePage({
  name: "administration-jobs",
  paths: ["/administration/jobs"],
  title: "Jobs and workers",
  View: JobsPage,
});
