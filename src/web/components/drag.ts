import { useState } from "preact/hooks";

/** A hook for elements that can be dragged onto each other, each with a value. */
export function draggable<Value>() {
  /** The browser shows the data of a drag only after the drop. */
  let dragged: Value | undefined;
  return function useDrag(props: {
    /** Undefined or null for an element that takes others, but does not move. */
    value: Value | null | undefined;
    name: string;
    accepts: (value: Value) => boolean;
    onDrop: (value: Value) => void;
  }) {
    const { value, name, accepts, onDrop } = props;
    const [isTarget, setTarget] = useState(false);
    const isAccepted = (): boolean => dragged !== undefined && accepts(dragged);
    const attributes = {
      draggable: value !== undefined && value !== null,
      onDragStart(event: DragEvent) {
        dragged = value ?? undefined;
        event.dataTransfer?.setData("text/plain", name);
      },
      onDragEnd: () => (dragged = undefined),
      onDragOver(event: DragEvent) {
        if (!isAccepted()) return;
        event.preventDefault();
        setTarget(true);
      },
      onDragLeave: () => setTarget(false),
      onDrop(event: DragEvent) {
        event.preventDefault();
        setTarget(false);
        if (isAccepted()) onDrop(dragged!);
      },
    };
    return { isTarget, attributes };
  };
}
