import { useEffect, useRef, useState } from "preact/hooks";
import { Banner } from "./banner.tsx";
import { Button } from "./button.tsx";

/** Copies a text, which browsers allow on HTTPS and on this machine only; `status` says what to do otherwise. */
export function useCopy(text: string, otherwise: string): { copy: () => void; status: string } {
  const [status, setStatus] = useState("");
  useEffect(() => setStatus(""), [text]);
  const copy = (): void =>
    void Promise.resolve(navigator.clipboard?.writeText(text) ?? Promise.reject(new Error("none"))).then(
      () => setStatus("Copied."),
      () => setStatus(otherwise),
    );
  return { copy, status };
}

/** A secret that is shown only once, with a button that copies it. */
export function OneTimeSecret({ label, value, note }: { label: string; value: string; note: string }) {
  const field = useRef<HTMLInputElement>(null);
  const { copy, status } = useCopy(value, "Press Ctrl+C to copy the selected text.");
  useEffect(() => field.current?.select(), [value]);
  return (
    <Banner tone="warn">
      <div class="stack">
        <label class="field secret">
          <strong>{label}</strong>
          <input class="input mono" readOnly ref={field} value={value} />
        </label>
        <p>{note}</p>
        <div class="row">
          <Button
            small
            icon="copy"
            onClick={() => {
              field.current?.select();
              copy();
            }}
          >
            Copy
          </Button>
          <span role="status">{status}</span>
        </div>
      </div>
    </Banner>
  );
}
