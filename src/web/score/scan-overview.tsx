import { Fragment } from "preact";
import { findVerdict, type MatchVerdict, VERDICTS } from "../../scoring/table/verdict.ts";
import { Card } from "../components/layout.tsx";
import { formatCount } from "../format.tsx";
import { type Feature, type FeatureGroup, featureText, GROUP_ORDER, GROUPS, groupText } from "./features.ts";
import { TracksMenu, useTrackChoice } from "./tracks-menu.tsx";
import { TONES, VERDICT_ORDER } from "./result.ts";
import { type Scan, type ScanMatch, TYPE_ORDER, findType, TYPES } from "./scan.ts";
import { chooseTicks } from "./track-geometry.ts";
import { VerdictGlyph } from "./verdict.tsx";

/** Height of a lane, and of a match in it, so that colour is not all that tells the label. */
const LANE = 20;
const HEIGHTS: Record<MatchVerdict, number> = {
  "known instance": 16,
  "likely functional": 16,
  possible: 11,
  "no evidence": 5,
  "not scored": 3,
};
/** Matches that are drawn, the best ones; titin has 15,000. */
const MAX_DRAWN = 2000;
/** Width in pixels for which ticks are placed: that of a phone. */
const TICKS_WIDTH = 420;
/** Smallest width of a match, in per cent of the protein. */
const MIN_WIDTH = 0.6;

/** Disorder, and the listed matches of each class type, best first, along the protein. */
export function ScanOverview(props: {
  scan: Scan;
  shown: readonly ScanMatch[];
  /** Imported features of the protein. */
  known: readonly Feature[] | undefined;
}) {
  const { scan, shown, known = [] } = props;
  const { isShown } = useTrackChoice();
  const groups = GROUP_ORDER.filter((group) => known.some((one) => one.group === group)).map((key) =>
    Object.assign({ key }, GROUPS[key]),
  );
  const { queryLength: length, disorder } = scan;
  const x = (residue: number): number => (100 * residue) / length;
  const drawn = shown.slice(0, MAX_DRAWN);
  const lanes = TYPE_ORDER.map((type) => ({
    type,
    // The best matches are drawn last, on top.
    matches: drawn.filter((match) => findType(match) === type).toReversed(),
  })).filter(({ matches }) => matches.length > 0);
  return (
    <Card
      title="Overview"
      actions={
        <>
          <ul class="legend">
            {VERDICT_ORDER.slice(0, 4).map((verdict) => (
              <li key={verdict}>
                <VerdictGlyph verdict={verdict} />
                {VERDICTS[verdict].toLowerCase()}
              </li>
            ))}
          </ul>
          {groups.length > 0 && <TracksMenu tracks={groups} />}
        </>
      }
    >
      {drawn.length < shown.length && (
        <p class="hint">
          The best {formatCount(drawn.length)} of {formatCount(shown.length)} matches are drawn.
        </p>
      )}
      <div class="lanes">
        {groups.filter(isShown).map(({ key }) => (
          <FeatureLane
            key={key}
            group={key}
            length={length}
            features={known.filter((one) => one.group === key)}
          />
        ))}
        {disorder.length > 0 && (
          <>
            <span>Disorder</span>
            <svg
              class="lane"
              height="28"
              viewBox={`0 0 ${length} 28`}
              preserveAspectRatio="none"
              role="img"
              aria-label="Predicted disorder; the line is at 0.5"
            >
              <path class="lane-disorder" d={areaPath(disorder)} />
              <line class="lane-threshold" x1="0" x2={length} y1="14" y2="14" />
            </svg>
          </>
        )}
        {lanes.map(({ type, matches }) => (
          <Fragment key={type}>
            <span>
              {TYPES[type].lane} <small>{matches.length}</small>
            </span>
            <svg
              class="lane lane-matches"
              height={LANE}
              role="img"
              aria-label={`${TYPES[type].lane}: ${matches.length} matches`}
            >
              {matches.map((match) => (
                <rect
                  key={match.number}
                  class={`tone-${TONES[findVerdict(match)]}`}
                  x={`${x(match.start - 1)}%`}
                  width={`${Math.max(MIN_WIDTH, x(match.end - match.start + 1))}%`}
                  y={LANE - HEIGHTS[findVerdict(match)]}
                  height={HEIGHTS[findVerdict(match)]}
                >
                  <title>{`${match.motif}, ${match.text} ${match.start}–${match.end}`}</title>
                </rect>
              ))}
            </svg>
          </Fragment>
        ))}
        <span />
        <svg class="lane" height="16" aria-hidden="true">
          {chooseTicks({ from: 1, to: length }, TICKS_WIDTH / length).map((residue) => (
            <text key={residue} x={`${x(residue - 0.5)}%`} y="12">
              {residue}
            </text>
          ))}
        </svg>
      </div>
    </Card>
  );
}

function FeatureLane(props: { group: FeatureGroup; features: readonly Feature[]; length: number }) {
  const { group, features, length } = props;
  return (
    <>
      <span>
        {GROUPS[group].name} <small>{features.length}</small>
      </span>
      <svg class="lane" height={LANE} role="img" aria-label={groupText(group, features)}>
        {features.slice(0, MAX_DRAWN).map((feature, i) => (
          <rect
            key={i}
            class={feature.start === feature.end ? "feature-point" : `feature feature-${group}`}
            x={`${(100 * (feature.start - 1)) / length}%`}
            width={`${Math.max(0.4, (100 * (feature.end - feature.start + 1)) / length)}%`}
            y={3}
            height={LANE - 6}
            rx={2}
          >
            <title>{featureText(feature)}</title>
          </rect>
        ))}
      </svg>
    </>
  );
}

const areaPath = (values: readonly number[]): string =>
  `M0 28${values.map((value, i) => `L${i + 0.5} ${(28 * (1 - value)).toFixed(1)}`).join("")}L${values.length} 28Z`;
