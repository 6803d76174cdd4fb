import type { MatchRow } from "../../scoring/table/match-row.ts";
import {
  findVerdict,
  LIKELY_P,
  type MatchVerdict,
  POSSIBLE_P,
  standsOut,
  STRICT_Q,
  VERDICTS,
} from "../../scoring/table/verdict.ts";
import { pluralize } from "../format.tsx";
import { partsOf, TERMS } from "./explain-match.ts";
import { conservationName, decimal, formatPValue, TONES } from "./result.ts";

/** Glyphs on a grid of 12 × 12: a bookmark; circles that are full, half full, empty, dashed; a star. */
const BOOKMARK = "M2.5.75h7v10.5L6 8.5l-3.5 2.75z";
const RING = "M6 1a5 5 0 1 0 0 10a5 5 0 1 0 0-10";
const STAR = "M6 .6l1.65 3.5 3.85.5-2.8 2.65.7 3.8L6 9.2l-3.4 1.85.7-3.8L.5 4.6l3.85-.5z";

/** The shape of a verdict, so that colour is not all that tells it. */
export const VerdictGlyph = ({ verdict }: { verdict: MatchVerdict }) => (
  <svg class={`glyph tone-${TONES[verdict]}`} width="12" height="12" viewBox="0 0 12 12" aria-hidden="true">
    {verdict === "known instance" ? <path d={BOOKMARK} /> : <path class="ring" d={RING} />}
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

/**
 * The homologs that have a match in place and nearby: "3 kept + 12 nearby of 25" and a bar, longer with more homologs.
 * @param props.named adds whether that is more than expected
 */
export function Kept(props: {
  match: Pick<MatchRow, "kept" | "nearby" | "homologs" | "conservationLevel" | "z">;
  named?: boolean;
}) {
  const { kept = 0, nearby = 0, homologs } = props.match;
  if (homologs === 0) return <small class="kept">no homologs</small>;
  const part = (count: number): string => `${(100 * count) / Math.max(homologs, FULL_BAR)}%`;
  return (
    <span class="kept">
      {nearby > 0 ? `${kept} kept + ${nearby} nearby of ${homologs}` : `${kept} of ${homologs}`}
      <svg class="kept-bar" height="6" aria-hidden="true">
        <rect class="reached" width={part(homologs)} height="6" rx="1" />
        <rect width={part(kept)} height="6" rx="1" />
        <rect class="nearby" x={part(kept)} y="1.5" width={part(nearby)} height="3" />
      </svg>
      <small class={props.named ? undefined : "unseen"}>{conservationName(props.match)}</small>
    </span>
  );
}

/** Digits after the point of the P value that fills the bar. */
const FULL_GRADE = 3;
const gradeOf = (p: number): string => `${Math.min(100, (-100 * Math.log10(p)) / FULL_GRADE)}%`;
/** Tones of P values, by the evidence alone. */
const toneOfP = (p: number): string => (p <= LIKELY_P ? "likely" : p <= POSSIBLE_P ? "possible" : "none");

/** P with a bar of -log10 P, on which the levels of the verdicts are marked. */
export function Grade({ match }: { match: Pick<MatchRow, "overallPValue" | "overallPValueIs"> }) {
  const { overallPValue: p, overallPValueIs: is } = match;
  if (p == null) return <>–</>;
  return (
    <span class="grade">
      {formatPValue({ p, is })}
      <svg height="7" aria-hidden="true">
        <rect class="reached" y="1" width="100%" height="5" rx="2.5" />
        <rect class={`tone-${toneOfP(p)}`} y="1" width={gradeOf(p)} height="5" rx="2.5" />
        {[POSSIBLE_P, LIKELY_P].map((level) => (
          <line key={level} x1={gradeOf(level)} x2={gradeOf(level)} y1="0" y2="7" />
        ))}
      </svg>
    </span>
  );
}

/** Contribution to z that fills a half of the drawing; the height of the half and the distance of bars in pixels. */
const FULL_SPARK = 1.4;
const HALF_SPARK = 10;
const SPARK_STEP = 7;

/** The parts of z as bars, upwards for and downwards against. */
export function Spark({ match: { z, contributions } }: { match: Pick<MatchRow, "z" | "contributions"> }) {
  if (!contributions) return <>{decimal(z)}</>;
  const parts = partsOf(contributions);
  const width = SPARK_STEP * parts.length;
  const title = parts.map(([term, value]) => `${TERMS[term].name} ${decimal(value)}`).join("; ");
  return (
    <svg class="spark" role="img" width={width} height={2 * HALF_SPARK}>
      <title>{`z ${decimal(z)}: ${title}`}</title>
      {parts.map(([term, value], i) => {
        const height = Math.max(1, Math.min(1, Math.abs(value) / FULL_SPARK) * HALF_SPARK);
        return (
          <rect
            key={term}
            class={value < 0 ? "against" : "mark tone-likely"}
            x={SPARK_STEP * i}
            y={value < 0 ? HALF_SPARK : HALF_SPARK - height}
            width={SPARK_STEP - 2}
            height={height}
            rx="1"
          />
        );
      })}
      <line x2={width} y1={HALF_SPARK} y2={HALF_SPARK} />
    </svg>
  );
}

export const Star = () => (
  <svg class="glyph tone-likely" width="12" height="12" viewBox="0 0 12 12" aria-hidden="true">
    <path d={STAR} />
  </svg>
);

/** q, with a star if the match stands out among all matches of its ranking. */
export const QValue = ({ match }: { match: Pick<MatchRow, "q" | "qIs"> }) => {
  const level = standsOut(match);
  const isStrict = match.q != null && match.q <= STRICT_Q;
  return (
    <span class="q-value" title={level ? `stands out (${level})` : undefined}>
      {isStrict && <Star />}
      {formatPValue({ p: match.q, is: match.qIs })}
      {level && <span class="unseen">{` stands out (${level})`}</span>}
    </span>
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
