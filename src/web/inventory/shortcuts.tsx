import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { Checkbox } from "../components/field.tsx";
import { readStored, writeStored } from "../stored.ts";

export interface Shortcut {
  keys: readonly string[];
  does: string;
  run: () => void;
}

/** Single-letter keys can be turned off, for people who use speech input (WCAG 2.1.4). */
export const hasLetterShortcuts = (): boolean => readStored<string>("shortcuts", "on") !== "off";

/** Elements in which keys are text. */
export const TYPING =
  "input:not([type=checkbox]), textarea, select, [contenteditable], dialog, [role=listbox]";
const NAMES: Readonly<Record<string, string>> = { ArrowDown: "↓", ArrowUp: "↑" };

/** Keyboard shortcuts of a page; `?` lists them. */
export function Shortcuts({ shortcuts }: { shortcuts: readonly Shortcut[] }) {
  const [isOpen, setOpen] = useState(false);
  const [isEnabled, setEnabled] = useState(true);
  // The shortcuts of the last render: effects may run later than the next key.
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  useEffect(() => setEnabled(hasLetterShortcuts()), []);
  // Before the picture: a key pressed as soon as the list appears must count.
  useLayoutEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      const { key } = event;
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey || target.closest(TYPING)) return;
      const found = latest.current.find(({ keys }) => keys.includes(key));
      const run = key === "?" ? () => setOpen(true) : found?.run;
      if (!run || (key.length === 1 && !hasLetterShortcuts())) return;
      // Enter and arrows belong to the control that has the focus.
      if (key === "Enter" && target.closest("a, button, summary, input")) return;
      if (key.startsWith("Arrow") && target.closest("summary, input")) return;
      event.preventDefault();
      run();
    };
    document.addEventListener("keydown", onKeyDown);
    return () => document.removeEventListener("keydown", onKeyDown);
  }, []);
  return (
    <>
      <Button look="quiet" small aria-haspopup="dialog" onClick={() => setOpen(true)}>
        Keyboard shortcuts
      </Button>
      {isOpen && (
        <Dialog title="Keyboard shortcuts" onClose={() => setOpen(false)}>
          <dl class="kv">
            {[...shortcuts, { keys: ["?"], does: "show this list" }].map(({ keys, does }) => [
              <dt key={does} class="row">
                {keys.map((key) => (
                  <kbd key={key}>{NAMES[key] ?? key}</kbd>
                ))}
              </dt>,
              <dd key={`${does}=`}>{does}</dd>,
            ])}
          </dl>
          <Checkbox
            label="Use single-letter shortcuts in this browser"
            checked={isEnabled}
            onChange={(wanted) => {
              writeStored("shortcuts", wanted ? "on" : "off");
              setEnabled(wanted);
            }}
          />
        </Dialog>
      )}
    </>
  );
}
