import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { Button } from "./button.tsx";

interface FileButtonProps {
  /** Label of the input, for screen readers. */
  label: string;
  /** Endings of the files that the dialog offers. */
  accept?: string;
  multiple?: boolean;
  busy?: boolean;
  onChoose: (files: readonly File[]) => void;
  children: ComponentChildren;
}

/** A button that opens the browser's choice of files. */
export function FileButton({ label, accept, multiple, busy = false, onChoose, children }: FileButtonProps) {
  const chooser = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button look="quiet" small icon="upload" busy={busy} onClick={() => chooser.current?.click()}>
        {children}
      </Button>
      <input
        ref={chooser}
        type="file"
        class="unseen"
        tabIndex={-1}
        aria-label={label}
        accept={accept}
        multiple={multiple}
        // Otherwise nothing happens when the same file is chosen again.
        onClick={(event) => (event.currentTarget.value = "")}
        onChange={({ currentTarget }) => onChoose(Array.from(currentTarget.files ?? []))}
      />
    </>
  );
}
