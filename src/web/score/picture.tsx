import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { showToast } from "../components/toast.tsx";
import { Button } from "../components/button.tsx";

/** A picture with its title, and buttons that save it as SVG and PNG. */
export function Picture(props: {
  title: string;
  /** Of the saved file, without extension. */
  fileName: string;
  legend?: ComponentChildren;
  controls?: ComponentChildren;
  children: ComponentChildren;
}) {
  const figure = useRef<HTMLElement>(null);
  const save = async (kind: "svg" | "png"): Promise<void> => {
    const svg = figure.current?.querySelector<SVGSVGElement>("svg.picture");
    if (!svg) return;
    try {
      const text = standalone(svg);
      download(
        `${props.fileName}.${kind}`,
        kind === "svg" ? new Blob([text], { type: "image/svg+xml" }) : await rastered(text, svg),
      );
    } catch {
      showToast("The picture cannot be saved by this browser.", "error");
    }
  };
  return (
    <figure ref={figure} class="card">
      <figcaption>
        <h2>{props.title}</h2>
        <div class="row screen">
          {props.controls}
          <Button look="quiet" aria-label={`Save ${props.title} as SVG`} onClick={() => void save("svg")}>
            SVG
          </Button>
          <Button look="quiet" aria-label={`Save ${props.title} as PNG`} onClick={() => void save("png")}>
            PNG
          </Button>
        </div>
      </figcaption>
      {props.children}
      {props.legend}
    </figure>
  );
}

/** Width of an element in pixels, as it changes; `start` until it is known. */
export function useWidth(element: RefObject<HTMLElement | null>, start: number): number {
  const [width, set] = useState(start);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => set(Math.round(entry.contentRect.width)));
    if (element.current) observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return width;
}

/** Gives a file to the person. */
export function download(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  // Not at once: the browser may only be asking where to put it.
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

const PAINTED = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-dasharray",
  "opacity",
  "font-family",
  "font-size",
  "font-weight",
  "text-anchor",
  "dominant-baseline",
] as const;

/** A picture as a file of its own: what the page's style says of each part is written into it. */
function standalone(svg: SVGSVGElement): string {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const parts = [svg, ...svg.querySelectorAll<SVGElement>("*")];
  const copies = [copy, ...copy.querySelectorAll<SVGElement>("*")];
  for (const [i, part] of parts.entries()) {
    const style = getComputedStyle(part);
    if (style.display === "none") copies[i].setAttribute("display", "none");
    const around = i > 0 ? getComputedStyle(part.parentElement!) : null;
    for (const name of PAINTED) {
      const value = style.getPropertyValue(name);
      // All but opacity pass down by themselves.
      const inherited = name === "opacity" ? "1" : around?.getPropertyValue(name);
      if (value !== inherited) copies[i].setAttribute(name, value);
    }
    for (const name of ["class", "tabindex", "role"]) copies[i].removeAttribute(name);
  }
  const ground = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  ground.setAttribute("width", "100%");
  ground.setAttribute("height", "100%");
  ground.setAttribute("fill", getComputedStyle(svg.closest(".card") ?? document.body).backgroundColor);
  copy.prepend(ground);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return new XMLSerializer().serializeToString(copy);
}

/** Pixels per unit: sharp in print. */
const SCALE = 3;

async function rastered(text: string, svg: SVGSVGElement): Promise<Blob> {
  const image = new Image();
  const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  try {
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = svg.width.baseVal.value * SCALE;
    canvas.height = svg.height.baseVal.value * SCALE;
    canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, "image/png"));
    if (!blob) throw new Error("no picture");
    return blob;
  } finally {
    URL.revokeObjectURL(address);
  }
}
