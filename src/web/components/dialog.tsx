import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";

/** A dialog over the page: the browser keeps the focus in it, Escape closes it, and the focus goes back after. */
export function Dialog(props: {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
  /** Buttons, the one that is wanted most first. */
  actions?: ComponentChildren;
}) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const opened = dialog.current;
    opened?.showModal();
    return () => opened?.close();
  }, []);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        props.onClose();
      }}
    >
      <header>
        <h2 id={id}>{props.title}</h2>
        <button type="button" class="quiet" aria-label="Close" onClick={props.onClose}>
          ×
        </button>
      </header>
      {props.children}
      {props.actions && <div class="actions">{props.actions}</div>}
    </dialog>
  );
}
