import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

/** What opens below a button; a click elsewhere, or Escape, closes it. */
export function Menu({
  label,
  children,
  onOpen,
}: {
  label: ComponentChildren;
  children: ComponentChildren;
  onOpen?: () => void;
}) {
  const box = useRef<HTMLDetailsElement>(null);
  useEffect(() => {
    const away = (event: Event): void => {
      if (box.current?.open && !box.current.contains(event.target as Node)) box.current.open = false;
    };
    document.addEventListener("pointerdown", away);
    return () => document.removeEventListener("pointerdown", away);
  }, []);
  return (
    <details
      ref={box}
      class="menu screen"
      onToggle={() => box.current?.open && onOpen?.()}
      onKeyDown={(event) => {
        if (event.key !== "Escape" || !box.current?.open) return;
        event.stopPropagation();
        box.current.open = false;
        box.current.querySelector("summary")?.focus();
      }}
    >
      <summary class="button">{label}</summary>
      <div class="menu-body">{children}</div>
    </details>
  );
}
