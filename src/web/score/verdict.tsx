import type { MatchRow } from "../../scoring/table/match-row.ts";
import { findVerdict, type MatchVerdict, standsOut, VERDICTS } from "../../scoring/table/verdict.ts";
import { pluralize } from "../format.tsx";
import { conservationName, formatPValue, TONES } from "./result.ts";

/** Glyphs on a grid of 12 × 12: full, half full, empty, dashed. */
const RING = "M6 1a5 5 0 1 0 0 10a5 5 0 1 0 0-10";

/** The shape of a verdict, so that colour is not all that tells it. */
export const VerdictGlyph = ({ verdict }: { verdict: MatchVerdict }) => (
  <svg class={`glyph tone-${TONES[verdict]}`} width="12" height="12" viewBox="0 0 12 12" aria-hidden="true">
    <path class="ring" d={RING} />
    {verdict === "known instance" && <path class="full" d="M6 3.2 8.8 6 6 8.8 3.2 6z" />}
    {verdict === "likely functional" && <path class="full" d={RING} />}
    {verdict === "possible" && <path class="full" d="M6 1a5 5 0 0 0 0 10z" />}
  </svg>
);

type Reach = Pick<MatchRow, "verdict" | "notes" | "homologs" | "conservationLevel" | "z">;

/** The verdict on a match; with a dashed border if it has too few homologs to judge conservation. */
export const VerdictTag = ({ match }: { match: Reach }) => {
  const verdict = findVerdict(match);
  const isSparse = match.z != null && match.conservationLevel === "insufficient data";
  return (
    <>
      <span class={`verdict tone-${TONES[verdict]}${isSparse ? " sparse" : ""}`}>
        <VerdictGlyph verdict={verdict} />
        {VERDICTS[verdict]}
      </span>
      {isSparse && (
        <small class="second-line">
          {match.homologs === 0 ? "by context alone" : `only ${pluralize(match.homologs, "homolog")}`}
        </small>
      )}
    </>
  );
};

/** Homologs for which the bar of those that keep a match has its full length. */
const FULL_BAR = 20;

/** The homologs that have a match in place and nearby: "3 of 25", a bar, longer with more homologs, "12 nearby", and whether that is more than expected. */
export function Kept({
  match,
}: {
  match: Pick<MatchRow, "kept" | "nearby" | "homologs" | "conservationLevel" | "z">;
}) {
  const { kept = 0, nearby = 0, homologs } = match;
  const part = (count: number): string => `${(100 * count) / Math.max(homologs, FULL_BAR)}%`;
  return (
    <span class="kept">
      {homologs > 0 && (
        <>
          {kept} of {homologs}
          <svg class="kept-bar" height="4" aria-hidden="true">
            <rect class="reached" width={part(homologs)} height="4" />
            <rect width={part(kept)} height="4" />
            <rect class="nearby" x={part(kept)} width={part(nearby)} height="4" />
          </svg>
        </>
      )}
      {nearby > 0 && <small>{nearby} nearby</small>}
      <small>{homologs > 0 ? conservationName(match) : "no homologs"}</small>
    </span>
  );
}

/** q with the level at which the match stands out among all matches of its ranking. */
export const QValue = ({ match }: { match: Pick<MatchRow, "q" | "qIs"> }) => {
  const level = standsOut(match);
  return (
    <>
      {formatPValue({ p: match.q, is: match.qIs })}
      {level && <small class="second-line wrap">{`stands out (${level.replaceAll(" ", "\u00A0")})`}</small>}
    </>
  );
};

/** Chips that show how many rows have each verdict, and filter by it. */
export function VerdictChips<Kind extends string>(props: {
  counts: ReadonlyMap<Kind, number>;
  chosen: string;
  onChoose: (kind: Kind | null) => void;
}) {
  return (
    <div class="row" role="group" aria-label="Filter by verdict">
      {[...props.counts].map(([kind, count]) => {
        const verdict = kind in VERDICTS ? (kind as unknown as MatchVerdict) : null;
        const isChosen = kind === props.chosen;
        // Many servers know no instances, and most matches can be scored.
        if (count === 0 && !isChosen && (verdict === "known instance" || verdict === "not scored"))
          return null;
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
            {(verdict ? VERDICTS[verdict] : kind).toLowerCase()}
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
