import { useMemo } from "preact/hooks";
import { layout, parseNewick } from "./newick.ts";
import { Picture } from "./picture.tsx";
import { nameOf, type NumberedMatch, type Result, type State } from "./result.ts";

const ROW = 22;
const COLUMN = 14;
const TREE = 190;
/** Pixels of a character of a name, at most. */
const LETTER = 8;
const HEAD = 62;
/** Residues that are shown on either side of a match. */
const FLANK = 15;
/** Columns of a match that are shown; the rest of a long one is in the files. */
const LONGEST = 60;
const MARK = 10;

export const STATE_WORDS: Record<State, string> = {
  conserved: "conserved",
  shifted: "shifted",
  substituted: "lost: substituted",
  gap: "lost: deleted",
  missing: "not reached",
};

/** The tree of the family, and beside each leaf what became of a match there: its state and the alignment around it. */
export function FamilyPicture({
  result,
  match,
  fileName,
}: {
  result: Result;
  match: NumberedMatch;
  fileName: string;
}) {
  const { alignment, homologs, tree } = result;
  const drawn = useMemo(() => treeOf(tree, homologs.length), [tree]);
  const states = new Map(match.atHomologs.map((at) => [at.homolog, at]));
  const first = Math.max(1, match.start - FLANK);
  const last = Math.min(result.queryLength, Math.min(match.end, match.start + LONGEST - 1) + FLANK);
  const rows = useMemo(
    () => alignment?.rows.map((row) => slotsOf(row, first, last)),
    [alignment, first, last],
  );
  const columns = Array.from({ length: last - first + 1 }, (_, i) => first + i);
  const names = drawn.leaves.map(({ index }) => labelOf(index === 0 ? null : homologs[index - 1], result));
  const left = TREE + MARK + 12 + Math.max(...names.map((name) => name.length)) * LETTER + 16;
  const width = left + columns.length * COLUMN + 8;
  const height = HEAD + drawn.leaves.length * ROW + 8;
  const depth = drawn.depth || 1;
  const x = (distance: number): number => 6 + (distance / depth) * (TREE - 6);
  const y = (row: number): number => HEAD + row * ROW + ROW / 2;
  /** Whether the match depends on a column: at wildcards any residue will do. */
  const matters = (column: number): boolean => (match.conservation[column - match.start] ?? null) !== null;
  const query = alignment?.query ?? "";
  return (
    <Picture
      title={`${match.text.slice(0, 24)} in the homologs`}
      fileName={`${fileName}-match-${match.number}`}
      legend={<Legend />}
    >
      <div class="wide" role="region" aria-label="Tree and alignment" tabIndex={0}>
        <svg
          class="picture family"
          width={width}
          height={height}
          viewBox={`0 0 ${width} ${height}`}
          role="img"
          aria-label={`Tree of ${homologs.length} homologs with what became of ${match.text} in each; the table below says the same.`}
        >
          <rect
            class="shade"
            x={left + (match.start - first) * COLUMN}
            y={HEAD - 4}
            width={(Math.min(match.end, last) - match.start + 1) * COLUMN}
            height={drawn.leaves.length * ROW + 8}
            rx={3}
          />
          <Heading {...{ match, columns, left }} conservation={alignment?.conservation} />
          {drawn.joints.map(({ depth: at, top, bottom }, i) => (
            <line key={i} class="branch" x1={x(at)} x2={x(at)} y1={y(top)} y2={y(bottom)} />
          ))}
          {drawn.branches.map(({ row, from, to }, i) => (
            <line key={i} class="branch" x1={x(from)} x2={x(to)} y1={y(row)} y2={y(row)} />
          ))}
          {drawn.leaves.map(({ index, depth: at }, row) => {
            const homolog = homologs[index - 1];
            const state = index === 0 ? null : (states.get(index - 1)?.state ?? "missing");
            return (
              <g key={index}>
                <line class="leader" x1={x(at) + 3} x2={TREE + 4} y1={y(row)} y2={y(row)} />
                {state && <Mark state={state} x={TREE + MARK} y={y(row)} />}
                <text class={index === 0 ? "name query" : "name"} x={TREE + MARK + 12} y={y(row) + 4}>
                  {names[row]}
                  <title>
                    {homolog
                      ? `${homolog.accession} ${homolog.description}${state ? `: ${STATE_WORDS[state]}` : ""}`
                      : "the query"}
                  </title>
                </text>
                {index === 0 ? (
                  <Residues
                    letters={columns.map((column) => query[column - 1] ?? "")}
                    {...{ left, query, first, matters }}
                    y={y(row)}
                    isQuery
                  />
                ) : (
                  rows && (
                    <Row
                      slots={rows[index - 1]}
                      {...{ left, query, first, matters }}
                      state={state}
                      y={y(row)}
                    />
                  )
                )}
              </g>
            );
          })}
        </svg>
      </div>
    </Picture>
  );
}

/** Position numbers, and the conservation of each column: what the match admits within it, the same residue around it. */
function Heading(props: {
  match: NumberedMatch;
  columns: number[];
  left: number;
  conservation: readonly (number | null)[] | undefined;
}) {
  const { match, columns, left, conservation } = props;
  const high = 30;
  return (
    <>
      <text class="label" x={6} y={14}>
        {nameOf(match.pattern).slice(0, 30)}
      </text>
      {columns.map((column, i) => {
        const own = match.conservation[column - match.start] ?? null;
        const value = own ?? conservation?.[column - 1] ?? null;
        return (
          <g key={column}>
            {value !== null && (
              <rect
                class={own === null ? "kept-share around" : "kept-share"}
                x={left + i * COLUMN + 1.5}
                y={HEAD - 8 - value * high}
                width={COLUMN - 3}
                height={value * high}
              />
            )}
            {(column === match.start || (column % 10 === 0 && Math.abs(column - match.start) > 2)) && (
              <text class="number" x={left + (i + 0.5) * COLUMN} y={14}>
                {column}
              </text>
            )}
          </g>
        );
      })}
    </>
  );
}

/** A residue of the row per column, and what is inserted behind it. */
interface Slot {
  residue: string;
  insertion: string;
}

/** The columns from `first` to `last`, counted from 1, of a row in A3M. */
export function slotsOf(row: string, first: number, last: number): Slot[] {
  const slots: Slot[] = [];
  let column = 0;
  for (const sign of row) {
    const isInsertion = sign >= "a" && sign <= "z";
    if (!isInsertion && ++column > last) break;
    if (column < first) continue;
    if (!isInsertion) slots.push({ residue: sign, insertion: "" });
    else if (slots.length > 0) slots.at(-1)!.insertion += sign;
  }
  return slots;
}

interface Place {
  left: number;
  y: number;
  query: string;
  first: number;
  matters: (column: number) => boolean;
  /** What became of the match here; null for the query. */
  state?: State | null;
}

function Row({ slots, ...place }: Place & { slots: Slot[] }) {
  return (
    <>
      <Residues letters={slots.map(({ residue }) => residue)} {...place} />
      {slots.map(
        (slot, i) =>
          slot.insertion !== "" && (
            <path
              key={i}
              class="insertion"
              d={`M${place.left + (i + 1) * COLUMN - 3} ${place.y - 9}h6l-3 5z`}
            >
              <title>{`${slot.insertion.length} inserted: ${slot.insertion.toUpperCase()}`}</title>
            </path>
          ),
      )}
    </>
  );
}

function Residues({
  letters,
  left,
  y,
  query,
  first,
  matters,
  state,
  isQuery,
}: Place & { letters: string[]; isQuery?: boolean }) {
  return (
    <>
      {!isQuery &&
        letters.map((letter, i) => {
          if (letter === "" || letter === "-") return null;
          const same = letter === query[first + i - 1];
          const isDefined = matters(first + i);
          if (!same && !isDefined) return null;
          // A homolog that keeps the match has an admitted residue wherever it has another.
          const look = !isDefined ? "same around" : same || state === "conserved" ? "same" : "other";
          return (
            <rect
              key={i}
              class={look}
              x={left + i * COLUMN}
              y={y - ROW / 2 + 1}
              width={COLUMN}
              height={ROW - 2}
            />
          );
        })}
      <text class={isQuery ? "residues query" : "residues"} y={y + 4.5}>
        {letters.map((letter, i) => (
          <tspan key={i} x={left + (i + 0.5) * COLUMN}>
            {letter === "-" ? "·" : letter}
          </tspan>
        ))}
      </text>
    </>
  );
}

/** What tells states apart besides colour: the shape. */
export function Mark({ state, x, y }: { state: State; x: number; y: number }) {
  const shape = {
    conserved: <circle cx={x} cy={y} r={5} />,
    shifted: <path d={`M${x} ${y - 6}l6 6l-6 6l-6 -6z`} />,
    substituted: <path d={`M${x - 4.5} ${y - 4.5}l9 9m0 -9l-9 9`} />,
    gap: <path d={`M${x - 5.5} ${y}h11`} />,
    missing: <circle cx={x} cy={y} r={4} />,
  }[state];
  return <g class={`state ${state}`}>{shape}</g>;
}

const Swatch = ({ look }: { look: string }) => (
  <svg width={14} height={16} aria-hidden="true">
    <rect class={look} y={2} width={14} height={13} />
  </svg>
);

function Legend() {
  return (
    <ul class="legend">
      {(Object.keys(STATE_WORDS) as State[]).map((state) => (
        <li key={state}>
          <svg width={16} height={16} aria-hidden="true">
            <Mark state={state} x={8} y={8} />
          </svg>
          {STATE_WORDS[state]}
        </li>
      ))}
      <li>
        <svg width={12} height={16} aria-hidden="true">
          <path class="insertion" d="M3 5h6l-3 5z" />
        </svg>
        insertion
      </li>
      <li>
        <Swatch look="same" /> kept
      </li>
      <li>
        <Swatch look="other" /> another residue
      </li>
      <li>
        <Swatch look="same around" /> as in the query, where the match does not depend on it
      </li>
    </ul>
  );
}

function labelOf(homolog: { accession: string; organism: string | null } | null, result: Result): string {
  if (!homolog) return (result.identifier || "query").slice(0, 30);
  const text = homolog.organism ? `${homolog.accession} ${homolog.organism}` : homolog.accession;
  return text.length > 31 ? `${text.slice(0, 30)}…` : text;
}

/** The tree, or the query and its homologs in order where the notation has another number of leaves. */
function treeOf(tree: string, homologs: number): ReturnType<typeof layout> {
  try {
    const drawn = layout(parseNewick(tree.replace(/;\s*$/, "")));
    if (drawn.leaves.length === homologs + 1) return drawn;
  } catch {
    // As rows without a tree.
  }
  const leaves = Array.from({ length: homologs + 1 }, (_, index) => ({ index, name: "", depth: 0 }));
  return { leaves, branches: [], joints: [], depth: 0 };
}
