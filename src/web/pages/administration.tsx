import { useEffect } from "preact/hooks";
import { Administration } from "../administration/frame.tsx";
import { formatDuration, formatSize, Time } from "../format.tsx";
import { type Task, useTasks } from "../administration/tasks.tsx";
import { href } from "../address.ts";
import { useLoaded } from "../components/loaded.tsx";
import { definePage } from "../page.tsx";
import { showToast } from "../components/toast.tsx";
import { Button } from "../components/button.tsx";
import { ErrorBanner } from "../components/banner.tsx";
import { Progress } from "../components/progress.tsx";
import { requestJson, get } from "../request.ts";
import { useNoCorpus } from "../score/no-corpus.tsx";

interface Health {
  version: string;
  commit: string;
  uptime: number;
  now: string;
  data_directory: string;
  disk: { free: number; size: number };
  database: { bytes: number; log: number };
  memory: number;
}

interface Finding {
  about: string;
  state: "ok" | "warning" | "problem";
  found: string;
  remedy?: string;
}

function HealthPage() {
  const { value, error, reload } = useLoaded("health", (signal) =>
    get<Health>("/api/admin/health", {}, signal),
  );
  useEffect(() => {
    const timer = setInterval(reload, 15_000);
    return () => clearInterval(timer);
  }, []);
  return (
    <Administration path="/administration" title="Health">
      {error !== undefined && <ErrorBanner error={error} retry={reload} />}
      {value && (
        <section class="card" aria-label="The service">
          <dl class="facts">
            <dt>Version</dt>
            <dd>
              labd {value.version} <small>({value.commit.slice(0, 12)})</small>
            </dd>
            <dt>Runs for</dt>
            <dd>{formatDuration(value.uptime)}</dd>
            <dt>Clock</dt>
            <dd>
              <Time at={value.now} />
            </dd>
            <dt>Disk</dt>
            <dd>
              {formatSize(value.disk.free)} of {formatSize(value.disk.size)} free
            </dd>
            <dt>Database</dt>
            <dd>{formatSize(value.database.bytes + value.database.log)}</dd>
            <dt>Memory</dt>
            <dd>{formatSize(value.memory)}</dd>
            <dt>Data</dt>
            <dd>
              <code>{value.data_directory}</code>
            </dd>
          </dl>
        </section>
      )}
      {value && <FirstSteps />}
      {value && <Examination />}
    </Administration>
  );
}

/** What is to do on a new server, as long as it has no corpus. */
function FirstSteps() {
  if (!useNoCorpus()) return null;
  return (
    <section class="card" aria-labelledby="first-steps">
      <h2 id="first-steps">First steps</h2>
      <ol>
        <li>
          <a href={href("/administration/corpora")}>Add a corpus</a>, the proteins in which homologs are
          found: without one nothing can be said about conservation.
        </li>
        <li>
          <a href={href("/administration/users")}>Add those</a> who keep the inventory. Scoring needs no
          account.
        </li>
        <li>
          Have backups go to another disk, by the setting <code>backup_dir</code>, and look below whether all
          is well.
        </li>
      </ol>
    </section>
  );
}

const MARK = {
  ok: { tone: "good", word: "well" },
  warning: { tone: "warn", word: "warning" },
  problem: { tone: "bad", word: "problem" },
};

function Examination() {
  const { tasks, watch, busy } = useTasks(["examination"], () => {});
  const begin = async (): Promise<void> => {
    try {
      await requestJson("POST", "/api/admin/health/examination");
    } catch (error) {
      showToast((error as Error).message, "error");
    }
    watch();
  };
  const newest: Task | undefined = tasks[0];
  const findings = (tasks.find(({ state }) => state === "done")?.result as Finding[] | undefined) ?? [];
  const order = ["problem", "warning", "ok"];
  const sorted = findings.toSorted((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
  return (
    <section class="card" aria-labelledby="examination">
      <h2 id="examination">Is it well?</h2>
      <p>
        Settings, owners and modes, disk, clock, database, corpora, backups and certificate are looked at, as{" "}
        <code>labd doctor</code> does. It changes nothing, and takes a while with large corpora.
      </p>
      <div aria-live="polite">
        {newest?.state === "running" && <Progress label={newest.said} />}
        {newest && newest.state !== "running" && (
          <p>
            {newest.said} <Time at={newest.ended} />
          </p>
        )}
      </div>
      <p>
        <Button look="primary" busy={busy} onClick={() => void begin()}>
          Look now
        </Button>
      </p>
      <ul class="findings">
        {sorted.map(({ about, state, found, remedy }) => (
          <li key={about + found}>
            <span class={`tag ${MARK[state].tone}`}>{MARK[state].word}</span> <strong>{about}</strong>:{" "}
            {found}
            {remedy && <p>What to do: {remedy}</p>}
          </li>
        ))}
      </ul>
    </section>
  );
}

export const administrationPage = definePage({
  name: "administration",
  paths: ["/administration"],
  title: "Health",
  View: HealthPage,
});
