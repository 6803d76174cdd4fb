import type { Place } from "../../scoring/table/places.ts";
import { findVerdict, LIKELY_P, POSSIBLE_P, VERDICTS } from "../../scoring/table/verdict.ts";
import { pluralize } from "../format.tsx";
import { formatPValue, rank, shorten, TONES } from "./result.ts";
import type { ScanMatch } from "./scan.ts";
import { type Plot, thinned } from "./track-geometry.ts";
import { VerdictGlyph } from "./verdict.tsx";

/** Overlapping matches as one, with names of motif classes. */
export interface PlacesLane {
  places: readonly Place<ScanMatch>[];
  nameOf: (motif: string) => string;
}

/** Height of the track, and room for a label above the highest bar. */
export const PLACES_HEIGHT = 92;
const TOP = 30;
/** Height of the mark above a known instance, and of a line of text. */
const MARK = 15;
const LINE = 12;
/** Digits after the point of the P value with the highest bar. */
const FULL_HEIGHT = 3;
/** Pixels of the narrowest bar, and of a letter. */
const NARROWEST = 3;
const LETTER = 6.3;
/** Letters of a name. */
const MAX_NAME = 30;

/** A bar, or a label, in pixels from the left and from the top of the track. */
interface Bar {
  match: ScanMatch;
  name: string;
  from: number;
  to: number;
  y: number;
}

/** y of a P value. */
const heightOf = (p: number): number =>
  PLACES_HEIGHT - (PLACES_HEIGHT - TOP) * Math.min(1, Math.max(0.05, -Math.log10(p) / FULL_HEIGHT));

const isKnown = ({ match }: Bar): boolean => findVerdict(match) === "known instance";

/** The top of a bar, or of the mark above it. */
const topOf = (bar: Bar): number => bar.y - (isKnown(bar) ? MARK : 0);

/** The bars in view; of several that start within a few pixels, the best. */
function listBars({ places, nameOf }: PlacesLane, plot: Plot): Bar[] {
  const { span, left, width, scale } = plot;
  const items = places.map(({ best, others }) => ({ start: best.start, end: best.end, best, others }));
  return thinned(items, plot, NARROWEST, ({ best }) => rank(best)).map(({ best, others }) => {
    const from = Math.max(left, left + (best.start - span.from) * scale);
    const to = Math.min(width, left + (best.end + 1 - span.from) * scale);
    const name = shorten(nameOf(best.motif), MAX_NAME) + (others.length > 0 ? ` +${others.length}` : "");
    return {
      match: best,
      name,
      from,
      to: Math.max(from + NARROWEST, to),
      y: heightOf(best.overallPValue ?? 1),
    };
  });
}

/** Names beside the bars of known and likely places, the best first, above other bars; a name without room is left out. */
function placeLabels(bars: readonly Bar[], { left, width }: Plot): Bar[] {
  const labels: Bar[] = [];
  for (const bar of bars.toSorted((a, b) => rank(a.match) - rank(b.match))) {
    if (!["known instance", "likely functional"].includes(findVerdict(bar.match))) continue;
    const long = bar.name.length * LETTER + 8;
    const found = [bar.to + 3, bar.from - long - 3]
      .filter((from) => from >= left && from + long <= width)
      .map((from) => {
        const under = bars.filter((one) => one.from < from + long && from < one.to);
        const y = Math.min(topOf(bar) + LINE, ...under.map((one) => topOf(one) - 3));
        return { match: bar.match, name: bar.name, from, to: from + long, y };
      })
      .find(
        ({ from, to, y }) =>
          y >= LINE && !labels.some((one) => Math.abs(one.y - y) < LINE && from < one.to && one.from < to),
      );
    if (found) labels.push(found);
  }
  return labels;
}

/** Places as bars, higher with smaller P; the best ones with their names. */
export function PlacesTrack({ data, plot }: { data: PlacesLane; plot: Plot }) {
  const { left, width, y } = plot;
  const bars = listBars(data, plot);
  return (
    <g role="img" aria-label={`Matches at ${pluralize(data.places.length, "place")}, higher with smaller P`}>
      {[LIKELY_P, POSSIBLE_P].map((level) => (
        <line
          key={level}
          class="threshold"
          x1={left}
          x2={width}
          y1={y + heightOf(level)}
          y2={y + heightOf(level)}
        >
          <title>{`P ${level}`}</title>
        </line>
      ))}
      <line class="line" x1={left} x2={width} y1={y + PLACES_HEIGHT} y2={y + PLACES_HEIGHT} />
      {bars.map((bar) => (
        <rect
          key={bar.match.number}
          class={`mark tone-${TONES[findVerdict(bar.match)]}`}
          x={bar.from}
          width={bar.to - bar.from}
          y={y + bar.y}
          height={PLACES_HEIGHT - bar.y}
          rx="1"
        >
          <title>{`${data.nameOf(bar.match.motif)} ${bar.match.start}–${bar.match.end}: ${VERDICTS[findVerdict(bar.match)]}, P ${formatPValue({ p: bar.match.overallPValue, is: bar.match.overallPValueIs })}`}</title>
        </rect>
      ))}
      {bars.filter(isKnown).map((bar) => (
        <svg key={bar.match.number} class="place-mark" x={(bar.from + bar.to) / 2 - 6} y={y + topOf(bar)}>
          <VerdictGlyph verdict="known instance" />
        </svg>
      ))}
      {placeLabels(bars, plot).map(({ match, name, from, to, y: at }) => (
        <text key={match.number} class="place-name" x={(from + to) / 2} y={y + at}>
          {name}
        </text>
      ))}
    </g>
  );
}
