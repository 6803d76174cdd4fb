import { useEffect, useState } from "preact/hooks";
import { href } from "../address.ts";
import { Banner, ErrorBanner } from "../components/banner.tsx";
import { Button, LinkButton } from "../components/button.tsx";
import { type Choices, FileField, SelectField } from "../components/field.tsx";
import { Card, ClosedCard, PageHead } from "../components/layout.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import { TaskProgress } from "../components/task-progress.tsx";
import { Table } from "../components/table.tsx";
import { download } from "../download.ts";
import { pluralize, formatCount } from "../format.tsx";
import { ImportedChanges, ImportReport, readCsv } from "../inventory/import-report.tsx";
import {
  api,
  makeCrumb,
  type Declaration,
  declaration,
  hasLabels,
  pagePath,
  toSegment,
  listTitle,
  findField,
  writableFields,
} from "../inventory/declaration.ts";
import {
  cancelImport,
  downloadChanges,
  hasEnded,
  type ImportOptions,
  type ImportStatus,
  type Mapping,
  type Report,
  startImport,
  useImport,
} from "../inventory/import-run.ts";
import { SignInFirst } from "../inventory/sign-in-first.tsx";
import { showBatch, undo } from "../inventory/write-record.ts";
import { definePage, useParams, useQuery, useTitle } from "../page.tsx";
import { readTextFile } from "../text-file.ts";

function InventoryImport() {
  const segment = toSegment(useParams().list);
  const title = `Import ${listTitle(segment).toLowerCase()}`;
  useTitle(title);
  const declared = useLoaded(segment, () => declaration(segment));
  return (
    <>
      <PageHead title={title} crumbs={[makeCrumb(segment)]} />
      <SignInFirst to="import records">
        <Loaded of={declared}>{(of) => <Wizard of={of} />}</Loaded>
      </SignInFirst>
    </>
  );
}

/** Bytes of a file whose cells are shown. */
const MAX_SHOWN = 5_000_000;

/** The import in the address, where a long one is found again, and its options. */
function useWizard(of: Declaration) {
  const [query, setQuery] = useQuery();
  const [options, setOptions] = useState<ImportOptions>({ isDryRun: true, match: "none", mapping: {} });
  const [error, setError] = useState<unknown>();
  const [isSending, setSending] = useState(false);
  const id = query.get("import");
  const { value: status, error: statusError } = useImport(id);
  const isRunning = isSending || (id !== null && !statusError && (!status || !hasEnded(status)));
  const start = async (file: File | null, changes: Partial<ImportOptions>): Promise<void> => {
    const next = { ...options, ...changes };
    setOptions({ ...next, isDryRun: true });
    if (!file) return;
    setSending(true);
    setError(undefined);
    try {
      setQuery({ import: await startImport(of.name, file, next) }, { replace: true });
    } catch (problem) {
      setQuery({ import: null }, { replace: true });
      setError(problem);
    }
    setSending(false);
  };
  return { options, status, isRunning, start, error: error ?? statusError };
}

function Wizard({ of }: { of: Declaration }) {
  const { options, status, isRunning, start, error } = useWizard(of);
  const [file, setFile] = useState<File | null>(null);
  const [cells, setCells] = useState<string[][]>([]);
  const choose = async (chosen: File | null): Promise<void> => {
    if (!chosen) return;
    setFile(chosen);
    const isText = !/\.(?:xlsx|eln|zip)$/i.test(chosen.name) && chosen.size <= MAX_SHOWN;
    // The server reports a file that cannot be read.
    setCells(isText ? readCsv(await readTextFile(chosen).catch(() => "")) : []);
    await start(chosen, { mapping: {} });
  };
  const change = (changes: Partial<ImportOptions>): void => void start(file, changes);
  const isDone = !isRunning && status !== undefined;
  const tried = isDone && status?.dry_run ? status.report : null;
  return (
    <div class="stack">
      <Card title="1. Choose a file">
        <p>
          A CSV or XLSX file whose first row names the columns: your own spreadsheet, an export of this list,
          or the template, which has drop-down lists. Or an archive (.eln) of labd or eLabFTW: each of its
          entries becomes a record with notes and files. Nothing is written until you confirm.
        </p>
        <div class="form-inline">
          <FileField
            label="File to import"
            accept=".csv,.tsv,.txt,.xlsx,.eln,.zip"
            onChange={(chosen) => void choose(chosen)}
          />
          <LinkButton icon="download" href={href(api(of.name, "import/"))} download="">
            Template
          </LinkButton>
        </div>
        <SelectField
          label="Rows without an id"
          value={options.match}
          choices={matchChoices(of, tried)}
          onChange={(match) => change({ match })}
        />
      </Card>
      {error !== undefined && <ErrorBanner error={error} />}
      {isRunning && <ImportProgress status={status} />}
      {tried && (
        <DryRun
          of={of}
          report={tried}
          cells={cells}
          mapping={options.mapping}
          onMap={(mapping) => change({ mapping })}
          onImport={file && (() => void start(file, { isDryRun: false }))}
          onDownload={
            file && (async () => download("changes.csv", await downloadChanges(of.name, file, options)))
          }
        />
      )}
      {isDone && status && !tried && (
        <ImportResult of={of} status={status} cells={cells} isNew={file !== null} />
      )}
    </div>
  );
}

/** Choices of the value that matches rows to records, with the number of matches. */
function matchChoices({ fields }: Declaration, report: Report | null): Choices<Report["match"]> {
  const rows = (by: "name" | "barcode"): string => {
    const count = report?.existing[by];
    return count === undefined ? "" : ` (${pluralize(count, "row")})`;
  };
  return [
    { value: "none", name: "Add a new record for each" },
    { value: "name", name: `Change the record of the same name${rows("name")}` },
    ...("barcode" in fields
      ? [{ value: "barcode" as const, name: `Change the record with the same barcode${rows("barcode")}` }]
      : []),
  ];
}

/** Effects of an import, and the mapping of its columns. */
function DryRun(props: {
  of: Declaration;
  report: Report;
  cells: string[][];
  mapping: Mapping;
  onMap: (mapping: Mapping) => void;
  onImport: (() => void) | null;
  onDownload: (() => Promise<void>) | null;
}) {
  const { of, report, mapping, onImport } = props;
  const changed = report.created + report.updated;
  const areKnown = report.columns.every(({ field }) => field !== null && field !== "notes");
  return (
    <>
      <OtherList of={of} archive={report.archive} />
      <ClosedCard
        title={<h2>{report.archive ? "2. Properties" : "2. Columns"}</h2>}
        note={areKnown ? `All ${report.columns.length} recognised` : ""}
        open={!areKnown || Object.keys(mapping).length > 0}
        bare
      >
        <Columns
          of={of}
          report={report}
          mapping={mapping}
          onMap={(header, field) => props.onMap({ ...mapping, [header]: field || null })}
        />
      </ClosedCard>
      <Card title="3. Preview">
        <ImportReport report={report} cells={props.cells} />
        <ImportedChanges of={of} report={report} onDownload={props.onDownload} />
        {onImport && report.errors.length === 0 && changed > 0 && (
          <div>
            <Button look="primary" onClick={onImport}>
              Import {pluralize(changed, "record")}
            </Button>
          </div>
        )}
      </Card>
    </>
  );
}

function ImportProgress({ status }: { status: ImportStatus | undefined }) {
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

function ImportResult(props: {
  of: Declaration;
  status: ImportStatus;
  cells: string[][];
  /** True if the import was started here, and not found by its address. */
  isNew: boolean;
}) {
  const { of, status, cells, isNew } = props;
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
        {report && <ImportReport report={report} cells={cells} />}
      </Card>
    );
  const { created, updated, unchanged, locations_made, units_made, archive, batch } = report;
  const labels = { created__gte: status.created, created__lte: status.ended, created_by: status.user };
  return (
    <Card title={isUndone ? "Import undone" : "Imported"}>
      <p>
        {formatCount(created)} added, {formatCount(updated)} changed, {formatCount(unchanged)} unchanged
        {locations_made > 0 && `, ${pluralize(locations_made, "location")} added`}
        {units_made > 0 && `, ${pluralize(units_made, "unit")} added`}
        {archive && `, with ${pluralize(archive.notes, "note")} and ${pluralize(archive.files, "file")}`}.
      </p>
      <div class="actions">
        <LinkButton look="primary" href={href(pagePath(of.name), { ordering: "-modified" })}>
          Show records
        </LinkButton>
        {created > 0 && hasLabels(of) && (
          <LinkButton icon="printer" href={href("/inventory/labels", { list: of.name, ...labels })}>
            Print labels
          </LinkButton>
        )}
        {batch !== null && !isUndone && (
          <Button icon="undo-2" onClick={() => void undo(batch, () => setUndone(true))}>
            Undo
          </Button>
        )}
      </div>
    </Card>
  );
}

/** The list of the records of an archive, if it is another one. */
function OtherList({ of, archive }: { of: Declaration; archive: Report["archive"] }) {
  const list = archive?.list ?? of.name;
  if (list === of.name) return null;
  return (
    <Banner tone="warn">
      The archive has records of {listTitle(list).toLowerCase()}. To restore them,{" "}
      <a href={href(`${pagePath(list)}/import`)}>import it there</a>.
    </Banner>
  );
}

/** The field that each column of the file fills in. */
function Columns(props: {
  of: Declaration;
  report: Report;
  mapping: Mapping;
  onMap: (header: string, field: string) => void;
}) {
  const { of, report, mapping } = props;
  const path = of.name === "locations" ? ["path"] : [];
  const own = writableFields(of).map(([name]) => name);
  const isArchive = report.archive !== null;
  const fields = ["id", ...path, ...own, ...Object.keys(of.annotations)];
  return (
    <Table
      caption="Columns"
      rows={report.columns}
      rowKey={({ header }) => header}
      columns={[
        {
          name: "header",
          title: isArchive ? "Property" : "Column of the file",
          heading: true,
          cell: ({ header }) => header,
        },
        {
          name: "field",
          title: "Field",
          cell: ({ header, field }) => {
            const error = report.errors.find(({ row, column }) => row <= 1 && column === header);
            const isUnknown = error !== undefined && !(header in mapping) && !field;
            return (
              <>
                <select
                  class="input"
                  aria-label={`Field for ${header}`}
                  aria-invalid={error ? "true" : undefined}
                  value={isUnknown ? "?" : ((header in mapping ? mapping[header] : field) ?? "")}
                  onChange={(event) => props.onMap(header, event.currentTarget.value)}
                >
                  {isUnknown && (
                    <option value="?" disabled>
                      Choose a field
                    </option>
                  )}
                  <option value="">{isArchive ? "Leave out" : "Ignore this column"}</option>
                  {isArchive && <option value="notes">Keep in a note</option>}
                  {isArchive && <option value="new">New annotation type</option>}
                  {fields.map((name) => (
                    <option key={name} value={name}>
                      {findField(of, name)?.label ?? name}
                    </option>
                  ))}
                </select>
                {/* The field above has the choices. */}
                {error && <p class="error">{error.message.replace(/ Choices: .*/s, "")}</p>}
              </>
            );
          },
        },
      ]}
    />
  );
}

export const inventoryImportPage = definePage({
  name: "inventory-import",
  paths: ["/inventory/:list/import"],
  title: "Import",
  View: InventoryImport,
});
