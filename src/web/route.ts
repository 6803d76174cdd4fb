import { type AnyElysia, Elysia } from "elysia";
import { Problem } from "../problem.ts";
import type { PageContext } from "./address.ts";
import { bundle } from "./bundle.ts";
import { ICON, pageDocument } from "./document.tsx";
import type { Asset } from "./make-bundle.ts";
import { addressOf, type Page } from "./page.tsx";
import { PAGES } from "./pages.ts";
import { missingPage } from "./pages/missing.tsx";

/** Nothing but scripts, styles and requests of this server; WebAssembly on pages that read barcodes from the camera. */
const policyOf = ({ camera }: Page): string =>
  `default-src 'none'; script-src 'self'${camera ? " 'wasm-unsafe-eval'" : ""}; style-src 'self'; font-src data:; ` +
  "img-src 'self' blob:; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'; " +
  "require-trusted-types-for 'script'";

const HIDDEN = { parse: "none", detail: { hide: true } } as const;
/** The name of an asset holds its hash: what it names never changes. */
const FOR_EVER = "public, max-age=31536000, immutable";

/** How pages find out about their surroundings. */
type SurroundingsOf = (request: Request) => PageContext;

/** Whether a key opens a page that needs one. */
type Opens = (page: string, key: string) => boolean;

/** The pages that people use, and what they load. A page that needs a key is not there without one that opens it. */
export function webRoutes(surroundingsOf: SurroundingsOf, opens: Opens = () => false): AnyElysia {
  const app = new Elysia({ name: "web" })
    .get("/assets/icon.svg", () => icon(), HIDDEN)
    .get("/assets/:name", ({ request, params }) => asset(request, params.name ?? ""), HIDDEN)
    .all("/assets/:name", () => refuse(), HIDDEN);
  for (const page of PAGES) {
    for (const path of page.paths) {
      app
        .get(path, ({ request }) => showOpen(page, request, surroundingsOf(request), opens), HIDDEN)
        .all(path, () => refuse(), HIDDEN);
    }
  }
  return app as unknown as AnyElysia;
}

/** The page that says that there is none, for a browser that asked for one; undefined for programs. */
export async function pageForMissing(request: Request, around: PageContext): Promise<Response | undefined> {
  const isPage = request.method === "GET" && request.headers.get("accept")?.includes("text/html");
  return isPage ? show(missingPage, request, around, 404) : undefined;
}

function showOpen(page: Page, request: Request, around: PageContext, opens: Opens): Promise<Response> {
  const key = new URL(request.url).searchParams.get("key") ?? "";
  if (page.keyed && !opens(page.name, key)) return show(missingPage, request, around, 404);
  return show(page, request, around);
}

async function show(page: Page, request: Request, around: PageContext, status = 200): Promise<Response> {
  const { pathname: path, searchParams: search } = new URL(request.url);
  const address = addressOf(page, path, search) ?? { path, params: {}, search };
  return new Response(pageDocument(page, address, await bundle(), around), {
    status,
    headers: {
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": policyOf(page),
      "Cache-Control": "no-cache",
    },
  });
}

let byName: Map<string, Asset> | undefined;

async function asset(request: Request, name: string): Promise<Response> {
  byName ??= new Map((await bundle()).assets.map((one) => [one.name, one]));
  const found = byName.get(name);
  if (!found) throw new Problem("not_found", "Not found. Load the page again: it is of another version.");
  const headers = { "Content-Type": found.contentType, "Cache-Control": FOR_EVER };
  const gzip = Buffer.from(found.gzip, "base64");
  // Compressed at the build already; where it may not be, it is sent as it was.
  if (/\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/i.test(request.headers.get("accept-encoding") ?? "")) {
    return new Response(gzip, {
      headers: { ...headers, "Content-Encoding": "gzip", Vary: "Accept-Encoding" },
    });
  }
  return new Response(Bun.gunzipSync(gzip), { headers });
}

const icon = (): Response =>
  new Response(ICON, {
    headers: { "Content-Type": "image/svg+xml", "Cache-Control": "public, max-age=86400" },
  });

function refuse(): never {
  throw new Problem("method_not_allowed", "Method not allowed. Allowed: GET, HEAD.", { allow: "GET, HEAD" });
}
