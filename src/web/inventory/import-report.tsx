import { href } from "../address.ts";
import { Banner } from "../components/banner.tsx";
import { Button } from "../components/button.tsx";
import { Table } from "../components/table.tsx";
import { pluralize, formatCount } from "../format.tsx";
import { withErrorToast } from "../components/toast.tsx";
import { type Declaration, findField, pagePath } from "./declaration.ts";
import type { Report } from "./import-run.ts";
import { formatText } from "./record.tsx";

/** Rows of a table. */
const MOST = 100;
const FIRST_ROWS = 10;

interface ChangesProps {
  report: Report;
  onDownload: (() => Promise<void>) | null;
}

/** Old and new values of existing records, and what stays. */
export function ImportedChanges(props: ChangesProps & { of: Declaration }) {
  const { of, report, onDownload } = props;
  const { changes, created, match, existing } = report;
  const same = match === "none" ? (existing.name ?? 0) : 0;
  const label = (name: string): string => findField(of, name)?.label ?? name;
  return (
    <>
      {same > 0 && (
        <Banner tone="warn">
          {pluralize(same, "row")} {same === 1 ? "has" : "have"} the name of an existing record, which stays
          as it is. To change it instead, choose so above.
        </Banner>
      )}
      {match !== "none" && created > 0 && (
        <p>
          {pluralize(created, "row")} {created === 1 ? "finds" : "find"} no record by {match} and{" "}
          {created === 1 ? "adds" : "add"} a new one.
        </p>
      )}
      {changes.length > 0 && (
        <Table
          caption="Changes of existing records"
          columns={[
            { name: "row", title: "Row", numeric: true, cell: ({ row }) => row, phone: "end" },
            {
              name: "name",
              title: "Record",
              heading: true,
              cell: ({ id, name }) => <a href={href(pagePath(of.name, id))}>{name}</a>,
            },
            {
              name: "changes",
              title: "Changes",
              cell: (changed) => <Differences of={of} changed={changed} />,
            },
            {
              name: "kept",
              title: "Stays",
              cell: ({ kept }) => <span class="muted">{kept.map(label).join(", ")}</span>,
            },
          ]}
          rows={changes}
          rowKey={({ row }) => row}
          first={{ rows: FIRST_ROWS, of: pluralize(changes.length, "change") }}
        />
      )}
      <DownloadChanges report={report} onDownload={onDownload} />
    </>
  );
}

/** Offers all changes as a table, where the report has the first ones. */
export const DownloadChanges = ({ report: { updated, changes }, onDownload }: ChangesProps) =>
  updated > changes.length && onDownload ? (
    <div>
      <Button icon="download" onClick={() => void withErrorToast(onDownload)}>
        Download the changes of all {formatCount(updated)} records
      </Button>
    </div>
  ) : null;

export const Differences = ({ of, changed }: { of: Declaration; changed: Report["changes"][number] }) => (
  <>
    {changed.changes.map(({ field, before, after }) => (
      <p key={field}>
        {findField(of, field)?.label ?? field}: <del>{formatText(before, findField(of, field))}</del>{" "}
        <ins>{formatText(after, findField(of, field))}</ins>
      </p>
    ))}
  </>
);

/** The records of an archive, and its data that match no field. */
export const ArchivePreview = ({
  archive: { records, left_out },
}: {
  archive: NonNullable<Report["archive"]>;
}) => (
  <>
    {records.length > 0 && (
      <Table
        caption="Records of the archive"
        columns={[
          { name: "row", title: "Record", cell: ({ row }) => row },
          { name: "name", title: "Name", heading: true, cell: ({ name }) => name },
          { name: "effect", title: "Effect", cell: ({ effect }) => EFFECTS[effect] },
          { name: "notes", title: "Notes", numeric: true, cell: ({ notes }) => formatCount(notes) },
          { name: "files", title: "Files", numeric: true, cell: ({ files }) => formatCount(files) },
        ]}
        rows={records}
        rowKey={({ row }) => row}
      />
    )}
    {left_out.length > 0 && (
      <Table
        caption="Left out, or kept in a note"
        columns={[
          { name: "row", title: "Record", cell: ({ row }) => row },
          { name: "column", title: "Property", cell: ({ column }) => column },
          { name: "message", title: "Left out, or kept in a note", cell: ({ message }) => message },
        ]}
        rows={left_out.slice(0, MOST).map((omission, key) => Object.assign({ key }, omission))}
        rowKey={({ key }) => key}
      />
    )}
  </>
);

const EFFECTS = { created: "new", updated: "changed", unchanged: "unchanged" } as const;

/** The errors by row and column. */
export const Errors = ({ report: { errors } }: { report: Report }) =>
  errors.length === 0 ? null : (
    <Table
      caption="Errors"
      columns={[
        { name: "row", title: "Row", numeric: true, cell: ({ row }) => row },
        { name: "column", title: "Column", cell: ({ column }) => column },
        { name: "message", title: "Error", cell: ({ message }) => message },
      ]}
      rows={errors.slice(0, MOST)}
      rowKey={({ row, column }) => `${row} ${column}`}
    />
  );
