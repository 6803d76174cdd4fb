import { useState } from "preact/hooks";
import { normalPosition } from "../../inventory/model/grid.ts";
import { formatAmount } from "../../inventory/model/unit.ts";
import { href } from "../address.ts";
import { Button } from "../components/button.tsx";
import { Icon } from "../components/icon.tsx";
import { Card } from "../components/layout.tsx";
import { type Column, Table } from "../components/table.tsx";
import { withErrorToast } from "../components/toast.tsx";
import { formatCount, formatDay, pluralize } from "../format.tsx";
import { type Declaration, type FieldInfo, findField, inWords, pagePath, titleField } from "./declaration.ts";
import { type CheckProps, titleOf } from "./import-columns.tsx";
import { Differences } from "./import-report.tsx";
import type { Report, RowDecisions } from "./import-run.ts";
import { formatText } from "./record.tsx";
import { Segment } from "../components/segment.tsx";

/** The rows of a spreadsheet before it is imported, with what the file says below each value. */

type Row = Report["preview"][number];
type Change = Report["changes"][number];

/** The numbers of rows by outcome, and what may be done with them. */
export function Totals(props: {
  report: Report;
  onImport: (() => void) | null;
  onDownload: (() => Promise<void>) | null;
}) {
  const { report, onImport, onDownload } = props;
  const { created, updated, unchanged, waiting, skipped } = report;
  const made = describeMade(report);
  const good = created + updated;
  const bad = report.preview.filter(({ outcome }) => outcome === "waiting");
  return (
    <section class="answer totals" aria-label="Totals">
      <ul>
        <Total outcome="created" count={created} words="new" />
        {updated > 0 && (
          <Total
            outcome="updated"
            count={updated}
            words={updated === 1 ? "changes an existing record" : "change existing records"}
          />
        )}
        {made && <li class="muted">{made}</li>}
        {unchanged > 0 && <Total outcome="unchanged" count={unchanged} words="unchanged" />}
        {skipped > 0 && <Total outcome="skipped" count={skipped} words="skipped" />}
        {waiting > 0 && (
          <Total outcome="waiting" count={waiting} words={waiting === 1 ? "needs a look" : "need a look"} />
        )}
      </ul>
      <div class="actions">
        {waiting > 0 && onDownload && (
          <Button icon="download" onClick={() => void withErrorToast(onDownload)}>
            Download {waiting === 1 && bad.length === 1 ? `row ${bad[0].row}` : pluralize(waiting, "row")}
          </Button>
        )}
        {onImport && good > 0 && (
          <Button look="primary" onClick={onImport}>
            {waiting > 0
              ? `Import ${formatCount(good)}, leave ${formatCount(waiting)} for later`
              : `Import ${pluralize(good, "record")}`}
          </Button>
        )}
      </div>
    </section>
  );
}

/** `1 new location, 2 new units`, and the parts of an archive; empty if there are none. */
function describeMade({ locations_made, units_made, archive }: Report): string {
  const made = [
    locations_made > 0 && pluralize(locations_made, "new location"),
    units_made > 0 && pluralize(units_made, "new unit"),
    archive && `${pluralize(archive.notes, "note")}, ${pluralize(archive.files, "file")}`,
  ];
  return made.filter(Boolean).join(", ");
}

const Total = (props: { outcome: Row["outcome"]; count: number; words: string }) => (
  <li class={`outcome-${props.outcome}`}>
    <Icon name={OUTCOMES[props.outcome][0]} />
    <span>
      <b>{formatCount(props.count)}</b> {props.words}
    </span>
  </li>
);

/** Icon, and the words before and after the import. */
const OUTCOMES = {
  waiting: ["triangle-alert", "Needs a look", "Left"],
  updated: ["pencil", "Changes", "Changed"],
  created: ["plus", "New", "Added"],
  unchanged: ["check", "Unchanged", "Unchanged"],
  skipped: ["minus", "Skip", "Skipped"],
} as const;
const describeOutcome = (outcome: Row["outcome"], { dry_run }: Report): string =>
  OUTCOMES[outcome][dry_run ? 1 : 2];
/** Rows before "Show more", and columns of values. */
const FIRST_ROWS = 20;
const MAX_COLUMNS = 6;
/** Outcomes of which the rows can be shown alone. */
const FILTERED = ["waiting", "updated", "created"] as const;

/** The rows, those to look at first. After the import they say what became of each. */
export function RowsCard(props: CheckProps) {
  const { report, options, onChange } = props;
  const [shown, setShown] = useState("all");
  const { preview, rows } = report;
  const decide = (row: number, decision: RowDecisions[string]): void =>
    onChange?.({ rows: { ...options.rows, [row]: decision } });
  const listed = preview.filter(({ outcome }) => shown === "all" || outcome === shown);
  const skipped = Object.keys(options.rows).filter((row) => options.rows[row].skip);
  return (
    <Card
      title="Rows"
      bare
      actions={
        <Segment
          label="Rows to show"
          value={shown}
          onChange={setShown}
          choices={[
            ["all", `All ${formatCount(rows)}`],
            ...FILTERED.map(
              (outcome) =>
                [outcome, `${describeOutcome(outcome, report)} ${formatCount(report[outcome])}`] as const,
            ),
          ]}
        />
      }
      foot={
        <>
          {skipped.length > 0 && onChange && (
            <Button small onClick={() => onChange({ rows: omit(options.rows, skipped) })}>
              Bring back {pluralize(skipped.length, "skipped row")}
            </Button>
          )}
          {listed.length < rows && `${formatCount(listed.length)} of ${pluralize(rows, "row")} are listed. `}
          <span class="end">Small grey text is what the file says.</span>
        </>
      }
    >
      <Table
        caption="Rows of the file"
        class="import-table"
        columns={rowColumns(props, decide)}
        rows={listed}
        rowKey={({ row }) => row}
        rowClass={({ outcome }) => `is-${outcome}`}
        detail={(row) => showDetail({ ...props, row, decide })}
        first={{ rows: FIRST_ROWS, of: "rows" }}
      />
    </Card>
  );
}

type Decide = (row: number, decision: RowDecisions[string]) => void;

const omit = (rows: RowDecisions, left: readonly string[]): RowDecisions =>
  Object.fromEntries(Object.entries(rows).filter(([row]) => !left.includes(row)));

/** Replaces the text of a cell of some rows. */
function correct(
  { options, onChange }: Pick<DetailProps, "options" | "onChange">,
  rows: readonly number[],
  header: string,
  text: string,
): void {
  const corrected = rows.map((row) => {
    const decision = options.rows[row];
    return [row, { ...decision, cells: { ...decision?.cells, [header]: text } }] as const;
  });
  onChange?.({ rows: { ...options.rows, ...Object.fromEntries(corrected) } });
}

/** The columns of values that the table has, in the order of the file. */
function shownColumns({ of, report }: Pick<CheckProps, "of" | "report">) {
  const title = titleField(of);
  const shown = report.columns.filter(
    ({ field }) =>
      field !== null &&
      ![title, of.key, "model_type", "description", "notes", "unit", "position"].includes(field),
  );
  // Places, amounts and dates before texts.
  const rank = (name: string): number => {
    const { form, kind } = findField(of, name) ?? {};
    return form?.suffix ? 0 : form?.summary ? 1 : kind === "instant" ? 2 : 3;
  };
  const chosen = new Set(
    shown
      .toSorted((a, b) => rank(a.field!) - rank(b.field!))
      .slice(0, MAX_COLUMNS)
      .map(({ field }) => field),
  );
  return shown.filter(({ field }) => chosen.has(field));
}

function rowColumns(props: CheckProps, decide: Decide): Column<Row>[] {
  const { of, report } = props;
  const title = titleField(of);
  return [
    { name: "row", title: "Row", numeric: true, phone: "hide", cell: ({ row }) => row },
    {
      name: "outcome",
      title: "Outcome",
      phone: "end",
      cell: ({ outcome }) => (
        <span class={`outcome outcome-${outcome}`}>
          <Icon name={OUTCOMES[outcome][0]} />
          {describeOutcome(outcome, report)}
        </span>
      ),
    },
    {
      name: "name",
      title: titleOf(of, title),
      heading: true,
      cell: (row) => (
        <>
          {String(row.values[title] ?? row.values[of.key] ?? "") || "–"}
          <span class="meta">{String(row.values.model_type ?? "")}</span>
        </>
      ),
    },
    ...shownColumns(props).map(({ field }): Column<Row> => {
      const isNumber = findField(of, field!)?.kind === "number";
      return {
        name: field!,
        title: titleOf(of, field!),
        numeric: isNumber,
        cell: (row) => <CheckedCell {...{ ...props, decide, row }} name={field!} />,
      };
    }),
  ];
}

/** A value as it was read, and below it what the file says; a click opens it. */
function CheckedCell(props: DetailProps & { name: string }) {
  const { of, report, onChange, row, name } = props;
  const [isOpen, setOpen] = useState(false);
  const i = report.columns.findIndex(({ field }) => field === name);
  const { header } = report.columns[i];
  const field = findField(of, name);
  const text = row.cells[i] ?? "";
  const isWrong = report.errors.some((error) => error.row === row.row && error.column === header);
  if (onChange && (isWrong || isOpen))
    return (
      <input
        class="input"
        aria-label={`${titleOf(of, name)} of row ${row.row}`}
        aria-invalid={isWrong}
        defaultValue={text}
        ref={(input) => {
          if (isOpen) input?.focus();
        }}
        onBlur={() => setOpen(false)}
        onChange={(event) => {
          setOpen(false);
          correct(props, [row.row], header, event.currentTarget.value);
        }}
      />
    );
  const shown = showValue(row, name, field);
  const value = <ReadValue shown={shown} text={text} slot={findSlot(row, field)} />;
  if (!onChange) return value;
  return (
    <button type="button" class="cell" onClick={() => setOpen(true)}>
      <span class="unseen">{`Correct ${titleOf(of, name)} of row ${row.row}: `}</span>
      {value}
    </button>
  );
}

const findSlot = ({ values }: Row, field: FieldInfo | undefined): string =>
  field?.form?.suffix === "position" ? normalPosition(String(values.position ?? "")) : "";

const ReadValue = ({ shown, text, slot }: { shown: string; text: string; slot: string }) => (
  <>
    {slot && <b>{slot}</b>}
    <span class={slot ? "meta" : "read"}>{shown || "–"}</span>
    {text !== "" && text !== shown && <span class="was">{text}</span>}
  </>
);

function showValue({ values }: Row, name: string, field: FieldInfo | undefined): string {
  const value = values[name] ?? "";
  if (value === "") return "";
  const suffix = field?.form?.suffix ?? "";
  if (typeof value === "number") return formatAmount({ value, unit: String(values[suffix] ?? "") });
  return field?.kind !== "text" && isDay(String(value))
    ? formatDay(String(value))
    : formatText(value as never);
}

const isDay = (text: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(text);

type DetailProps = CheckProps & { row: Row; decide: Decide };

/** The errors of a row with what may be done, and the existing record that it is about. */
function showDetail(props: DetailProps) {
  const { report, row } = props;
  const errors = report.errors.filter((error) => error.row === row.row);
  const change = report.changes.find((changed) => changed.row === row.row);
  if (errors.length === 0 && !row.similar && !change) return null;
  return (
    <>
      {errors.length > 0 && <RowErrors {...props} errors={errors} />}
      {(row.similar || change) && <SameAs {...props} change={change} />}
    </>
  );
}

/** Errors with texts that would be valid, and inputs for cells that the table does not show. */
function RowErrors(props: DetailProps & { errors: Report["errors"] }) {
  const { report, row, onChange, errors } = props;
  const shown = new Set(shownColumns(props).map(({ header }) => header));
  return (
    <div class="fixes">
      {errors.map(({ column, message, fixes = [] }) => {
        const field = report.columns.find(({ header }) => header === column)?.field;
        const alike = report.errors.filter((error) => error.column === column && error.message === message);
        return (
          <div key={column} class="row">
            <p class="error">{message}</p>
            {column !== null && field && !shown.has(column) && <CheckedCell {...props} name={field} />}
            {column !== null &&
              onChange &&
              fixes.map((fix) => (
                <Button key={fix} small onClick={() => correct(props, [row.row], column, fix)}>
                  {fix === "" ? "Leave empty" : isDay(fix) ? formatDay(fix) : `Use ${fix}`}
                </Button>
              ))}
            {column !== null && onChange && fixes.length > 0 && alike.length > 1 && (
              <Button
                small
                onClick={() =>
                  correct(
                    props,
                    alike.map((error) => error.row),
                    column,
                    fixes[0],
                  )
                }
              >
                In all {alike.length} rows
              </Button>
            )}
          </div>
        );
      })}
    </div>
  );
}

/** The existing record that a row is about, and the choice of what to do. */
function SameAs({
  of,
  row,
  options,
  onChange,
  decide,
  change,
}: DetailProps & { change: Change | undefined }) {
  const decision = options.rows[row.row];
  const existing = decision?.change ?? row.similar?.id;
  return (
    <div class="same-as">
      <div>
        {row.similar && <Similar of={of} row={row} isChosen={change !== undefined} />}
        {!row.similar && change && (
          <p>
            Changes <a href={href(pagePath(of.name, change.id))}>{change.name}</a>.
          </p>
        )}
        {change && <Differences of={of} changed={change} />}
      </div>
      {existing && onChange && (
        <Segment
          label={`Decision about row ${row.row}`}
          value={decision?.change || change ? "change" : "add"}
          choices={[
            ["add", "Add as new"],
            ["change", "Change existing"],
            ["skip", "Skip"],
          ]}
          onChange={(choice) => {
            const cells = decision?.cells ? { cells: decision.cells } : {};
            if (choice === "skip") decide(row.row, { ...cells, skip: true });
            else decide(row.row, choice === "add" ? cells : { ...cells, change: existing });
          }}
        />
      )}
    </div>
  );
}

/** `Same name and catalogue number as Taq, in Box 1 › A1`. */
function Similar({ of, row: { similar }, isChosen }: { of: Declaration; row: Row; isChosen: boolean }) {
  const { id, name, same, place, owner } = similar!;
  const titles = same.map((each) => inWords(titleOf(of, each), findField(of, each)!).toLowerCase());
  const link = <a href={href(pagePath(of.name, id))}>{name}</a>;
  return (
    <p>
      {isChosen || same.length > 1 ? (
        <>
          Same {titles.join(" and ")} as {link}
        </>
      ) : (
        <>Another one of {link}?</>
      )}
      <span class="meta">{[place, owner].filter(Boolean).join(", ")}</span>
    </p>
  );
}
