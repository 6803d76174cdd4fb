import { useEffect, useRef, useState } from "preact/hooks";
import type { JobModel, StructureModel } from "../../scoring/index.ts";
import { Banner, ErrorBanner } from "../components/banner.tsx";
import { Button, IconButton } from "../components/button.tsx";
import { ChipChoice } from "../components/segment.tsx";
import { FileButton } from "../components/file-button.tsx";
import { Card } from "../components/layout.tsx";
import { type Loadable, useLoaded } from "../components/loaded.tsx";
import { showToast } from "../components/toast.tsx";
import { call, callForResponse } from "../request.ts";
import { useSharedPosition } from "./position.ts";
import {
  MATCH_COLOUR,
  openStructure,
  OTHER_COLOUR,
  type Paint,
  PAINTS,
  SCALES,
  type StructureView,
} from "./structure-viewer.ts";
import type { Span } from "./track-geometry.ts";
import { describeMatch, describeModel, type Place } from "./structure-words.ts";

/** Reads and changes the structure model of a protein. */
export interface ModelSource {
  /** Identifies the protein. */
  key: string;
  read: (signal: AbortSignal) => Promise<JobModel>;
  readFile: (signal: AbortSignal) => Promise<Response>;
  add: (file: File) => Promise<JobModel>;
  remove: () => Promise<JobModel>;
}

const upload = (file: File) => ({
  body: file,
  query: { name: file.name.slice(0, 200) },
  headers: { "Content-Type": "application/octet-stream" },
});

/** The model of a job's query, as the owner of the job has it. */
export const modelOfJob = (id: string): ModelSource => ({
  key: id,
  read: (signal) => call("GET /api/scoring/jobs/:id/model", { params: { id }, signal }),
  readFile: (signal) => callForResponse("GET /api/scoring/jobs/:id/model/file", { params: { id }, signal }),
  add: (file) => call("PUT /api/scoring/jobs/:id/model", { params: { id }, ...upload(file) }),
  remove: () => call("DELETE /api/scoring/jobs/:id/model", { params: { id } }),
});

/** The reader's model of a protein of the corpus. */
export function modelOfProtein(accession: string): ModelSource {
  const params = { accession };
  return {
    key: accession,
    read: (signal) => call("GET /api/scoring/proteins/:accession/model", { params, signal }),
    readFile: (signal) =>
      callForResponse("GET /api/scoring/proteins/:accession/model/file", { params, signal }),
    add: (file) => call("PUT /api/scoring/proteins/:accession/model", { params, ...upload(file) }),
    remove: () => call("DELETE /api/scoring/proteins/:accession/model", { params }),
  };
}

export const useStructure = (source: ModelSource): Loadable<JobModel> => useLoaded(source.key, source.read);

/** Confidences of a predicted model. */
export const readPLddt = ({ value }: Loadable<JobModel>): StructureModel["pLddt"] =>
  value?.model?.pLddt ?? null;

interface StructureProps {
  source: ModelSource;
  of: Loadable<JobModel>;
  /** True if the reader may add and remove a model. */
  mayChange: boolean;
  /** Of each residue, for the colours. */
  conservation: readonly (number | null)[];
  match: Place | undefined;
}

/** The structure model: a description, and on request 3D; or a form for its owner to add one. */
export function Structure({ source, mayChange, of, conservation, match }: StructureProps) {
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const model = of.value?.model ?? null;
  const change = async (write: () => Promise<JobModel>, done: string): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      const next = await write();
      of.update(() => next);
      showToast(done);
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  const add = (file: File): Promise<void> => change(() => source.add(file), `Added ${file.name}`);
  const remove = (): Promise<void> => change(source.remove, "Removed the model");
  return (
    <Card
      title="Structure"
      count={model?.name}
      actions={
        mayChange && (
          <>
            {model?.source === "upload" && (
              <Button look="quiet" small icon="trash-2" busy={isBusy} onClick={() => void remove()}>
                Remove
              </Button>
            )}
            <FileButton
              label="File with a structure model"
              accept=".cif,.mmcif,.pdb,.ent,.gz"
              busy={isBusy}
              onChoose={([file]) => void (file && add(file))}
            >
              {model === null ? "Choose a model" : "Replace"}
            </FileButton>
          </>
        )
      }
    >
      <div class="stack">
        {error !== undefined && <ErrorBanner error={error} />}
        {of.error !== undefined && <ErrorBanner error={of.error} retry={of.reload} />}
        {of.value?.problem && <Banner tone="warn">{of.value.problem}</Banner>}
        {model ? (
          <ModelView key={`${model.name} ${model.chain}`} {...{ source, model, conservation, match }} />
        ) : (
          <p>
            {mayChange
              ? "No model yet. Choose an mmCIF or PDB file of this protein, predicted (AlphaFold) or experimental, up to 10 MB; it may be compressed with gzip. All your scores of this protein show it."
              : "No model. Score this protein, or sign in, to add one to its page."}
          </p>
        )}
      </div>
    </Card>
  );
}

interface ModelProps {
  source: ModelSource;
  model: StructureModel;
  conservation: readonly (number | null)[];
  match: Place | undefined;
}

/** The model in words, and in 3D on request. */
function ModelView(props: ModelProps) {
  const { model, match } = props;
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <div>
        {describeModel(model).map((sentence) => (
          <p key={sentence}>{sentence}</p>
        ))}
        {match && <p aria-live="polite">{describeMatch(model, match)}</p>}
        {model.source === "upload" && (
          <p class="hint">Belongs to the protein: all your scores of it show it.</p>
        )}
      </div>
      {isOpen ? (
        <Viewer {...props} />
      ) : (
        <div>
          <Button onClick={() => setOpen(true)}>Show in 3D</Button>
        </div>
      )}
    </>
  );
}

const isInModel = ({ residues }: StructureModel, { from, to }: Span): boolean =>
  residues.slice(from - 1, to).some((number) => number !== null);

/** Degrees of a turn by an arrow key. */
const TURN_DEGREES = 10;
const KEYS: Readonly<Record<string, (view: StructureView) => void>> = {
  ArrowLeft: (view) => view.rotate(-TURN_DEGREES, 0),
  ArrowRight: (view) => view.rotate(TURN_DEGREES, 0),
  ArrowUp: (view) => view.rotate(0, -TURN_DEGREES),
  ArrowDown: (view) => view.rotate(0, TURN_DEGREES),
  "+": (view) => view.zoom(1.25),
  "-": (view) => view.zoom(0.8),
  "0": (view) => view.showAll(),
};

function Viewer({ source, model, conservation, match }: ModelProps) {
  const box = useRef<HTMLDivElement>(null);
  const position = useSharedPosition();
  const { view, error } = useView(box, source, model);
  const [paint, setPaint] = useState<Paint>("conservation");
  const span = match && { from: match.start, to: match.end };
  useEffect(() => {
    const values = paint === "confidence" ? (model.pLddt ?? []) : conservation;
    view?.paint(paint, values, span);
  }, [view, paint, conservation, match?.start, match?.end]);
  useEffect(() => {
    let drawn = 0;
    const mark = (): void => {
      cancelAnimationFrame(drawn);
      drawn = requestAnimationFrame(() => view?.mark(position.residue));
    };
    if (position.residue !== null) mark();
    return position.subscribe(mark);
  }, [view]);
  if (error !== undefined)
    return (
      <Banner tone="warn">
        The model cannot be shown in 3D: {error instanceof Error ? error.message : String(error)}
      </Banner>
    );
  const paints = Object.entries(PAINTS).filter(([name]) => name !== "confidence" || model.pLddt);
  return (
    <div class="structure">
      <div class="row">
        {paints.length > 1 && (
          <div class="row" role="group" aria-label="Colour by">
            <small aria-hidden="true">Colour by</small>
            <ChipChoice choices={paints as [Paint, string][]} value={paint} onChange={setPaint} />
          </div>
        )}
        <IconButton icon="zoom-in" label="Zoom into the model" onClick={() => view?.zoom(1.25)} />
        <IconButton icon="zoom-out" label="Zoom out of the model" onClick={() => view?.zoom(0.8)} />
        <Button look="quiet" small onClick={() => view?.showAll()}>
          Whole model
        </Button>
        {span && isInModel(model, span) && (
          <Button look="quiet" small icon="crosshair" onClick={() => view?.showMatch(span)}>
            Show match in the model
          </Button>
        )}
      </div>
      <div
        ref={box}
        class="structure-view"
        role="group"
        tabIndex={0}
        aria-busy={view === null}
        aria-label="3D model. Arrow keys turn it, plus and minus zoom, 0 shows all; comma and full stop go from residue to residue, Enter selects. The text above describes it."
        onWheelCapture={(event) => {
          // The page scrolls; Ctrl with the wheel zooms, as in the other pictures.
          if (!event.ctrlKey && !event.metaKey) event.stopPropagation();
        }}
        onKeyDown={(event) => {
          if (!view || event.ctrlKey || event.metaKey || event.altKey) return;
          const act = KEYS[event.key === "=" ? "+" : event.key];
          if (act) act(view);
          else if (!position.onKey(event, match?.start ?? 1)) return;
          event.preventDefault();
        }}
      />
      <Legend paint={paint} />
    </div>
  );
}

/** Loads file and viewer, and follows the size of the box and the theme. */
function useView(box: { current: HTMLDivElement | null }, source: ModelSource, model: StructureModel) {
  const [state, setState] = useState<{ view: StructureView | null; error?: unknown }>({ view: null });
  const position = useSharedPosition();
  useEffect(() => {
    const element = box.current!;
    const background = (): string => getComputedStyle(element).backgroundColor;
    const stop = new AbortController();
    let view: StructureView | undefined;
    const open = async (): Promise<void> => {
      const response = await source.readFile(stop.signal);
      const file = await response.text();
      view = await openStructure(element, file, model, background(), {
        onPoint: (residue) => position.point(residue),
        onSelect: (residue) => position.select(residue),
      });
      if (stop.signal.aborted) return view.close();
      view.showAll();
      setState({ view });
    };
    open().catch((error: unknown) => !stop.signal.aborted && setState({ view: null, error }));
    const resized = new ResizeObserver(() => view?.resize());
    resized.observe(element);
    const theme = matchMedia("(prefers-color-scheme: dark)");
    const repaint = (): void => view?.setBackground(background());
    theme.addEventListener("change", repaint);
    return () => {
      stop.abort();
      resized.disconnect();
      theme.removeEventListener("change", repaint);
      view?.close();
    };
  }, []);
  return state;
}

const Legend = ({ paint }: { paint: Paint }) => (
  <ul class="legend">
    <Swatch colour={MATCH_COLOUR} words="match" />
    {SCALES[paint].map(({ colour, words }) => (
      <Swatch key={words} colour={colour} words={words} />
    ))}
    <Swatch colour={OTHER_COLOUR} words="no data, or another chain" />
  </ul>
);

const Swatch = ({ colour, words }: { colour: string; words: string }) => (
  <li>
    <svg width={14} height={14} aria-hidden="true">
      <rect width={14} height={14} rx={3} fill={colour} />
    </svg>{" "}
    {words}
  </li>
);
