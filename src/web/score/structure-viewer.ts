import type { Atom, GLViewer, Shape } from "3dmol/build/3Dmol.es6-min.js";
import type { StructureModel } from "../../scoring/index.ts";
import type { Span } from "./track-geometry.ts";

export const PAINTS = { conservation: "Conservation", confidence: "pLDDT" } as const;
export type Paint = keyof typeof PAINTS;

/** Colours by the least value that has them: shares of homologs, and AlphaFold's for pLDDT. */
export const SCALES: Readonly<Record<Paint, readonly { from: number; colour: string; words: string }[]>> = {
  conservation: [
    { from: 0.8, colour: "#0b5e4f", words: "same residue in 80 % of homologs" },
    { from: 0.5, colour: "#4f9a89", words: "in 50 %" },
    { from: 0, colour: "#a9cfc6", words: "in fewer" },
  ],
  confidence: [
    { from: 90, colour: "#0053d6", words: "pLDDT 90 and more" },
    { from: 70, colour: "#65cbf3", words: "70 to 90" },
    { from: 50, colour: "#ffdb13", words: "50 to 70" },
    { from: 0, colour: "#ff7d45", words: "below 50: probably disordered" },
  ],
};
export const MATCH_COLOUR = "#c11f8b";
export const OTHER_COLOUR = "#a4adb1";
/** The residue to which the pictures point. */
const MARK = { color: "#f2b705", radius: 2, opacity: 0.85 };

export type Values = readonly (number | null)[];

/** The colour of a value. */
export const colourIn = (paint: Paint, value: number | null | undefined): string =>
  (value !== null && value !== undefined && SCALES[paint].find(({ from }) => value >= from)?.colour) ||
  OTHER_COLOUR;

/** A picture of a model that can be turned. */
export interface StructureView {
  /** Colours the residues by values per residue of the query, and the match apart. */
  paint(paint: Paint, values: Values, match: Span | undefined): void;
  /** Marks a residue of the query; null for none. */
  mark(residue: number | null): void;
  showMatch(match: Span): void;
  showAll(): void;
  zoom(factor: number): void;
  rotate(right: number, down: number): void;
  resize(): void;
  setBackground(colour: string): void;
  close(): void;
}

/** Called with residues of the query; null where the pointer leaves one. */
export interface StructureEvents {
  onPoint: (residue: number | null) => void;
  onSelect: (residue: number) => void;
}

/** Milliseconds that the pointer rests before the residue below it is looked for. */
const HOVER_MILLISECONDS = 20;

/** Loads the viewer, and draws the file. @throws Error without WebGL */
export async function openStructure(
  element: HTMLElement,
  file: string,
  model: StructureModel,
  background: string,
  events: StructureEvents,
): Promise<StructureView> {
  if (!hasWebGl()) throw new Error("This browser has no WebGL, or it is switched off.");
  const { createViewer } = await import("3dmol/build/3Dmol.es6-min.js");
  const viewer = createViewer(element, {
    backgroundColor: background,
    hoverDuration: HOVER_MILLISECONDS,
  });
  if (!viewer) throw new Error("The viewer could not be started.");
  viewer.addModel(file, model.format === "pdb" ? "pdb" : "cif");
  return makeView(viewer, model, events);
}

/** The viewer itself would draw nothing, and say nothing. */
function hasWebGl(): boolean {
  const canvas = document.createElement("canvas");
  return (canvas.getContext("webgl2") ?? canvas.getContext("webgl")) !== null;
}

function makeView(
  viewer: GLViewer,
  { chain, residues }: StructureModel,
  { onPoint, onSelect }: StructureEvents,
): StructureView {
  /** Place in the query of each residue of the chain. */
  const places = new Map(residues.flatMap((number, i) => (number === null ? [] : [[number, i] as const])));
  const findPlace = ({ resi, icode = "" }: Atom): number =>
    places.get(`${resi}${icode.trim().replace("?", "")}`) ?? -1;
  const inSpan =
    ({ from, to }: Span) =>
    (atom: Atom): boolean => {
      const place = findPlace(atom);
      return place >= from - 1 && place < to;
    };
  const ofChain = chain === "" ? {} : { chain };
  /** An atom of each residue of the query that the model has. */
  const centres = new Map(
    viewer.selectedAtoms({ ...ofChain, atom: "CA" }).map((atom) => [findPlace(atom) + 1, atom]),
  );
  const isOfQuery = { ...ofChain, predicate: (atom: Atom) => findPlace(atom) >= 0 };
  viewer.setHoverable(
    isOfQuery,
    true,
    (atom) => onPoint(findPlace(atom) + 1),
    () => onPoint(null),
  );
  viewer.setClickable(isOfQuery, true, (atom) => onSelect(findPlace(atom) + 1));
  let marked: Shape | undefined;
  return {
    mark(residue) {
      const center = residue === null ? undefined : centres.get(residue);
      if (marked) viewer.removeShape(marked);
      marked = center && viewer.addSphere({ center, ...MARK });
      viewer.render();
    },
    paint(paint, values, match) {
      const isMatched = match ? inSpan(match) : () => false;
      const colour = (atom: Atom): string =>
        isMatched(atom) ? MATCH_COLOUR : colourIn(paint, values[findPlace(atom)]);
      viewer.setStyle({}, { cartoon: { color: OTHER_COLOUR, opacity: 0.6 } });
      viewer.setStyle(ofChain, { cartoon: { colorfunc: colour } });
      if (match)
        viewer.addStyle(
          { ...ofChain, predicate: isMatched },
          { stick: { color: MATCH_COLOUR, radius: 0.2 } },
        );
      viewer.render();
    },
    showMatch(match) {
      viewer.zoomTo({ ...ofChain, predicate: inSpan(match) }, 0);
      // Neighbouring residues help to see the position of the match.
      viewer.zoom(0.6);
      viewer.render();
    },
    showAll() {
      viewer.zoomTo();
      viewer.render();
    },
    zoom(factor) {
      viewer.zoom(factor);
      viewer.render();
    },
    rotate(right, down) {
      if (right !== 0) viewer.rotate(right, "y");
      if (down !== 0) viewer.rotate(down, "x");
      viewer.render();
    },
    resize: () => viewer.resize(),
    setBackground(colour) {
      viewer.setBackgroundColor(colour);
      viewer.render();
    },
    close: () => viewer.clear(),
  };
}
