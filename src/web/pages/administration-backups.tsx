import { type AdministrationContext, administrationPage } from "../administration/page.tsx";
import { Button } from "../components/button.tsx";
import { formatCount, formatSize, Time } from "../format.tsx";
import { type Answer, call } from "../request.ts";

type Backups = Answer<"GET /api/admin/backups">;
type Backup = Backups["results"][number];

const REASONS = { asked: "On request", schedule: "On schedule", upgrade: "Before an upgrade" };

export const administrationBackupsPage = administrationPage({
  section: "backups",
  intro: ({ directory, hours }) => (
    <>
      Backups are written to <code>{directory}</code>{" "}
      {hours === 0 ? "on request only (backup_hours is 0)" : `every ${hours} hours`}.{" "}
      {!directory.startsWith("s3://") && "Copy the directory to another machine. "}To restore one, stop the
      server and run <code>labd restore</code>.
    </>
  ),
  load: (_query, signal) => call("GET /api/admin/backups", { signal }),
  rowKey: ({ name, place }: Backup) => `${place}/${name}`,
  rowName: ({ name }) => name,
  empty: { title: "No backups yet", text: "Everybody can keep working while a backup is made." },
  tasks: ["backup", "backup-verify"],
  buttons: ({ startTask, taskIsRunning }: AdministrationContext<Backups>) => (
    <Button
      look="primary"
      busy={taskIsRunning}
      onClick={() => startTask(() => call("POST /api/admin/backups"))}
    >
      Back up now
    </Button>
  ),
  columns: [
    {
      name: "created",
      title: "Created",
      heading: true,
      cell: ({ created, name }) => (
        <>
          <Time at={created} /> <small class="anywhere">{name}</small>
        </>
      ),
    },
    { name: "place", title: "Location", cell: ({ place }) => <code>{place}</code> },
    { name: "reason", title: "Reason", cell: ({ reason }) => REASONS[reason] },
    { name: "labd", title: "Version", cell: ({ labd }) => labd },
    { name: "rows", title: "Rows", numeric: true, cell: ({ rows }) => formatCount(rows) },
    {
      name: "bytes",
      title: "Compressed size",
      numeric: true,
      cell: (row) => `${formatSize(row.compressed_bytes)} of ${formatSize(row.bytes)}`,
    },
    { name: "corpora", title: "Corpora", numeric: true, cell: ({ corpora }) => corpora },
  ],
  actions: [
    {
      label: "Verify",
      run: ({ name }, { startTask }) =>
        startTask(() => call("POST /api/admin/backups/:name/verify", { params: { name } })),
    },
  ],
});
