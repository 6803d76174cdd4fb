import type { ComponentChildren, RefObject } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { Card } from "../components/layout.tsx";
import { download } from "../download.ts";
import { showToast } from "../components/toast.tsx";

/** A card with a picture, and buttons that save it as SVG and PNG. */
export function Picture(props: {
  title: string;
  note?: string;
  /** The picture that the buttons save. */
  name: string;
  /** Name of the saved file, without extension. */
  fileName: string;
  legend: ComponentChildren;
  actions?: ComponentChildren;
  children: ComponentChildren;
}) {
  const { title, note, name, fileName } = props;
  const box = useRef<HTMLDivElement>(null);
  const save = async (kind: "svg" | "png"): Promise<void> => {
    const svg = box.current?.querySelector<SVGSVGElement>("svg.picture");
    if (!svg) return;
    try {
      const text = standalone(svg);
      const image =
        kind === "svg" ? new Blob([text], { type: "image/svg+xml" }) : await rasterized(text, svg);
      download(`${fileName}.${kind}`, image);
    } catch {
      showToast("This browser cannot save the picture.", "error");
    }
  };
  return (
    <div ref={box}>
      <Card
        title={title}
        count={note}
        bare
        actions={
          <>
            {props.actions}
            <Button
              look="quiet"
              small
              icon="download"
              aria-label={`Save ${name} as SVG`}
              onClick={() => void save("svg")}
            >
              SVG
            </Button>
            <Button look="quiet" small aria-label={`Save ${name} as PNG`} onClick={() => void save("png")}>
              PNG
            </Button>
          </>
        }
        foot={props.legend}
      >
        {props.children}
      </Card>
    </div>
  );
}

export interface Size {
  width: number;
  height: number;
}

/** Size of an element's content in pixels; `initial` until it is known. */
export function useSize(element: RefObject<HTMLElement | null>, initial: Size): Size {
  const [size, set] = useState(initial);
  useEffect(() => {
    const observer = new ResizeObserver(([{ contentRect }]) =>
      set({ width: Math.round(contentRect.width), height: Math.round(contentRect.height) }),
    );
    if (element.current) observer.observe(element.current);
    return () => observer.disconnect();
  }, []);
  return size;
}

const STYLE_PROPERTIES = (
  "fill fill-opacity stroke stroke-width stroke-dasharray opacity " +
  "font-family font-size font-style font-weight text-anchor"
).split(" ");

/** The picture as a file: styles of each element become attributes. */
function standalone(svg: SVGSVGElement): string {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const originals = [svg, ...svg.querySelectorAll<SVGElement>("*")];
  const copies = [copy, ...copy.querySelectorAll<SVGElement>("*")];
  for (const [i, original] of originals.entries()) {
    const style = getComputedStyle(original);
    const parent = i > 0 ? getComputedStyle(original.parentElement!) : null;
    for (const name of STYLE_PROPERTIES) {
      const value = style.getPropertyValue(name);
      // All of them are inherited but opacity.
      if (value !== (name === "opacity" ? "1" : parent?.getPropertyValue(name)))
        copies[i].setAttribute(name, value);
    }
    for (const name of ["class", "tabindex", "role"]) copies[i].removeAttribute(name);
  }
  const background = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  background.setAttribute("width", "100%");
  background.setAttribute("height", "100%");
  background.setAttribute("fill", getComputedStyle(svg.closest(".card")!).backgroundColor);
  copy.prepend(background);
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  return new XMLSerializer().serializeToString(copy);
}

/** Pixels per unit, sharp in print. */
const SCALE = 3;

async function rasterized(text: string, svg: SVGSVGElement): Promise<Blob> {
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
    if (!blob) throw new Error("The canvas cannot be encoded.");
    return blob;
  } finally {
    URL.revokeObjectURL(address);
  }
}
