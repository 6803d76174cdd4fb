import { useEffect, useRef, useState } from "preact/hooks";
import { TextField } from "../components/field.tsx";
import { Button } from "../components/button.tsx";
import { watchCamera } from "./camera.ts";

/** Where codes come in: from a scanner that types and ends with Enter, from fingers, or from the camera. */
export function Scanner({ onCode, hint }: { onCode: (code: string) => void; hint: string }) {
  const [typed, setTyped] = useState("");
  const [camera, setCamera] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const latest = useRef(onCode);
  latest.current = onCode;
  const focus = (): void => form.current?.querySelector("input")?.focus();
  useEffect(() => {
    focus();
    // A scanner types wherever the focus is: without one, into the field.
    const keep = (event: KeyboardEvent): void => {
      if (
        event.key.length === 1 &&
        !event.ctrlKey &&
        !event.metaKey &&
        document.activeElement === document.body
      )
        focus();
    };
    addEventListener("keydown", keep);
    return () => removeEventListener("keydown", keep);
  }, []);
  return (
    <div class="screen">
      <form
        ref={form}
        onSubmit={(event) => {
          event.preventDefault();
          const code = typed.trim();
          setTyped("");
          focus();
          if (code !== "") latest.current(code);
        }}
      >
        <TextField
          label="Code"
          hint={hint}
          value={typed}
          code
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          onInput={setTyped}
        />
        <p class="row">
          <Button type="submit" look="primary">
            Look it up
          </Button>
          <Button aria-pressed={camera} onClick={() => setCamera(!camera)}>
            {camera ? "Stop the camera" : "Use the camera"}
          </Button>
        </p>
      </form>
      {camera && <Camera onCode={(code) => latest.current(code)} />}
    </div>
  );
}

function Camera({ onCode }: { onCode: (code: string) => void }) {
  const video = useRef<HTMLVideoElement>(null);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    const stop = new AbortController();
    watchCamera(video.current!, onCode, stop.signal).catch((error: Error) =>
      setProblem(`The camera cannot be used. ${error.message}`),
    );
    return () => stop.abort();
  }, []);
  return problem ? (
    <p class="note warn" role="alert">
      {problem}
    </p>
  ) : (
    <video ref={video} class="camera" muted playsInline aria-label="What the camera sees" />
  );
}
