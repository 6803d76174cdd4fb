/** What the page shows besides the answer itself. */
export interface Shown {
  title: string;
  summary: string;
  method: string;
  /** Address of the request. */
  address: string;
  status: string;
  headers: Readonly<Record<string, string>>;
  /** Path from the root to here. */
  trail: readonly { name: string; address: string }[];
  /** Links that make sense from here, such as the next page. */
  links: readonly { name: string; address: string | null }[];
}

const STYLE = `
:root { color-scheme: light dark }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 1.5rem auto; padding: 0 1rem }
pre { font: 13px/1.5 ui-monospace, monospace; overflow-x: auto; padding: 1rem; border: 1px solid #8884; border-radius: 6px }
nav a { margin-right: 1rem }
h1 { font-size: 1.4rem; margin-bottom: 0 }`;

/** An answer as a page that needs no script: the JSON itself, in which every address is a link. */
export function browsablePage(shown: Shown, value: unknown): string {
  const headers = Object.entries(shown.headers).map(([name, value]) => `${name}: ${value}`);
  const trail = shown.trail.map(({ name, address }) => anchor(address, name)).join(" › ");
  const links = shown.links
    .filter(({ address }) => address !== null)
    .map(({ name, address }) => anchor(address!, name))
    .join(" ");
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(shown.title)} · labd</title>
<style>${STYLE}</style>
</head>
<body>
<nav aria-label="Path">${trail}</nav>
<h1>${escaped(shown.title)}</h1>
<p>${escaped(shown.summary)}</p>
<nav aria-label="Pages and forms">${links}</nav>
<pre>${escaped(`${shown.method} ${shown.address}`)}</pre>
<pre><b>HTTP ${escaped(shown.status)}</b>
${escaped(headers.join("\n"))}

${linked(escaped(JSON.stringify(value, null, 4)))}</pre>
</body>
</html>
`;
}

const anchor = (address: string, name: string): string =>
  `<a href="${escaped(address)}">${escaped(name)}</a>`;

/** Strings that are addresses become links; the text is escaped already, so a quote is `&quot;`. */
function linked(text: string): string {
  return text.replace(
    /&quot;(https?:\/\/[^\s<>]*?)&quot;/g,
    (_, address: string) => `&quot;<a href="${address}">${address}</a>&quot;`,
  );
}

const ENTITIES: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character]);
}
