import { Administration } from "../administration/frame.tsx";
import { formatCount, formatSize, Time } from "../format.tsx";
import { TaskList, useTasks } from "../administration/tasks.tsx";
import { useLoaded } from "../components/loaded.tsx";
import { definePage } from "../page.tsx";
import { showToast } from "../components/toast.tsx";
import { Button } from "../components/button.tsx";
import { Empty } from "../components/empty.tsx";
import { ErrorBanner } from "../components/banner.tsx";
import { Table } from "../components/table.tsx";
import { requestJson, get } from "../request.ts";

interface Backup {
  name: string;
  place: string;
  created: string;
  reason: "asked" | "schedule" | "upgrade";
  labd: string;
  bytes: number;
  compressed_bytes: number;
  rows: number;
  corpora: number;
}
interface Backups {
  directory: string;
  hours: number;
  results: Backup[];
}

const PATH = "/api/admin/backups";
const KINDS = ["backup", "backup-verify"];
const REASONS = { asked: "somebody asked", schedule: "it was time", upgrade: "before an upgrade" };

function BackupsPage() {
  const { value, error, reload } = useLoaded("backups", (signal) => get<Backups>(PATH, {}, signal));
  const { tasks, watch, busy } = useTasks(KINDS, reload);
  const act = async (path: string): Promise<void> => {
    try {
      await requestJson("POST", path);
    } catch (problem) {
      showToast((problem as Error).message, "error");
    }
    watch();
  };
  return (
    <Administration path="/administration/backups" title="Backups">
      {error !== undefined && <ErrorBanner error={error} retry={reload} />}
      {value && (
        <>
          <p>
            {value.directory.startsWith("s3://") ? "They go to" : "They lie on the server in"}{" "}
            <code>{value.directory}</code>.{" "}
            {value.hours === 0
              ? "None is made by itself (backup_hours is 0)."
              : `One is made every ${value.hours} hours.`}{" "}
            {!value.directory.startsWith("s3://") && "Copy the whole directory to another machine, too. "}To
            go back to one, stop the server and run <code>labd restore</code>.
          </p>
          <p>
            <Button look="primary" busy={busy} onClick={() => void act(PATH)}>
              Make one now
            </Button>
          </p>
        </>
      )}
      <TaskList
        tasks={tasks}
        watch={watch}
        nameOf={({ kind, subject }) => (kind === "backup" ? "Backup" : `Verifying ${subject}`)}
      />
      {value?.results.length === 0 && (
        <Empty title="No backup yet">
          <p>Make one now: it does not stop anybody from working.</p>
        </Empty>
      )}
      {value && value.results.length > 0 && (
        <Table
          caption="Backups"
          rows={value.results}
          keyOf={({ name, place }) => `${place}/${name}`}
          columns={[
            {
              name: "created",
              title: "Made",
              heading: true,
              cell: (row) => (
                <>
                  <Time at={row.created} />
                  <br />
                  <small>
                    <code>{row.place === value.directory ? row.name : `${row.place}/${row.name}`}</code>
                  </small>
                </>
              ),
            },
            { name: "reason", title: "Because", cell: (row) => REASONS[row.reason] ?? row.reason },
            { name: "labd", title: "By labd", cell: (row) => row.labd },
            { name: "rows", title: "Rows", numeric: true, cell: (row) => formatCount(row.rows) },
            {
              name: "bytes",
              title: "Size",
              numeric: true,
              cell: (row) => `${formatSize(row.compressed_bytes)} of ${formatSize(row.bytes)}`,
            },
            { name: "corpora", title: "Corpora", numeric: true, cell: (row) => row.corpora },
            {
              name: "verify",
              title: <span class="unseen">What can be done</span>,
              cell: (row) => (
                <Button
                  look="quiet"
                  aria-label={`Verify ${row.name}`}
                  onClick={() => void act(`${PATH}/${row.name}/verify`)}
                >
                  Verify
                </Button>
              ),
            },
          ]}
        />
      )}
    </Administration>
  );
}

export const administrationBackupsPage = definePage({
  name: "administration-backups",
  paths: ["/administration/backups"],
  title: "Backups",
  View: BackupsPage,
});
