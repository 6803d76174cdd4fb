import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { findVerdict, type MatchVerdict, VERDICTS } from "../../scoring/table/verdict.ts";
import { type FeatureLanes, FeatureTrack, lanesHeight } from "./feature-track.tsx";
import { shortName } from "./features.ts";
import { PLACES_HEIGHT, type PlacesLane, PlacesTrack } from "./places-track.tsx";
import { useResidue } from "./position.ts";
import {
  patternName,
  type NumberedMatch,
  overallP,
  formatPValue,
  percent,
  rank,
  keptText,
  TONES,
} from "./result.ts";
import {
  areaPath,
  linePath,
  type Plot,
  findRegions,
  countResidues,
  type Span,
  thinned,
  chooseTicks,
} from "./track-geometry.ts";

import type { TrackChoice } from "./tracks-menu.tsx";
import { listFirst } from "../format.tsx";

/** The content of a track; to add a kind, add its data here and its drawing to `DRAWINGS`. */
export type TrackData =
  /** A value per residue, 0..1, or null. */
  | { kind: "bars"; values: readonly (number | null)[] }
  /** A prediction per residue, 0..1, and the threshold above which it counts. */
  | {
      kind: "prediction";
      look: "disorder" | "order";
      values: readonly (number | null)[];
      threshold: number;
      title: string;
    }
  | { kind: "matches"; matches: readonly NumberedMatch[] }
  /** Facts about the protein. */
  | ({ kind: "features" } & FeatureLanes)
  | ({ kind: "places" } & PlacesLane);

export type Track = { label: string; note: string; choice?: TrackChoice } & TrackData;

/** Context that drawings share. */
export interface TrackContext {
  plot: Plot;
  /** True if each match is a tab stop. */
  areStops: boolean;
  selected: NumberedMatch | undefined;
  onSelect: (number: number) => void;
}

type DataOf<Kind extends TrackData["kind"]> = Extract<TrackData, { kind: Kind }>;

const BARS = 36;
const PREDICTED_HEIGHT = 32;
const LANE = 20;
/** Heights of matches, so that colour is not all that tells the verdict. */
const HEIGHTS: Record<MatchVerdict, number> = {
  "known instance": 16,
  "likely functional": 16,
  possible: 11,
  "no evidence": 5,
  "not scored": 11,
};
/** Pixels of the narrowest match; of several that start within so many, the best is shown. */
const NARROWEST = 3;

/** Height and drawing of each kind, and what it says of a residue; "" for nothing. */
const DRAWINGS: {
  [Kind in TrackData["kind"]]: {
    height: number | ((data: DataOf<Kind>) => number);
    draw: (data: DataOf<Kind>, context: TrackContext) => ComponentChildren;
    read: (data: DataOf<Kind>, residue: number) => string;
  };
} = {
  bars: {
    height: BARS,
    draw: ({ values }, { plot }) => <Bars {...{ values, plot }} />,
    read: ({ values }, residue) => readValue(values[residue - 1], percent),
  },
  prediction: {
    height: PREDICTED_HEIGHT,
    draw: (data, { plot }) => <Prediction {...{ data, plot }} />,
    read: ({ values, look }, residue) =>
      readValue(values[residue - 1], (value) =>
        look === "disorder" ? value.toFixed(2) : String(Math.round(100 * value)),
      ),
  },
  matches: {
    height: LANE + 6,
    draw: ({ matches }, context) => <Lane {...{ matches, context }} />,
    read: ({ matches }, residue) =>
      listAt(
        matches,
        residue,
        (match) =>
          `${match.motif ? `${match.motif} ` : ""}${match.start}–${match.end}, ${VERDICTS[findVerdict(match)].toLowerCase()}`,
      ),
  },
  features: {
    height: lanesHeight,
    draw: (data, { plot }) => <FeatureTrack {...{ data, plot }} />,
    read: ({ features }, residue) => listAt(features, residue, shortName),
  },
  places: {
    height: PLACES_HEIGHT,
    draw: (data, { plot }) => <PlacesTrack {...{ data, plot }} />,
    read: ({ places, nameOf }, residue) =>
      listAt(
        places.flatMap(({ best, others }) => [best, ...others]),
        residue,
        (match) => `${nameOf(match.motif)}, ${VERDICTS[findVerdict(match)].toLowerCase()}`,
      ),
  },
};

/** Names that the readout has of a track. */
const NAMED = 3;

/** What lies at a residue, in words without repetitions. */
function listAt<Item extends { start: number; end: number }>(
  items: readonly Item[],
  residue: number,
  print: (item: Item) => string,
): string {
  const here = items.filter(({ start, end }) => start <= residue && residue <= end);
  return listFirst([...new Set(here.map(print))], NAMED, "; ");
}

const readValue = (value: number | null | undefined, print: (value: number) => string): string =>
  value == null ? "" : print(value);

/** What a track says of a residue; "" for nothing. */
export const readTrack = <Kind extends TrackData["kind"]>(track: DataOf<Kind>, residue: number): string =>
  (DRAWINGS[track.kind as Kind].read as (data: DataOf<Kind>, residue: number) => string)(track, residue);

export function trackHeight<Kind extends TrackData["kind"]>(track: DataOf<Kind>): number {
  const height = DRAWINGS[track.kind as Kind].height;
  return typeof height === "number" ? height : height(track);
}

export const drawTrack = <Kind extends TrackData["kind"]>(
  track: DataOf<Kind>,
  context: TrackContext,
): ComponentChildren =>
  (DRAWINGS[track.kind as Kind].draw as (data: DataOf<Kind>, of: TrackContext) => ComponentChildren)(
    track,
    context,
  );

const Bars = ({ plot, values }: { plot: Plot; values: readonly (number | null)[] }) => (
  <>
    <path class="conservation" d={areaPath(values, plot, (value) => BARS * (1 - value), BARS)} />
    <line class="line" x1={plot.left} x2={plot.width} y1={plot.y + BARS} y2={plot.y + BARS} />
  </>
);

/** The title states where the threshold is reached. */
function Prediction({ plot, data }: { plot: Plot; data: DataOf<"prediction"> }) {
  const { look, values, threshold } = data;
  const title = `${data.title}: ${findRegions(values, threshold, plot.span)}`;
  const toY = (value: number): number => PREDICTED_HEIGHT * (1 - value);
  const at = plot.y + toY(threshold);
  return (
    <g role="img" aria-label={title}>
      <title>{title}</title>
      <rect
        class="ground"
        x={plot.left}
        y={plot.y}
        width={plot.width - plot.left}
        height={PREDICTED_HEIGHT}
      />
      <path class={`${look} below`} d={areaPath(values, plot, toY, PREDICTED_HEIGHT)} />
      <path class={look} d={linePath(values, plot, toY)} />
      <line class="threshold" x1={plot.left} x2={plot.width} y1={at} y2={at} />
    </g>
  );
}

/** The matches of one pattern. */
function Lane({ matches, context }: { matches: readonly NumberedMatch[]; context: TrackContext }) {
  const { plot, areStops, selected, onSelect } = context;
  const { span, left, width, scale, y } = plot;
  const drawingRank = (match: NumberedMatch): number =>
    match.number === selected?.number ? -Infinity : rank(match);
  return (
    <>
      <line class="line" x1={left} x2={width} y1={y + LANE} y2={y + LANE} />
      {thinned(matches, plot, NARROWEST, drawingRank).map((match) => {
        const { number, start, end, text } = match;
        const verdict = findVerdict(match);
        const from = Math.max(left, left + (start - span.from) * scale);
        const to = Math.min(width, left + (end + 1 - span.from) * scale);
        const name = VERDICTS[verdict].toLowerCase();
        return (
          <rect
            key={number}
            class={`match mark tone-${TONES[verdict]} ${number === selected?.number ? "selected" : ""}`}
            x={from}
            y={y + LANE - HEIGHTS[verdict]}
            width={Math.max(NARROWEST, to - from)}
            height={HEIGHTS[verdict]}
            rx={1.5}
            role="button"
            tabindex={areStops ? 0 : -1}
            aria-label={`${text} at ${start} to ${end}, ${name}`}
            aria-pressed={number === selected?.number}
            onClick={() => onSelect(number)}
            onKeyDown={(event) => {
              if (event.key !== "Enter" && event.key !== " ") return;
              event.preventDefault();
              onSelect(number);
            }}
          >
            <title>{`${match.motif ?? patternName(match.pattern)}: ${text} ${start}–${end}, ${name}, P ${formatPValue(overallP(match))}, kept in ${keptText(match)}`}</title>
          </rect>
        );
      })}
    </>
  );
}

export const OVERVIEW = 28;

/** All matches along the whole protein, and the brush: a window over the residues in view, with an edge at either end. */
export function Overview({
  plot,
  matches,
  span,
}: {
  plot: Plot;
  matches: readonly NumberedMatch[];
  span: Span;
}) {
  const { left, width, scale, y } = plot;
  const drawn = useMemo(
    () => (
      <>
        <rect class="track-base" x={left} y={y} width={width - left} height={OVERVIEW} rx={3} />
        {thinned(matches, plot, 2, rank).map((match) => (
          <rect
            key={match.number}
            class={`mark tone-${TONES[findVerdict(match)]}`}
            x={left + (match.start - 1) * scale}
            y={y + OVERVIEW - HEIGHTS[findVerdict(match)]}
            width={Math.max(2, (match.end - match.start + 1) * scale)}
            height={HEIGHTS[findVerdict(match)]}
          />
        ))}
      </>
    ),
    [matches, left, width, y],
  );
  const from = left + (span.from - 1) * scale;
  const window = Math.max(6, countResidues(span) * scale);
  return (
    <>
      {drawn}
      <rect class="window" x={from} y={y} width={window} height={OVERVIEW} rx={3} />
      {[from, from + window].map((x, i) => (
        <rect
          key={i}
          class="handle"
          x={Math.min(width - 6, Math.max(left, x - 3))}
          y={y + OVERVIEW / 2 - 7}
          width={6}
          height={14}
          rx={3}
        />
      ))}
    </>
  );
}

/** Positions, and residues if there is room. */
export function Axis({ plot, sequence }: { plot: Plot; sequence: string | null }) {
  const { span, left, width, scale, y } = plot;
  const middle = (residue: number): number => left + (residue - span.from + 0.5) * scale;
  const shown = sequence?.slice(span.from - 1, span.to) ?? "";
  return (
    <>
      {chooseTicks(span, scale).map((at) => (
        <text key={at} class="axis" x={Math.min(width - 12, Math.max(left + 12, middle(at)))} y={y + 11}>
          {at}
        </text>
      ))}
      {shown !== "" && (
        <text class="residues" x={Array.from(shown, (_, i) => middle(span.from + i)).join(" ")} y={y + 25}>
          {shown}
        </text>
      )}
    </>
  );
}

/** The residues of the selected match, or those that are being chosen, over all tracks. */
export function Band(props: {
  plot: Plot;
  span: Span;
  y: number;
  height: number;
  look?: "band" | "brush" | "cursor";
}) {
  const { plot, span, y, height, look = "band" } = props;
  const from = Math.max(plot.left, plot.left + (span.from - plot.span.from) * plot.scale);
  const to = Math.min(plot.width, plot.left + (span.to + 1 - plot.span.from) * plot.scale);
  return to <= from ? null : <rect class={look} x={from} y={y} width={to - from} height={height - y} />;
}

/** The residue to which the pictures point, over all tracks. */
export function Cursor({ plot, y, height }: { plot: Plot; y: number; height: number }) {
  const residue = useResidue();
  return residue && <Band look="cursor" {...{ plot, y, height }} span={{ from: residue, to: residue }} />;
}
