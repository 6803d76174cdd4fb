import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { href } from "../address.ts";
import { Button } from "../components/button.tsx";
import { Select } from "../components/field.tsx";
import { Tag } from "../components/layout.tsx";
import { type Column, Table } from "../components/table.tsx";
import { formatCount, Time } from "../format.tsx";
import { useQuery } from "../page.tsx";
import { Cell } from "./cell.tsx";
import {
  columnTitle,
  type Declaration,
  defaultOrder,
  type FieldInfo,
  findField,
  hasWords,
  isProse,
  makeOrdering,
  pagePath,
  listTitle,
} from "./declaration.ts";
import { recordName, type Page, type Row, Value } from "./record.tsx";
import type { Selection } from "./selection.ts";

/** True if a record is below its minimum, but its status does not show it. */
const needsLowTag = ({ values }: Row): boolean =>
  values.below_minimum === true && values.status !== "LOW" && values.status !== "EMPTY";

/** The records of a list: rows can be selected, cells edited, columns sorted. */
export function ListTable(props: {
  of: Declaration;
  columns: readonly string[];
  rows: readonly Row[];
  selection: Selection;
  /** Id of the row that the keyboard is on. */
  active: string | undefined;
  onSaved: (row: Row) => void;
  onUndone: () => void;
}) {
  const { of, rows, selection, active } = props;
  const [search, setQuery] = useQuery();
  const order = search.get("ordering") ?? defaultOrder(of);
  const pick: Column<Row> = {
    name: "select",
    phone: "pick",
    title: (
      <input
        type="checkbox"
        aria-label="Select all on this page"
        checked={selection.isPageSelected}
        onChange={selection.togglePage}
      />
    ),
    cell: (row) => (
      <input
        type="checkbox"
        aria-label={`Select ${recordName(of, row)}`}
        checked={selection.has(row.id)}
        onClick={(event) => selection.toggle(row.id, event.shiftKey)}
      />
    ),
  };
  const fieldColumn = (name: string): Column<Row> => {
    const field = findField(of, name);
    const cell = (row: Row) =>
      name === of.key ? (
        <a href={href(pagePath(of.name, row.id))}>{recordName(of, row)}</a>
      ) : name === "modified" ? (
        <Time at={String(row.values[name])} short />
      ) : field ? (
        <>
          {field.form?.look === "amount" && needsLowTag(row) && <Tag tone="warn">low</Tag>}{" "}
          <Cell {...props} row={row} name={name} isActive={active === row.id} />
        </>
      ) : (
        <Value value={row.values[name]} />
      );
    return {
      name,
      title: columnTitle(of, name),
      numeric: field?.kind === "integer" || field?.kind === "number",
      order: makeOrdering(of, name),
      sortable: field?.sortable ?? name.includes("__"),
      heading: name === of.key,
      cell,
      ...phonePlace(name, field),
    };
  };
  // Hundreds of cells.
  return useMemo(
    () => (
      <Table
        caption={listTitle(of.name)}
        columns={[pick, ...props.columns.map(fieldColumn)]}
        rows={rows}
        rowKey={({ id }) => id}
        order={order}
        onOrder={(by) => setQuery({ ordering: by, page: null })}
        selected={new Set(rows.map(({ id }) => id).filter(selection.has))}
        active={active}
      />
    ),
    [of, props.columns, rows, order, active, selection.ids, selection.isAll],
  );
}

/** Place of a value on phones: values that need no label share a line. */
function phonePlace(name: string, field: FieldInfo | undefined): Pick<Column<Row>, "phone"> {
  if (field?.form?.look === "state") return { phone: "end" };
  if (name === "modified") return { phone: "hide" };
  const isSelfExplanatory =
    field && (field.form?.look === "amount" || isProse(field) || field.reference || hasWords(field));
  return isSelfExplanatory ? { phone: "line" } : {};
}

const SIZES = [20, 50, 100, 200];

export function Pager(props: { page: Page; onPage: (by: number) => void; children: ComponentChildren }) {
  const { current, total_pages: pages, total, rows } = props.page;
  const [search, setQuery] = useQuery();
  const size = Number(search.get("page_size") ?? 50);
  const sizes = [...new Set([...SIZES, size])].toSorted((a, b) => a - b);
  const first = (current - 1) * size;
  return (
    <div class="card-foot">
      <span aria-live="polite">
        {rows.length === 0 ? "0" : `${formatCount(first + 1)}–${formatCount(first + rows.length)}`} of{" "}
        {formatCount(total)}
      </span>
      <Select
        small
        label="Rows per page"
        value={String(size)}
        choices={sizes.map((each) => [String(each), `${each} rows`])}
        onChange={(chosen) => setQuery({ page_size: chosen === "50" ? null : chosen, page: null })}
      />
      {props.children}
      <nav class="row end screen" aria-label="Pages">
        <Button small disabled={current <= 1} onClick={() => props.onPage(-1)}>
          Previous
        </Button>
        <Button small disabled={current >= pages} onClick={() => props.onPage(1)}>
          Next
        </Button>
      </nav>
    </div>
  );
}
