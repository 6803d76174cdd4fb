import { many } from "./bulk.tsx";
import type { Report } from "./import-run.ts";

/** What an import would do, or why it cannot: by cell, as the spreadsheet shows them. */

/** Rows of the file that are shown besides those with something wrong. */
const SHOWN = 10;
const MOST_SHOWN = 100;

export function Verdict({ report, cells }: { report: Report; cells: readonly string[][] }) {
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
          All rows are imported or none. Say above what each column is, or leave it out; or correct the file,
          and choose it again. What is wrong, cell by cell:
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
