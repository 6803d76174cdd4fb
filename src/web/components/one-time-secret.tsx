import { useEffect, useRef, useState } from "preact/hooks";
import { Button } from "./button.tsx";

/** A secret that is shown this one time, with a button that copies it. */
export function OneTimeSecret({ label, value, note }: { label: string; value: string; note: string }) {
  const field = useRef<HTMLInputElement>(null);
  const [said, say] = useState("");
  useEffect(() => {
    field.current?.focus();
    field.current?.select();
    say("");
  }, [value]);
  const copy = async (): Promise<void> => {
    field.current?.select();
    try {
      await navigator.clipboard.writeText(value);
      say("Copied.");
    } catch {
      // Only pages by HTTPS, or of this machine, may write to the clipboard.
      say("It is selected: copy it with Ctrl+C.");
    }
  };
  return (
    <div class="note warn">
      <label class="shown-once">
        <strong>{label}</strong>
        <input class="code" readOnly ref={field} value={value} />
      </label>
      <p class="row">
        <Button onClick={() => void copy()}>Copy</Button>
        <span role="status">{said}</span>
      </p>
      <p>{note}</p>
    </div>
  );
}
