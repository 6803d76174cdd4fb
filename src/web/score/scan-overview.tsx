import { Fragment } from "preact";
import { findVerdict, LIKELY_P, POSSIBLE_P, VERDICTS } from "../../scoring/table/verdict.ts";
import type { Place } from "../../scoring/table/places.ts";
import { Card } from "../components/layout.tsx";
import { formatCount, pluralize } from "../format.tsx";
import { type Feature, type FeatureGroup, featureText, GROUP_ORDER, GROUPS, groupText } from "./features.ts";
import { formatPValue, shorten, TONES, VERDICT_ORDER } from "./result.ts";
import type { ClassName, Scan, ScanMatch } from "./scan.ts";
import { chooseTicks } from "./track-geometry.ts";
import { TracksMenu, useTrackChoice } from "./tracks-menu.tsx";
import { VerdictGlyph } from "./verdict.tsx";

/** Height of a lane, and of that of the matches with room for a label above the highest. */
const LANE = 20;
const PLOT = 92;
const TOP = 30;
/** Height of the mark above a known instance, and of a line of text. */
const MARK = 15;
const LINE = 12;
/** Digits after the point of the P value with the highest bar. */
const FULL_HEIGHT = 3;
/** Matches that are drawn, the best ones; titin has 15,000. */
const MAX_DRAWN = 2000;
/** Width in pixels for which ticks are placed: that of a phone. */
const TICKS_WIDTH = 420;
/** Smallest width of a match, and width of a letter of its name, in per cent of the protein. */
const MIN_WIDTH = 0.6;
const LETTER = 0.85;
/** Letters of a name. */
const MAX_NAME = 30;

type Places = readonly Place<ScanMatch>[];

/** y of a P value. */
const heightOf = (p: number): number =>
  PLOT - (PLOT - TOP) * Math.min(1, Math.max(0.05, -Math.log10(p) / FULL_HEIGHT));

/** The top of a bar, or of the mark above it. */
const topOf = (match: ScanMatch): number =>
  heightOf(match.overallPValue ?? 1) - (findVerdict(match) === "known instance" ? MARK : 0);

/** Features, disorder, and the listed places along the protein. */
export function ScanOverview(props: {
  scan: Scan;
  places: Places;
  findClass: (motif: string) => ClassName;
  /** Imported features of the protein. */
  known: readonly Feature[] | undefined;
}) {
  const { scan, places, known = [] } = props;
  const { isShown } = useTrackChoice();
  const groups = GROUP_ORDER.filter((group) => known.some((one) => one.group === group)).map((key) =>
    Object.assign({ key }, GROUPS[key]),
  );
  const { queryLength: length, disorder } = scan;
  const drawn = places.slice(0, MAX_DRAWN);
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
      {drawn.length < places.length && (
        <p class="hint">
          The best {formatCount(drawn.length)} of {formatCount(places.length)} places are drawn.
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
            <span>
              Disorder <small>threshold 0.5</small>
            </span>
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
        <span>
          Matches <small>{pluralize(places.length, "place")}</small> <small>height −log10 P</small>
        </span>
        <PlacesLane places={drawn} length={length} findClass={props.findClass} />
        <span />
        <svg class="lane" height="16" aria-hidden="true">
          {chooseTicks({ from: 1, to: length }, TICKS_WIDTH / length).map((residue) => (
            <text key={residue} x={`${(100 * (residue - 0.5)) / length}%`} y="12">
              {residue}
            </text>
          ))}
        </svg>
      </div>
    </Card>
  );
}

interface Label {
  best: ScanMatch;
  /** Empty if there is no room. */
  name: string;
  /** In per cent of the protein, and the baseline in pixels from the top of the lane. */
  from: number;
  to: number;
  y: number;
}

/** Names beside the bars of known and likely places, the best first, above other bars; a name without room is left out. */
function placeLabels(places: Places, length: number, nameOf: (place: Place<ScanMatch>) => string): Label[] {
  const bars = places.map(({ best }) => {
    const from = (100 * (best.start - 1)) / length;
    const to = Math.max(from + MIN_WIDTH, (100 * best.end) / length);
    return { best, from, to, top: topOf(best) };
  });
  const labels: Label[] = [];
  for (const [i, { best, from, to, top }] of bars.entries()) {
    if (!["known instance", "likely functional"].includes(findVerdict(best))) continue;
    const name = nameOf(places[i]);
    const width = name.length * LETTER + 1;
    const found = [to + 0.3, from - width - 0.3]
      .filter((left) => left >= 0 && left + width <= 100)
      .map((left) => {
        const under = bars
          .filter((bar) => bar.from < left + width && left < bar.to)
          .map((bar) => bar.top - 3);
        return { from: left, to: left + width, y: Math.min(top + LINE, ...under) };
      })
      .find(
        ({ from: left, to: right, y }) =>
          y >= LINE &&
          !labels.some(
            (other) => other.name && Math.abs(other.y - y) < LINE && left < other.to && other.from < right,
          ),
      );
    labels.push({ best, name: found ? name : "", ...(found ?? { from: 0, to: 0, y: 0 }) });
  }
  return labels;
}

/** Places as bars, higher with smaller P; the best ones with their names. */
function PlacesLane(props: { places: Places; length: number; findClass: (motif: string) => ClassName }) {
  const { places, length, findClass } = props;
  const x = (residue: number): number => (100 * residue) / length;
  const nameOf = ({ best, others }: Place<ScanMatch>): string =>
    shorten(findClass(best.motif).name, MAX_NAME) + (others.length > 0 ? ` +${others.length}` : "");
  const labels = placeLabels(places, length, nameOf);
  return (
    <svg
      class="lane lane-matches"
      height={PLOT}
      role="img"
      aria-label={`Matches at ${pluralize(places.length, "place")}, higher with smaller P`}
    >
      {[LIKELY_P, POSSIBLE_P].map((level) => (
        <line key={level} class="lane-threshold" x2="100%" y1={heightOf(level)} y2={heightOf(level)}>
          <title>{`P ${level}`}</title>
        </line>
      ))}
      {/* The best matches are drawn last, on top. */}
      {places.toReversed().map(({ best }) => {
        const y = heightOf(best.overallPValue ?? 1);
        return (
          <rect
            key={best.number}
            class={`tone-${TONES[findVerdict(best)]}`}
            x={`${x(best.start - 1)}%`}
            width={`${Math.max(MIN_WIDTH, x(best.end - best.start + 1))}%`}
            y={y}
            height={PLOT - y}
            rx="1"
          >
            <title>{`${findClass(best.motif).name} ${best.start}–${best.end}: ${VERDICTS[findVerdict(best)]}, P ${formatPValue({ p: best.overallPValue, is: best.overallPValueIs })}`}</title>
          </rect>
        );
      })}
      {labels.map(({ best, name, from, to, y }) => (
        <Fragment key={best.number}>
          {findVerdict(best) === "known instance" && (
            <svg
              class="place-mark"
              x={`${x((best.start - 1 + best.end) / 2)}%`}
              y={topOf(best)}
              aria-hidden="true"
            >
              <g transform="translate(-6)">
                <VerdictGlyph verdict="known instance" />
              </g>
            </svg>
          )}
          {name && (
            <text class="place-name" x={`${(from + to) / 2}%`} y={y}>
              {name}
            </text>
          )}
        </Fragment>
      ))}
    </svg>
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
