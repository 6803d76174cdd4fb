import { useState } from "preact/hooks";
import { type Column, type Order, Table } from "../components/table.tsx";
import { Mark, STATE_WORDS } from "./family.tsx";
import {
  decimal,
  nameOf,
  type NumberedMatch,
  percent,
  pText,
  type Result,
  type State,
  type Verdict,
  VERDICTS,
} from "./result.ts";

const TONES: Record<Verdict, string> = {
  conserved: "tag good",
  "weakly conserved": "tag warn",
  "not conserved": "tag",
  "insufficient data": "tag hollow",
};

export const VerdictTag = ({ verdict }: { verdict: Verdict }) => (
  <span class={TONES[verdict]}>{verdict}</span>
);

type Key = (match: NumberedMatch) => number | string;
const KEYS: Record<string, Key> = {
  pattern: (match) => nameOf(match.pattern),
  start: (match) => match.start,
  verdict: (match) => VERDICTS.indexOf(match.verdict),
  score: (match) => match.score ?? -1,
  expected: (match) => match.expected ?? -1,
  z: (match) => match.z ?? -99,
  p: (match) => match.pValue ?? 2,
  homologs: (match) => match.homologs,
};

/** Rows in an order such as `start` or `-z`; an unknown one is that of the result. */
export function inOrder<Row>(
  rows: readonly Row[],
  order: Order,
  keys: Record<string, (row: Row) => number | string>,
): Row[] {
  const key = keys[order.replace(/^-/, "")];
  if (!key) return [...rows];
  const sign = order.startsWith("-") ? -1 : 1;
  return rows.toSorted((a, b) => {
    const [x, y] = [key(a), key(b)];
    return sign * (typeof x === "string" ? x.localeCompare(String(y), "en") : x - Number(y));
  });
}

export interface Filter {
  verdict: string;
  pattern: string;
}

/** The matches that a filter leaves, in an order. */
export const filtered = (
  matches: readonly NumberedMatch[],
  { verdict, pattern }: Filter,
  order: Order,
): NumberedMatch[] =>
  inOrder(
    matches.filter(
      (match) =>
        (verdict === "" || match.verdict === verdict) &&
        (pattern === "" || nameOf(match.pattern) === pattern),
    ),
    order,
    KEYS,
  );

/** What the columns say, for those who see them for the first time. */
export const Meanings = () => (
  <details class="hint screen">
    <summary>What the numbers mean</summary>
    <dl class="meanings">
      <dt>Score</dt>
      <dd>
        How far the homologs keep the match, from 0 to 1: the mean by weight, so that near-identical proteins
        share theirs.
      </dd>
      <dt>Expected</dt>
      <dd>What the score would be if the match changed as fast as its surroundings.</dd>
      <dt>z</dt>
      <dd>
        How much speaks for the match, in standard deviations of random matches: its conservation, and what
        surrounds it.
      </dd>
      <dt>P</dt>
      <dd>
        The part of comparable random matches that are conserved as well or better. With many matches, small
        ones come by chance.
      </dd>
      <dt>Verdict</dt>
      <dd>P in words. “Insufficient data” where too few homologs reach the match.</dd>
    </dl>
  </details>
);

/** Rows that are shown before one asks for more. */
const ROWS = 100;

/** All matches; a row's residues open it. */
export function MatchTable(props: {
  matches: readonly NumberedMatch[];
  order: Order;
  onOrder: (order: Order) => void;
  selected: number | undefined;
  addressOf: (number: number) => string;
  onSelect: (number: number) => void;
}) {
  const columns: Column<NumberedMatch>[] = [
    {
      name: "start",
      title: "Match",
      sortable: true,
      heading: true,
      cell: (match) => (
        <a
          href={props.addressOf(match.number)}
          aria-current={match.number === props.selected ? "true" : undefined}
          onClick={(event) => {
            if (event.ctrlKey || event.metaKey || event.shiftKey) return;
            event.preventDefault();
            props.onSelect(match.number);
          }}
        >
          <code>{match.text.length > 20 ? `${match.text.slice(0, 20)}…` : match.text}</code>{" "}
          <small class="nowrap">
            {match.start}–{match.end}
          </small>
        </a>
      ),
    },
    {
      name: "pattern",
      title: "Pattern",
      sortable: true,
      cell: (match) => <code>{nameOf(match.pattern)}</code>,
    },
    {
      name: "verdict",
      title: "Verdict",
      sortable: true,
      cell: (match) => <VerdictTag verdict={match.verdict} />,
    },
    { name: "score", title: "Score", sortable: true, numeric: true, cell: (match) => decimal(match.score) },
    {
      name: "expected",
      title: "Expected",
      sortable: true,
      numeric: true,
      cell: (match) => decimal(match.expected),
    },
    { name: "z", title: "z", sortable: true, numeric: true, cell: (match) => decimal(match.z) },
    { name: "p", title: "P", sortable: true, numeric: true, cell: pText },
    { name: "homologs", title: "Homologs", sortable: true, numeric: true, cell: (match) => match.homologs },
  ];
  return (
    <Table
      caption="Matches"
      columns={columns}
      rows={props.matches}
      first={{ rows: ROWS, of: "matches" }}
      keyOf={(match) => match.number}
      order={props.order}
      onOrder={props.onOrder}
      selected={props.selected}
    />
  );
}

type AtHomolog = NumberedMatch["atHomologs"][number];

/** What the picture of the family shows, as a table. */
export function HomologTable({ result, match }: { result: Result; match: NumberedMatch }) {
  const [order, setOrder] = useState<Order>("");
  const [state, setState] = useState("");
  const of = (at: AtHomolog) => result.homologs[at.homolog];
  const keys: Record<string, (at: AtHomolog) => number | string> = {
    accession: (at) => of(at).accession,
    organism: (at) => of(at).organism ?? "",
    state: (at) => at.state,
    retention: (at) => at.retention ?? -1,
    identity: (at) => of(at).identity,
    weight: (at) => of(at).weight,
  };
  const columns: Column<AtHomolog>[] = [
    {
      name: "accession",
      title: "Homolog",
      sortable: true,
      heading: true,
      cell: (at) => <span title={of(at).description}>{of(at).accession}</span>,
    },
    { name: "organism", title: "Organism", sortable: true, cell: (at) => of(at).organism ?? "" },
    {
      name: "state",
      title: "State",
      sortable: true,
      cell: (at) => (
        <span class="row tight">
          <svg width={16} height={16} aria-hidden="true">
            <Mark state={at.state} x={8} y={8} />
          </svg>
          {STATE_WORDS[at.state]}
        </span>
      ),
    },
    { name: "residues", title: "Residues", cell: (at) => <code>{at.residues}</code> },
    {
      name: "retention",
      title: "Retention",
      sortable: true,
      numeric: true,
      cell: (at) => decimal(at.retention),
    },
    {
      name: "identity",
      title: "Identity",
      sortable: true,
      numeric: true,
      cell: (at) => percent(of(at).identity),
    },
    {
      name: "weight",
      title: "Weight",
      sortable: true,
      numeric: true,
      cell: (at) => decimal(of(at).weight, 3),
    },
  ];
  const present = [...new Set(match.atHomologs.map((at) => at.state))];
  const rows = match.atHomologs.filter((at) => state === "" || at.state === state);
  return (
    <details class="card">
      <summary>
        <h2>The homologs as a table</h2>
      </summary>
      <div class="filters">
        <label>
          State{" "}
          <select value={state} onChange={(event) => setState(event.currentTarget.value)}>
            <option value="">all</option>
            {present.map((one: State) => (
              <option key={one} value={one}>
                {STATE_WORDS[one]}
              </option>
            ))}
          </select>
        </label>
      </div>
      <Table
        caption="Homologs"
        columns={columns}
        rows={inOrder(rows, order, keys)}
        keyOf={(at) => at.homolog}
        order={order}
        onOrder={setOrder}
      />
    </details>
  );
}
