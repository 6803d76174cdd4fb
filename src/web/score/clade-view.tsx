import { useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import type { History } from "../../motif/history.ts";
import { listLeaves, type Node } from "../../motif/rooted-tree.ts";
import { Button } from "../components/button.tsx";
import { Card } from "../components/layout.tsx";
import { capitalized, pluralize } from "../format.tsx";
import { type FoldedTree, foldTree } from "./folded-tree.ts";
import { leafName, listNames, readHistory } from "./history-text.ts";
import { StateMark } from "./homolog-table.tsx";
import { type NumberedMatch, type Result, shorten, type State } from "./result.ts";

/** Height of a row in pixels, as in the style sheet. */
const ROW = 28;
/** Marks that a row shows one by one. */
const MOST_MARKS = 8;

/** States as the tree shows them, in the order of rows and legend. */
const NAMES: Readonly<Partial<Record<State, string>>> = {
  conserved: "kept",
  shifted: "nearby",
  substituted: "lost",
  missing: "not reached",
};
const KINDS = Object.keys(NAMES) as State[];

/** Where homologs keep a match: the tree with the state at each leaf, and the changes that explain them. */
export function CladeView({ result, match }: { result: Result; match: NumberedMatch }) {
  const [opened, setOpened] = useState<ReadonlySet<Node>>(new Set());
  const box = useRef<HTMLDivElement>(null);
  // A row that is unfolded to a single protein is no button any more.
  useLayoutEffect(() => {
    if (opened.size > 0 && document.activeElement === document.body) box.current?.focus();
  }, [opened]);
  const read = useMemo(() => readHistory(result, match), [result, match]);
  if (!read) return null;
  const { root, history } = read;
  const states = new Map(match.atHomologs.map(({ homolog, state }) => [homolog + 1, state]));
  const stateOf = (leaf: number): State => {
    const state = leaf === 0 ? "conserved" : (states.get(leaf) ?? "missing");
    return state === "gap" ? "substituted" : state;
  };
  const changed = new Set(history.changes.map(({ node }) => node));
  /** First the clades in which the match changed, then those with several states or relations, or with the query. */
  const difference = (node: Node): number => {
    if (node.children.flatMap(listNodes).some((below) => changed.has(below))) return 2;
    const leaves = listLeaves(node);
    const kinds = new Set(leaves.map((leaf) => `${stateOf(leaf)} ${result.homologs[leaf - 1]?.relation}`));
    return kinds.size > 1 || leaves.includes(0) ? 1 : 0;
  };
  const tree = foldTree(root, difference, opened);
  const open = (nodes: readonly Node[]): void => setOpened(new Set([...opened, ...nodes]));
  return (
    <Card
      title="On the tree"
      bare
      count={`${pluralize(result.homologs.length, "homolog")} in ${pluralize(tree.rows.length, "row")}`}
      actions={
        opened.size > 0 ? (
          <Button look="quiet" small onClick={() => setOpened(new Set())}>
            Show fewer
          </Button>
        ) : (
          tree.rows.length <= result.homologs.length && (
            <Button look="quiet" small onClick={() => open(listNodes(root))}>
              Show all
            </Button>
          )
        )
      }
      foot={<Legend history={history} />}
    >
      <div class="clades" ref={box} tabIndex={-1}>
        <Branches {...{ tree, history }} />
        <ul>
          {tree.rows.map((node) => (
            <Row
              key={Math.min(...listLeaves(node))}
              {...{ result, match, node, stateOf }}
              onOpen={() => open([node])}
            />
          ))}
        </ul>
      </div>
    </Card>
  );
}

const listNodes = (node: Node): Node[] => [node, ...node.children.flatMap(listNodes)];

/** The lines of the tree, with a mark on each branch on which the match changed. */
function Branches({ tree: { drawing, shown }, history }: { tree: FoldedTree; history: History }) {
  const x = (depth: number): string => `${((100 * depth) / (drawing.depth || 1)).toFixed(1)}%`;
  const y = (row: number): number => (row + 0.5) * ROW;
  const kinds = new Map(history.changes.map(({ node, kind }) => [node, kind]));
  return (
    <svg class="clade-tree" height={drawing.leaves.length * ROW} aria-hidden="true">
      {drawing.forks.map(({ depth, top, bottom }, i) => (
        <line key={i} class="branch" x1={x(depth)} x2={x(depth)} y1={y(top)} y2={y(bottom)} />
      ))}
      {drawing.branches.map(({ row, from, to }, i) => (
        <line key={i} class="branch" x1={x(from)} x2={x(to)} y1={y(row)} y2={y(row)} />
      ))}
      {drawing.branches.map(({ node, row, from, to }, i) => {
        const kind = kinds.get(shown.get(node)!);
        return (
          kind && (
            <svg key={i} x={x((from + to) / 2)} y={y(row)} overflow="visible">
              <circle class="ground" r={7} />
              <ChangeMark kind={kind} x={0} y={0} />
            </svg>
          )
        );
      })}
    </svg>
  );
}

/** The mark of a change on a branch. */
const ChangeMark = ({ kind, x, y }: { kind: "gained" | "lost"; x: number; y: number }) =>
  kind === "lost" ? (
    <StateMark state="substituted" x={x} y={y} />
  ) : (
    <g class="state-mark gained">
      <circle cx={x} cy={y} r={5} />
      <path d={`M${x - 2.5} ${y}h5m-2.5 -2.5v5`} />
    </g>
  );

interface RowProps {
  result: Result;
  match: NumberedMatch;
  node: Node;
  stateOf: (leaf: number) => State;
  onOpen: () => void;
}

/** A homolog, or a folded clade, which a click unfolds. */
function Row({ result, match, node, stateOf, onOpen }: RowProps) {
  const leaves = listLeaves(node).toSorted((a, b) => a - b);
  const [first] = leaves;
  const counts = KINDS.flatMap((state) => {
    const count = leaves.filter((leaf) => stateOf(leaf) === state).length;
    return count > 0 ? [{ state, count }] : [];
  });
  const words = counts.map(({ state, count }) => `${count} ${NAMES[state]}`).join(", ");
  const name =
    leaves.length === 1 ? capitalized(leafName(result, first)) : capitalized(listNames(result, leaves));
  const residues =
    first === 0
      ? match.text
      : (match.atHomologs.find(({ homolog }) => homolog === first - 1)?.residues ?? "");
  return (
    <li class={first === 0 ? "query" : undefined}>
      {leaves.length === 1 ? (
        <span class="clade-name">{name}</span>
      ) : (
        <button type="button" class="clade-name link" aria-label={`Unfold ${name}`} onClick={onOpen}>
          {name}
        </button>
      )}
      <span class="clade-marks" role="img" aria-label={words}>
        {counts.map(({ state, count }) => (
          <Marks key={state} {...{ state, count }} isShort={leaves.length > MOST_MARKS} />
        ))}
      </span>
      <code>{stateOf(first) === "missing" ? "" : shorten(residues, 10)}</code>
    </li>
  );
}

/** Marks one by one, or their number before one of them. */
const Marks = ({ state, count, isShort }: { state: State; count: number; isShort: boolean }) => (
  <>
    {isShort && <small>{count}</small>}
    <svg width={14 * (isShort ? 1 : count)} height={14} aria-hidden="true">
      {Array.from({ length: isShort ? 1 : count }, (_, i) => (
        <StateMark key={i} state={state} x={14 * i + 7} y={7} />
      ))}
    </svg>
  </>
);

const Legend = ({ history }: { history: History }) => (
  <ul class="legend">
    {KINDS.map((state) => (
      <li key={state}>
        <svg width={14} height={14} aria-hidden="true">
          <StateMark state={state} x={7} y={7} />
        </svg>
        {NAMES[state]}
      </li>
    ))}
    {history.changes.some(({ kind }) => kind === "gained") && (
      <li>
        <svg width={14} height={14} aria-hidden="true">
          <ChangeMark kind="gained" x={7} y={7} />
        </svg>
        gained on this branch
      </li>
    )}
    <li>
      Changes on branches are the fewest that explain the leaves; nearby and not reached say nothing.
      {history.ancestor === "undecided" && " Here, a gain elsewhere explains them as well."}
    </li>
  </ul>
);
