import { useEffect, useState } from "preact/hooks";
import { href } from "../address.ts";
import { Banner, ErrorBanner } from "../components/banner.tsx";
import { LinkButton } from "../components/button.tsx";
import { type Choices, FileField, SelectField } from "../components/field.tsx";
import { Card, ClosedCard, PageHead } from "../components/layout.tsx";
import { Icon } from "../components/icon.tsx";
import { Loaded, useLoaded } from "../components/loaded.tsx";
import { download } from "../download.ts";
import { pluralize } from "../format.tsx";
import { type CheckProps, ColumnsCard, readingOf } from "../inventory/import-columns.tsx";
import { BoxCard } from "../inventory/import-box.tsx";
import { ImportProgress, ImportResult } from "../inventory/import-result.tsx";
import { RowsCard, Totals } from "../inventory/import-rows.tsx";
import { ArchivePreview, DownloadChanges, Errors, ImportedChanges } from "../inventory/import-report.tsx";
import {
  api,
  makeCrumb,
  type Declaration,
  declaration,
  pagePath,
  toSegment,
  listTitle,
} from "../inventory/declaration.ts";
import {
  downloadTable,
  hasEnded,
  type ImportOptions,
  type ImportStatus,
  NO_DECISIONS,
  type Report,
  startImport,
  useImport,
} from "../inventory/import-run.ts";
import { SignInFirst } from "../inventory/sign-in-first.tsx";
import { definePage, useParams, useQuery, useTitle } from "../page.tsx";
import { useSession } from "../session.ts";

function InventoryImport() {
  const segment = toSegment(useParams().list);
  const title = `Import ${listTitle(segment).toLowerCase()}`;
  useTitle(title);
  const declared = useLoaded(segment, () => declaration(segment));
  return (
    <>
      {!(useSession() && declared.value) && <PageHead title={title} crumbs={[makeCrumb(segment)]} />}
      <SignInFirst to="import records">
        <Loaded of={declared}>{(of) => <Wizard of={of} />}</Loaded>
      </SignInFirst>
    </>
  );
}

const STEPS = ["File", "Check", "Done"];

/** The title of the page, and the steps of an import. */
function Head({
  of,
  step,
  report,
  file,
}: {
  of: Declaration;
  step: number;
  report: Report | null;
  file: File | null;
}) {
  const isCheck = step === 1 && report !== null;
  const archive = report?.archive;
  return (
    <PageHead
      title={
        isCheck
          ? `Check ${pluralize(report.rows, archive ? "record" : "row")}${archive ? ` of ${archive.source}` : ""}`
          : `Import ${listTitle(of.name).toLowerCase()}`
      }
      crumbs={[makeCrumb(of.name)]}
      actions={
        <ol class="steps" aria-label="Steps">
          {STEPS.map((name, i) => (
            <li
              key={name}
              class={i < step ? "done" : undefined}
              aria-current={i === step ? "step" : undefined}
            >
              {i < step ? <Icon name="check" /> : <b>{i + 1}</b>}
              {name}
            </li>
          ))}
        </ol>
      }
    >
      {isCheck && (
        <>
          This is how labd reads <b>{file?.name ?? "the file"}</b>.{" "}
          {file && !archive && "Click a cell to correct it; nothing is saved yet."}
        </>
      )}
    </PageHead>
  );
}

/** The import in the address, where a long one is found again, and its options. */
function useWizard(of: Declaration) {
  const [query, setQuery] = useQuery();
  const [options, setOptions] = useState<ImportOptions>({
    isDryRun: true,
    match: "none",
    partial: true,
    ...NO_DECISIONS,
  });
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

/** The mapping that a person has seen: a view may be changed meanwhile, and that of another person is only proposed. */
const asShown = (tried: Report): Partial<ImportOptions> => (tried.remembered?.same ? readingOf(tried) : {});

/** The outcome of the last dry run, which stays while another one runs. */
function useTried(status: ImportStatus | undefined, isRunning: boolean): Report | null {
  const [last, setLast] = useState<Report | null>(null);
  const isDone = !isRunning && status !== undefined;
  const tried = isDone && status.dry_run ? status.report : null;
  useEffect(() => {
    if (isDone) setLast(tried);
  }, [isDone, tried]);
  return isRunning ? last : tried;
}

function Wizard({ of }: { of: Declaration }) {
  const { options, status, isRunning, start, error } = useWizard(of);
  const [file, setFile] = useState<File | null>(null);
  const choose = async (chosen: File | null): Promise<void> => {
    if (!chosen) return;
    setFile(chosen);
    // An archive is imported whole or not at all.
    const partial = !/\.(?:eln|zip)$/i.test(chosen.name);
    const match = partial && "barcode" in of.fields ? "barcode" : "none";
    await start(chosen, { ...NO_DECISIONS, partial, match });
  };
  const change = (changes: Partial<ImportOptions>): void => void start(file, changes);
  const tried = useTried(status, isRunning);
  const save = (name: string, format: "csv" | "waiting-xlsx") =>
    file && (async (): Promise<void> => download(name, await downloadTable(of.name, file, options, format)));
  const done = !isRunning && !tried ? status : undefined;
  const check = tried && {
    of,
    report: tried,
    options,
    file,
    onChange: file ? change : undefined,
    onImport: file && !isRunning ? () => void start(file, { ...asShown(tried), isDryRun: false }) : null,
    onDownload: save("changes.csv", "csv"),
  };
  return (
    <div class="stack">
      <Head of={of} step={tried ? 1 : done ? 2 : 0} report={tried} file={file} />
      {error !== undefined && <ErrorBanner error={error} />}
      {isRunning && <ImportProgress status={status} />}
      {check && <Check {...check} onSave={save("waiting.xlsx", "waiting-xlsx")} />}
      {done && (
        <ImportResult
          of={of}
          status={done}
          options={options}
          isNew={file !== null}
          onDownload={save("waiting.xlsx", "waiting-xlsx")}
        />
      )}
      <ChooseFile
        of={of}
        match={options.match}
        tried={tried}
        isClosed={tried !== null || done !== undefined}
        onChoose={choose}
        onChange={change}
      />
    </div>
  );
}

interface ArchiveCheckProps extends CheckProps {
  file: File | null;
  onImport: (() => void) | null;
  onDownload: (() => Promise<void>) | null;
}

/** The totals, columns and rows of a spreadsheet, or the records of an archive. */
function Check(props: ArchiveCheckProps & { onSave: (() => Promise<void>) | null }) {
  const { report, onDownload } = props;
  const { boxes = [] } = report;
  if (report.archive) return <ArchiveCheck {...props} />;
  return (
    <>
      <Totals report={report} onImport={props.onImport} onDownload={props.onSave} />
      {boxes.length === 0 ? (
        <ColumnsCard {...props} />
      ) : (
        <div class="with-panel wide">
          <ColumnsCard {...props} />
          <BoxCard boxes={boxes} />
        </div>
      )}
      <RowsCard {...props} />
      <DownloadChanges report={report} onDownload={onDownload} />
    </>
  );
}

function ChooseFile(props: {
  of: Declaration;
  match: Report["match"];
  tried: Report | null;
  /** True after a file was chosen. */
  isClosed: boolean;
  onChoose: (file: File | null) => Promise<void>;
  onChange: (changes: Partial<ImportOptions>) => void;
}) {
  const { of, match, tried, isClosed } = props;
  const card = (
    <Card title="Choose a file">
      <p>
        Your own spreadsheet (CSV or XLSX) whose first row has titles, an export of this list, or the
        template, which has drop-down lists. Or an archive (.eln) of labd or eLabFTW: each of its entries
        becomes a record with notes and files. Nothing is written until you confirm.
      </p>
      <div class="form-inline">
        <FileField
          label="File to import"
          accept=".csv,.tsv,.txt,.xlsx,.eln,.zip"
          onChange={(chosen) => void props.onChoose(chosen)}
        />
        <LinkButton icon="download" href={href(api(of.name, "import/"))} download="">
          Template
        </LinkButton>
      </div>
      <SelectField
        label="Rows without an id"
        value={match}
        choices={matchChoices(of, tried)}
        onChange={(match) => props.onChange({ match })}
      />
    </Card>
  );
  return isClosed ? <ClosedCard title={<h2>Another file</h2>}>{card}</ClosedCard> : card;
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

/** The records of an archive, and the mapping of its properties. */
function ArchiveCheck(props: ArchiveCheckProps) {
  const { of, report, onImport } = props;
  const { archive, errors } = report;
  return (
    <>
      <Totals report={report} onImport={errors.length === 0 ? onImport : null} onDownload={null} />
      <OtherList of={of} archive={archive} />
      <ColumnsCard {...props} />
      <Card title="Preview">
        {errors.length > 0 && (
          <p>
            The file is imported only if all records are correct. Map the properties above, or correct the
            file and choose it again.
          </p>
        )}
        <ArchivePreview archive={archive!} />
        <Errors report={report} />
        <ImportedChanges of={of} report={report} onDownload={props.onDownload} />
      </Card>
    </>
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

export const inventoryImportPage = definePage({
  name: "inventory-import",
  paths: ["/inventory/:list/import"],
  title: "Import",
  View: InventoryImport,
});
