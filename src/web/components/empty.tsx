import type { ComponentChildren } from "preact";

/** What is shown where nothing is yet: what would be here, and what to do so that it is. */
export function Empty({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <section class="empty">
      <h2>{title}</h2>
      {children}
    </section>
  );
}
