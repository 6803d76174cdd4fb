import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { MatchRow } from "../../scoring/table/match-row.ts";
import { href } from "../address.ts";
import { Button } from "../components/button.tsx";
import { ChipChoice } from "../components/segment.tsx";
import { Icon } from "../components/icon.tsx";
import { useQuery } from "../page.tsx";
import { ProteinCell } from "../score/protein-identity.tsx";
import { decimal, formatPValue, shorten } from "../score/result.ts";
import { makeGrid, findLevel, type Measure, ordered, STEPS } from "./heat-map-grid.ts";
import { findMatch, findKind, type Row } from "./rows.ts";

/** Proteins that appear before "Show all". */
const FIRST_SIZE = 100;

/** Proteins as rows and motifs as columns, each cell with the figure of the best match. */
export function HeatMap({ rows }: { rows: readonly Row[] }) {
  const [query, setQuery] = useQuery();
  const [all, setAll] = useState(false);
  const measure: Measure = query.get("colour") === "z" ? "z" : "p";
  const order = { measure, proteins: query.get("proteins") ?? "", motifs: query.get("motifs") ?? "" };
  const grid = useMemo(() => makeGrid(rows), [rows]);
  const { proteins, motifs } = ordered(grid, order);
  const shown = all ? proteins : proteins.slice(0, FIRST_SIZE);
  const sortBy = (what: "proteins" | "motifs", name: string): void =>
    setQuery(
      { [what]: order[what] === name ? `-${name}` : order[what] === `-${name}` ? null : name },
      { replace: true },
    );
  return (
    <>
      <HeatMapHead measure={measure} onMeasure={(colour) => setQuery({ colour }, { replace: true })} />
      <div class="table-scroll" role="region" aria-label="Heat map" tabIndex={0}>
        <table class="table heat-map" onKeyDown={moveFocus}>
          <caption class="unseen">
            Best match of each motif in each protein. Arrow keys move between cells.
          </caption>
          <thead>
            <tr>
              <Heading
                name="name"
                title="Protein"
                order={order.proteins}
                onSort={() => sortBy("proteins", "name")}
              />
              {motifs.map((motif) => (
                <Heading
                  key={motif}
                  name={motif}
                  title={shorten(motif, 40)}
                  order={order.proteins}
                  onSort={() => sortBy("proteins", motif)}
                />
              ))}
            </tr>
          </thead>
          <tbody>
            {shown.map(({ name, names, cells }, i) => (
              <tr key={i}>
                <Heading
                  name={name}
                  title={<ProteinCell identifier={name} of={names} />}
                  order={order.motifs}
                  onSort={() => sortBy("motifs", name)}
                  isRow
                />
                {cells.map((row, k) => (
                  <Cell key={motifs[k]} row={row} measure={measure} isFirst={i === 0 && k === 0} />
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {shown.length < proteins.length && (
        <div class="card-foot">
          <Button look="quiet" small onClick={() => setAll(true)}>
            {`Show all ${proteins.length.toLocaleString("en")} proteins`}
          </Button>
        </div>
      )}
    </>
  );
}

const MEASURES: readonly (readonly [Measure, string])[] = [
  ["p", "P"],
  ["z", "z"],
];

/** The choice of the figure, and the legend of its colours. */
const HeatMapHead = (props: { measure: Measure; onMeasure: (measure: Measure) => void }) => (
  <div class="heat-head">
    <div class="row" role="group" aria-label="Colour by">
      <small aria-hidden="true">Colour by</small>
      <ChipChoice choices={MEASURES} value={props.measure} onChange={props.onMeasure} />
    </div>
    <ul class="heat-legend" aria-label="Legend">
      {STEPS[props.measure].map(({ words }, i) => (
        <li key={words}>
          <span class={`heat-${STEPS[props.measure].length - 1 - i}`} aria-hidden="true" />
          <small>{words}</small>
        </li>
      ))}
      <li>
        <small>– no match</small>
      </li>
    </ul>
  </div>
);

/** The heading of a column or row, a button that orders the other direction by it. */
function Heading(props: {
  name: string;
  title: ComponentChildren;
  order: string;
  onSort: () => void;
  isRow?: boolean;
}) {
  const { name, title, order, isRow = false } = props;
  const sorted = order === name ? "ascending" : order === `-${name}` ? "descending" : undefined;
  return (
    <th scope={isRow ? "row" : "col"} aria-sort={sorted}>
      <button
        type="button"
        class="sort"
        title={`Order ${isRow ? "motifs" : "proteins"} by ${name}`}
        onClick={props.onSort}
      >
        <span>{title}</span>
        {sorted && (
          <Icon name={sorted === (isRow ? "ascending" : "descending") ? "arrow-down" : "arrow-up"} />
        )}
      </button>
    </th>
  );
}

function Cell({ row, measure, isFirst }: { row: Row | undefined; measure: Measure; isFirst: boolean }) {
  const level = findLevel(row, measure);
  const best = findMatch(row);
  const text = row === undefined ? "" : best ? formatMeasure(best, measure) : (STATES[findKind(row)] ?? "–");
  // One cell takes the focus by Tab; arrow keys move it.
  const focus = { tabIndex: isFirst ? 0 : -1, "data-cell": "" };
  const of = row && <span class="unseen">{` ${row.motif} in ${row.query}`}</span>;
  return (
    <td class={level === null ? "heat" : `heat heat-${level}`}>
      {row?.job ? (
        <a {...focus} href={href(`/score/${row.job}`, { match: best?.number })}>
          {text}
          {of}
        </a>
      ) : (
        <span {...focus}>
          {text}
          {of}
        </span>
      )}
    </td>
  );
}

const STATES: Readonly<Record<string, string>> = { failed: "failed", waiting: "…", "no match": "–" };

const formatMeasure = ({ z, overallPValue: p, overallPValueIs: is }: MatchRow, measure: Measure): string =>
  z == null ? "not scored" : measure === "p" ? formatPValue({ p, is }) : decimal(z);

const STEP: Readonly<Record<string, readonly [row: number, column: number]>> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

/** Moves the focus to the next cell in the direction of an arrow key. */
function moveFocus(event: KeyboardEvent): void {
  const from = (event.target as Element).closest<HTMLElement>("[data-cell]");
  const step = STEP[event.key];
  if (!from || !step) return;
  const cell = from.closest("td")!;
  const row = cell.closest("tr")!;
  const [down, right] = step;
  const target = (row.parentElement as HTMLTableSectionElement).rows[row.sectionRowIndex + down];
  const next = target?.cells[cell.cellIndex + right]?.querySelector<HTMLElement>("[data-cell]");
  if (!next) return;
  event.preventDefault();
  from.tabIndex = -1;
  next.tabIndex = 0;
  next.focus();
}
