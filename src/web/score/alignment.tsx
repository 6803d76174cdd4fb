import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { countOf } from "../format.tsx";
import { layout, type Layout, parseNewick } from "./newick.ts";
import { Picture } from "./picture.tsx";
import { nameOf, type NumberedMatch, type Result, shorten, type State } from "./result.ts";
import { StateMark, STATES } from "./homolog-table.tsx";

const ROW = 20;
const COLUMN = 13;
const TREE = 76;
const NAME = 190;
const HEAD = 52;
/** Left edges of names, marks and residues. */
const NAMES = TREE + 12;
const MARKS = NAMES + NAME + 8;
const RESIDUES = MARKS + 16;
/** Residues shown on either side of a match, and residues of a long match. */
const FLANK = 15;
const LONGEST = 60;

/** The tree of the homologs, and beside each leaf its name, whether it keeps the match, and the alignment around it. */
export function Alignment(props: { result: Result; match: NumberedMatch; fileName: string }) {
  const { result, match, fileName } = props;
  const { alignment, homologs, tree, queryLength } = result;
  const drawn = useMemo(() => treeOf(tree, homologs.length), [tree]);
  const first = Math.max(1, match.start - FLANK);
  const last = Math.min(queryLength, Math.min(match.end, match.start + LONGEST - 1) + FLANK);
  const rows = useMemo(
    () => alignment?.rows.map((row) => slotsOf(row, first, last)),
    [alignment, first, last],
  );
  const states = new Map(match.atHomologs.map(({ homolog, state }) => [homolog, state]));
  const width = RESIDUES + (last - first + 1) * COLUMN + 8;
  const height = HEAD + drawn.leaves.length * ROW + 8;
  const middle = (row: number): number => HEAD + row * ROW + ROW / 2;
  const context = { match, first, query: alignment?.query ?? "" };
  return (
    <Picture
      title="Alignment"
      note={`${countOf(homologs.length, "homolog")}, residues ${first}–${last}`}
      name="the alignment"
      fileName={`${fileName}-match-${match.number}`}
      legend={<Legend />}
    >
      <div class="table-scroll alignment" role="region" aria-label="Tree and alignment" tabIndex={0}>
        <svg
          class="picture"
          width={width}
          height={height}
          viewBox={`0 0 ${width} ${height}`}
          role="img"
          aria-label={`Tree of ${countOf(homologs.length, "homolog")} with the alignment around ${match.text}; the table below has the same data.`}
        >
          <Heading match={match} first={first} last={last} conservation={alignment?.conservation} />
          <Tree drawn={drawn} middle={middle} />
          {drawn.leaves.map(({ index }, row) => {
            const homolog = homologs[index - 1];
            const state = index === 0 ? null : (states.get(index - 1) ?? "missing");
            const slots = index === 0 ? querySlots(context.query, first, last) : (rows?.[index - 1] ?? []);
            return (
              <g key={index} class={index === 0 ? "query" : "homolog"}>
                <Name result={result} homolog={homolog} state={state} y={middle(row) + 4} />
                {state && <StateMark state={state} x={MARKS} y={middle(row)} />}
                <Residues {...context} slots={slots} state={state} y={middle(row)} />
              </g>
            );
          })}
          <rect
            class="frame"
            x={RESIDUES + (match.start - first) * COLUMN}
            y={HEAD - 2}
            width={(Math.min(match.end, last) - match.start + 1) * COLUMN}
            height={drawn.leaves.length * ROW + 4}
            rx={3}
          />
        </svg>
      </div>
    </Picture>
  );
}

function Tree({ drawn, middle }: { drawn: Layout; middle: (row: number) => number }) {
  const x = (distance: number): number => 6 + (distance / (drawn.depth || 1)) * (TREE - 6);
  return (
    <>
      {drawn.forks.map(({ depth, top, bottom }, i) => (
        <line key={i} class="branch" x1={x(depth)} x2={x(depth)} y1={middle(top)} y2={middle(bottom)} />
      ))}
      {drawn.branches.map(({ row, from, to }, i) => (
        <line key={i} class="branch" x1={x(from)} x2={x(to)} y1={middle(row)} y2={middle(row)} />
      ))}
    </>
  );
}

/** Species in italics and accession; for the query its identifier. */
function Name(props: {
  result: Result;
  homolog: Result["homologs"][number] | undefined;
  state: State | null;
  y: number;
}) {
  const { result, homolog, state, y } = props;
  if (!homolog)
    return (
      <text class="name" x={NAMES} y={y}>
        {shorten(result.identifier || "Query", 26)}
      </text>
    );
  const { accession, organism, description } = homolog;
  return (
    <>
      <text class="name" x={NAMES} y={y}>
        {organism ? <tspan class="species">{shorten(organism, 18)}</tspan> : shorten(accession, 26)}
        <title>{`${accession} ${description}${state ? `: ${STATES[state]}` : ""}`}</title>
      </text>
      {organism && (
        <text class="accession" text-anchor="end" x={NAMES + NAME} y={y}>
          {shorten(accession, 12)}
        </text>
      )}
    </>
  );
}

/** Positions, and the conservation of each column: of the admitted residues within the match, of the same residue around it. */
function Heading(props: {
  match: NumberedMatch;
  first: number;
  last: number;
  conservation: readonly (number | null)[] | undefined;
}) {
  const { match, first, last, conservation } = props;
  return (
    <>
      <text class="label" x={6} y={14}>
        {shorten(nameOf(match.pattern), 30)}
      </text>
      <text class="note-text" x={6} y={30}>
        Bars: conservation
      </text>
      {Array.from({ length: last - first + 1 }, (_, i) => {
        const column = first + i;
        const own = match.conservation[column - match.start] ?? null;
        const value = own ?? conservation?.[column - 1] ?? null;
        const hasNumber = column === match.start || (column % 10 === 0 && Math.abs(column - match.start) > 2);
        return (
          <g key={column}>
            {value !== null && (
              <rect
                class={own === null ? "conservation" : "mark tone-likely"}
                x={RESIDUES + i * COLUMN + 1.5}
                y={HEAD - 6 - value * 26}
                width={COLUMN - 3}
                height={value * 26}
              />
            )}
            {hasNumber && (
              <text class="axis" x={RESIDUES + (i + 0.5) * COLUMN} y={14}>
                {column}
              </text>
            )}
          </g>
        );
      })}
    </>
  );
}

/** A residue of a row, and what is inserted after it. */
interface Slot {
  residue: string;
  insertion: string;
}

/** Columns `first` to `last`, counted from 1, of a row in A3M, where lower-case letters are insertions. */
export function slotsOf(row: string, first: number, last: number): Slot[] {
  const slots: Slot[] = [];
  let column = 0;
  for (const letter of row) {
    const isInsertion = letter >= "a" && letter <= "z";
    if (!isInsertion && ++column > last) break;
    if (column < first) continue;
    if (!isInsertion) slots.push({ residue: letter, insertion: "" });
    else if (slots.length > 0) slots.at(-1)!.insertion += letter;
  }
  return slots;
}

const querySlots = (query: string, first: number, last: number): Slot[] =>
  Array.from(query.slice(first - 1, last), (residue) => ({ residue, insertion: "" }));

function Residues(props: {
  slots: readonly Slot[];
  match: NumberedMatch;
  first: number;
  query: string;
  /** Null for the query. */
  state: State | null;
  y: number;
}) {
  const { slots, match, first, query, state, y } = props;
  /** Null where the residue is neither the query's nor part of the match. */
  const residueClass = (residue: string, column: number): string | null => {
    if (state === null || residue === "-") return null;
    const isSame = residue === query[column - 1];
    const isScored = (match.conservation[column - match.start] ?? null) !== null;
    if (!isScored) return isSame ? "same" : null;
    // A homolog that keeps the match has an admitted residue wherever it differs.
    return isSame || state === "conserved" ? "kept-residue" : "lost-residue";
  };
  return (
    <>
      {slots.map(({ residue, insertion }, i) => {
        const look = residueClass(residue, first + i);
        return (
          <>
            {look && (
              <rect class={look} x={RESIDUES + i * COLUMN} y={y - ROW / 2} width={COLUMN} height={ROW} />
            )}
            {insertion !== "" && (
              <path class="insertion" d={`M${RESIDUES + (i + 1) * COLUMN - 3} ${y - 9}h6l-3 5z`}>
                <title>{`${insertion.length} inserted: ${insertion.toUpperCase()}`}</title>
              </path>
            )}
          </>
        );
      })}
      <text class="residues" y={y + 4}>
        {slots.map(({ residue }, i) => (
          <tspan key={i} x={RESIDUES + (i + 0.5) * COLUMN}>
            {residue === "-" ? "·" : residue}
          </tspan>
        ))}
      </text>
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

const Legend = () => (
  <ul class="legend">
    {(Object.keys(STATES) as State[]).map((state) => (
      <Swatch key={state} name={STATES[state]}>
        <StateMark state={state} x={7} y={7} />
      </Swatch>
    ))}
    {Object.entries(RESIDUE_LOOKS).map(([look, name]) => (
      <Swatch key={look} name={name}>
        <rect class={look} y={1} width={12} height={12} rx={3} />
      </Swatch>
    ))}
    <Swatch name="insertion">
      <path class="insertion" d="M4 3h6l-3 5z" />
    </Swatch>
  </ul>
);

const RESIDUE_LOOKS = {
  "kept-residue": "motif residue kept",
  "lost-residue": "another residue",
  same: "as in the query",
};

/** The tree; without one, the query and its homologs in order. */
function treeOf(tree: string, homologs: number): Layout {
  try {
    const drawn = layout(parseNewick(tree.replace(/;\s*$/, "")));
    if (drawn.leaves.length === homologs + 1) return drawn;
  } catch {
    // The rows are shown without a tree.
  }
  const leaves = Array.from({ length: homologs + 1 }, (_, index) => ({ index, name: "", depth: 0 }));
  return { leaves, branches: [], forks: [], depth: 0 };
}
