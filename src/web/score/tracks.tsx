import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { Button, IconButton } from "../components/button.tsx";
import { countOf } from "../format.tsx";
import { Picture, useSize } from "./picture.tsx";
import {
  nameOf,
  type NumberedMatch,
  overallP,
  pText,
  type Result,
  type Verdict,
  VERDICT_ORDER,
  verdictOf,
  VERDICTS,
} from "./result.ts";
import { areaPath, linePath, type Plot, regionsFrom, type Span, ticksOf } from "./track-geometry.ts";
import { VerdictGlyph } from "./verdict.tsx";

/** Fewest residues shown. */
const CLOSEST = 12;
/** Width of the labels beside the tracks, and of the page from which they have room there. */
const LABELS = 128;
const ROOM = 560;
const OVERVIEW = 24;
/** Pixels per residue from which letters fit. */
const READABLE = 8.5;
/** Up to this many matches, each is a tab stop; the table lists all. */
const MAX_STOPS = 60;
/** Heights of matches, so that colour is not all that tells the verdict. */
const HEIGHTS: Record<Verdict, number> = {
  "likely functional": 16,
  possible: 11,
  "no evidence": 5,
  "not scored": 11,
};
/** Predicted disorder from which a residue counts as disordered, and predicted pLDDT from which it counts as folded. */
const DISORDERED = 0.5;
const FOLDED = 0.7;
const PREDICTED = 32;

interface Track {
  label: string;
  note?: string;
  height: number;
  draw: (plot: Plot) => ComponentChildren;
}

interface TracksProps {
  result: Result;
  matches: readonly NumberedMatch[];
  span: Span;
  onSpan: (span: Span | null) => void;
  selected: NumberedMatch | undefined;
  onSelect: (number: number) => void;
  fileName: string;
}

/** Data along the protein: an overview, and below it conservation, disorder and matches of the residues in view. */
export function ProteinTracks(props: TracksProps) {
  const { result, span, selected } = props;
  const length = result.queryLength;
  const box = useRef<HTMLDivElement>(null);
  const width = Math.max(280, useSize(box, { width: 1000, height: 0 }).width);
  const left = width < ROOM ? 0 : LABELS;
  const view = useView(length, span, props.onSpan);
  const plot: Plot = { span, left, width, scale: (width - left) / view.shown, y: 0 };
  const overview: Plot = { ...plot, span: { from: 1, to: length }, scale: (width - left) / length };
  const [drag, setDrag] = useState<(Span & { plot: Plot }) | null>(null);
  const tracks = tracksOf(props, plot.scale);
  const placed = stacked(tracks, left === 0);
  const height = placed.height + 4;
  const isWhole = view.shown >= length;
  const dragTo = (event: MouseEvent): number => residueUnder(event, (drag ?? { plot }).plot);
  return (
    <Picture
      title={isWhole ? "Whole protein" : `Residues ${span.from}–${span.to}`}
      note={isWhole ? `${length.toLocaleString("en")} residues` : `of ${length.toLocaleString("en")}`}
      name="the protein"
      fileName={`${props.fileName}-protein`}
      actions={
        <>
          <IconButton icon="plus" label="Zoom in" onClick={() => view.zoom(0.5)} />
          <IconButton icon="minus" label="Zoom out" disabled={isWhole} onClick={() => view.zoom(2)} />
          <Button look="quiet" small disabled={isWhole} onClick={() => props.onSpan(null)}>
            Whole protein
          </Button>
        </>
      }
      legend={<Legend />}
    >
      <div
        ref={box}
        class="tracks"
        role="group"
        tabIndex={0}
        aria-label={`Residues ${span.from} to ${span.to} of ${length}. Arrow keys move, plus and minus zoom, 0 shows all.`}
        onKeyDown={view.onKey}
      >
        <svg
          class="picture"
          width={width}
          height={height}
          viewBox={`0 0 ${width} ${height}`}
          onPointerDown={(event) => {
            if (event.pointerType !== "mouse" || event.button !== 0) return;
            const { top } = event.currentTarget.getBoundingClientRect();
            const of = event.clientY - top < placed.tops[1] ? overview : plot;
            const at = residueUnder(event, of);
            setDrag({ from: at, to: at, plot: of });
          }}
          onPointerMove={(event) => drag && setDrag({ ...drag, to: dragTo(event) })}
          onPointerUp={() => {
            if (drag && Math.abs(drag.to - drag.from) * drag.plot.scale > 8)
              view.show(Math.min(drag.from, drag.to), Math.abs(drag.to - drag.from) + 1);
            setDrag(null);
          }}
          onPointerLeave={() => setDrag(null)}
        >
          {selected && (
            <Band
              plot={plot}
              span={{ from: selected.start, to: selected.end }}
              y={placed.tops[1]}
              height={height}
            />
          )}
          {tracks.map(({ label, note, draw }, i) => (
            <g key={i}>
              <text class="label" x={0} y={placed.tops[i] + (left === 0 ? 10 : 12)}>
                {label} {note && left === 0 && <tspan class="note-text">{note}</tspan>}
              </text>
              {note && left > 0 && (
                <text class="note-text" x={0} y={placed.tops[i] + 26}>
                  {note}
                </text>
              )}
              {draw({ ...(i === 0 ? overview : plot), y: placed.tops[i] + (left === 0 ? 16 : 0) })}
            </g>
          ))}
          {drag && drag.from !== drag.to && <Brush drag={drag} height={height} />}
        </svg>
      </div>
    </Picture>
  );
}

/** Zooming and moving the view, by buttons and keys. */
function useView(length: number, span: Span, onSpan: (span: Span | null) => void) {
  const shown = span.to - span.from + 1;
  const show = (from: number, residues: number): void => {
    const count = Math.round(Math.min(length, Math.max(CLOSEST, residues)));
    if (count >= length) return onSpan(null);
    const first = Math.round(Math.min(length - count + 1, Math.max(1, from)));
    onSpan({ from: first, to: first + count - 1 });
  };
  const zoom = (factor: number): void => {
    const residues = Math.max(CLOSEST, shown * factor);
    show((span.from + span.to) / 2 - ((span.to - span.from) / 2 / shown) * residues, residues);
  };
  const keys: Record<string, () => void> = {
    ArrowLeft: () => show(span.from - 0.2 * shown, shown),
    ArrowRight: () => show(span.from + 0.2 * shown, shown),
    "+": () => zoom(0.5),
    "=": () => zoom(0.5),
    "-": () => zoom(2),
    "0": () => onSpan(null),
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
    event.preventDefault();
    keys[event.key]();
  };
  return { shown, show, zoom, onKey };
}

function residueUnder(event: MouseEvent, { span, left, scale }: Plot): number {
  const box = (event.currentTarget as Element).getBoundingClientRect();
  const residue = span.from + Math.floor((event.clientX - box.left - left) / scale);
  return Math.min(span.to, Math.max(span.from, residue));
}

/** Upper edges of the tracks, one below the other; on narrow pages each leaves a line for its label. */
function stacked(tracks: readonly Track[], labelsAbove: boolean): { tops: number[]; height: number } {
  let height = 0;
  const tops = tracks.map((track) => {
    const top = height;
    height += track.height + (labelsAbove ? 24 : 10);
    return top;
  });
  return { tops, height };
}

function tracksOf(props: TracksProps, scale: number): Track[] {
  const { result, matches, span } = props;
  const { alignment, homologs, patterns } = result;
  const isReadable = alignment !== undefined && scale >= READABLE;
  const lanes = patterns.map((pattern): Track => {
    const lane = matches.filter((match) => match.pattern === pattern);
    const note = lane.length === 1 ? "1 match" : `${lane.length || "no"} matches`;
    const label = nameOf(pattern).slice(0, 18);
    return { label, note, height: 20, draw: (plot) => <Lane {...props} plot={plot} lane={lane} /> };
  });
  const drawn = (label: string, note: string, height: number, draw: Track["draw"]): Track => ({
    label,
    note,
    height,
    draw,
  });
  return [
    drawn("Overview", "drag to zoom", OVERVIEW, (plot) => (
      <Overview plot={plot} matches={matches} span={span} />
    )),
    drawn(isReadable ? "Sequence" : "Position", "", isReadable ? 28 : 14, (plot) => (
      <Axis plot={plot} sequence={isReadable ? alignment.query : null} />
    )),
    ...(alignment
      ? [
          drawn("Conservation", countOf(homologs.length, "homolog"), 36, (plot) => (
            <Conservation plot={plot} values={alignment.conservation} />
          )),
          drawn("Disorder", `0 to 1, line at ${DISORDERED}`, PREDICTED, (plot) => (
            <Predicted
              {...{ plot, kind: "disorder", values: alignment.disorder, threshold: DISORDERED }}
              title={`Predicted disorder of ${DISORDERED} or more`}
            />
          )),
          drawn("Predicted pLDDT", `0 to 100, line at ${100 * FOLDED}`, PREDICTED, (plot) => (
            <Predicted
              {...{ plot, kind: "order", values: alignment.order, threshold: FOLDED }}
              title={`Predicted pLDDT of ${100 * FOLDED} or more`}
            />
          )),
        ]
      : []),
    ...lanes,
  ];
}

function Overview({ plot, matches, span }: { plot: Plot; matches: readonly NumberedMatch[]; span: Span }) {
  const { left, width, scale, y } = plot;
  return (
    <>
      <rect class="track-base" x={left} y={y} width={width - left} height={OVERVIEW} rx={3} />
      {matches.map((match) => (
        <rect
          key={match.number}
          class={`mark tone-${VERDICTS[verdictOf(match)].tone}`}
          x={left + (match.start - 1) * scale}
          y={y + OVERVIEW - HEIGHTS[verdictOf(match)]}
          width={Math.max(2, (match.end - match.start + 1) * scale)}
          height={HEIGHTS[verdictOf(match)]}
        />
      ))}
      <rect
        class="window"
        x={left + (span.from - 1) * scale}
        y={y}
        width={(span.to - span.from + 1) * scale}
        height={OVERVIEW}
        rx={3}
      />
    </>
  );
}

function Axis({ plot, sequence }: { plot: Plot; sequence: string | null }) {
  const { span, left, width, scale, y } = plot;
  const middle = (residue: number): number => left + (residue - span.from + 0.5) * scale;
  return (
    <>
      {ticksOf(span, scale).map((at) => (
        <text key={at} class="axis" x={Math.min(width - 12, Math.max(left + 12, middle(at)))} y={y + 11}>
          {at}
        </text>
      ))}
      {sequence && (
        <text class="residues" y={y + 25}>
          {Array.from(sequence.slice(span.from - 1, span.to), (letter, i) => (
            <tspan key={i} x={middle(span.from + i)}>
              {letter}
            </tspan>
          ))}
        </text>
      )}
    </>
  );
}

const Conservation = ({ plot, values }: { plot: Plot; values: readonly (number | null)[] }) => (
  <>
    <path class="conservation" d={areaPath(values, plot, (value) => 36 * (1 - value), 36)} />
    <line class="line" x1={plot.left} x2={plot.width} y1={plot.y + 36} y2={plot.y + 36} />
  </>
);

/** A prediction per residue, 0..1, and the threshold above which it counts; its title says where that is. */
function Predicted(props: {
  plot: Plot;
  kind: "disorder" | "order";
  values: readonly number[];
  threshold: number;
  title: string;
}) {
  const { plot, kind, values, threshold } = props;
  const title = `${props.title}: ${regionsFrom(values, threshold, plot.span)}`;
  const heightOf = (value: number): number => PREDICTED * (1 - value);
  const at = plot.y + heightOf(threshold);
  return (
    <g role="img" aria-label={title}>
      <title>{title}</title>
      <rect class="ground" x={plot.left} y={plot.y} width={plot.width - plot.left} height={PREDICTED} />
      <path class={`${kind} below`} d={areaPath(values, plot, heightOf, PREDICTED)} />
      <path class={kind} d={linePath(values, plot, heightOf)} />
      <line class="threshold" x1={plot.left} x2={plot.width} y1={at} y2={at} />
    </g>
  );
}

/** The matches of one pattern. */
function Lane(props: TracksProps & { plot: Plot; lane: readonly NumberedMatch[] }) {
  const { plot, lane, selected, onSelect } = props;
  const { span, left, width, scale, y } = plot;
  const isStop = props.matches.length <= MAX_STOPS;
  return (
    <>
      <line class="line" x1={left} x2={width} y1={y + 20} y2={y + 20} />
      {lane
        .filter(({ start, end }) => end >= span.from && start <= span.to)
        .map((match) => {
          const { number, start, end, text, kept, homologs } = match;
          const verdict = verdictOf(match);
          const from = Math.max(left, left + (start - span.from) * scale);
          const to = Math.min(width, left + (end + 1 - span.from) * scale);
          const name = VERDICTS[verdict].name.toLowerCase();
          return (
            <rect
              key={number}
              class={`match mark tone-${VERDICTS[verdict].tone} ${number === selected?.number ? "selected" : ""}`}
              x={from}
              y={y + 20 - HEIGHTS[verdict]}
              width={Math.max(3, to - from)}
              height={HEIGHTS[verdict]}
              rx={1.5}
              role="button"
              tabindex={isStop ? 0 : -1}
              aria-label={`${text} at ${start} to ${end}, ${name}`}
              aria-pressed={number === selected?.number}
              onClick={() => onSelect(number)}
              onKeyDown={(event) => {
                if (event.key !== "Enter" && event.key !== " ") return;
                event.preventDefault();
                onSelect(number);
              }}
            >
              <title>{`${text} ${start}–${end}: ${name}, P ${pText(overallP(match))}, kept in ${kept} of ${homologs} homologs`}</title>
            </rect>
          );
        })}
    </>
  );
}

function Band({ plot, span, y, height }: { plot: Plot; span: Span; y: number; height: number }) {
  const from = Math.max(plot.left, plot.left + (span.from - plot.span.from) * plot.scale);
  const to = Math.min(plot.width, plot.left + (span.to + 1 - plot.span.from) * plot.scale);
  return to <= from ? null : <rect class="band" x={from} y={y} width={to - from} height={height - y} />;
}

/** The residues being dragged over. */
const Brush = ({ drag: { from, to, plot }, height }: { drag: Span & { plot: Plot }; height: number }) => (
  <rect
    class="brush"
    x={plot.left + (Math.min(from, to) - plot.span.from) * plot.scale}
    y={0}
    width={(Math.abs(to - from) + 1) * plot.scale}
    height={height}
  />
);

const Legend = () => (
  <ul class="legend">
    {VERDICT_ORDER.map((verdict) => (
      <li key={verdict}>
        <VerdictGlyph verdict={verdict} /> {VERDICTS[verdict].name.toLowerCase()}
      </li>
    ))}
    <li>
      Conservation: share of homologs, by weight, with the same residue. Above the dashed line, a residue is
      predicted to be disordered (disorder) or confidently folded (pLDDT).
    </li>
  </ul>
);
