import { renderToString } from "preact-render-to-string";
import { type Address, href, type PageContext, withPageContext } from "./address.ts";
import type { Bundle } from "./make-bundle.ts";
import { type Page, PageView } from "./page.tsx";
import { describePage } from "./structured-data.ts";
import { VERSION } from "../version.ts";

/** A page as HTML, with everything that needs no data. */
export const renderPage = (page: Page, address: Address, bundle: Bundle, context: PageContext): string =>
  `<!doctype html>\n${withPageContext(context, () =>
    renderToString(<Document page={page} address={address} bundle={bundle} context={context} />).replace(
      "</head>",
      () => `${structuredData(page, address)}</head>`,
    ),
  )}`;

/** A block of data, which is no script: its text must not be escaped as HTML, and must not end the block. */
function structuredData(page: Page, address: Address): string {
  const data = describePage(page, address, { version: VERSION, href });
  return data === undefined
    ? ""
    : `<script type="application/ld+json">${JSON.stringify(data).replaceAll("<", "\\u003c")}</script>`;
}

function Document(props: { page: Page; address: Address; bundle: Bundle; context: PageContext }) {
  const { page, address, bundle, context } = props;
  const [script, ...imports] = bundle.scripts[page.name].map((name) => href(`/assets/${name}`));
  return (
    <html
      lang="en"
      data-base={context.base}
      data-session={context.session ? "" : undefined}
      data-person={context.person || undefined}
      data-provider={context.provider || undefined}
    >
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${page.title} · labd`}</title>
        <link rel="icon" type="image/svg+xml" href={href("/assets/icon.svg")} />
        <link rel="manifest" href={href("/assets/manifest.webmanifest")} />
        <link rel="apple-touch-icon" href={href(`/assets/${bundle.icons[192]}`)} />
        <meta name="theme-color" content="#0b6a56" />
        <link rel="stylesheet" href={href(`/assets/${bundle.style}`)} />
        {imports.map((address) => (
          <link key={address} rel="modulepreload" href={address} />
        ))}
        <script type="module" src={script} />
      </head>
      <body>
        <div id="page">
          <PageView page={page} address={address} />
        </div>
        <noscript>
          <p class="note">This page needs JavaScript. Programs can use the interfaces described at /docs.</p>
        </noscript>
      </body>
    </html>
  );
}
