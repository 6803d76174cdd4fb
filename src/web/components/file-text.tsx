import type { ComponentChildren, ComponentProps } from "preact";
import { useState } from "preact/hooks";
import { readTextFile } from "../text-file.ts";
import { TextArea } from "./field.tsx";
import { FileButton } from "./file-button.tsx";
import { withErrorToast } from "./toast.tsx";

interface FileTextProps extends ComponentProps<typeof TextArea> {
  /** What the file contains, and the extensions of its names. */
  file: { label: string; accept: string };
  /** A summary of the text. */
  status: ComponentChildren;
  /** Above the text. */
  before?: ComponentChildren;
  /** Below it. */
  children?: ComponentChildren;
}

/** A text that is pasted, dropped as text or files, or chosen as files. */
export function FileText({ file, status, before, children, ...area }: FileTextProps) {
  const [isTarget, setTarget] = useState(false);
  const take = (files: Iterable<File>): Promise<void> =>
    withErrorToast(async () => {
      const texts = await Promise.all(Array.from(files, readTextFile));
      if (texts.length > 0) area.onInput(texts.map((text) => text.trim()).join("\n"));
    });
  return (
    <div
      class={isTarget ? "drop over" : "drop"}
      onDragOver={(event) => {
        event.preventDefault();
        setTarget(true);
      }}
      onDragLeave={() => setTarget(false)}
      onDrop={(event) => {
        event.preventDefault();
        setTarget(false);
        const text = event.dataTransfer?.getData("text/plain");
        if (event.dataTransfer?.files.length) void take(event.dataTransfer.files);
        else if (text) area.onInput(text);
      }}
    >
      {before}
      <TextArea {...area} code spellcheck={false} autocapitalize="none" autocomplete="off" />
      <div class="row between">
        <span role="status">{status}</span>
        <FileButton {...file} onChoose={(files) => void take(files)}>
          Choose a file
        </FileButton>
      </div>
      {children}
    </div>
  );
}
