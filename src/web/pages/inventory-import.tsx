import { useState } from "preact/hooks";
import { href } from "../address.ts";
import { many } from "../inventory/bulk.tsx";
import { readCsv } from "../inventory/csv.ts";
import {
  api,
  type Declaration,
  declaration,
  pageOf,
  segmentOf,
  titleOf,
  writableFields,
} from "../inventory/declaration.ts";
import {
  cancelImport,
  hasEnded,
  type Import,
  type Mapping,
  type Report,
  startImport,
  useImport,
} from "../inventory/import-run.ts";
import { Verdict } from "../inventory/import-verdict.tsx";
import { undo } from "../inventory/write-record.ts";
import { useLoaded } from "../components/loaded.tsx";
import { definePage, useParams, useQuery, useTitle } from "../page.tsx";
import { showToast } from "../components/toast.tsx";
import { Button, LinkButton } from "../components/button.tsx";
import { ErrorBanner } from "../components/banner.tsx";
import { Checkbox } from "../components/field.tsx";
import { Progress } from "../components/progress.tsx";
import { useSession } from "../session.ts";
import { readTextFile } from "../text-file.ts";

/** Bytes of a file whose cells are shown. */
const READABLE = 5_000_000;

function InventoryImport() {
  const segment = segmentOf(useParams().list);
  const title = `Import ${titleOf(segment).toLowerCase()}`;
  useTitle(title);
  const session = useSession();
  const declared = useLoaded(segment, () => declaration(segment));
  return (
    <>
      <nav class="trail" aria-label="Path">
        <a href={href("/inventory")}>Inventory</a> › <a href={href(pageOf(segment))}>{titleOf(segment)}</a>
      </nav>
      <h1>{title}</h1>
      {Boolean(declared.error) && <ErrorBanner error={declared.error} retry={declared.reload} />}
      {session === null && (
        <p class="note warn">
          Only who is signed in can import.{" "}
          <a href={href("/sign-in", { next: `${pageOf(segment)}/import` })}>Sign in</a>
        </p>
      )}
      {declared.value && session && <Wizard of={declared.value} />}
    </>
  );
}

function Wizard({ of }: { of: Declaration }) {
  const [query, setQuery] = useQuery();
  const [file, setFile] = useState<File | null>(null);
  const [cells, setCells] = useState<string[][]>([]);
  const [always, setAlways] = useState(false);
  const [mapping, setMapping] = useState<Mapping>({});
  const [error, setError] = useState<unknown>(null);
  const [sending, setSending] = useState(false);
  // In the address, so that a long import is found again after the page was left.
  const id = query.get("import");
  const watched = useImport(id);
  const run = watched.value;
  const running = sending || (id !== null && !watched.error && (!run || !hasEnded(run)));

  const start = async (dry: boolean, chosen: File, names: Mapping, none: boolean): Promise<void> => {
    setSending(true);
    setError(null);
    try {
      const started = await startImport(of.name, chosen, { dry, always: none, mapping: names });
      setQuery({ import: started }, { replace: true });
    } catch (problem) {
      setQuery({ import: null }, { replace: true });
      setError(problem);
    }
    setSending(false);
  };
  const choose = async (chosen: File | undefined): Promise<void> => {
    if (!chosen) return;
    setFile(chosen);
    setMapping({});
    const isText = !/\.xlsx$/i.test(chosen.name) && chosen.size <= READABLE;
    // What cannot be read is told with the verdict.
    setCells(isText ? readCsv(await readTextFile(chosen).catch(() => "")) : []);
    await start(true, chosen, {}, always);
  };
  const rename = (header: string, field: string): void => {
    const names = { ...mapping, [header]: field === "" ? null : field };
    setMapping(names);
    if (file) void start(true, file, names, always);
  };
  const report = run?.report;
  const tried = !running && run?.dry_run === true ? report : undefined;
  return (
    <div class="stack">
      <section class="card">
        <h2>1. Choose a file</h2>
        <p>
          CSV or XLSX, the names of the fields in the first row: an export of this list, or the template,
          which has drop-downs with what can be chosen. Nothing is written before you say so.
        </p>
        <p class="row">
          <label>
            <span class="unseen">File to import</span>
            <input
              type="file"
              accept=".csv,.tsv,.txt,.xlsx"
              onChange={(event) => void choose(event.currentTarget.files?.[0])}
            />
          </label>
          <LinkButton href={href(api(of.name, "import/"))} download="">
            Template
          </LinkButton>
        </p>
        <Checkbox
          label="Every row without an id is a new record, even where one of its name is there"
          checked={always}
          onChange={(on) => {
            setAlways(on);
            if (file) void start(true, file, mapping, on);
          }}
        />
      </section>
      {Boolean(error ?? watched.error) && <ErrorBanner error={error ?? watched.error} />}
      {running && <Running run={run} />}
      {tried && (
        <>
          <section class="card">
            <h2>2. What the columns mean</h2>
            <Columns of={of} report={tried} mapping={mapping} onRename={rename} />
          </section>
          <section class="card">
            <h2>3. What would happen</h2>
            <Verdict report={tried} cells={cells} />
            {file && tried.errors.length === 0 && tried.created + tried.updated > 0 && (
              <Button look="primary" onClick={() => void start(false, file, mapping, always)}>
                Import {many(tried.created + tried.updated)}
              </Button>
            )}
          </section>
        </>
      )}
      {!running && run && !tried && <Ended of={of} run={run} cells={cells} />}
    </div>
  );
}

/** How far it is, and how to call it off: all that was written is taken back then. */
function Running({ run }: { run: Import | undefined }) {
  const [busy, setBusy] = useState(false);
  const rows = run?.rows?.toLocaleString("en");
  const label =
    run?.state === "writing"
      ? `${run.rows_checked.toLocaleString("en")} of ${rows} rows ${run.dry_run ? "tried out" : "written"}`
      : run?.state === "reading"
        ? `${run.rows_read.toLocaleString("en")} rows read`
        : "Waiting";
  const fraction = run?.state === "writing" && run.rows ? run.rows_checked / run.rows : undefined;
  return (
    <section class="card" aria-label="Progress">
      <Progress label={label} fraction={fraction} />
      {run && (
        <Button
          busy={busy}
          onClick={() => {
            setBusy(true);
            cancelImport(run.id).catch((error: Error) => showToast(error.message, "error"));
          }}
        >
          Call it off
        </Button>
      )}
    </section>
  );
}

/** What came of it. */
function Ended({ of, run, cells }: { of: Declaration; run: Import; cells: readonly string[][] }) {
  const { report } = run;
  const [undone, setUndone] = useState(false);
  if (run.state !== "finished" || !report)
    return (
      <section class="card">
        <h2>{run.state === "cancelled" ? "Called off" : "Not imported"}</h2>
        <p>{run.message ?? "Nothing was written."}</p>
        {report && <Verdict report={report} cells={cells} />}
      </section>
    );
  return (
    <section class="card">
      <h2>{undone ? "Taken back" : "Done"}</h2>
      <p>
        {report.created.toLocaleString("en")} made, {report.updated.toLocaleString("en")} changed,{" "}
        {report.unchanged.toLocaleString("en")} as they were
        {report.locations_made > 0 &&
          `; ${report.locations_made.toLocaleString("en")} locations made on the way`}
        .
      </p>
      <p class="row">
        <LinkButton href={href(pageOf(of.name), { ordering: "-modified" })}>Show them</LinkButton>
        {report.batch !== null && !undone && (
          <Button onClick={() => void undo(report.batch!, () => setUndone(true))}>Undo</Button>
        )}
      </p>
    </section>
  );
}

function Columns(props: {
  of: Declaration;
  report: Report;
  mapping: Mapping;
  onRename: (header: string, field: string) => void;
}) {
  const { of, report, mapping, onRename } = props;
  const fields = [
    "id",
    ...(of.name === "locations" ? ["path"] : []),
    ...writableFields(of).map(([name]) => name),
  ];
  return (
    <div class="wide" role="region" aria-label="Columns" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col">Column of the file</th>
            <th scope="col">Field</th>
          </tr>
        </thead>
        <tbody>
          {report.columns.map(({ header, field }) => {
            const wrong = report.errors.find(({ row, column }) => row <= 1 && column === header);
            // To leave a column out is a choice of its own.
            const isOpen = wrong !== undefined && !(header in mapping) && !field;
            return (
              <tr key={header}>
                <th scope="row">{header}</th>
                <td>
                  <select
                    aria-label={`Field for ${header}`}
                    aria-invalid={wrong ? "true" : undefined}
                    value={isOpen ? "?" : header in mapping ? (mapping[header] ?? "") : (field ?? "")}
                    onChange={(event) => onRename(header, event.currentTarget.value)}
                  >
                    {isOpen && (
                      <option value="?" disabled>
                        choose what it is
                      </option>
                    )}
                    <option value="">leave out</option>
                    {fields.map((name) => (
                      <option key={name} value={name}>
                        {of.fields[name]?.label ?? name}
                      </option>
                    ))}
                  </select>
                  {wrong && <p class="error">{wrong.message}</p>}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

export const inventoryImportPage = definePage({
  name: "inventory-import",
  paths: ["/inventory/:list/import"],
  title: "Import",
  View: InventoryImport,
});
