import { useMemo, useRef, useState } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { Picture, useWidth } from "./picture.tsx";
import { decimal, nameOf, type NumberedMatch, type Result, type Verdict } from "./result.ts";

/** Residues from and to, counted from 1, both within. */
export interface Span {
  from: number;
  to: number;
}

/** Fewest residues that are shown. */
const CLOSEST = 12;
const TOP = 14;
const PLOT = 70;
const STRIP = 26;
const LANE = 34;
const AXIS = 24;
const LETTERS = 16;
/** Pixels per residue from which letters have room. */
const READABLE = 8.5;
/** Matches up to which each can be reached by Tab; the table lists all. */
const REACHABLE = 60;

/** What tells verdicts apart besides colour: how high the block is. */
const HEIGHTS: Record<Verdict, number> = {
  conserved: 14,
  "weakly conserved": 10,
  "not conserved": 5,
  "insufficient data": 10,
};
const classOfVerdict = (verdict: Verdict): string => verdict.replaceAll(" ", "-");

/** The protein from end to end: conservation and disorder of each residue, and where the patterns match. */
export function ProteinTrack(props: {
  result: Result;
  matches: readonly NumberedMatch[];
  span: Span;
  onSpan: (span: Span | null) => void;
  selected: number | undefined;
  onSelect: (number: number) => void;
  fileName: string;
}) {
  const { result, matches, span, selected } = props;
  const length = result.queryLength;
  const box = useRef<HTMLDivElement>(null);
  const width = Math.max(280, useWidth(box, 1000));
  const [drag, setDrag] = useState<Span | null>(null);
  const shown = span.to - span.from + 1;
  const scale = width / shown;
  /** Left edge of a residue. */
  const x = (residue: number): number => (residue - span.from) * scale;
  const residueAt = (event: MouseEvent): number => {
    const { left } =
      event.currentTarget instanceof Element ? event.currentTarget.getBoundingClientRect() : { left: 0 };
    return Math.min(span.to, Math.max(span.from, span.from + Math.floor((event.clientX - left) / scale)));
  };
  const show = (from: number, residues: number): void => {
    const count = Math.round(Math.min(length, Math.max(CLOSEST, residues)));
    if (count >= length) return props.onSpan(null);
    const first = Math.round(Math.min(length - count + 1, Math.max(1, from)));
    props.onSpan({ from: first, to: first + count - 1 });
  };
  const zoom = (factor: number, around = (span.from + span.to) / 2): void => {
    const residues = Math.max(CLOSEST, shown * factor);
    show(around - ((around - span.from) / shown) * residues, residues);
  };
  const pan = (part: number): void => show(span.from + part * shown, shown);
  const onKey = (event: KeyboardEvent): void => {
    const steps: Record<string, () => void> = {
      ArrowLeft: () => pan(-0.2),
      ArrowRight: () => pan(0.2),
      "+": () => zoom(0.5),
      "=": () => zoom(0.5),
      "-": () => zoom(2),
      "0": () => props.onSpan(null),
    };
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in steps)) return;
    event.preventDefault();
    steps[event.key]();
  };
  const lanes = useMemo(
    () => result.patterns.map((pattern) => matches.filter((m) => m.pattern === pattern)),
    [matches],
  );
  const plots = result.alignment !== undefined;
  const above = TOP + (plots ? PLOT + STRIP + 22 : 0);
  const readable = scale >= READABLE && plots;
  const axisAt = above + lanes.length * LANE;
  const height = axisAt + AXIS + (readable ? LETTERS : 0);
  const whole = shown >= length;
  const reachable = matches.length <= REACHABLE;

  return (
    <Picture
      title="The protein"
      fileName={`${props.fileName}-protein`}
      controls={
        <>
          <Button aria-label="Zoom in" onClick={() => zoom(0.5)}>
            +
          </Button>
          <Button aria-label="Zoom out" disabled={whole} onClick={() => zoom(2)}>
            −
          </Button>
          <Button aria-label="To the left" disabled={span.from <= 1} onClick={() => pan(-0.5)}>
            ←
          </Button>
          <Button aria-label="To the right" disabled={span.to >= length} onClick={() => pan(0.5)}>
            →
          </Button>
          <Button disabled={whole} onClick={() => props.onSpan(null)}>
            Whole
          </Button>
        </>
      }
      legend={<Legend plots={plots} />}
    >
      <div
        ref={box}
        class="track"
        role="group"
        tabIndex={0}
        aria-label={`Residues ${span.from} to ${span.to} of ${length}. Arrow keys move, plus and minus zoom, 0 shows all.`}
        onKeyDown={onKey}
      >
        <svg
          class="picture"
          width={width}
          height={height}
          viewBox={`0 0 ${width} ${height}`}
          onPointerDown={(event) => {
            if (event.pointerType !== "mouse" || event.button !== 0) return;
            const at = residueAt(event);
            setDrag({ from: at, to: at });
          }}
          onPointerMove={(event) => drag && setDrag({ from: drag.from, to: residueAt(event) })}
          onPointerUp={() => {
            if (drag && Math.abs(drag.to - drag.from) * scale > 8)
              show(Math.min(drag.from, drag.to), Math.abs(drag.to - drag.from) + 1);
            setDrag(null);
          }}
          onPointerLeave={() => setDrag(null)}
        >
          {plots && <Plots result={result} span={span} x={x} width={width} />}
          {lanes.map((lane, i) => (
            <g key={i}>
              <text class="label" x={0} y={above + i * LANE + 10}>
                {nameOf(result.patterns[i])}
                {lane.length === 0 && " · no match"}
              </text>
              <line class="lane" x1={0} x2={width} y1={above + i * LANE + 27} y2={above + i * LANE + 27} />
              {lane
                .filter(({ start, end }) => end >= span.from && start <= span.to)
                .map((match) => {
                  const high = HEIGHTS[match.verdict];
                  return (
                    <rect
                      key={match.number}
                      class={`match ${classOfVerdict(match.verdict)} ${match.number === selected ? "selected" : ""}`}
                      x={x(match.start)}
                      y={above + i * LANE + 27 - high}
                      width={Math.max(3, (match.end - match.start + 1) * scale)}
                      height={high}
                      rx={1.5}
                      role="button"
                      tabIndex={reachable ? 0 : -1}
                      aria-label={`${match.text} at ${match.start} to ${match.end}, ${match.verdict}`}
                      aria-pressed={match.number === selected}
                      onClick={() => props.onSelect(match.number)}
                      onKeyDown={(event) => {
                        if (event.key !== "Enter" && event.key !== " ") return;
                        event.preventDefault();
                        props.onSelect(match.number);
                      }}
                    >
                      <title>{`${match.text} ${match.start}–${match.end}: ${match.verdict}, score ${decimal(match.score)}`}</title>
                    </rect>
                  );
                })}
            </g>
          ))}
          <Axis span={span} x={x} scale={scale} y={axisAt + 4} width={width} />
          {readable && (
            <text class="residues" y={axisAt + AXIS + 12}>
              {Array.from(result.alignment!.query.slice(span.from - 1, span.to), (letter, i) => (
                <tspan key={i} x={x(span.from + i) + scale / 2}>
                  {letter}
                </tspan>
              ))}
            </text>
          )}
          {drag && drag.from !== drag.to && (
            <rect
              class="brush"
              x={x(Math.min(drag.from, drag.to))}
              y={0}
              width={(Math.abs(drag.to - drag.from) + 1) * scale}
              height={axisAt}
            />
          )}
        </svg>
      </div>
    </Picture>
  );
}

/** Conservation as an area from 0 to 1, disorder as one from the middle of its scale. */
function Plots({
  result,
  span,
  x,
  width,
}: {
  result: Result;
  span: Span;
  x: (residue: number) => number;
  width: number;
}) {
  const { conservation, disorder } = result.alignment!;
  const bottom = TOP + PLOT;
  const middle = bottom + 16 + STRIP / 2;
  return (
    <>
      <text class="label" x={0} y={TOP - 4}>
        Conservation
      </text>
      <line class="grid" x1={0} x2={width} y1={TOP} y2={TOP} />
      <line class="grid" x1={0} x2={width} y1={TOP + PLOT / 2} y2={TOP + PLOT / 2} />
      <line class="lane" x1={0} x2={width} y1={bottom} y2={bottom} />
      <path
        class="conservation"
        d={steps(conservation, span, x, width, (value) => bottom - value * PLOT, bottom)}
      />
      <path
        class="disorder"
        d={steps(
          disorder,
          span,
          x,
          width,
          (value) => middle - Math.max(-1, Math.min(1, value * 1.6)) * (STRIP / 2),
          middle,
        )}
      />
      <line class="lane" x1={0} x2={width} y1={middle} y2={middle} />
      <text class="label" x={0} y={bottom + 14}>
        Disorder
      </text>
    </>
  );
}

/** An area of steps, one per residue, or per pixel the mean of its residues; gaps where there is no value. */
function steps(
  values: readonly (number | null)[],
  { from, to }: Span,
  x: (residue: number) => number,
  width: number,
  y: (value: number) => number,
  ground: number,
): string {
  const each = Math.max(1, Math.ceil((to - from + 1) / width));
  let path = "";
  let open = false;
  for (let first = from; first <= to; first += each) {
    const known = values.slice(first - 1, Math.min(to, first - 1 + each)).filter((value) => value !== null);
    const [left, right] = [x(first).toFixed(1), x(Math.min(to + 1, first + each)).toFixed(1)];
    if (known.length === 0) {
      if (open) path += `V${ground}Z`;
      open = false;
      continue;
    }
    const at = y(known.reduce((sum, value) => sum + value, 0) / known.length).toFixed(1);
    path += open ? `V${at}H${right}` : `M${left} ${ground}V${at}H${right}`;
    open = true;
  }
  return open ? `${path}V${ground}Z` : path;
}

function Axis({
  span,
  x,
  scale,
  y,
  width,
}: {
  span: Span;
  x: (residue: number) => number;
  scale: number;
  y: number;
  width: number;
}) {
  const wanted = 70 / scale;
  const magnitude = 10 ** Math.floor(Math.log10(wanted));
  const step = Math.max(
    1,
    [1, 2, 5, 10].map((n) => n * magnitude).find((n) => n >= wanted)!,
  );
  const ticks: number[] = [];
  for (let at = Math.ceil(span.from / step) * step; at <= span.to; at += step) ticks.push(at);
  return (
    <g class="axis">
      {ticks.map((at) => {
        const middle = x(at) + scale / 2;
        return (
          <g key={at}>
            <line x1={middle} x2={middle} y1={y} y2={y + 4} />
            <text x={Math.min(width - 12, Math.max(12, middle))} y={y + 16}>
              {at}
            </text>
          </g>
        );
      })}
    </g>
  );
}

function Legend({ plots }: { plots: boolean }) {
  return (
    <ul class="legend">
      {(["conserved", "weakly conserved", "not conserved", "insufficient data"] as const).map((verdict) => (
        <li key={verdict}>
          <svg width={16} height={16} aria-hidden="true">
            <rect
              class={`match ${classOfVerdict(verdict)}`}
              x={1}
              y={15 - HEIGHTS[verdict]}
              width={14}
              height={HEIGHTS[verdict]}
              rx={1.5}
            />
          </svg>
          {verdict}
        </li>
      ))}
      {plots && (
        <li class="muted">
          Conservation: of the homologs that reach a residue, the part by weight that has the same. Disorder:
          TOP-IDP of the surroundings.
        </li>
      )}
    </ul>
  );
}
