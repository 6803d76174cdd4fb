import { EmailCard } from "../account/reminders.tsx";
import { AdministrationFrame, defineAdministration } from "../administration/page.tsx";
import { TaskList, useTasks } from "../administration/tasks.tsx";
import { href } from "../address.ts";
import { Button } from "../components/button.tsx";
import { Card, KeyValues, Tag } from "../components/layout.tsx";
import { Loaded, useLoaded, usePolling } from "../components/loaded.tsx";
import { formatDuration, formatSize, Time } from "../format.tsx";
import { call } from "../request.ts";
import { useNoCorpus } from "../score/score-form.tsx";

interface Finding {
  about: string;
  state: "ok" | "warning" | "problem";
  found: string;
  remedy?: string;
}

const TASKS = ["examination"] as const;

function HealthPage() {
  const health = useLoaded("health", (signal) => call("GET /api/admin/health", { signal }));
  usePolling(health.reload, 15);
  return (
    <AdministrationFrame section="health">
      <Loaded of={health}>
        {(value) => (
          <>
            <FirstSteps />
            <Card title="Server">
              <KeyValues
                of={[
                  ["Version", `labd ${value.version} (${value.commit.slice(0, 12)})`],
                  ["Uptime", formatDuration(value.uptime)],
                  ["Server time", <Time at={value.now} />],
                  ["Disk", `${formatSize(value.disk.free)} of ${formatSize(value.disk.size)} free`],
                  ["Database", formatSize(value.database.bytes + value.database.log)],
                  ["Memory", formatSize(value.memory)],
                  ["Data directory", <code>{value.data_directory}</code>],
                ]}
              />
            </Card>
            <SystemCheck />
            <EmailCard />
          </>
        )}
      </Loaded>
    </AdministrationFrame>
  );
}

/** Tasks on a new server, shown until it has a corpus. */
function FirstSteps() {
  if (!useNoCorpus()) return null;
  return (
    <Card title="First steps">
      <ol class="bullets">
        <li>
          <a href={href("/inventory")}>Begin the inventory</a>: build rooms and freezers, import a
          spreadsheet, or load the sample.
        </li>
        <li>
          <a href={href("/administration/corpora")}>Add a corpus</a>: the proteins in which scoring finds
          homologs.
        </li>
        <li>
          <a href={href("/administration/users")}>Add users</a> who maintain the inventory. Scoring needs no
          account.
        </li>
        <li>
          Set <code>backup_dir</code> to a directory on another disk, then check the system below.
        </li>
      </ol>
    </Card>
  );
}

const STATES = {
  problem: { tone: "danger", word: "Problem" },
  warning: { tone: "warn", word: "Warning" },
  ok: { tone: "ok", word: "OK" },
} as const;
const ORDER = Object.keys(STATES);

function SystemCheck() {
  const { tasks, startTask, taskEnded } = useTasks(TASKS, () => {});
  const findings = (tasks.find(({ state }) => state === "done")?.result ?? []) as Finding[];
  return (
    <Card
      title="System check"
      actions={
        <Button
          look="primary"
          small
          busy={tasks[0]?.state === "running"}
          onClick={() => startTask(() => call("POST /api/admin/health/examination"))}
        >
          Check now
        </Button>
      }
    >
      <p class="lead">
        Checks settings, file owners, disk, clock, database, corpora, backups and certificate, like{" "}
        <code>labd doctor</code>. It changes nothing, and takes a while with large corpora.
      </p>
      <TaskList tasks={tasks.slice(0, 1)} onEnd={taskEnded} />
      <ul class="bullets">
        {findings
          .toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state))
          .map(({ about, state, found, remedy }) => (
            <li key={about + found} class="anywhere">
              <Tag tone={STATES[state].tone}>{STATES[state].word}</Tag> <strong>{about}</strong>: {found}
              {remedy && <p class="hint">{remedy}</p>}
            </li>
          ))}
      </ul>
    </Card>
  );
}

export const administrationPage = defineAdministration("health", HealthPage);
