import { useMemo, useRef } from "preact/hooks";
import { VERDICTS } from "../../scoring/table/verdict.ts";
import { Button, IconButton } from "../components/button.tsx";
import { pluralize } from "../format.tsx";
import { type Feature, GROUP_ORDER, GROUPS, inLanes } from "./features.ts";
import { Picture, useSize } from "./picture.tsx";
import { useSharedPosition } from "./position.ts";
import { Readout } from "./readout.tsx";
import { patternName, type NumberedMatch, type Result, shorten, VERDICT_ORDER } from "./result.ts";
import {
  Axis,
  Band,
  Cursor,
  drawTrack,
  trackHeight,
  Overview,
  OVERVIEW,
  type Track,
} from "./track-drawings.tsx";
import { contains, type Plot, countResidues, showing, type Span } from "./track-geometry.ts";
import { pointTo, useGestures, useTrackView } from "./track-view.ts";
import { TracksMenu, useTrackChoice } from "./tracks-menu.tsx";
import { VerdictGlyph } from "./verdict.tsx";

/** Width of the labels next to the tracks, and the minimum width of the page for them. */
const LABELS = 128;
const MIN_WIDE_WIDTH = 560;
/** Pixels per residue from which letters fit. */
const READABLE_WIDTH = 8.5;
/** Up to this many matches, each is a tab stop; the table lists all. */
const MAX_STOPS = 60;
/** With more motifs than this, motifs without a match have no lane unless they are chosen: a scan tests hundreds. */
const MAX_EMPTY = 8;
const EMPTY_LANES = { key: "empty", name: "Motifs without matches", shown: false };
/** Predicted disorder from which a residue counts as disordered, and predicted pLDDT from which it counts as folded. */
const DISORDER_THRESHOLD = 0.5;
const CONFIDENT_PLDDT = 0.7;

/** pLDDT of a structure model per residue, 0 to 100; null without one. */
type Confidences = readonly (number | null)[] | null;

/** A result, or as much of one as the tracks show. */
export interface TrackedProtein extends Pick<Result, "queryLength" | "patterns"> {
  homologs: readonly unknown[];
  alignment: Pick<Result["alignment"], "query" | "disorder" | "order" | "conservation"> | undefined;
}

/** The data along a protein, from top to bottom; the confidences of a model replace the predicted ones. */
export function makeTracks(
  { alignment, homologs, patterns }: TrackedProtein,
  matches: readonly NumberedMatch[],
  known: readonly Feature[] = [],
  pLddt: Confidences = null,
): Track[] {
  const profiles = alignment ? profileTracks(alignment, homologs.length, pLddt) : [];
  const lanes = patterns.map((pattern): Track => {
    const lane = matches.filter((match) => match.pattern === pattern);
    const isHidden = lane.length === 0 && patterns.length > MAX_EMPTY;
    const track = {
      kind: "matches" as const,
      label: shorten(patternName(pattern), 17),
      note: "",
      matches: lane,
    };
    return isHidden ? { ...track, choice: EMPTY_LANES } : track;
  });
  return [...profiles, ...featureTracks(known, alignment?.query ?? ""), ...lanes];
}

/** Values per residue; those that nothing is known of are left out. */
const profileTracks = (
  alignment: NonNullable<TrackedProtein["alignment"]>,
  homologs: number,
  pLddt: Confidences,
): Track[] => {
  const tracks: (Track & { values: readonly unknown[] })[] = [
    {
      kind: "bars",
      choice: { key: "conservation", name: "Conservation", shown: true },
      label: "Conservation",
      note: pluralize(homologs, "homolog"),
      values: alignment.conservation,
    },
    {
      kind: "prediction",
      look: "disorder",
      choice: { key: "disorder", name: "Disorder", shown: true },
      label: "Disorder",
      note: `0 to 1, line at ${DISORDER_THRESHOLD}`,
      values: alignment.disorder,
      threshold: DISORDER_THRESHOLD,
      title: `Predicted disorder of ${DISORDER_THRESHOLD} or more`,
    },
    {
      kind: "prediction",
      look: "order",
      choice: { key: "plddt", name: pLddt ? "pLDDT of the model" : "Predicted pLDDT", shown: true },
      label: pLddt ? "pLDDT of the model" : "Predicted pLDDT",
      note: `0 to 100, line at ${100 * CONFIDENT_PLDDT}`,
      values: pLddt?.map((value) => value && value / 100) ?? alignment.order,
      threshold: CONFIDENT_PLDDT,
      title: `${pLddt ? "pLDDT" : "Predicted pLDDT"} of ${100 * CONFIDENT_PLDDT} or more`,
    },
  ];
  return tracks.filter(({ values }) => values?.length > 0);
};

/** A track for each group that has features. */
const featureTracks = (known: readonly Feature[], sequence: string): Track[] =>
  GROUP_ORDER.flatMap((group): Track[] => {
    const features = known.filter((one) => one.group === group);
    if (features.length === 0) return [];
    const { name, shown } = GROUPS[group];
    const sources = new Set(features.map(({ source }) => source));
    const note = sources.size === 1 ? shorten([...sources][0], 17) : `${sources.size} sources`;
    const choice = { key: group, name, shown };
    return [{ kind: "features", label: name, note, choice, group, features: inLanes(features), sequence }];
  });

/** Counts the matches of a track that are in view. */
function describeTrack(track: Track, span: Span): string {
  if (track.kind !== "matches") return track.note;
  const all = track.matches.length;
  const shown = track.matches.filter(({ start, end }) => end >= span.from && start <= span.to).length;
  const total = all === 1 ? "1 match" : `${all === 0 ? "no" : all.toLocaleString("en")} matches`;
  return shown === all ? total : `${shown.toLocaleString("en")} of ${total}`;
}

interface TracksProps {
  /** Of the result, on pages with several. */
  name?: string;
  result: TrackedProtein;
  /** Tracks below those of the result. */
  lanes?: readonly Track[];
  pLddt: Confidences;
  matches: readonly NumberedMatch[];
  span: Span;
  onSpan: (span: Span | null) => void;
  selected: NumberedMatch | undefined;
  onSelect: (number: number) => void;
  fileName: string;
  /** Facts about the protein. */
  known: readonly Feature[] | undefined;
}

/** Data along the protein: an overview with a brush, and below it the tracks of the residues in view. */
export function ProteinTracks(props: TracksProps) {
  const { result, matches, selected } = props;
  const length = result.queryLength;
  const position = useSharedPosition();
  const box = useRef<HTMLDivElement>(null);
  const width = Math.max(280, useSize(box, { width: 1000, height: 0 }).width);
  const kept = selected && { from: selected.start, to: selected.end };
  const view = useTrackView({ length, span: props.span, onSpan: props.onSpan, kept });
  const { span } = view;
  const left = width < MIN_WIDE_WIDTH ? 0 : LABELS;
  const plot: Plot = { span, left, width, scale: (width - left) / countResidues(span), y: 0 };
  const overview: Plot = { ...plot, span: { from: 1, to: length }, scale: (width - left) / length };
  const all = useMemo(
    () => [...makeTracks(result, matches, props.known, props.pLddt), ...(props.lanes ?? [])],
    [result, matches, props.known, props.pLddt, props.lanes],
  );
  const { isShown } = useTrackChoice();
  const tracks = all.filter(({ choice }) => !choice || isShown(choice));
  const sequence = plot.scale >= READABLE_WIDTH ? (result.alignment?.query ?? null) : null;
  const rows = stacked([OVERVIEW, sequence ? 28 : 14, ...tracks.map(trackHeight)], left === 0);
  const whole = { plot: overview, bottom: rows.tops[1] };
  const gestures = useGestures(view, position, plot, whole);
  const isWhole = countResidues(span) >= length;
  const context = { selected, onSelect: props.onSelect, areStops: matches.length <= MAX_STOPS };
  const drawn = (row: number, of: Plot): Plot => ({ ...of, y: rows.tops[row] + (left === 0 ? 16 : 0) });
  const label = (row: number, title: string, note: string) => (
    <Label {...{ title, note }} y={rows.tops[row]} above={left === 0} />
  );
  const onKey = (event: KeyboardEvent): void => {
    if (event.target !== event.currentTarget || !position.onKey(event, span.from)) return view.onKey(event);
    event.preventDefault();
    const at = { from: position.residue!, to: position.residue! };
    if (!contains(span, at)) view.show(showing(span, at, length));
  };
  return (
    <Picture
      title={headingOf(span, isWhole, props.name)}
      note={isWhole ? `${length.toLocaleString("en")} residues` : `of ${length.toLocaleString("en")}`}
      name="the protein"
      fileName={`${props.fileName}-protein`}
      actions={
        <>
          <IconButton icon="zoom-in" label="Zoom in" onClick={() => view.zoom(0.5)} />
          <IconButton icon="zoom-out" label="Zoom out" disabled={isWhole} onClick={() => view.zoom(2)} />
          <Button look="quiet" small disabled={isWhole} onClick={() => props.onSpan(null)}>
            Whole protein
          </Button>
          <TracksMenu tracks={[...new Set(all.flatMap(({ choice }) => choice ?? []))]} />
        </>
      }
      legend={<Legend hasFeatures={all.some(({ kind }) => kind === "features")} />}
    >
      <div
        ref={box}
        class="tracks"
        role="group"
        tabIndex={0}
        aria-label={`${props.name ?? ""} Residues ${span.from} to ${span.to} of ${length}. Arrow keys go from residue to residue, with Shift by ten, Enter selects; < and > move the view, plus and minus zoom, 0 shows all.`}
        onKeyDown={onKey}
      >
        <svg
          class="picture"
          width={width}
          height={rows.height}
          viewBox={`0 0 ${width} ${rows.height}`}
          onWheel={(event) => view.onWheel(event, plot)}
          {...gestures.handlers}
          onPointerMove={(event) => {
            pointTo(event, position, plot, whole);
            gestures.handlers.onPointerMove(event);
          }}
          onPointerLeave={() => position.point(null)}
        >
          {kept && <Band plot={plot} span={kept} y={rows.tops[1]} height={rows.height} />}
          {label(0, "Whole protein", "drag to zoom")}
          <Overview plot={drawn(0, overview)} {...{ matches, span }} />
          {label(1, sequence ? "Sequence" : "Position", "")}
          <Axis plot={drawn(1, plot)} sequence={sequence} />
          {tracks.map((track, i) => (
            <g key={i}>
              {label(i + 2, track.label, describeTrack(track, span))}
              {drawTrack(track, { ...context, plot: drawn(i + 2, plot) })}
            </g>
          ))}
          <Cursor plot={overview} y={0} height={OVERVIEW} />
          <Cursor plot={plot} y={rows.tops[1]} height={rows.height} />
          {gestures.selection && (
            <Band look="brush" plot={plot} span={gestures.selection} y={rows.tops[1]} height={rows.height} />
          )}
        </svg>
      </div>
      <Readout sequence={result.alignment?.query} tracks={all} />
    </Picture>
  );
}

function headingOf({ from, to }: Span, isWhole: boolean, name: string | undefined): string {
  if (isWhole) return name ?? "Whole protein";
  return `${name ? `${name}, residues` : "Residues"} ${from}–${to}`;
}

/** Upper edges of rows of such heights, one below the other; on narrow pages each leaves a line for its label. */
function stacked(heights: readonly number[], labelsAbove: boolean): { tops: number[]; height: number } {
  let height = 0;
  const tops = heights.map((each) => {
    const top = height;
    height += each + (labelsAbove ? 24 : 10);
    return top;
  });
  return { tops, height: height + 4 };
}

/** Next to a track with a note below; or above it, in one line. */
function Label({ title, note, y, above }: { title: string; note: string; y: number; above: boolean }) {
  return (
    <>
      <text class="label" x={0} y={y + (above ? 10 : 12)}>
        {title} {note && above && <tspan class="note-text">{note}</tspan>}
      </text>
      {note && !above && (
        <text class="note-text" x={0} y={y + 26}>
          {note}
        </text>
      )}
    </>
  );
}

const Legend = ({ hasFeatures }: { hasFeatures: boolean }) => (
  <ul class="legend">
    {VERDICT_ORDER.map((verdict) => (
      <li key={verdict}>
        <VerdictGlyph verdict={verdict} /> {VERDICTS[verdict].toLowerCase()}
      </li>
    ))}
    <li>
      Conservation: share of homologs, by weight, with the same residue. Above the dashed line, a residue is
      predicted to be disordered (disorder) or confidently folded (pLDDT). Point at a residue, or go there
      with the arrow keys, to read its values; click or press Enter to select it everywhere. Zoom with Ctrl
      and the wheel, by dragging, or with two fingers.
      {hasFeatures &&
        " Tracks of known features come from imported files; instances with a dashed outline are not confirmed. The table below the matches lists all features."}
    </li>
  </ul>
);
