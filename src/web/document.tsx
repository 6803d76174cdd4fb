import { renderToString } from "preact-render-to-string";
import { type Address, href, type PageContext, withPageContext } from "./address.ts";
import type { Bundle } from "./make-bundle.ts";
import { type Page, PageView } from "./page.tsx";

/** A page as HTML: what can be shown without data is there before any script runs. */
export function pageDocument(
  page: Page,
  address: Address,
  bundle: Bundle,
  surroundings: PageContext,
): string {
  const [script, ...imports] = bundle.scripts[page.name].map((name) => `/assets/${name}`);
  const html = withPageContext(surroundings, () =>
    renderToString(
      <html
        lang="en"
        data-base={surroundings.base}
        data-session={surroundings.session ? "" : undefined}
        data-provider={surroundings.provider || undefined}
      >
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="color-scheme" content="light dark" />
          <title>{`${page.title} · labd`}</title>
          <link rel="icon" type="image/svg+xml" href={href("/assets/icon.svg")} />
          <link rel="stylesheet" href={href(`/assets/${bundle.style}`)} />
          {imports.map((name) => (
            <link key={name} rel="modulepreload" href={href(name)} />
          ))}
          <script type="module" src={href(script)} />
        </head>
        <body>
          <div id="page">
            <PageView page={page} address={address} />
          </div>
          <noscript>
            <p class="note">This page needs JavaScript; the same can be done with the interfaces at /docs.</p>
          </noscript>
        </body>
      </html>,
    ),
  );
  return `<!doctype html>\n${html}`;
}

/** The mark in the tab: residues, one of them conserved. */
export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0a5f75"/><g fill="#fff"><rect x="6" y="17" width="4" height="9" rx="1.5" opacity=".6"/><rect x="12" y="6" width="4" height="20" rx="1.5"/><rect x="18" y="12" width="4" height="14" rx="1.5" opacity=".8"/><rect x="24" y="20" width="3" height="6" rx="1.5" opacity=".6"/></g></svg>`;
