import { href } from "../address.ts";
import { administrationPage } from "../administration/page.tsx";
import { SelectField } from "../components/field.tsx";
import { Card, KeyValues, Tag } from "../components/layout.tsx";
import { formatCount, formatDuration, formatSize, Time } from "../format.tsx";
import { type Answer, call } from "../request.ts";

type Jobs = Answer<"GET /api/admin/jobs">;
type Job = Jobs["results"][number];
type State = Job["state"];
type Worker = Jobs["workers"][number];

const STATES: Record<State, { name: string; tone?: "ok" | "warn" | "danger" }> = {
  queued: { name: "Queued" },
  running: { name: "Running" },
  finished: { name: "Finished", tone: "ok" },
  failed: { name: "Failed", tone: "danger" },
  cancelled: { name: "Cancelled", tone: "warn" },
  expired: { name: "Expired" },
};

const took = ({ started, ended }: Job): string =>
  started === null || ended === null
    ? "–"
    : `${((Date.parse(ended) - Date.parse(started)) / 1000).toFixed(1)} s`;

export const administrationJobsPage = administrationPage({
  section: "jobs",
  polls: true,
  load: (query, signal) =>
    call("GET /api/admin/jobs", {
      query: { state: (query.get("state") ?? undefined) as State | undefined },
      signal,
    }),
  rowKey: ({ id }: Job) => id,
  rowName: ({ name }) => name || "unnamed",
  empty: { title: "No jobs", text: "No job is in this state." },
  above: ({ data, query, setQuery }) => (
    <>
      <div class="columns">
        <Card title="Queue">
          <KeyValues
            of={[
              ["Waiting", formatCount(data.counts.queued)],
              ["Longest wait", data.counts.queued > 0 && formatDuration(data.queue_seconds)],
              ["Memory", `${formatSize(data.memory.bytes)} of at most ${formatSize(data.memory.limit)}`],
            ]}
          />
        </Card>
        <Card title="Workers" count={data.workers.length}>
          <KeyValues
            of={data.workers.map((worker, i) => [`Worker ${i + 1}`, describeActivity(worker)] as const)}
          />
        </Card>
      </div>
      <div class="narrow">
        <SelectField
          label="State"
          value={query.get("state") ?? ""}
          choices={[
            { value: "", name: "All" },
            ...Object.entries(STATES).map(([value, { name }]) => ({
              value,
              name: `${name} (${formatCount(data.counts[value as State])})`,
            })),
          ]}
          onChange={(state) => setQuery({ state })}
        />
      </div>
    </>
  ),
  columns: [
    {
      name: "name",
      title: "Query",
      heading: true,
      cell: ({ id, name }) => <a href={href(`/score/${id}`)}>{name || "unnamed"}</a>,
    },
    {
      name: "residues",
      title: "Residues",
      numeric: true,
      cell: ({ residues }) => (residues === null ? "–" : formatCount(residues)),
    },
    {
      name: "state",
      title: "State",
      phone: "end",
      cell: ({ state, failure }) => (
        <>
          <Tag tone={STATES[state].tone}>{STATES[state].name}</Tag> {state === "failed" && failure}
        </>
      ),
    },
    { name: "client", title: "Client", cell: ({ client }) => client || "unknown" },
    { name: "submitted", title: "Submitted", cell: ({ submitted }) => <Time at={submitted} /> },
    { name: "took", title: "Duration", numeric: true, cell: took },
  ],
  actions: [
    {
      label: "Cancel job",
      applies: ({ state }) => state === "queued" || state === "running",
      confirm: ({ name, client }) => ({
        title: `Cancel ${name || "this job"}?`,
        text: `${client || "The client"} gets no result and must submit the job again.`,
      }),
      run: ({ id }) => call("DELETE /api/admin/jobs/:id", { params: { id } }),
      done: () => "Cancelled the job.",
    },
  ],
});

function describeActivity({ alive, job, helps, progress }: Worker) {
  if (job !== null)
    return (
      <>
        Scoring <a href={href(`/score/${job}`)}>{job.slice(-8)}</a>
        {progress && `, ${progress.stage} ${Math.round(progress.fraction * 100)} %`}
      </>
    );
  if (helps !== null) return `Searching for ${helps.slice(-8)}`;
  return alive ? "Idle" : "Not started";
}
