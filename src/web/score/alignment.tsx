import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { Select } from "../components/field.tsx";
import { pluralize } from "../format.tsx";
import { useQuery } from "../page.tsx";
import { type AlignedFamily, alignFamily } from "./aligned-family.ts";
import {
  columnAt,
  countSlots,
  printFasta,
  type Range,
  scrollTo,
  columnSlot,
  type Slots,
  visible,
} from "./aligned-rows.ts";
import { AlignmentHead } from "./alignment-head.tsx";
import { AlignmentLegend, AlignmentRows, COLUMN, ROW } from "./alignment-rows.tsx";
import { copyText } from "./downloads.tsx";
import { StateMark, STATES } from "./homolog-table.tsx";
import { Picture, type Size, useSize } from "./picture.tsx";
import { useResidue, useSharedPosition } from "./position.ts";
import { isScheme, type Scheme, SCHEMES } from "./residue-colours.ts";
import { patternName, type NumberedMatch, type Result, shorten, type State } from "./result.ts";
import type { Layout } from "./tree-layout.ts";

/** Height of logo and ruler above the rows. */
const HEAD = 76;
/** Left edges and widths of the parts next to the rows; narrow pages have room only for names. */
interface Sides {
  tree: number;
  names: number;
  name: number;
  relation: number;
  marks: number;
  residues: number;
}
const WIDE: Sides = { tree: 88, names: 100, name: 190, relation: 298, marks: 314, residues: 330 };
const NARROW: Sides = { tree: 0, names: 12, name: 91, relation: 118, marks: 132, residues: 146 };
const MIN_WIDE_WIDTH = 620;
/** Rows and columns are drawn in blocks, so that scrolling rarely draws any. */
const BLOCK = { rows: 8, slots: 16 };

/** The whole alignment: the tree, beside each leaf its name and whether it keeps the match, and its residues. */
export function Alignment(props: { result: Result; match: NumberedMatch; fileName: string }) {
  const { result, match, fileName } = props;
  const [query, setQuery] = useQuery();
  const asked = query.get("colour") ?? "";
  const scheme: Scheme = isScheme(asked) ? asked : "conservation";
  const family = useMemo(() => alignFamily(result), [result]);
  const [open, setOpen] = useState<Slots["open"]>(null);
  const slots: Slots = { columns: result.queryLength, open };
  const view = useAlignmentView(family, slots, match);
  const { first, last } = view;
  const toggle = (after: number): void => {
    const size = family.insertions.get(after)?.longest ?? 0;
    setOpen(open?.after === after ? null : { after, size });
  };
  const copy = (): Promise<void> => {
    const named = family.tree.leaves.slice(view.rows.from, view.rows.to).map(({ index }) => ({
      name: rowName(result, index),
      row: family.rows[index],
    }));
    const text = printFasta(named, slots, view.slots);
    return copyText(
      text,
      `Copied ${pluralize(named.length, "row")}, residues ${first}–${last}, as FASTA.`,
      "This browser does not allow copying. Download the alignment as FASTA instead.",
    );
  };
  return (
    <Picture
      title="Alignment"
      note={`${pluralize(result.homologs.length, "homolog")}, residues ${first}–${last} of ${result.queryLength.toLocaleString("en")}`}
      name="the alignment"
      fileName={`${fileName}-match-${match.number}`}
      actions={
        <>
          <Select
            small
            label="Colours"
            value={scheme}
            choices={Object.entries(SCHEMES)}
            onChange={(colour) =>
              setQuery({ colour: colour === "conservation" ? null : colour }, { replace: true })
            }
          />
          <Button look="quiet" small icon="crosshair" onClick={view.showMatch}>
            Show match
          </Button>
          <Button
            look="quiet"
            small
            icon="copy"
            aria-label="Copy the part in view"
            onClick={() => void copy()}
          >
            Copy
          </Button>
        </>
      }
      legend={<AlignmentLegend scheme={scheme} hasInsertions={family.insertions.size > 0} />}
    >
      <AlignmentPicture {...{ result, match, family, slots, view, scheme, toggle }} />
    </Picture>
  );
}

/** Name of a row in copied FASTA. */
function rowName({ identifier, protein, homologs }: Result, index: number): string {
  const named = index === 0 ? protein : homologs[index - 1];
  return [named?.accession ?? (identifier || "query"), named?.gene, named?.organism]
    .filter(Boolean)
    .join(" ");
}

type View = ReturnType<typeof useAlignmentView>;

/** The visible part of the alignment. */
function useAlignmentView(family: AlignedFamily, slots: Slots, match: NumberedMatch) {
  const box = useRef<HTMLDivElement>(null);
  const size = useSize(box, { width: 1000, height: 320 });
  const [scrolled, setScrolled] = useState({ left: 0, top: 0 });
  const sides = size.width < MIN_WIDE_WIDTH ? NARROW : WIDE;
  const [rows, columns] = [family.rows.length, countSlots(slots)];
  const total: Size = { width: sides.residues + columns * COLUMN + 8, height: HEAD + rows * ROW + 8 };
  const body: Size = {
    width: Math.max(COLUMN, size.width - sides.residues),
    height: Math.max(ROW, Math.min(size.height, total.height) - HEAD),
  };
  const matched: Range = { from: columnSlot(match.start, slots), to: columnSlot(match.end, slots) + 1 };
  const showMatch = (): void => {
    if (box.current)
      box.current.scrollLeft = scrollTo(matched, box.current.clientWidth - sides.residues, COLUMN);
  };
  useLayoutEffect(showMatch, [match.number, sides]);
  const slotRange = visible(scrolled.left, body.width, COLUMN, columns, 1);
  /** Scrolls to a column that is out of view. */
  const show = (column: number): void => {
    const slot = columnSlot(column, slots);
    if (box.current && (slot < slotRange.from || slot >= slotRange.to - 1))
      box.current.scrollLeft = scrollTo({ from: slot, to: slot + 1 }, body.width, COLUMN);
  };
  const selected = useResidue("selected");
  useEffect(() => {
    if (selected !== null) show(selected);
  }, [selected]);
  return {
    box,
    show,
    sides,
    total,
    body,
    scrolled,
    matched,
    showMatch,
    rows: visible(scrolled.top, body.height, ROW, rows, 1),
    slots: slotRange,
    first: columnAt(slotRange.from, slots).column,
    last: columnAt(Math.max(slotRange.from, slotRange.to - 1), slots).column,
    onScroll: ({ currentTarget: { scrollLeft, scrollTop } }: { currentTarget: Element }): void =>
      setScrolled({ left: scrollLeft, top: scrollTop }),
  };
}

/** Keys that scroll, by columns and rows: how far right and down, in cells or views. */
const KEYS: Readonly<Record<string, readonly [unit: "cells" | "views", right: number, down: number]>> = {
  ArrowUp: ["cells", 0, -1],
  ArrowDown: ["cells", 0, 1],
  PageUp: ["views", 0, -1],
  PageDown: ["views", 0, 1],
  "<": ["views", -1, 0],
  ">": ["views", 1, 0],
  Home: ["views", -Infinity, 0],
  End: ["views", Infinity, 0],
};

function scrollByKey(event: KeyboardEvent & { currentTarget: Element }, body: Size): void {
  const key = KEYS[event.key];
  if (!key || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  const [unit, right, down] = key;
  const box = event.currentTarget;
  const step = unit === "cells" ? { width: COLUMN, height: ROW } : body;
  const limit = (by: number): number => Math.max(-1e7, Math.min(1e7, by));
  if (right !== 0) box.scrollLeft += limit(right * step.width);
  if (down !== 0) box.scrollTop += down * step.height;
}

interface AlignmentPictureProps {
  result: Result;
  match: NumberedMatch;
  family: AlignedFamily;
  slots: Slots;
  view: View;
  scheme: Scheme;
  toggle: (after: number) => void;
}

/** A picture of the part in view, which stays in place while an empty one as large as the whole alignment scrolls. */
function AlignmentPicture(props: AlignmentPictureProps) {
  const { result, match, family, slots, view, scheme, toggle } = props;
  const { body, sides, total, scrolled, matched } = view;
  const position = useSharedPosition();
  /** The column below the pointer; null beside the residues. */
  const columnUnder = (event: MouseEvent & { currentTarget: Element }): number | null => {
    const { scrollLeft } = event.currentTarget;
    const x = event.clientX - event.currentTarget.getBoundingClientRect().left - sides.residues;
    return x < 0 ? null : columnAt(Math.floor((x + scrollLeft) / COLUMN), slots).column;
  };
  const onKeyDown = (event: KeyboardEvent & { currentTarget: Element }): void => {
    if (event.target !== event.currentTarget) return;
    if (!position.onKey(event, view.first)) return scrollByKey(event, body);
    event.preventDefault();
    view.show(position.residue!);
  };
  const width = sides.residues + body.width;
  const drawnSlots = visible(scrolled.left, body.width, COLUMN, countSlots(slots), BLOCK.slots);
  const drawnRows = visible(scrolled.top, body.height, ROW, family.rows.length, BLOCK.rows);
  const states = useMemo(
    () => new Map(match.atHomologs.map(({ homolog, state }) => [homolog + 1, state])),
    [match],
  );
  const drawing = { family, slots, match, states, scheme, toggle, range: drawnSlots };
  const drawn = [family, slots.open, match, scheme, drawnSlots.from, drawnSlots.to];
  const head = useMemo(() => <AlignmentHead {...drawing} height={HEAD} />, drawn);
  const rows = useMemo(
    () => <AlignmentRows {...drawing} rows={drawnRows} />,
    [...drawn, drawnRows.from, drawnRows.to],
  );
  return (
    <div
      ref={view.box}
      class="alignment"
      role="region"
      aria-label="Tree and alignment. Left and right go from residue to residue, with Shift by ten, Enter selects; up, down, Page Up and Page Down scroll; Home and End show its ends, < and > the parts beside."
      tabIndex={0}
      onScroll={view.onScroll}
      onKeyDown={onKeyDown}
      onPointerMove={(event) => event.pointerType === "mouse" && position.point(columnUnder(event))}
      onPointerLeave={() => position.point(null)}
      onClick={(event) => {
        const column = columnUnder(event);
        const isOther = (event.target as Element).closest(".opens");
        if (column !== null && column <= position.length && !isOther) position.select(column);
      }}
    >
      <svg width={total.width} height={total.height} aria-hidden="true" />
      <svg
        class="picture"
        width={width}
        height={HEAD + body.height}
        viewBox={`0 0 ${width} ${HEAD + body.height}`}
      >
        <text class="label" x={12} y={16}>
          {shorten(patternName(match.pattern), sides === WIDE ? 36 : 15)}
        </text>
        <text class="note-text" x={12} y={32}>
          {sides === WIDE ? "Sequence logo, height in bits" : "Logo: bits"}
        </text>
        <svg x={sides.residues} width={body.width} height={HEAD}>
          <g class="scrolled" transform={`translate(${-scrolled.left} 0)`}>
            {head}
            <ColumnCursor slots={slots} height={HEAD} />
          </g>
        </svg>
        <svg y={HEAD} width={sides.residues} height={body.height}>
          <g class="scrolled" transform={`translate(0 ${-scrolled.top})`}>
            <Leaves {...{ result, tree: family.tree, states, sides }} rows={drawnRows} />
          </g>
        </svg>
        <svg
          x={sides.residues}
          y={HEAD}
          width={body.width}
          height={body.height}
          role="img"
          aria-label={`Residues ${view.first} to ${view.last} of ${pluralize(result.homologs.length, "homolog")} around ${match.text}; the table below has the residues of each at the match.`}
        >
          <g class="scrolled" transform={`translate(${-scrolled.left} ${-scrolled.top})`}>
            {rows}
            <rect
              class="frame"
              x={matched.from * COLUMN}
              y={1}
              width={(matched.to - matched.from) * COLUMN}
              height={family.rows.length * ROW}
              rx={3}
            />
            <ColumnCursor slots={slots} height={family.rows.length * ROW} />
          </g>
        </svg>
      </svg>
    </div>
  );
}

/** The column of the residue to which the pictures point. */
function ColumnCursor({ slots, height }: { slots: Slots; height: number }) {
  const residue = useResidue();
  if (residue === null) return null;
  return <rect class="cursor" x={columnSlot(residue, slots) * COLUMN} width={COLUMN} height={height} />;
}

interface LeavesProps {
  result: Result;
  tree: Layout;
  states: ReadonlyMap<number, State>;
  sides: Sides;
  rows: Range;
}

/** The tree, names and states beside the rows. */
function Leaves({ result, tree, states, sides, rows }: LeavesProps) {
  const middle = (row: number): number => row * ROW + ROW / 2;
  const branches = useMemo(
    () => sides.tree > 0 && <Tree {...{ tree, middle }} width={sides.tree} />,
    [tree, sides],
  );
  return (
    <>
      {branches}
      {tree.leaves.slice(rows.from, rows.to).map(({ index }, i) => {
        const state = index === 0 ? null : (states.get(index) ?? "missing");
        const y = middle(rows.from + i);
        return (
          <g key={index} class={index === 0 ? "query" : "homolog"}>
            <Name {...{ result, state, sides }} homolog={result.homologs[index - 1]} y={y + 4} />
            <text class="relation" x={sides.relation} y={y + 4}>
              {result.homologs[index - 1]?.relation?.[0]}
            </text>
            {state && <StateMark state={state} x={sides.marks} y={y} />}
          </g>
        );
      })}
    </>
  );
}

function Tree(props: { tree: Layout; middle: (row: number) => number; width: number }) {
  const { tree, middle, width } = props;
  const x = (distance: number): number => 12 + (distance / (tree.depth || 1)) * (width - 12);
  return (
    <>
      {tree.forks.map(({ depth, top, bottom }, i) => (
        <line key={i} class="branch" x1={x(depth)} x2={x(depth)} y1={middle(top)} y2={middle(bottom)} />
      ))}
      {tree.branches.map(({ row, from, to }, i) => (
        <line key={i} class="branch" x1={x(from)} x2={x(to)} y1={middle(row)} y2={middle(row)} />
      ))}
    </>
  );
}

/** Gene and species, and accession; for a query that is not in the corpus its identifier. */
function Name(props: {
  result: Result;
  homolog: Result["homologs"][number] | undefined;
  state: State | null;
  sides: Sides;
  y: number;
}) {
  const { result, homolog, state, sides, y } = props;
  const most = Math.floor(sides.name / 7);
  const { accession, gene, organism, about } = rowNames(result, homolog);
  const isWide = sides === WIDE;
  const first = homolog && !isWide ? null : gene;
  return (
    <>
      <text class="name" x={sides.names} y={y}>
        {organism && (isWide || homolog) ? (
          <SpeciesName gene={first} organism={organism} most={isWide ? 18 : most} />
        ) : (
          shorten(first ?? accession, most)
        )}
        <title>
          {[[about, homolog?.relation].filter(Boolean).join(", "), state && STATES[state]]
            .filter(Boolean)
            .join(": ")}
        </title>
      </text>
      {organism && isWide && (
        <text class="accession" text-anchor="end" x={sides.names + sides.name} y={y}>
          {shorten(accession, 12)}
        </text>
      )}
    </>
  );
}

function rowNames({ identifier, protein }: Result, homolog: Result["homologs"][number] | undefined) {
  const { organism = null, gene = null } = homolog ?? protein ?? {};
  const accession = (homolog ?? protein)?.accession ?? (identifier || "Query");
  const name = homolog?.description ?? protein?.name;
  return { accession, gene, organism, about: [accession, gene, name, organism].filter(Boolean).join(" ") };
}

/** The species, in short after the gene. */
function SpeciesName({ gene, organism, most }: { gene: string | null; organism: string; most: number }) {
  if (!gene) return <tspan class="species">{shorten(organism, most)}</tspan>;
  return (
    <>
      {gene} <tspan class="species">{shorten(abbreviated(organism), Math.max(6, most - gene.length))}</tspan>
    </>
  );
}

/** "M. musculus" for "Mus musculus". */
const abbreviated = (organism: string): string => organism.replace(/^([A-Z])[a-z]+ (?=[a-z])/, "$1. ");
