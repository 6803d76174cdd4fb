import type { ComponentChildren } from "preact";
import { useId, useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "./button.tsx";
import { Toasts } from "./toast.tsx";

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  /** Buttons, the primary one first. */
  actions?: ComponentChildren;
  /** Adds a Cancel button to them. */
  cancel?: boolean;
  wide?: boolean;
}

/** A modal dialog: the browser keeps the focus in it, Escape closes it, and the focus returns afterwards. */
export function Dialog({ title, onClose, children, actions, cancel, wide }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  // Before the picture: keys that follow at once are for the dialog, not for shortcuts of the page.
  useLayoutEffect(() => {
    const opened = dialog.current;
    const before = document.activeElement;
    opened?.showModal();
    // Focus does not go to a button, which Space would press.
    const first = opened?.querySelector<HTMLElement>(
      ".dialog-body :is(input, select, textarea):not(:disabled)",
    );
    (first ?? opened?.querySelector("h2"))?.focus();
    if (first instanceof HTMLInputElement) first.select();
    return () => {
      opened?.close();
      // The dialog is gone from the page by now, so the browser does not do this.
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      class={wide ? "dialog dialog-wide" : "dialog"}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div class="dialog-head">
        <h2 id={id} tabIndex={-1}>
          {title}
        </h2>
        <Button look="quiet" small icon="x" aria-label="Close" onClick={onClose} />
      </div>
      <div class="dialog-body">
        {children}
        {actions && (
          <div class="actions">
            {actions}
            {cancel && (
              <Button look="quiet" onClick={onClose}>
                Cancel
              </Button>
            )}
          </div>
        )}
      </div>
      <Toasts />
    </dialog>
  );
}
