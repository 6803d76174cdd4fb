import { useEffect, useState } from "preact/hooks";
import { href } from "../address.ts";
import { Button, LinkButton } from "../components/button.tsx";
import { Card } from "../components/layout.tsx";
import { TaskProgress } from "../components/task-progress.tsx";
import { withErrorToast } from "../components/toast.tsx";
import { formatCount, pluralize } from "../format.tsx";
import { type Declaration, hasLabels, pagePath } from "./declaration.ts";
import { Errors } from "./import-report.tsx";
import { RowsCard } from "./import-rows.tsx";
import { cancelImport, type ImportOptions, type ImportStatus, type Report } from "./import-run.ts";
import { showBatch, undo } from "./write-record.ts";

export function ImportProgress({ status }: { status: ImportStatus | undefined }) {
  const { state, rows, rows_checked = 0, rows_read = 0, dry_run, id } = status ?? {};
  const isWriting = state === "writing" && rows;
  const label = isWriting
    ? `${formatCount(rows_checked)} of ${formatCount(rows)} rows ${dry_run ? "checked" : "written"}`
    : state === "reading"
      ? `${formatCount(rows_read)} rows read`
      : "Waiting";
  return (
    <TaskProgress
      name="Progress"
      message={label}
      fraction={isWriting ? rows_checked / rows : null}
      onCancel={id === undefined ? undefined : () => cancelImport(id)}
    />
  );
}

export function ImportResult(props: {
  of: Declaration;
  status: ImportStatus;
  options: ImportOptions;
  onDownload: (() => Promise<void>) | null;
  /** True if the import was started here, and not found by its address. */
  isNew: boolean;
}) {
  const { of, status, options, isNew, onDownload } = props;
  const { report, state, message } = status;
  const [isUndone, setUndone] = useState(false);
  useEffect(() => {
    const done = state === "finished" ? report : null;
    if (isNew && done?.batch)
      showBatch(`Imported ${pluralize(done.created + done.updated, "record")}.`, done.batch, () =>
        setUndone(true),
      );
  }, [status.id, state]);
  if (state !== "finished" || !report)
    return (
      <Card title={state === "cancelled" ? "Cancelled" : "Not imported"}>
        <p>{message ?? "Nothing was written."}</p>
        {report && <Errors report={report} />}
      </Card>
    );
  const { created, waiting, batch } = report;
  const labels = { created__gte: status.created, created__lte: status.ended, created_by: status.user };
  return (
    <>
      <Card title={isUndone ? "Import undone" : "Imported"}>
        <p>{describeOutcome(report)}</p>
        <div class="actions">
          <LinkButton look="primary" href={href(pagePath(of.name), { ordering: "-modified" })}>
            Show records
          </LinkButton>
          {created > 0 && hasLabels(of) && (
            <LinkButton icon="printer" href={href("/inventory/labels", { list: of.name, ...labels })}>
              Print labels
            </LinkButton>
          )}
          {waiting > 0 && onDownload && (
            <Button icon="download" onClick={() => void withErrorToast(onDownload)}>
              Download {pluralize(waiting, "row")} left for later
            </Button>
          )}
          {batch !== null && !isUndone && (
            <Button icon="undo-2" onClick={() => void undo(batch, () => setUndone(true))}>
              Undo
            </Button>
          )}
        </div>
      </Card>
      {!report.archive && !isUndone && <RowsCard of={of} report={report} options={options} />}
    </>
  );
}

/** `18 added, 1 changed, 0 unchanged, 1 left for later.` */
function describeOutcome(report: Report): string {
  const { created, updated, unchanged, waiting, skipped, locations_made, units_made, archive } = report;
  const parts = [
    `${formatCount(created)} added`,
    `${formatCount(updated)} changed`,
    `${formatCount(unchanged)} unchanged`,
    waiting > 0 && `${formatCount(waiting)} left for later`,
    skipped > 0 && `${formatCount(skipped)} skipped`,
    locations_made > 0 && `${pluralize(locations_made, "location")} added`,
    units_made > 0 && `${pluralize(units_made, "unit")} added`,
    archive && `with ${pluralize(archive.notes, "note")} and ${pluralize(archive.files, "file")}`,
  ];
  return `${parts.filter(Boolean).join(", ")}.`;
}
