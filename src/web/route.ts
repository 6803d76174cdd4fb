import { type AnyElysia, Elysia } from "elysia";
import { Problem } from "../problem.ts";
import { href, type PageContext, withPageContext } from "./address.ts";
import { bundle } from "./bundle.ts";
import { LOGO } from "./components/icon.tsx";
import { renderPage } from "./document.tsx";
import { HELP_TOPICS } from "./help-topics.ts";
import type { Asset, Bundle } from "./make-bundle.ts";
import { toHtml } from "./markdown.ts";
import { parseAddress, type Page } from "./page.tsx";
import { PAGES } from "./pages.ts";
import { apiPage } from "./pages/api.tsx";
import { clientsPage } from "./pages/clients.tsx";
import { helpPage } from "./pages/help.tsx";
import { missingPage } from "./pages/missing.tsx";
import { referencePage } from "./pages/reference.tsx";
import { usedLinkPage } from "./pages/used-link.tsx";
import { type FindLink, printJson } from "./print-json.ts";
import { referenceIndex, referenceOperation } from "./reference.ts";
import type { Client } from "../platform/clients.ts";
import type { OpenApi } from "../platform/openapi.ts";

/** Only scripts, styles and requests of this server; WebAssembly on pages that read barcodes from the camera. */
const contentPolicy = ({ camera }: Page): string =>
  `default-src 'none'; script-src 'self'${camera ? " 'wasm-unsafe-eval'" : ""}; style-src 'self'; font-src data:; ` +
  "img-src 'self' blob:; connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; " +
  "require-trusted-types-for 'script'";

const HIDE = { parse: "none", detail: { hide: true } } as const;

/**
 * The pages, and their scripts and styles.
 * @param makeContext what a page needs to know about a request
 * @param opens whether a key opens a keyed page
 */
export function webRoutes(
  makeContext: (request: Request) => PageContext,
  opens: (page: string, key: string) => boolean,
): AnyElysia {
  const app = new Elysia({ name: "web" })
    .get("/service-worker.js", () => serviceWorker(), HIDE)
    .get("/assets/icon.svg", icon, HIDE)
    .get("/assets/manifest.webmanifest", ({ request }) => manifest(makeContext(request)), HIDE)
    .get("/assets/:name", ({ request, params }) => sendAsset(request, params.name), HIDE);
  const answer = async (page: Page, request: Request): Promise<Response> => {
    const moved = page.currentAddress?.(parseAddress(page, new URL(request.url)));
    if (moved) {
      const address = withPageContext(makeContext(request), () => href(...moved));
      return new Response(null, { status: 301, headers: { Location: address } });
    }
    const key = new URL(request.url).searchParams.get("key");
    // A page that was opened with its key is reloaded without.
    const isOpen = !page.keyed || key === null || opens(page.name, key);
    return isOpen
      ? show(page, request, makeContext(request))
      : show(usedLinkPage, request, makeContext(request), 404);
  };
  for (const page of PAGES)
    for (const path of page.paths) app.get(path, ({ request }) => answer(page, request), HIDE);
  return app;
}

/** The page for browsers at an unknown address; undefined for programs. */
export async function renderMissingPage(
  request: Request,
  context: PageContext,
): Promise<Response | undefined> {
  const wantsPage = request.method === "GET" && request.headers.get("accept")?.includes("text/html");
  return wantsPage ? show(missingPage, request, context, 404) : undefined;
}

/** The page that shows JSON of an API, with links; status and other headers stay. It has no entity tag, because it names the caller. */
export async function renderJsonPage(
  request: Request,
  response: Response,
  { context, findLink }: { context: PageContext; findLink: FindLink },
): Promise<Response> {
  const json: unknown = JSON.parse(await response.text());
  const { pathname, search } = new URL(request.url);
  const head = Bun.escapeHTML(
    `${request.method} ${context.base}${pathname}${search}\nHTTP ${response.status}`,
  );
  const content = `<pre tabindex="0">${head}\n\n${printJson(json, findLink, context.base)}</pre>`;
  const page = await show(apiPage, request, { ...context, content }, response.status);
  const headers = new Headers(response.headers);
  headers.delete("etag");
  for (const name of ["content-type", "content-security-policy"]) headers.set(name, page.headers.get(name)!);
  return new Response(page.body, { status: response.status, headers });
}

/** The reference of the API, or of one operation. @throws Problem not_found */
export function renderReferencePage(
  request: Request,
  document: OpenApi,
  context: PageContext,
): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url);
  const [, id] = /^\/docs\/operations\/([^/]+)/.exec(pathname) ?? [];
  const markdown = id
    ? referenceOperation(document, id)
    : referenceIndex(document, searchParams.get("q") ?? "");
  if (markdown === undefined) throw new Problem("not_found", "Not found. /docs lists all operations.");
  const content = withBase(toHtml(markdown), context.base);
  return show(referencePage, request, { ...context, content });
}

/** The clients of this version, with the commands that install them. */
export function renderClientsPage(
  request: Request,
  clients: readonly Client[],
  context: PageContext,
): Promise<Response> {
  const sections = clients.map(
    ({ name, language, url, bytes, sha256, install }) =>
      `## ${language}\n\n\`\`\`\n${install}\n\`\`\`\n\n[${name}](${url}), ${Math.ceil(bytes / 1000)} KB. SHA-256 \`${sha256}\``,
  );
  const head =
    clients.length === 0
      ? "The clients are part of the compiled executable. This server runs from source."
      : "Packages for this version of the server. They need no other server, except for the packages that they use: requests in Python, httr2 and jsonlite in R.";
  const content = toHtml([head, ...sections].join("\n\n"));
  return show(clientsPage, request, { ...context, content });
}

async function show(page: Page, request: Request, context: PageContext, status = 200): Promise<Response> {
  const made = await bundle();
  const address = parseAddress(page, new URL(request.url));
  const topic = address.path.split("/")[2] ?? HELP_TOPICS[0].name;
  const content = page === helpPage ? helpText(made, topic, context.base) : (context.content ?? "");
  const html = renderPage(page, address, made, { ...context, content });
  const headers = {
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": contentPolicy(page),
    "Cache-Control": "no-cache",
  };
  return new Response(html, { status, headers });
}

/** The text of a chapter of the documentation as HTML. */
export const readHelp = async (name: string): Promise<string> => helpText(await bundle(), name, "");

/** The text of a chapter, with the service's path in its links. */
function helpText({ help }: Bundle, name: string, base: string): string {
  const html = new TextDecoder().decode(Bun.gunzipSync(Uint8Array.fromBase64(help[name])));
  return withBase(html, base);
}

/** Links and pictures below the path of the service. */
const withBase = (html: string, base: string): string => html.replaceAll(/ (href|src)="\//g, ` $1="${base}/`);

let byName: ReadonlyMap<string, Asset> | undefined;

async function sendAsset(request: Request, name: string): Promise<Response> {
  byName ??= new Map((await bundle()).assets.map((asset) => [asset.name, asset]));
  const asset = byName.get(name);
  if (!asset) throw new Problem("not_found", "Not found. Reload the page: it belongs to another version.");
  const gzip = Buffer.from(asset.gzip, "base64");
  const headers = {
    "Content-Type": asset.contentType,
    // The name contains a hash of the content.
    "Cache-Control": "public, max-age=31536000, immutable",
  };
  if (!/\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(request.headers.get("accept-encoding") ?? ""))
    return new Response(Bun.gunzipSync(gzip), { headers });
  return new Response(gzip, { headers: { ...headers, "Content-Encoding": "gzip", Vary: "Accept-Encoding" } });
}

/** A worker obeys the policy that comes with its script. */
const WORKER_POLICY = "default-src 'none'; script-src 'self'; connect-src 'self'";

async function serviceWorker(): Promise<Response> {
  const { worker, assets } = (await bundle()).offline;
  const version = Bun.hash(worker + assets.join()).toString(36);
  const headers = {
    "Content-Type": "text/javascript; charset=utf-8",
    "Content-Security-Policy": WORKER_POLICY,
    "Cache-Control": "no-cache",
  };
  return new Response(`const OFFLINE=${JSON.stringify({ version, assets })};\n${worker}`, { headers });
}

/** The manifest with which browsers install the application. */
async function manifest(context: PageContext): Promise<Response> {
  const { icons } = await bundle();
  const content = withPageContext(context, () => ({
    name: "labd",
    short_name: "labd",
    id: href("/"),
    start_url: href("/"),
    scope: href("/"),
    display: "standalone",
    theme_color: "#0b6a56",
    background_color: "#ffffff",
    icons: Object.entries(icons).flatMap(([size, name]) =>
      ["any", "maskable"].map((purpose) => ({
        src: href(`/assets/${name}`),
        sizes: `${size}x${size}`,
        type: "image/png",
        purpose,
      })),
    ),
    shortcuts: [
      { name: "Scan a code", url: href("/inventory/scan") },
      { name: "Stocktakes", url: href("/inventory/stocktakes") },
    ],
  }));
  const headers = { "Content-Type": "application/manifest+json", "Cache-Control": "no-cache" };
  return new Response(JSON.stringify(content), { headers });
}

const icon = (): Response =>
  new Response(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24"><rect width="24" height="24" rx="6" fill="#0b6a56"/><path d="${LOGO}" fill="#fff"/></svg>`,
    { headers: { "Content-Type": "image/svg+xml", "Cache-Control": "public, max-age=86400" } },
  );
