import type { TargetedPointerEvent } from "preact";
import { useRef, useState } from "preact/hooks";
import type { Position } from "./position.ts";
import {
  type BrushPart,
  brushed,
  brushPartAt,
  centred,
  clamped,
  contains,
  pinched,
  type Plot,
  countResidues,
  showing,
  type Span,
  zoomed,
} from "./track-geometry.ts";

interface ViewOptions {
  length: number;
  span: Span;
  /** Span; null for the whole protein. */
  onSpan: (span: Span | null) => void;
  /** The span that zooming keeps in view. */
  kept: Span | undefined;
}

/** Delay in milliseconds after the last turn of the wheel before the address changes: browsers limit such changes. */
const REST_MILLISECONDS = 200;

/** The residues in view, and ways to change them. While something is dragged, only the tracks follow. */
export function useTrackView({ length, span, onSpan, kept }: ViewOptions) {
  const [live, setLive] = useState<Span | null>(null);
  const current = useRef(span);
  current.current = live ?? span;
  const resting = useRef<ReturnType<typeof setTimeout>>(undefined);
  const preview = (next: Span): void => {
    current.current = next;
    setLive(next);
  };
  const show = (next: Span): void => {
    clearTimeout(resting.current);
    onSpan(countResidues(next) >= length ? null : next);
    setLive(null);
  };
  /** Zooms around a residue, or else around the match; keeps the match in view. */
  const computeZoom = (factor: number, at?: number): Span => {
    const before = current.current;
    const middle = kept && contains(before, kept) ? kept : undefined;
    if (at === undefined) return centred(middle ?? before, countResidues(before) * factor, length);
    const next = zoomed(before, factor, at, length);
    return middle ? showing(next, middle, length) : next;
  };
  const moveBy = (part: number): void => {
    const residues = countResidues(current.current);
    show(clamped(current.current.from + part * residues, residues, length));
  };
  const zoom = (factor: number): void => show(computeZoom(factor));
  const keys: Record<string, () => void> = {
    "<": () => moveBy(-0.2),
    ">": () => moveBy(0.2),
    Home: () => moveBy(-Infinity),
    End: () => moveBy(Infinity),
    "+": () => zoom(0.5),
    "=": () => zoom(0.5),
    "-": () => zoom(2),
    "0": () => show({ from: 1, to: length }),
  };
  return {
    span: current.current,
    preview,
    show,
    zoom,
    onKey: (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || !(event.key in keys)) return;
      event.preventDefault();
      keys[event.key]();
    },
    /** Zooms with Ctrl or Cmd, as pinching a trackpad does, and moves sideways. */
    onWheel: (event: WheelEvent, plot: Plot): void => {
      const { ctrlKey, metaKey, shiftKey, deltaX, deltaY } = event;
      const sideways = shiftKey && deltaX === 0 ? deltaY : Math.abs(deltaX) > Math.abs(deltaY) ? deltaX : 0;
      const isZoom = ctrlKey || metaKey;
      if (!isZoom && sideways === 0) return;
      event.preventDefault();
      const { from } = current.current;
      const residues = countResidues(current.current);
      const steps = Math.max(-1, Math.min(1, deltaY / 100));
      preview(
        isZoom
          ? computeZoom(1.25 ** steps, residueUnder(event, { ...plot, span: current.current }))
          : clamped(from + sideways / plot.scale, residues, length),
      );
      clearTimeout(resting.current);
      resting.current = setTimeout(() => show(current.current), REST_MILLISECONDS);
    },
  };
}

export type TrackView = ReturnType<typeof useTrackView>;

/** The residue below the pointer, with its fraction, also beyond the plot. */
function residueUnder(event: MouseEvent, { span, left, scale }: Plot): number {
  const box = (event.currentTarget as Element).getBoundingClientRect();
  return span.from + (event.clientX - box.left - left) / scale;
}

const inside = (residue: number, { from, to }: Span): number =>
  Math.min(to, Math.max(from, Math.floor(residue)));

interface Gesture {
  kind: BrushPart | "select" | "pan";
  plot: Plot;
  /** The span, and the residue below the pointer, at its start. */
  span: Span;
  at: number;
  clientX: number;
  isDragged: boolean;
}

type Pointer = TargetedPointerEvent<SVGSVGElement>;

/** Pixels after which a press is a drag, and within which the brush's edges are grabbed. */
const DRAG = 4;
const BRUSH_REACH = { mouse: 7, touch: 18 };

/** A brush over the whole protein cannot move: a new one is drawn. */
function brushKind(at: number, span: Span, length: number, reach: number): BrushPart {
  const part = brushPartAt(at, span, reach);
  return part === "window" && countResidues(span) >= length ? "outside" : part;
}

interface Overview {
  plot: Plot;
  /** How far down it reaches. */
  bottom: number;
}

/** Points to the residue below the mouse. */
export function pointTo(event: Pointer, position: Position, plot: Plot, overview: Overview): void {
  if (event.pointerType !== "mouse") return;
  const on = isAbove(event, overview.bottom) ? overview.plot : plot;
  position.point(Math.floor(residueUnder(event, on)), on.span);
}

const isAbove = (event: Pointer, bottom: number): boolean =>
  event.clientY - event.currentTarget.getBoundingClientRect().top < bottom;

/**
 * Dragging: the brush over the whole protein; on the tracks the mouse selects what to show, one finger moves, two zoom.
 */
export function useGestures(view: TrackView, position: Position, plot: Plot, overview: Overview) {
  const { length } = position;
  const gesture = useRef<Gesture | null>(null);
  const pointers = useRef(new Map<number, number>());
  const pinch = useRef<[number, number] | null>(null);
  const [selection, setSelection] = useState<Span | null>(null);

  const end = (): void => {
    gesture.current = pinch.current = null;
    setSelection(null);
  };
  const fractions = (event: Pointer): [number, number] => {
    const left = event.currentTarget.getBoundingClientRect().left + plot.left;
    const [one, other] = [...pointers.current.values()].map((x) => (x - left) / (plot.width - plot.left));
    return [one, other];
  };
  const onPointerDown = (event: Pointer): void => {
    const isMouse = event.pointerType === "mouse";
    if (isMouse && event.button !== 0) return;
    pointers.current.set(event.pointerId, event.clientX);
    const { span } = view;
    if (pointers.current.size === 2) {
      const [one, other] = fractions(event).map((fraction) => span.from + fraction * countResidues(span));
      pinch.current = [one, other];
      return setSelection(null);
    }
    const isOverview = isAbove(event, overview.bottom);
    const on = isOverview ? overview.plot : plot;
    const at = residueUnder(event, on);
    const kind = isOverview
      ? brushKind(at, span, length, (isMouse ? BRUSH_REACH.mouse : BRUSH_REACH.touch) / on.scale)
      : isMouse
        ? "select"
        : "pan";
    gesture.current = { kind, plot: on, span, at, clientX: event.clientX, isDragged: false };
  };
  const onPointerMove = (event: Pointer): void => {
    if (pointers.current.has(event.pointerId)) pointers.current.set(event.pointerId, event.clientX);
    if (pinch.current) return view.preview(pinched(pinch.current, fractions(event), length));
    const now = gesture.current;
    if (!now) return;
    if (!now.isDragged) {
      if (Math.abs(event.clientX - now.clientX) < DRAG) return;
      now.isDragged = true;
      // The pointer is captured only now, or matches could not be clicked.
      event.currentTarget.setPointerCapture(event.pointerId);
    }
    const ends = [now.at, residueUnder(event, now.plot)].map((at) => inside(at, now.plot.span));
    const [first, last] = ends;
    if (now.kind === "select") setSelection({ from: Math.min(...ends), to: Math.max(...ends) });
    else if (now.kind === "pan") {
      const moved = (now.clientX - event.clientX) / now.plot.scale;
      view.preview(clamped(now.span.from + moved, countResidues(now.span), length));
    } else view.preview(brushed(now.kind, now.span, [first, last], length));
  };
  const onPointerUp = (event: Pointer): void => {
    pointers.current.delete(event.pointerId);
    const now = gesture.current;
    if (pinch.current || (now?.isDragged && now.kind !== "select")) view.show(view.span);
    else if (now?.isDragged && selection)
      view.show(clamped(selection.from, countResidues(selection), length));
    else if (now?.kind === "select" || now?.kind === "pan")
      position.select(inside(now.at, now.plot.span), (event.target as Element).matches("[role=button]"));
    else if (now?.kind === "outside" && countResidues(now.span) < length)
      view.show(clamped(now.at - countResidues(now.span) / 2, countResidues(now.span), length));
    end();
  };
  const onPointerCancel = (event: Pointer): void => {
    pointers.current.delete(event.pointerId);
    if (gesture.current?.isDragged || pinch.current) view.show(view.span);
    end();
  };
  return { selection, handlers: { onPointerDown, onPointerMove, onPointerUp, onPointerCancel } };
}
