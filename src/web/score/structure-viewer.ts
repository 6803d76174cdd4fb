import type { Atom, GLViewer } from "3dmol/build/3Dmol.es6-min.js";
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

export type Values = readonly (number | null)[];

/** The colour of a value. */
export const colourIn = (paint: Paint, value: number | null | undefined): string =>
  (value !== null && value !== undefined && SCALES[paint].find(({ from }) => value >= from)?.colour) ||
  OTHER_COLOUR;

/** A picture of a model that can be turned. */
export interface StructureView {
  /** Colours the residues by values per residue of the query, and the match apart. */
  paint(paint: Paint, values: Values, match: Span | undefined): void;
  showMatch(match: Span): void;
  showAll(): void;
  zoom(factor: number): void;
  rotate(right: number, down: number): void;
  resize(): void;
  setBackground(colour: string): void;
  close(): void;
}

/** Loads the viewer, and draws the file. @throws Error without WebGL */
export async function openStructure(
  element: HTMLElement,
  file: string,
  model: StructureModel,
  background: string,
): Promise<StructureView> {
  if (!hasWebGl()) throw new Error("This browser has no WebGL, or it is switched off.");
  const { createViewer } = await import("3dmol/build/3Dmol.es6-min.js");
  const viewer = createViewer(element, { backgroundColor: background });
  if (!viewer) throw new Error("The viewer could not be started.");
  viewer.addModel(file, model.format === "pdb" ? "pdb" : "cif");
  return makeView(viewer, model);
}

/** The viewer itself would draw nothing, and say nothing. */
function hasWebGl(): boolean {
  const canvas = document.createElement("canvas");
  return (canvas.getContext("webgl2") ?? canvas.getContext("webgl")) !== null;
}

function makeView(viewer: GLViewer, { chain, residues }: StructureModel): StructureView {
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
  return {
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
