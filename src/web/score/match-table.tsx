import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { filtersIn } from "../../scoring/table/filters.ts";
import { isMatch, type TableRow } from "../../scoring/table/match-row.ts";
import type { MatchTable as Declaration } from "../../scoring/table/match-tables.ts";
import { type FileFormat, TABLE_FORMATS } from "../../scoring/table/table-formats.ts";
import { href, type Query } from "../address.ts";
import { Button } from "../components/button.tsx";
import { Empty } from "../components/empty.tsx";
import { Checkbox } from "../components/field.tsx";
import { Card, KeyValues } from "../components/layout.tsx";
import { Menu } from "../components/menu.tsx";
import { Table, type TableProps } from "../components/table.tsx";
import { formatCount, pluralize } from "../format.tsx";
import { useQuery } from "../page.tsx";
import { type PageColumn, pageColumn } from "./match-cells.tsx";
import { FilterSheet } from "./match-filters.tsx";
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
  /** Matches of the same place, which a button of a row opens. */
  nested?: TableProps<Row>["nested"];
  /** Number of rows, where they are not the matches that pass the filters. */
  count?: { text: string; shown: string };
  /** There is no room for the filters next to the table, so that a button opens them. */
  closedFilters?: boolean;
  /** Controls next to the choice of columns. */
  actions?: ComponentChildren;
  /** Explains the shapes in cells. */
  legend?: ComponentChildren;
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
  const filters = useId();
  const { count = countMatches(view) } = props;
  return (
    <div class={props.closedFilters ? "stack" : "with-filters"}>
      <FilterSheet
        {...{ table, values, hasFeatures }}
        id={filters}
        without={props.nested && ["best_of_group"]}
        facets={view.facets}
        rows={all}
        isPaged={props.isPaged === true}
        isClosed={props.closedFilters === true}
        shown={count.shown}
      />
      <Card
        title={props.title}
        bare
        count={count.text}
        actions={
          <>
            {props.actions}
            <Button small icon="list-filter" popovertarget={filters}>
              Filters
            </Button>
            <ColumnChoice {...props} hasFeatures={hasFeatures} />
            {props.download && (
              <Downloads table={table} of={props.download} formats={props.formats ?? TABLE_FORMATS} />
            )}
          </>
        }
        foot={
          <>
            {props.legend}
            <ColumnMeanings {...props} />
          </>
        }
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

const countMatches = ({ passing, total }: Pick<MatchView<TableRow>, "passing" | "total">) => ({
  text: passing === total ? formatCount(total) : `${formatCount(passing)} of ${formatCount(total)}`,
  shown: pluralize(passing, "row"),
});

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
    <div class={props.nested ? "places" : "dense"}>
      <Table
        caption={props.caption}
        nested={props.nested}
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
    <Menu label="Download" text small icon="download">
      {Object.entries(formats).map(([format, { title, extension }]) => (
        <a
          key={format}
          href={href(of.path, { ...viewParameters(table, query), ...of.query, format })}
          download={`${of.name}.${extension}`}
        >
          {title}
        </a>
      ))}
    </Menu>
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
