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
import { useLoaded } from "../inventory/loaded.ts";
import { announceDone } from "../inventory/writing.ts";
import { definePage, useParams, useTitle } from "../page.tsx";
import { Button, LinkButton } from "../part/button.tsx";
import { Failure } from "../part/failure.tsx";
import { Checkbox } from "../part/field.tsx";
import { ask } from "../request.ts";
import { useSession } from "../session.ts";

interface Report {
  rows: number;
  created: number;
  updated: number;
  unchanged: number;
  locations_made: number;
  columns: { header: string; field: string | null }[];
  errors: { row: number; column: string | null; message: string }[];
  more_errors: boolean;
  batch: string | null;
}

/** Rows of the file that are shown besides those with something wrong. */
const SHOWN = 10;
const MOST_SHOWN = 100;
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
      {Boolean(declared.error) && <Failure error={declared.error} retry={declared.reload} />}
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
  const [file, setFile] = useState<File | null>(null);
  const [cells, setCells] = useState<string[][]>([]);
  const [always, setAlways] = useState(false);
  const [mapping, setMapping] = useState<Record<string, string | null>>({});
  const [report, setReport] = useState<Report | null>(null);
  const [done, setDone] = useState<Report | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);

  const send = (dry: boolean, chosen: File, names: typeof mapping, none: boolean): Promise<Report> =>
    ask<Report>("POST", api(of.name, "import/"), {
      query: {
        dry_run: dry ? "1" : undefined,
        match: none ? "none" : undefined,
        mapping: Object.keys(names).length > 0 ? JSON.stringify(names) : undefined,
      },
      body: chosen,
    });
  const check = async (chosen: File, names = mapping, none = always): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      setReport(await send(true, chosen, names, none));
    } catch (problem) {
      setReport(null);
      setError(problem);
    }
    setBusy(false);
  };
  const choose = async (chosen: File | undefined): Promise<void> => {
    if (!chosen) return;
    setFile(chosen);
    setMapping({});
    setDone(null);
    const isText = !/\.xlsx$/i.test(chosen.name) && chosen.size <= READABLE;
    setCells(isText ? readCsv(await chosen.text()) : []);
    await check(chosen, {});
  };
  const carryOut = async (): Promise<void> => {
    if (!file) return;
    setBusy(true);
    try {
      const result = await send(false, file, mapping, always);
      setDone(result);
      setReport(null);
      announceDone(`${many(result.created + result.updated)} imported.`, result.batch, () => setDone(null));
    } catch (problem) {
      setError(problem);
    }
    setBusy(false);
  };
  const rename = (header: string, field: string): void => {
    const names = { ...mapping, [header]: field === "" ? null : field };
    setMapping(names);
    if (file) void check(file, names);
  };
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
            if (file) void check(file, mapping, on);
          }}
        />
      </section>
      {busy && <p class="muted">Trying it out …</p>}
      {error !== null && <Failure error={error} />}
      {report && (
        <>
          <section class="card">
            <h2>2. What the columns mean</h2>
            <Columns of={of} report={report} mapping={mapping} onRename={rename} />
          </section>
          <section class="card">
            <h2>3. What would happen</h2>
            <Verdict report={report} cells={cells} />
            {report.errors.length === 0 && report.created + report.updated > 0 && (
              <Button look="primary" busy={busy} onClick={() => void carryOut()}>
                Import {many(report.created + report.updated)}
              </Button>
            )}
          </section>
        </>
      )}
      {done && (
        <section class="card">
          <h2>Done</h2>
          <p>
            {done.created.toLocaleString("en")} made, {done.updated.toLocaleString("en")} changed,{" "}
            {done.unchanged.toLocaleString("en")} as they were
            {done.locations_made > 0 &&
              `; ${done.locations_made.toLocaleString("en")} locations made on the way`}
            .
          </p>
          <LinkButton href={href(pageOf(of.name), { ordering: "-modified" })}>Show them</LinkButton>
        </section>
      )}
    </div>
  );
}

function Columns(props: {
  of: Declaration;
  report: Report;
  mapping: Readonly<Record<string, string | null>>;
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
            return (
              <tr key={header}>
                <th scope="row">{header}</th>
                <td>
                  <select
                    aria-label={`Field for ${header}`}
                    aria-invalid={wrong ? "true" : undefined}
                    value={header in mapping ? (mapping[header] ?? "") : (field ?? "")}
                    onChange={(event) => onRename(header, event.currentTarget.value)}
                  >
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

function Verdict({ report, cells }: { report: Report; cells: readonly string[][] }) {
  const { errors, rows, created, updated, unchanged, locations_made } = report;
  const wrong = new Set(errors.map(({ row }) => row));
  return (
    <>
      <p class="row">
        <strong>{rows.toLocaleString("en")} rows:</strong>
        <span class="tag good">{created.toLocaleString("en")} new</span>
        <span class="tag">{updated.toLocaleString("en")} changed</span>
        <span class="tag">{unchanged.toLocaleString("en")} as they are</span>
        {locations_made > 0 && <span class="tag warn">{locations_made} locations made on the way</span>}
        {wrong.size > 0 && (
          <span class="tag bad">
            {wrong.size.toLocaleString("en")}
            {report.more_errors && " or more"} wrong
          </span>
        )}
      </p>
      {errors.length > 0 && (
        <p>
          All rows are imported or none: correct the file, and choose it again. What is wrong, cell by cell:
        </p>
      )}
      {cells.length > 1 ? <Grid report={report} cells={cells} /> : <Errors report={report} />}
    </>
  );
}

/** The cells of the file, those that are refused marked with why. */
function Grid({ report, cells }: { report: Report; cells: readonly string[][] }) {
  const [headers, ...lines] = cells;
  const verdicts = new Map<string, string>();
  for (const { row, column, message } of report.errors) {
    const key = `${row} ${column ?? ""}`;
    verdicts.set(key, [verdicts.get(key), message].filter(Boolean).join(" "));
  }
  const wrong = new Set(report.errors.map(({ row }) => row));
  const numbered = lines.map((line, i) => ({ line, row: i + 2 }));
  const shown = numbered.filter(({ row }, i) => wrong.has(row) || i < SHOWN).slice(0, MOST_SHOWN);
  return (
    <>
      <div class="wide" role="region" aria-label="Cells of the file" tabIndex={0}>
        <table>
          <thead>
            <tr>
              <th scope="col">Row</th>
              {headers.map((header, i) => (
                <th key={i} scope="col">
                  {header}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map(({ line, row }) => (
              <tr key={row} class={wrong.has(row) ? "wrong" : undefined}>
                <th scope="row">
                  {row}
                  {verdicts.has(`${row} `) && <p class="error">{verdicts.get(`${row} `)}</p>}
                </th>
                {headers.map((header, i) => {
                  const message = verdicts.get(`${row} ${header}`);
                  return (
                    <td key={i} class={message ? "bad-cell" : undefined}>
                      {line[i]}
                      {message && <p class="error">{message}</p>}
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {lines.length > shown.length && (
        <p class="muted">{many(lines.length - shown.length)} more without anything wrong, or not shown.</p>
      )}
    </>
  );
}

/** The same where the cells cannot be shown: by row and column, as the spreadsheet names them. */
function Errors({ report }: { report: Report }) {
  if (report.errors.length === 0) return null;
  return (
    <div class="wide" role="region" aria-label="What is wrong" tabIndex={0}>
      <table>
        <thead>
          <tr>
            <th scope="col" class="numeric">
              Row
            </th>
            <th scope="col">Column</th>
            <th scope="col">What is wrong</th>
          </tr>
        </thead>
        <tbody>
          {report.errors.slice(0, MOST_SHOWN).map(({ row, column, message }, i) => (
            <tr key={i}>
              <td class="numeric">{row}</td>
              <td>{column}</td>
              <td>{message}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

export const inventoryImportPage = definePage({
  name: "inventory-import",
  paths: ["/inventory/:list/import"],
  title: "Import",
  section: "inventory",
  View: InventoryImport,
});
