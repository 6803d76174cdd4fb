import { useLayoutEffect } from "preact/hooks";
import { href } from "../address.ts";
import { TYPING } from "./shortcuts.tsx";

/** Milliseconds between two keys of a scanner. Nobody types that fast. */
const GAP = 50;
/** Characters of the shortest code. */
const SHORTEST = 4;

/** True if keys are text where they are typed, or the page takes codes itself. */
const isTaken = (target: Element): boolean =>
  target.closest(TYPING) !== null || document.querySelector("[data-scanner], dialog[open]") !== null;

/** Opens the record of a code that a scanner types, with Enter at its end, while the focus is in no field. */
export function useScanAnywhere(): void {
  useLayoutEffect(() => {
    let [code, last] = ["", 0];
    // Before shortcuts, one of which Enter may be.
    const onKeyDown = (event: KeyboardEvent): void => {
      const { key, timeStamp, target } = event;
      if (key === "Shift") return;
      if (timeStamp - last > GAP) code = "";
      last = timeStamp;
      if (key === "Enter" && code.length >= SHORTEST) {
        event.preventDefault();
        event.stopPropagation();
        location.assign(href(`/i/${encodeURIComponent(code)}`));
      }
      const isText = key.length === 1 && !(event.ctrlKey || event.metaKey || event.altKey || event.repeat);
      // A shortcut may have moved the focus since the first key, except to a dialog that accepts codes.
      const isInPage = code !== "" && !(target as Element).closest("dialog");
      code = isText && (isInPage || !isTaken(target as Element)) ? code + key : "";
    };
    addEventListener("keydown", onKeyDown, true);
    return () => removeEventListener("keydown", onKeyDown, true);
  }, []);
}
