import { Html, markup } from "../../platform/html.ts";
import type { Json } from "../model/field.ts";
import { targetOf } from "../model/resource.ts";
import { MEDIA_TYPES } from "./negotiation.ts";
import { DECLARED, type RoutedResource } from "../resources/index.ts";
import type { Problem } from "../../problem.ts";

export interface Link {
  name: string;
  url: string | null;
}

export interface BrowsablePage {
  title: string;
  summary: string;
  method: string;
  url: string;
  status: string;
  headers: Readonly<Record<string, string>>;
  /** From the root to this page. */
  trail: readonly Link[];
  /** Related pages, such as the next one. */
  links: readonly Link[];
  session?: Html;
  /** The first is shown above the response, the others below. */
  forms?: readonly Html[];
  /** URL for a value in the response, by its key. */
  linkOf?: (key: string, value: string | number) => string | undefined;
}

/** WCAG 2.2, level AA: contrast of at least 4.5:1 in both colour schemes, wrapped lines, visible focus. */
const STYLE = `
:root { color-scheme: light dark; --line: #8a8a8a; --soft: #f4f5f7; --link: #0b57c2; --key: #7a1f5c; --text: #1c6b1c; --number: #9a3c00; --literal: #4b3fb5; --danger: #b00020 }
@media (prefers-color-scheme: dark) { :root { --line: #8a8a8a; --soft: #22252b; --link: #8ab8ff; --key: #f0a3d4; --text: #8fd18f; --number: #ffb07a; --literal: #b9b2ff; --danger: #ff8a8a } }
* { box-sizing: border-box }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 76rem; margin: 0 auto; padding: 1rem }
a { color: var(--link) } a:focus-visible, button:focus-visible, input:focus-visible, select:focus-visible, textarea:focus-visible, summary:focus-visible { outline: 3px solid var(--link); outline-offset: 2px }
h1 { font-size: 1.5rem; margin: .5rem 0 0 } nav a { display: inline-block; padding: .25rem 0; margin-right: 1rem }
pre { font: 14px/1.5 ui-monospace, monospace; background: var(--soft); border: 1px solid var(--line); border-radius: 6px; padding: .75rem; white-space: pre-wrap; overflow-wrap: anywhere }
.k { color: var(--key) } .s { color: var(--text) } .n { color: var(--number) } .l { color: var(--literal) }
details.form { border: 1px solid var(--line); border-radius: 6px; margin: .75rem 0; padding: 0 .75rem } summary { padding: .5rem 0; cursor: pointer; font-weight: 600 }
.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr)); gap: 0 1rem } form p { margin: .5rem 0 }
label { display: block; font-size: .9rem } .choices label { display: inline; font-size: 1rem } .choices { list-style: none; padding: 0; margin: 0; columns: 18rem }
input, select, textarea, button { font: inherit; color: inherit } input:not([type=checkbox]), select, textarea { width: 100%; padding: .3rem .5rem; border: 1px solid var(--line); border-radius: 4px; background: Canvas }
textarea { font: 14px/1.5 ui-monospace, monospace } button { padding: .4rem .9rem; margin: .5rem .5rem .75rem 0; border: 1px solid var(--line); border-radius: 4px; background: var(--soft); cursor: pointer }
.danger { color: var(--danger); border-color: currentColor } fieldset { border: 1px solid var(--line); border-radius: 4px; margin: 0 0 .5rem }
form.session { display: flex; flex-wrap: wrap; gap: 0 1rem; align-items: center } .session button { margin: .25rem 0 } .hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
.skip { position: absolute; left: -99rem } .skip:focus { left: 1rem; background: Canvas; padding: .5rem }`;

/** A JSON response as a page without scripts, in which URLs and references are links. */
export function browsablePage(page: BrowsablePage, value: Json): string {
  const { title, summary, method, url, status, trail, links, session, forms, linkOf } = page;
  const headers = Object.entries(page.headers).map(([name, text]) => markup`${name}: ${text}`);
  const anchor = (link: Link): Html => markup`<a href="${link.url!}">${link.name}</a>`;
  return markup`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · labd</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<a class="skip" href="#answer">Skip to the response</a>
<header>
<nav aria-label="Path">${trail.map(anchor)}</nav>
${session}
</header>
<main>
<h1>${title}</h1>
<p>${summary}</p>
<nav aria-label="Related pages">${links.filter((link) => link.url !== null).map(anchor)}</nav>
${forms?.[0]}
<pre><b>${method}</b> ${url}</pre>
<pre id="answer" tabindex="-1"><b>HTTP ${status}</b>
${joined(headers, "\n")}

${printed(value, "", "", linkOf ?? (() => undefined))}</pre>
${forms?.slice(1)}
</main>
</body>
</html>
`.text;
}

const joined = (parts: readonly Html[], between: string): Html =>
  new Html(parts.map(({ text }) => text).join(between));

/** JSON indented by four blanks, with syntax highlighting. */
function printed(
  value: Json,
  key: string,
  indent: string,
  linkOf: NonNullable<BrowsablePage["linkOf"]>,
): Html {
  const inner = `${indent}    `;
  if (Array.isArray(value)) {
    if (value.length === 0) return markup`[]`;
    const items = value.map((item) => markup`${inner}${printed(item, key, inner, linkOf)}`);
    return markup`[\n${joined(items, ",\n")}\n${indent}]`;
  }
  if (value !== null && typeof value === "object") {
    const entries = Object.entries(value);
    if (entries.length === 0) return markup`{}`;
    const members = entries.map(([name, item]) => {
      const shown = printed(item, name, inner, linkOf);
      return markup`${inner}<span class="k">${JSON.stringify(name)}</span>: ${shown}`;
    });
    return markup`{\n${joined(members, ",\n")}\n${indent}}`;
  }
  const kind = typeof value === "string" ? "s" : typeof value === "number" ? "n" : "l";
  const text = JSON.stringify(value);
  const marked = markup`<span class="${kind}">${text}</span>`;
  if (typeof value !== "string" && typeof value !== "number") return marked;
  const url = /^https?:\/\/[^\s<>"']+$/.test(String(value)) ? String(value) : linkOf(key, value);
  return url === undefined ? marked : markup`<a class="${kind}" href="${url}">${text}</a>`;
}

/** URLs of a record and of the records that it refers to by id. */
export function linksOf(resource: RoutedResource, base: string): NonNullable<BrowsablePage["linkOf"]> {
  return (key, value) => {
    const field = Object.hasOwn(resource.fields, key) ? resource.fields[key] : undefined;
    if (key === "id") return `${base}${resource.segment}/${value}/?format=api`;
    if (field?.kind !== "reference" || value === "") return undefined;
    const far = targetOf(DECLARED, field);
    return far.segment !== null && far.shownAs === "id"
      ? `${base}${far.segment}/${value}/?format=api`
      : undefined;
  };
}

/** The page for a form that was rejected; `confirm` is the form that confirms it, where that is what is missing. */
export function browsableProblem(
  problem: Problem,
  resource: RoutedResource,
  list: string,
  confirm?: Html,
): Response {
  const { message, code, status, fields, more } = problem;
  const value = { ...(fields ?? { detail: message }), ...more, message, code } as Json;
  const page = {
    title: "Not saved",
    summary: confirm
      ? "This would show existing records to more people: those under exposes. Nothing was changed yet."
      : `${message} Nothing was changed. Go back to correct the form.`,
    ...(confirm ? { forms: [confirm] } : {}),
    method: "POST",
    url: list,
    status: String(status),
    headers: { "Content-Type": "application/json" },
    trail: [{ name: resource.segment, url: `${list}?format=api` }],
    links: [],
  };
  const headers = { ...problem.headers, "Content-Type": MEDIA_TYPES.api, "Cache-Control": "no-store" };
  return new Response(browsablePage(page, value), { status, headers });
}
