/** Files that the build embeds as text or by address (`import … with { type: "text" | "file" }`). */
declare module "*.sql" {
  const text: string;
  export default text;
}
declare module "*.fasta" {
  const text: string;
  export default text;
}
declare module "*.tsv" {
  const text: string;
  export default text;
}
declare module "*.ttf" {
  const address: string;
  export default address;
}
/** The part of 3Dmol.js that the pages use; its own types would need those of its build. */
declare module "3dmol/build/3Dmol.es6-min.js" {
  export interface Atom {
    chain: string;
    resi: number;
    icode?: string;
    x: number;
    y: number;
    z: number;
  }
  export type Shape = object;
  interface Selection {
    chain?: string;
    atom?: string;
    predicate?: (atom: Atom) => boolean;
  }
  interface Style {
    cartoon?: { color?: string; opacity?: number; colorfunc?: (atom: Atom) => string };
    stick?: { color?: string; radius?: number };
  }
  export interface GLViewer {
    addModel(text: string, format: "cif" | "pdb"): void;
    setStyle(selection: Selection, style: Style): void;
    addStyle(selection: Selection, style: Style): void;
    selectedAtoms(selection: Selection): Atom[];
    setHoverable(
      selection: Selection,
      on: boolean,
      hover: (atom: Atom) => void,
      unhover: (atom: Atom) => void,
    ): void;
    setClickable(selection: Selection, on: boolean, click: (atom: Atom) => void): void;
    addSphere(sphere: { center: Atom; radius: number; color: string; opacity: number }): Shape;
    removeShape(shape: Shape): void;
    setBackgroundColor(colour: string): void;
    zoomTo(selection?: Selection, milliseconds?: number): void;
    zoom(factor: number, milliseconds?: number): void;
    rotate(degrees: number, axis: "x" | "y"): void;
    resize(): void;
    render(): void;
    clear(): void;
  }
  export function createViewer(
    element: HTMLElement,
    options: { backgroundColor: string; hoverDuration: number },
  ): GLViewer | null;
}
