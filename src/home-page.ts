import { escapeHtml } from "./shell/html.ts";
import { VERSION } from "./version.ts";

/** The page at `/`: what is here and how to call it. Plain HTML: it needs neither scripts nor a wide screen. `path`: before all addresses. */
export function homePage(corpus: string | null, path: string): string {
  const base = escapeHtml(path);
  const source =
    corpus === null
      ? "no corpus yet: <code>labd corpus add FILE</code>"
      : `corpus <b>${escapeHtml(corpus)}</b>`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>labd</title>
<style>
  :root { color-scheme: light dark; --line: light-dark(#d5d9e0, #3a404a); --link: light-dark(#0b5cad, #8ec5ff); }
  body { font: 17px/1.55 system-ui, sans-serif; max-width: 44rem; margin: 0 auto; padding: 2.5rem 1.25rem; }
  h1 { font-size: 1.9rem; margin: 0; } h2 { font-size: 1.15rem; margin: 0 0 .35rem; }
  p { margin: .35rem 0; } a { color: var(--link); } a:focus-visible { outline: 3px solid; outline-offset: 2px; }
  section { border: 1px solid var(--line); border-radius: .6rem; padding: 1rem 1.2rem; margin: 1.2rem 0; }
  ul { margin: .4rem 0 0; padding-left: 1.2rem; } code { font-size: .92em; overflow-wrap: anywhere; }
  footer { opacity: .75; font-size: .9rem; }
</style>
</head>
<body>
<main>
<h1>labd</h1>
<p>Conservation of short linear motifs, and the laboratory's inventory: two services in one executable.</p>
<section aria-labelledby="scoring">
<h2 id="scoring">Conservation scoring</h2>
<p>Is this motif match conserved in the homologs, so that it is likely to be real? Answered over SOAP, from ${source}.</p>
<ul>
<li><a href="${base}/soap/ConservationScorer">How to call it</a></li>
<li><a href="${base}/soap/ConservationScorer?wsdl">WSDL</a></li>
</ul>
</section>
<section aria-labelledby="inventory">
<h2 id="inventory">Inventory and metadata</h2>
<p>Locations, places, annotation types and custom property types, as JSON or as pages.</p>
<ul>
<li><a href="${base}/api/v2/locations/?format=api">Locations</a></li>
<li><a href="${base}/api/v2/places/?format=api">Places</a></li>
<li><a href="${base}/api/v2/annotationtypes/?format=api">Annotation types</a></li>
<li><a href="${base}/api/v2/custompropertytypes/?format=api">Custom property types</a></li>
</ul>
</section>
<section aria-labelledby="reference">
<h2 id="reference">Reference</h2>
<ul>
<li><a href="${base}/docs">Every address, parameter and answer</a> (<a href="${base}/docs/json">OpenAPI</a>)</li>
<li><a href="${base}/healthz">Alive?</a> · <a href="${base}/readyz">Ready?</a></li>
</ul>
</section>
</main>
<footer>labd ${escapeHtml(VERSION)}</footer>
</body>
</html>
`;
}
