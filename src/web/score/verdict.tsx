import { type Verdict, VERDICTS } from "./result.ts";

/** Glyphs on a grid of 12 × 12: full, half full, empty, dashed. */
const RING = "M6 1a5 5 0 1 0 0 10a5 5 0 1 0 0-10";

/** The shape of a verdict, so that colour is not all that tells it. */
export const VerdictGlyph = ({ verdict }: { verdict: Verdict }) => (
  <svg
    class={`glyph tone-${VERDICTS[verdict].tone}`}
    width="12"
    height="12"
    viewBox="0 0 12 12"
    aria-hidden="true"
  >
    <path class="ring" d={RING} />
    {verdict === "likely functional" && <path class="full" d={RING} />}
    {verdict === "possible" && <path class="full" d="M6 1a5 5 0 0 0 0 10z" />}
  </svg>
);

export const VerdictTag = ({ verdict }: { verdict: Verdict }) => (
  <span class={`verdict tone-${VERDICTS[verdict].tone}`}>
    <VerdictGlyph verdict={verdict} />
    {VERDICTS[verdict].name}
  </span>
);

/** The number of homologs that keep a match: "20 of 24", a bar, and whether that is more than expected. */
export const Kept = ({ kept, of, words }: { kept: number; of: number; words: string }) => (
  <span class="kept">
    {of > 0 && (
      <>
        {kept} of {of}
        <svg class="kept-bar" height="4" aria-hidden="true">
          <rect width={`${(100 * kept) / of}%`} height="4" />
        </svg>
      </>
    )}
    <small>{of > 0 ? words : "no homologs"}</small>
  </span>
);

/** Chips that show how many rows have each verdict, and filter by it. */
export function VerdictChips<Kind extends string>(props: {
  counts: ReadonlyMap<Kind, number>;
  chosen: string;
  onChoose: (kind: Kind | null) => void;
}) {
  return (
    <div class="row" role="group" aria-label="Filter by verdict">
      {[...props.counts].map(([kind, count]) => {
        const verdict = kind in VERDICTS ? (kind as unknown as Verdict) : null;
        const isChosen = kind === props.chosen;
        return (
          <button
            key={kind}
            type="button"
            class="chip"
            aria-pressed={isChosen}
            disabled={count === 0 && !isChosen}
            onClick={() => props.onChoose(isChosen ? null : kind)}
          >
            {verdict && <VerdictGlyph verdict={verdict} />}
            <b>{count.toLocaleString("en")}</b>
            {(verdict ? VERDICTS[verdict].name : kind).toLowerCase()}
          </button>
        );
      })}
    </div>
  );
}

/** Counts the rows of each kind, in the order of `kinds`. */
export function countKinds<Row, Kind extends string>(
  rows: readonly Row[],
  kinds: readonly Kind[],
  findKind: (row: Row) => Kind,
): Map<Kind, number> {
  const counts = new Map(kinds.map((kind) => [kind, 0]));
  for (const row of rows) counts.set(findKind(row), (counts.get(findKind(row)) ?? 0) + 1);
  return counts;
}
