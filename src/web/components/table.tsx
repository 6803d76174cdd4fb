import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "./button.tsx";
import { Icon } from "./icon.tsx";

export interface Column<Row> {
  /** Key of the column, by which rows are ordered. */
  name: string;
  title: ComponentChildren;
  /** @param more the button that opens the rows below this one, in the cell that names the row */
  cell: (row: Row, more?: ComponentChildren) => ComponentChildren;
  /** Numbers are aligned right. */
  numeric?: boolean;
  /** The cell that names the row. */
  heading?: boolean;
  sortable?: boolean;
  /** The order of rows, instead of the key; several terms are separated by commas. */
  order?: string;
  /**
   * On phones a row is stacked: `end` puts the cell at the right of the heading, `pick` at its left, `left` and `right` below
   * it, `line` shows it without its label, `hide` leaves it out.
   */
  phone?: "end" | "hide" | "left" | "line" | "pick" | "right";
}

/** The name of a column, after "-" for descending order. */
export type Order = string;

export interface TableProps<Row> {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  rowKey: (row: Row) => string | number;
  order?: Order | undefined;
  onOrder?: (order: Order) => void;
  /** Keys of the selected rows. */
  selected?: string | number | ReadonlySet<string | number> | undefined;
  /** Key of the row that the keyboard is on. */
  active?: string | number | undefined;
  /** Buttons at the end of a row. */
  actions?: (row: Row) => ComponentChildren;
  /** Rows that a button opens below a row, and its label. */
  nested?: { of: (row: Row) => readonly Row[]; label: (row: Row) => string } | undefined;
  /** Leaves out columns without any content. */
  hideEmpty?: boolean;
  /** A class of the table, and of a row. */
  class?: string;
  rowClass?: (row: Row) => string;
  /** More about a row, below it; null for nothing. */
  detail?: (row: Row) => ComponentChildren;
  /** The number of rows before "Show all", and a noun for them. */
  first?: { rows: number; of: string };
}

/** A table, stacked on phones. It scrolls sideways where it is too wide. */
export function Table<Row>(props: TableProps<Row>) {
  const { actions, hideEmpty = false, nested } = props;
  const columns = props.columns.filter(
    (column) => !hideEmpty || column.heading || props.rows.some((row) => !BLANK.has(column.cell(row))),
  );
  const [all, setAll] = useState(false);
  const [opened, setOpened] = useState(new Set<string | number>());
  const rows = all ? props.rows : props.rows.slice(0, props.first?.rows ?? Infinity);
  return (
    <>
      <div class="table-scroll" role="region" aria-label={props.caption} tabIndex={0}>
        <table class={`table table-stack ${props.class ?? ""}`.trim()}>
          <caption class="unseen">{props.caption}</caption>
          <thead>
            <tr>
              {columns.map((column) => (
                <Heading key={column.name} column={column} order={props.order} onOrder={props.onOrder} />
              ))}
              {actions && (
                <th scope="col">
                  <span class="unseen">Actions</span>
                </th>
              )}
            </tr>
          </thead>
          <tbody>
            {rows.flatMap((row) => {
              const key = props.rowKey(row);
              const below = nested?.of(row) ?? [];
              const isOpen = opened.has(key);
              const more = below.length > 0 && (
                <button
                  type="button"
                  class="more"
                  aria-expanded={isOpen}
                  onClick={() => setOpened((before) => before.symmetricDifference(new Set([key])))}
                >
                  <Icon name="chevron-right" />
                  {nested!.label(row)}
                </button>
              );
              const shown = <Row key={key} {...{ props, columns, row, more }} />;
              const detail = props.detail?.(row);
              if (detail)
                return [
                  shown,
                  <tr key={`${key} detail`} class={`detail ${props.rowClass?.(row) ?? ""}`}>
                    <td colSpan={columns.length}>{detail}</td>
                  </tr>,
                ];
              if (!isOpen) return shown;
              return [
                shown,
                ...below.map((one) => (
                  <Row key={props.rowKey(one)} {...{ props, columns }} row={one} isBelow />
                )),
              ];
            })}
          </tbody>
        </table>
      </div>
      {rows.length < props.rows.length && (
        <div class="card-foot">
          <Button look="quiet" small onClick={() => setAll(true)}>
            {`Show all ${props.rows.length.toLocaleString("en")} ${props.first?.of}`}
          </Button>
        </div>
      )}
    </>
  );
}

function Row<Row>(of: {
  props: TableProps<Row>;
  columns: readonly Column<Row>[];
  row: Row;
  more?: ComponentChildren;
  /** The row was opened below another one. */
  isBelow?: boolean;
}) {
  const { props, columns, row, more, isBelow } = of;
  const key = props.rowKey(row);
  return (
    <tr
      onClick={followRow}
      class={key === props.active ? "active" : isBelow ? "nested" : props.rowClass?.(row)}
      aria-selected={isSelected(props.selected, key) || undefined}
    >
      {columns.map((column) => (
        <Cell key={column.name} {...{ column, row, more }} />
      ))}
      {props.actions && <td class="row-actions">{props.actions(row)}</td>}
    </tr>
  );
}

const BLANK: ReadonlySet<unknown> = new Set(["", "–", null, undefined, false]);

/** A click anywhere in a row follows the link that names it, with the same keys; selecting text does not. */
function followRow(event: MouseEvent & { currentTarget: HTMLElement }): void {
  const isOwn = (event.target as Element).closest("a, button, input, label, select, summary") !== null;
  if (isOwn || event.defaultPrevented || getSelection()?.isCollapsed === false) return;
  const { ctrlKey, metaKey, shiftKey } = event;
  const click = new MouseEvent("click", { bubbles: true, cancelable: true, ctrlKey, metaKey, shiftKey });
  event.currentTarget.querySelector("th a")?.dispatchEvent(click);
}

const isSelected = (selected: TableProps<unknown>["selected"], key: string | number): boolean =>
  typeof selected === "object" ? selected.has(key) : key === selected;

function Heading<Row>(props: {
  column: Column<Row>;
  order: Order | undefined;
  onOrder: ((order: Order) => void) | undefined;
}) {
  const { column, order, onOrder } = props;
  const { title, numeric, sortable, order: name = column.name } = column;
  // An address may order by the field itself.
  const by = order?.replaceAll(/(^|,)-/g, "$1");
  const isSorted = by === name || by === column.name;
  const sorted = isSorted ? (order!.startsWith("-") ? "descending" : "ascending") : undefined;
  return (
    <th scope="col" class={numeric ? "num" : undefined} aria-sort={sorted}>
      {sortable && onOrder ? (
        <button
          type="button"
          class="sort"
          onClick={() => onOrder(sorted === "ascending" ? name.replaceAll(/(^|,)/g, "$1-") : name)}
        >
          {title}
          {sorted && <Icon name={sorted === "ascending" ? "arrow-up" : "arrow-down"} />}
        </button>
      ) : (
        title
      )}
    </th>
  );
}

function Cell<Row>({ column, row, more }: { column: Column<Row>; row: Row; more: ComponentChildren }) {
  const { title, numeric, heading, phone } = column;
  const content = column.cell(row, more);
  if (heading) return <th scope="row">{content}</th>;
  return (
    <td
      class={[numeric && "num", phone && `phone-${phone}`].filter(Boolean).join(" ") || undefined}
      data-label={(phone === undefined || phone === "right") && typeof title === "string" ? title : undefined}
    >
      {content}
    </td>
  );
}
