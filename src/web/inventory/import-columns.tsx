import { Select } from "../components/field.tsx";
import { Icon } from "../components/icon.tsx";
import { Card } from "../components/layout.tsx";
import { Button } from "../components/button.tsx";
import { callForResponse } from "../request.ts";
import { type Declaration, findField, pagePath, writableFields } from "./declaration.ts";
import { href } from "../address.ts";
import { type ImportOptions, NO_DECISIONS, type Report } from "./import-run.ts";
import { Segment } from "../components/segment.tsx";
import { write } from "./write-record.ts";

/** What the columns of a file mean. */

export interface CheckProps {
  of: Declaration;
  report: Report;
  options: ImportOptions;
  /** Reads the file again with other options; absent once it was imported. */
  onChange?: ((options: Partial<ImportOptions>) => void) | undefined;
}

const NOTE_TARGET = [["notes", "Note"]] as const;
const ARCHIVE_TARGETS = [
  ["notes", "Keep in a note"],
  ["new", "New annotation type"],
] as const;
const SOURCES = { same: "same", guessed: "guessed", chosen: "chosen", none: "no field" } as const;
const UNITS = ["µL", "mL", "L", "µg", "mg", "g", "nmol", "U", "piece"];

/** The field of each column, and how dates and amounts are read. */
export function ColumnsCard(props: CheckProps & { file: File | null }) {
  const { of, report, options, onChange } = props;
  const { columns, dates, unit, sheets = [] } = report;
  const used = columns.filter(({ field }) => field !== null).length;
  const guessed = columns.filter(({ source }) => source === "guessed").length;
  const path = of.name === "locations" ? ["path"] : [];
  const own = writableFields(of).map(([name]) => name);
  const fields = ["id", ...path, ...own, ...Object.keys(of.annotations)];
  const others = report.archive ? ARCHIVE_TARGETS : NOTE_TARGET;
  const names = [...fields.map((name) => [name, titleOf(of, name)] as const), ...others];
  const map = (header: string, field: string): void => {
    const whole = report.remembered?.same ? readingOf(report) : { mapping: options.mapping };
    onChange?.({ ...whole, mapping: { ...whole.mapping, [header]: field || null } });
  };
  return (
    <Card
      title={report.archive ? "Properties" : "Columns"}
      count={`${used} of ${columns.length} used${guessed > 0 ? `, ${guessed} guessed` : ""}`}
      bare
      actions={onChange && !report.archive && <Remember {...props} />}
      foot={
        (dates.example !== null || unit !== null || sheets.length > 1) && (
          <Readings report={report} onChange={onChange} />
        )
      }
    >
      <ul class="map">
        {columns.map(({ header, field, source }) => {
          const error = report.errors.find(({ row, column }) => row <= 1 && column === header);
          return (
            <li key={header}>
              <span class="from" title={header}>
                {header}
              </span>
              <Icon name="chevron-right" />
              <Select
                small
                label={`Field for ${header}`}
                value={field ?? ""}
                choices={[["", "Leave out"], ...names]}
                onChange={(name) => map(header, name)}
              />
              <span class={source === "guessed" ? "tag tag-guess" : "muted"}>
                {field === null && source !== "none" ? "left out" : SOURCES[source]}
              </span>
              {error && <p class="error">{error.message.replace(/ Choices: .*/s, "")}</p>}
            </li>
          );
        })}
      </ul>
    </Card>
  );
}

/** The sheet that is read, and how dates and amounts that may be read in several ways are. */
function Readings({
  report: { dates, unit, sheet = "", sheets = [] },
  onChange,
}: Pick<CheckProps, "report" | "onChange">) {
  const units = [...new Set([unit ?? "", ...UNITS])].map((name) => [name, name || "none"] as const);
  return (
    <>
      {sheets.length > 1 && (
        <span class="row">
          Sheet
          <Select
            small
            label="Sheet of the file"
            value={sheet}
            choices={sheets.map((name) => [name, name] as const)}
            onChange={(sheet) => onChange?.({ ...NO_DECISIONS, sheet })}
          />
        </span>
      )}
      {dates.example !== null && (
        <span class="row">
          Dates such as <code>{dates.example}</code>
          <Segment
            label="Order of day and month"
            value={dates.order}
            choices={[
              ["day", "Day first"],
              ["month", "Month first"],
            ]}
            onChange={(order) => onChange?.({ dates: order as "day" | "month" })}
          />
        </span>
      )}
      {unit !== null && (
        <span class="row end">
          Amounts without unit
          <Select
            small
            label="Unit of amounts without unit"
            value={unit}
            choices={units}
            onChange={(unit) => onChange?.({ unit })}
          />
        </span>
      )}
    </>
  );
}

/** The options that read other sheets with the same headers as this one. */
export const readingOf = ({ columns, dates, unit }: Report) => ({
  mapping: Object.fromEntries(columns.map(({ header, field }) => [header, field])),
  ...(dates.example === null ? {} : { dates: dates.order }),
  ...(unit === null ? {} : { unit }),
});

/** Saves the mapping as a view, or leads to the view that has it. */
function Remember(props: CheckProps & { file: File | null }) {
  const { of, report, file, onChange } = props;
  const { remembered } = report;
  if (remembered?.same)
    return (
      <span class="muted">
        Remembered as <a href={href(pagePath("views", remembered.id))}>{remembered.name}</a>
      </span>
    );
  const save = (): Promise<void> => {
    const { mapping, ...others } = readingOf(report);
    const query = String(new URLSearchParams({ mapping: JSON.stringify(mapping), ...others }));
    const body = { name: file!.name.replace(/\.\w+$/, ""), list: of.name, kind: "import", query };
    return write(
      () =>
        remembered?.mine
          ? callForResponse("PATCH /api/v2/:list/:id/", {
              params: { list: "views", id: remembered.id },
              body: { query },
            })
          : callForResponse("POST /api/v2/:list/", { params: { list: "views" }, body }),
      "Sheets with these titles will be read like this one. Share it with your group on its page.",
      () => onChange?.({}),
    );
  };
  return (
    <Button small onClick={() => void save()}>
      Remember this mapping
    </Button>
  );
}

export const titleOf = (of: Declaration, name: string): string => findField(of, name)?.label ?? name;
