import type { ComponentChildren } from "preact";
import { href } from "../address.ts";
import { useFarm } from "./farm.ts";

/** The pages of the administration, in the order of its navigation. */
const PAGES = [
  { path: "/administration", name: "Health" },
  { path: "/administration/users", name: "People" },
  { path: "/administration/tokens", name: "Tokens" },
  { path: "/administration/corpora", name: "Corpora" },
  { path: "/administration/motif-classes", name: "Motif classes" },
  { path: "/administration/jobs", name: "Jobs" },
  { path: "/administration/farm", name: "Farm" },
  { path: "/administration/backups", name: "Backups" },
  { path: "/administration/audit", name: "Audit log" },
] as const;

/** Heading and navigation that all pages of the administration have. */
export function Administration(props: {
  path: (typeof PAGES)[number]["path"];
  title: string;
  children: ComponentChildren;
}) {
  const { value: farm } = useFarm();
  // A server that has no queue has no farm to look at.
  const shown = PAGES.filter(
    ({ path }) => path !== "/administration/farm" || path === props.path || farm?.enabled,
  );
  return (
    <>
      <nav class="sections" aria-label="Administration">
        <ul>
          {shown.map(({ path, name }) => (
            <li key={path}>
              <a href={href(path)} aria-current={path === props.path ? "page" : undefined}>
                {name}
              </a>
            </li>
          ))}
        </ul>
      </nav>
      <h1>{props.title}</h1>
      <div class="stack">{props.children}</div>
    </>
  );
}
