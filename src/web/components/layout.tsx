import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { Icon } from "./icon.tsx";

/** The head of a page: breadcrumbs, title, a line below it, and buttons, at most one of them primary. */
export function PageHead(props: {
  title: ComponentChildren;
  crumbs?: readonly { name: string; href: string }[];
  children?: ComponentChildren;
  actions?: ComponentChildren;
}) {
  return (
    <header>
      {props.crumbs && (
        <nav aria-label="Breadcrumbs">
          <ol class="crumbs">
            {props.crumbs.map(({ name, href }) => (
              <li key={href}>
                <a href={href}>{name}</a>
              </li>
            ))}
          </ol>
        </nav>
      )}
      <div class="page-head">
        <div>
          <h1>{props.title}</h1>
          {props.children && <div class="lead">{props.children}</div>}
        </div>
        {props.actions && <div class="actions">{props.actions}</div>}
      </div>
    </header>
  );
}

/** A titled box. `bare`: the content, such as a table or list, reaches the edges. */
export function Card(props: {
  title: string;
  count?: string | number | undefined;
  actions?: ComponentChildren;
  foot?: ComponentChildren;
  bare?: boolean;
  children: ComponentChildren;
}) {
  const id = useId();
  return (
    <section class="card" aria-labelledby={id}>
      <div class="card-head">
        <h2 id={id}>
          {props.title} {props.count !== undefined && <span class="count">{props.count}</span>}
        </h2>
        {props.actions}
      </div>
      {props.bare ? props.children : <div class="card-body">{props.children}</div>}
      {props.foot && <div class="card-foot">{props.foot}</div>}
    </section>
  );
}

/** A card that shows its content on demand. */
export const ClosedCard = (props: {
  title: ComponentChildren;
  /** A few words about the content. */
  note?: string;
  open?: boolean;
  bare?: boolean;
  children: ComponentChildren;
}) => (
  <details class="card disclosed" open={props.open}>
    <summary class="card-head">
      <Icon name="chevron-right" />
      {props.title} {props.note && <small class="end">{props.note}</small>}
    </summary>
    {props.bare ? props.children : <div class="card-body">{props.children}</div>}
  </details>
);

/** The initials of a person or a group in a circle. */
export function Avatar({ name }: { name: string }) {
  const [first, ...others] = name.split(/\s+/);
  const initials = others.length > 0 ? first.slice(0, 1) + others.at(-1)!.slice(0, 1) : first.slice(0, 2);
  return <span class="avatar" aria-hidden="true" data-initials={initials.toUpperCase()} />;
}

type Tone = "ok" | "warn" | "danger";

/** A category or a state in a word or two. */
export const Tag = ({ tone, children }: { tone?: Tone | undefined; children: ComponentChildren }) => (
  <span class={tone ? `tag tag-${tone}` : "tag"}>{children}</span>
);

/** Names and values, one pair a line; pairs without a value are left out. */
export const KeyValues = ({ of: pairs }: { of: readonly (readonly [string, ComponentChildren])[] }) => (
  <dl class="kv">
    {pairs
      .filter(([, value]) => value !== undefined && value !== null && value !== false && value !== "")
      .flatMap(([name, value]) => [<dt key={name}>{name}</dt>, <dd key={`${name}=`}>{value}</dd>])}
  </dl>
);
