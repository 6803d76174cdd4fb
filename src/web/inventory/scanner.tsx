import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { Banner } from "../components/banner.tsx";
import { Button } from "../components/button.tsx";
import { TextField } from "../components/field.tsx";
import { watchCamera } from "./camera.ts";

/** Takes codes from a barcode scanner, which types and presses Enter, from the keyboard, or from the camera. */
export function Scanner({ onCode, hint }: { onCode: (code: string) => void; hint: string }) {
  const [text, setText] = useState("");
  const [isCameraOn, setCameraOn] = useState(false);
  const form = useRef<HTMLFormElement>(null);
  const latest = useRef(onCode);
  latest.current = onCode;
  const focus = (): void => form.current?.querySelector("input")?.focus();
  // Before the picture: codes scanned as soon as the field appears must count.
  useLayoutEffect(() => {
    focus();
    // A scanner types wherever the focus is: into the field, unless into another one. Shortcuts must not take it.
    const onKeyDown = (event: KeyboardEvent): void => {
      const { key, ctrlKey, metaKey } = event;
      const isTyping = document.activeElement?.matches("input:not([type=checkbox]), textarea, select");
      if (key.length !== 1 || key === " " || ctrlKey || metaKey || isTyping) return;
      event.stopPropagation();
      focus();
    };
    addEventListener("keydown", onKeyDown, true);
    return () => removeEventListener("keydown", onKeyDown, true);
  }, []);
  return (
    <div class="stack screen">
      <form
        ref={form}
        class="form"
        data-scanner
        onSubmit={(event) => {
          event.preventDefault();
          const code = text.trim();
          setText("");
          focus();
          if (code !== "") latest.current(code);
        }}
      >
        <TextField
          label="Code"
          hint={hint}
          value={text}
          code
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          onInput={setText}
        />
        <div class="actions">
          <Button type="submit" look="primary">
            Look up
          </Button>
          <Button icon="scan-line" aria-pressed={isCameraOn} onClick={() => setCameraOn(!isCameraOn)}>
            {isCameraOn ? "Stop the camera" : "Use the camera"}
          </Button>
        </div>
      </form>
      {isCameraOn && <Camera onCode={(code) => latest.current(code)} />}
    </div>
  );
}

function Camera({ onCode }: { onCode: (code: string) => void }) {
  const video = useRef<HTMLVideoElement>(null);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    const stop = new AbortController();
    watchCamera(video.current!, onCode, stop.signal).catch((error: Error) =>
      setProblem(`The camera cannot be used. ${error.message} Use a barcode scanner, or type the code.`),
    );
    return () => stop.abort();
  }, []);
  return problem ? (
    <Banner tone="warn" role="alert">
      {problem}
    </Banner>
  ) : (
    <video ref={video} class="camera" muted playsInline aria-label="Camera" />
  );
}
