import type { ComponentChildren } from "preact";
import { Icon, type IconName } from "./icon.tsx";

/** Shown instead of a list without entries: what belongs here, and how to add it. */
export function Empty(props: { title: string; icon?: IconName; children: ComponentChildren }) {
  return (
    <section class="empty">
      {props.icon && <Icon name={props.icon} />}
      <h2>{props.title}</h2>
      {props.children}
    </section>
  );
}
