import type { ComponentChildren } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { filtersIn } from "../../scoring/table/filters.ts";
import { isMatch, type TableRow } from "../../scoring/table/match-row.ts";
import type { MatchTable as Declaration } from "../../scoring/table/match-tables.ts";
import { type FileFormat, TABLE_FORMATS } from "../../scoring/table/table-formats.ts";
import { href, type Query } from "../address.ts";
import { Button, LinkButton } from "../components/button.tsx";
import { Empty } from "../components/empty.tsx";
import { Checkbox } from "../components/field.tsx";
import { Card, KeyValues } from "../components/layout.tsx";
import { Menu } from "../components/menu.tsx";
import { Table } from "../components/table.tsx";
import { formatCount } from "../format.tsx";
import { useQuery } from "../page.tsx";
import { type PageColumn, pageColumn } from "./match-cells.tsx";
import { MatchFilters } from "./match-filters.tsx";
import { firstPage, type MatchView, viewParameters, withoutFilters } from "./match-view.ts";

/** Files of the rows that pass the filters. */
export interface MatchDownload {
  path: string;
  query?: Query;
  /** Start of the names of the files. */
  name: string;
  /** Formats other than tables. */
  others?: Readonly<Record<string, Pick<FileFormat, "title" | "extension">>>;
}

interface Props<Row extends TableRow> {
  table: Declaration;
  title: string;
  caption: string;
  view: MatchView<Row>;
  /** All rows that the page has, for what depends on imported features and for the numbers of matches by q. */
  all: readonly Row[];
  rowKey: (row: Row) => string | number;
  /** Names of the columns that are shown unless people choose others; the first one names the row. */
  columns: readonly string[];
  /** Columns that the page shows differently from the registry. */
  own?: Readonly<Record<string, PageColumn<Row>>>;
  download?: MatchDownload | undefined;
  /** Formats of tables. */
  formats?: MatchDownload["others"];
  selected?: string | number | undefined;
  /** Rows that appear before "Show all"; all of a page of a search. */
  first?: number;
  /** The rows are a page of a search, which `from` in the address tells. */
  isPaged?: boolean;
  /** Folds the filters up above the table if there is no room next to it. */
  filtersAbove?: boolean;
  /** Controls next to the choice of columns. */
  actions?: ComponentChildren;
  /** Shown instead of the rows. */
  children?: ComponentChildren;
  help?: readonly (readonly [string, string])[];
}

/** Matches with filters, order, a choice of columns and downloads, all of which the address of the page keeps. */
export function MatchTable<Row extends TableRow>(props: Props<Row>) {
  const { table, view, all } = props;
  const [query, setQuery] = useQuery();
  const values = filtersIn(table.filters, query);
  const hasFeatures =
    all.some((row) => isMatch(row) && row.notes != null) || Object.keys(values).some(isByFeatures(table));
  const [isOpen, setOpen] = useState(!props.filtersAbove);
  useLayoutEffect(() => {
    // On a phone, they would stand between the answer and its matches.
    if (matchMedia("(max-width: 719px)").matches) setOpen(false);
  }, []);
  return (
    <div class={props.filtersAbove ? "stack" : "with-filters"}>
      <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>Filters</summary>
        <MatchFilters
          {...{ table, values, hasFeatures }}
          facets={view.facets}
          rows={all}
          isPaged={props.isPaged === true}
        />
      </details>
      <Card
        title={props.title}
        bare
        count={
          view.passing === view.total
            ? formatCount(view.total)
            : `${formatCount(view.passing)} of ${formatCount(view.total)}`
        }
        actions={
          <>
            {props.actions}
            <ColumnChoice {...props} hasFeatures={hasFeatures} />
            {props.download && (
              <Downloads table={table} of={props.download} formats={props.formats ?? TABLE_FORMATS} />
            )}
          </>
        }
        foot={<ColumnMeanings {...props} />}
      >
        {view.passing > 0 ? (
          props.children || <Rows {...props} />
        ) : (
          <Empty title="No match passes the filters">
            <Button
              onClick={() => setQuery({ ...withoutFilters(table), ...firstPage(props) }, { replace: true })}
            >
              Show all
            </Button>
          </Empty>
        )}
      </Card>
    </div>
  );
}

const isByFeatures =
  ({ columns }: Declaration) =>
  (name: string): boolean =>
    columns.some(({ of, filter }) => of === "features" && filter?.name === name);

/** The rows of a table, without filters and downloads. */
export function Rows<Row extends TableRow>(props: Props<Row>) {
  const { table, view, own = {}, columns, first = Infinity } = props;
  const [query, setQuery] = useQuery();
  const shown = shownColumns(props, query);
  return (
    <div class="dense">
      <Table
        caption={props.caption}
        columns={table.columns
          .filter(({ name }) => shown.has(name))
          .toSorted((a, b) => columnRank(columns, a.name) - columnRank(columns, b.name))
          .map((column) => {
            const isFirst = column.name === columns[0];
            return pageColumn<Row>(
              column,
              isFirst ? { heading: true, ...own[column.name] } : own[column.name],
            );
          })}
        rows={view.rows}
        hideEmpty={query.get("columns") === null}
        first={{ rows: first, of: "matches" }}
        rowKey={props.rowKey}
        order={query.get("order") ?? table.order}
        onOrder={(order) => setQuery({ order, ...firstPage(props) }, { replace: true })}
        selected={props.selected}
      />
    </div>
  );
}

/** Columns that are shown by default come first, in their order. */
function columnRank(columns: readonly string[], name: string): number {
  const place = columns.indexOf(name);
  return place < 0 ? columns.length : place;
}

/** The names of the shown columns: those in the address, else the default ones. The first one is always shown. */
function shownColumns<Row extends TableRow>(
  { columns, table }: Pick<Props<Row>, "columns" | "table">,
  query: URLSearchParams,
): ReadonlySet<string> {
  const chosen = (query.get("columns") ?? "").split(",").filter((name) => name !== "");
  const known = new Set(table.columns.map(({ name }) => name));
  return new Set(chosen.length === 0 ? columns : [columns[0], ...chosen].filter((name) => known.has(name)));
}

/** Shows and hides columns. */
function ColumnChoice<Row extends TableRow>(props: Props<Row> & { hasFeatures: boolean }) {
  const { table, columns, own = {}, hasFeatures } = props;
  const [query, setQuery] = useQuery();
  const shown = shownColumns(props, query);
  const toggle = (name: string, on: boolean): void => {
    const next = new Set(shown);
    if (on) next.add(name);
    else next.delete(name);
    const isDefault = next.size === columns.length && columns.every((each) => next.has(each));
    setQuery({ columns: isDefault ? null : [...next].join(",") }, { replace: true });
  };
  return (
    <Menu label="Columns" text small icon="layers">
      <div class="track-choices" role="group" aria-label="Columns">
        {table.columns
          .filter(
            ({ name, of, replacedBy }) =>
              name !== columns[0] && !replacedBy && (of !== "features" || hasFeatures),
          )
          .map(({ name, title }) => (
            <Checkbox
              key={name}
              label={typeof own[name]?.title === "string" ? own[name].title : title}
              checked={shown.has(name)}
              onChange={(on) => toggle(name, on)}
            />
          ))}
      </div>
    </Menu>
  );
}

/** Links to files of the rows that pass the filters, in the order of the page. */
function Downloads(props: {
  table: Declaration;
  of: MatchDownload;
  formats: NonNullable<MatchDownload["others"]>;
}) {
  const { table, of } = props;
  const [query] = useQuery();
  const formats = { ...props.formats, ...of.others };
  return (
    <div class="row" role="group" aria-label="Download">
      {Object.entries(formats).map(([format, { title, extension }]) => (
        <LinkButton
          key={format}
          small
          icon="download"
          href={href(of.path, { ...viewParameters(table, query), ...of.query, format })}
          download={`${of.name}.${extension}`}
        >
          {title}
        </LinkButton>
      ))}
    </div>
  );
}

/** Explains the shown columns. */
function ColumnMeanings<Row extends TableRow>(props: Props<Row>) {
  const [query] = useQuery();
  const shown = shownColumns(props, query);
  const meanings = props.table.columns
    .filter(({ name }) => shown.has(name))
    .map(({ title, unit, description }) => [unit ? `${title} (${unit})` : title, description] as const);
  return (
    <details>
      <summary>What the columns mean</summary>
      <KeyValues of={[...(props.help ?? []), ...meanings]} />
    </details>
  );
}
