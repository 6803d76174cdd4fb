import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";

export interface Column<Row> {
  /** By which the column is ordered; also its key. */
  name: string;
  title: ComponentChildren;
  cell: (row: Row) => ComponentChildren;
  /** Numbers stand at the right. */
  numeric?: boolean;
  /** The cell that names the row. */
  heading?: boolean;
  sortable?: boolean;
}

/** Order by a column: `start`, or `-start` for the other way round. */
export type Order = string;

/** A table that scrolls sideways by itself where it is too wide. Headings are buttons where the column can be ordered. */
export function Table<Row>(props: {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string | number;
  order?: Order | undefined;
  onOrder?: (order: Order) => void;
  /** Marked rows, by key. */
  selected?: string | number | undefined;
  /** The caption is for screen readers only, where a heading above says the same. */
  hideCaption?: boolean;
  /** How many rows are shown before one asks for all of them, and what they are. */
  first?: { rows: number; of: string };
}) {
  const { columns, order, onOrder } = props;
  const [all, setAll] = useState(false);
  const rows = all ? props.rows : props.rows.slice(0, props.first?.rows ?? Infinity);
  return (
    <>
      <div class="wide" role="region" aria-label={props.caption} tabIndex={0}>
        <table>
          <caption class={props.hideCaption ? "unseen" : undefined}>{props.caption}</caption>
          <thead>
            <tr>
              {columns.map(({ name, title, numeric, sortable }) => {
                const sorted = order === name ? "ascending" : order === `-${name}` ? "descending" : undefined;
                return (
                  <th key={name} scope="col" class={numeric ? "numeric" : undefined} aria-sort={sorted}>
                    {sortable && onOrder ? (
                      <button
                        type="button"
                        class="sort"
                        onClick={() => onOrder(sorted === "ascending" ? `-${name}` : name)}
                      >
                        {title}
                        <span aria-hidden="true">
                          {sorted === "ascending" ? " ↑" : sorted === "descending" ? " ↓" : " ↕"}
                        </span>
                      </button>
                    ) : (
                      title
                    )}
                  </th>
                );
              })}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => {
              const key = props.keyOf(row);
              return (
                <tr key={key} class={key === props.selected ? "selected" : undefined}>
                  {columns.map(({ name, cell, numeric, heading }) =>
                    heading ? (
                      <th key={name} scope="row">
                        {cell(row)}
                      </th>
                    ) : (
                      <td key={name} class={numeric ? "numeric" : undefined}>
                        {cell(row)}
                      </td>
                    ),
                  )}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {rows.length < props.rows.length && (
        <p>
          <button type="button" class="quiet" onClick={() => setAll(true)}>
            Show all {props.rows.length.toLocaleString("en")} {props.first?.of}
          </button>
        </p>
      )}
    </>
  );
}
