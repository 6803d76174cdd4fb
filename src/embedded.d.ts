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
  }
  interface Selection {
    chain?: string;
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
    setBackgroundColor(colour: string): void;
    zoomTo(selection?: Selection, milliseconds?: number): void;
    zoom(factor: number, milliseconds?: number): void;
    rotate(degrees: number, axis: "x" | "y"): void;
    resize(): void;
    render(): void;
    clear(): void;
  }
  export function createViewer(element: HTMLElement, options: { backgroundColor: string }): GLViewer | null;
}
