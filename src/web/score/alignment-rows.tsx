import type { ComponentChildren } from "preact";
import {
  type AlignedRow,
  columnAt,
  countSlots,
  listLetters,
  type Range,
  findRuns,
  columnSlot,
  type Slots,
} from "./aligned-rows.ts";
import type { AlignedFamily } from "./aligned-family.ts";
import { StateMark, STATES } from "./homolog-table.tsx";
import { findColour, type ColumnFacts, countColumn, type Scheme } from "./residue-colours.ts";
import type { NumberedMatch, State } from "./result.ts";

export const ROW = 20;
export const COLUMN = 13;
/** A mark between two columns, pointing down. */
export const INSERTION_MARK = "M-4 -5h8l-4 6z";

interface RowsProps {
  family: AlignedFamily;
  slots: Slots;
  range: Range;
  rows: Range;
  match: NumberedMatch;
  states: ReadonlyMap<number, State>;
  scheme: Scheme;
  toggle: (after: number) => void;
}

/** The residues of some rows in some columns. */
export function AlignmentRows(props: RowsProps) {
  const { family, slots, range, rows, match, states, scheme, toggle } = props;
  const facts = new Map<number, ColumnFacts>();
  const factsAt = (column: number): ColumnFacts => {
    let known = facts.get(column);
    if (!known) {
      known = countColumn(family.rows, column, family.conservation[column - 1], family.query[column - 1]);
      facts.set(column, known);
    }
    return known;
  };
  const slotNumbers = Array.from({ length: range.to - range.from }, (_, i) => range.from + i);
  const middles = slotNumbers.map((slot) => (slot + 0.5) * COLUMN).join(" ");
  return (
    <>
      {family.tree.leaves.slice(rows.from, rows.to).map(({ index }, i) => {
        const row = family.rows[index];
        const letters = listLetters(row, slots, range);
        const state = index === 0 ? null : (states.get(index) ?? "missing");
        const looks = letters.map((letter, i) => {
          const { column, inserted } = columnAt(range.from + i, slots);
          if (inserted > 0) return letter === " " || letter === "." ? null : "inserted";
          if (!/[A-Z]/.test(letter)) return null;
          const atMatch =
            scheme === "conservation" ? matchLook(letter, column, { match, state, family }) : undefined;
          if (atMatch !== undefined) return atMatch;
          return index === 0 && scheme === "conservation"
            ? null
            : findColour(scheme, letter, factsAt(column));
        });
        return (
          <Row
            key={index}
            {...{ row, slots, range, letters, looks, middles, toggle }}
            isQuery={index === 0}
            y={(rows.from + i) * ROW}
          />
        );
      })}
    </>
  );
}

/** The CSS class of a residue of a match: kept or lost, null without a match nearby; undefined at wildcards. */
function matchLook(
  residue: string,
  column: number,
  { match, state, family }: { match: NumberedMatch; state: State | null; family: AlignedFamily },
): string | null | undefined {
  const isScored = (match.conservation[column - match.start] ?? null) !== null;
  if (!isScored) return undefined;
  if (state === null || state === "missing") return null;
  // A homolog that keeps the match has an admitted residue wherever it differs.
  return residue === family.query[column - 1] || state === "conserved" ? "kept-residue" : "lost-residue";
}

interface RowProps {
  row: AlignedRow;
  slots: Slots;
  range: Range;
  letters: readonly string[];
  looks: readonly (string | null)[];
  /** Widths of the slots in pixels, as an attribute. */
  middles: string;
  isQuery: boolean;
  y: number;
  toggle: (after: number) => void;
}

function Row({ row, slots, range, letters, looks, middles, isQuery, y, toggle }: RowProps) {
  const marks = [...row.insertions].filter(([column]) => {
    const slot = columnSlot(column, slots) + 1;
    return slot > range.from && slot <= range.to && slots.open?.after !== column;
  });
  return (
    <g class={isQuery ? "query" : undefined}>
      {Object.entries(Object.groupBy(findRuns(looks), ({ look }) => look)).map(([look, runs]) => (
        <path
          key={look}
          class={look}
          d={runs!
            .map(({ from, to }) => {
              const x = (range.from + from) * COLUMN;
              return `M${x} ${y}h${(to - from) * COLUMN}v${ROW}H${x}`;
            })
            .join("")}
        />
      ))}
      <Uncovered {...{ row, slots, range, y }} />
      <text class="residues" x={middles} y={y + ROW / 2 + 4}>
        {letters
          .map((letter) => (letter === "-" ? "–" : letter === " " || letter === "." ? "\u00A0" : letter))
          .join("")}
      </text>
      {marks.map(([column, inserted]) => (
        <path
          key={column}
          class="insertion opens"
          d={INSERTION_MARK}
          transform={`translate(${(columnSlot(column, slots) + 1) * COLUMN} ${y + 5})`}
          onClick={() => toggle(column)}
        >
          <title>{`${inserted.length} inserted after ${column}: ${inserted.toUpperCase()}`}</title>
        </path>
      ))}
    </g>
  );
}

/** Dotted lines where the homolog is not aligned. */
function Uncovered({ row, slots, range, y }: { row: AlignedRow; slots: Slots; range: Range; y: number }) {
  const parts: Range[] = [
    { from: 0, to: columnSlot(row.first, slots) },
    { from: columnSlot(row.last, slots) + 1, to: countSlots(slots) },
  ];
  return (
    <>
      {parts.map(({ from, to }, i) => {
        const [start, end] = [Math.max(from, range.from), Math.min(to, range.to)];
        if (start >= end) return null;
        const middle = y + ROW / 2;
        return (
          <line
            key={i}
            class="uncovered"
            x1={start * COLUMN + 3}
            x2={end * COLUMN - 3}
            y1={middle}
            y2={middle}
          />
        );
      })}
    </>
  );
}

const Swatch = ({ name, children }: { name: string; children: ComponentChildren }) => (
  <li>
    <svg width={14} height={14} aria-hidden="true">
      {children}
    </svg>
    {name}
  </li>
);

/** Backgrounds of each scheme. */
const LOOKS: Readonly<Record<Scheme, Readonly<Record<string, string>>>> = {
  conservation: {
    "kept-residue": "motif residue kept",
    "lost-residue": "another residue",
    "same-2": "as in the query, and in 80\u00A0% of homologs",
    "same-1": "in 50\u00A0%",
    "same-0": "in fewer",
  },
  clustal: {
    "clustal-blue": "hydrophobic",
    "clustal-red": "positive",
    "clustal-magenta": "negative",
    "clustal-green": "polar",
    "clustal-cyan": "aromatic",
    "clustal-pink": "Cys",
    "clustal-orange": "Gly",
    "clustal-yellow": "Pro",
  },
  hydropathy: {
    "hydrophobic-1": "strongly hydrophobic",
    "hydrophobic-0": "hydrophobic",
    hydrophilic: "hydrophilic",
  },
  none: {},
};

const STATE_NAMES = Object.entries(STATES) as [State, string][];

/** The legend of marks, lines and colours. */
export const AlignmentLegend = ({ scheme, hasInsertions }: { scheme: Scheme; hasInsertions: boolean }) => (
  <ul class="legend">
    {STATE_NAMES.map(([state, name]) => (
      <Swatch key={state} name={name}>
        <StateMark state={state} x={7} y={7} />
      </Swatch>
    ))}
    <li>o ortholog, p paralog</li>
    {Object.entries(LOOKS[scheme]).map(([look, name]) => (
      <Swatch key={look} name={name}>
        <rect class={look} y={1} width={12} height={12} rx={3} />
      </Swatch>
    ))}
    <Swatch name="gap: the homolog lacks this residue">
      <path class="branch" d="M4 7h6" />
    </Swatch>
    <Swatch name="not covered: outside the aligned part of the homolog, such as a fragment">
      <line class="uncovered" x1={0} x2={14} y1={7} y2={7} />
    </Swatch>
    {hasInsertions && (
      <Swatch name="insertion: residues that the query lacks; select it to see them">
        <path class="insertion" d="M3 4h8l-4 6z" />
      </Swatch>
    )}
  </ul>
);
