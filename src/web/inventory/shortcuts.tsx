import { useEffect, useRef, useState } from "preact/hooks";
import { Checkbox } from "../components/field.tsx";
import { Dialog } from "../components/dialog.tsx";

/** What a key does, for the page and for the help that `?` opens. */
export interface Shortcut {
  keys: readonly string[];
  does: string;
  run: (event: KeyboardEvent) => void;
}

/** Whether single keys act; they can be turned off, for people who speak to their computer (WCAG 2.1.4). */
const KEPT = "labd:shortcuts";
const areOn = (): boolean => localStorage.getItem(KEPT) !== "off";

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  target.closest(
    "input:not([type=checkbox]), textarea, select, [contenteditable], dialog, [role=listbox]",
  ) !== null;

/** Listens for the keys while the page is open; `?` tells what they do. */
export function Shortcuts({ shortcuts }: { shortcuts: readonly Shortcut[] }) {
  const [help, showHelp] = useState(false);
  const [on, setOn] = useState(true);
  // The keys of the last render: effects run later than a quick hand types.
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  useEffect(() => setOn(areOn()), []);
  useEffect(() => {
    const act = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      if (event.key === "?" && areOn()) {
        event.preventDefault();
        return showHelp(true);
      }
      const found = latest.current.find(({ keys }) => keys.includes(event.key));
      // Arrows and Enter are no characters; on a control they are the control's.
      const isCharacter = event.key.length === 1;
      if (!found || (isCharacter && !areOn())) return;
      if (event.key === "Enter" && (event.target as HTMLElement).closest("a, button, summary, input")) return;
      if (event.key.startsWith("Arrow") && (event.target as HTMLElement).closest("summary, input")) return;
      event.preventDefault();
      found.run(event);
    };
    document.addEventListener("keydown", act);
    return () => document.removeEventListener("keydown", act);
  }, []);
  return (
    <>
      <button type="button" class="quiet screen" aria-haspopup="dialog" onClick={() => showHelp(true)}>
        <kbd>?</kbd> Keys
      </button>
      {help && (
        <Dialog title="Keys" onClose={() => showHelp(false)}>
          <dl class="pairs">
            {shortcuts.map(({ keys, does }) => [
              <dt key={does}>
                {keys.map((key) => (
                  <kbd key={key}>{NAMES[key] ?? key}</kbd>
                ))}
              </dt>,
              <dd key={`${does}-`}>{does}</dd>,
            ])}
            <dt>
              <kbd>?</kbd>
            </dt>
            <dd>this help</dd>
          </dl>
          <Checkbox
            label="Single letters act as keys (in this browser)"
            checked={on}
            onChange={(wanted) => {
              localStorage.setItem(KEPT, wanted ? "on" : "off");
              setOn(wanted);
            }}
          />
        </Dialog>
      )}
    </>
  );
}

const NAMES: Readonly<Record<string, string>> = {
  ArrowDown: "↓",
  ArrowUp: "↑",
  ArrowLeft: "←",
  ArrowRight: "→",
};
