/**
 * Where pages are. All links of all pages go through `href`, so that the whole service can live below a path such as
 * `/labd` behind a proxy.
 */

/** What the server tells a page of its surroundings. */
export interface PageContext {
  /** What stands before every path of ours: empty, or `/labd`. */
  base: string;
  /** Whether the browser has a session, which may be over. */
  session: boolean;
  /** What the provider is called by which people may sign in; empty where there is none. */
  provider?: string;
}

let around: PageContext =
  typeof document === "undefined"
    ? { base: "", session: false }
    : {
        base: document.documentElement.dataset.base ?? "",
        session: document.documentElement.dataset.session !== undefined,
        provider: document.documentElement.dataset.provider ?? "",
      };

/** Sets the surroundings while `render` runs; rendering is synchronous. For the server only. */
export function withPageContext<T>(surroundings: PageContext, render: () => T): T {
  const before = around;
  around = surroundings;
  try {
    return render();
  } finally {
    around = before;
  }
}

/** Whether somebody may be signed in, so that it is worth asking who. */
export const hasSession = (): boolean => around.session;

/** What the provider is called by which people may sign in; empty where there is none. */
export const signInProvider = (): string => around.provider ?? "";

/** What may stand in a query: left out where it is undefined, null or empty. */
export type QueryValue = string | number | boolean | null | undefined | readonly string[];

/** The address of a path of this service (`/score`), with a query. */
export function href(path: string, query: Record<string, QueryValue> = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === null || value === "") continue;
    for (const item of Array.isArray(value) ? value : [value]) search.append(name, String(item));
  }
  const text = search.toString();
  return `${around.base}${path}${text && `?${text}`}`;
}

/**
 * Where to go after something, as an address names it: a page of ours and no other. Browsers leave tabs and line breaks
 * out of addresses, so that what follows one could be another host.
 */
export const nextAddress = (next: string | null): string =>
  next !== null && /^\/(?![/\\])[\x21-\x7e]*$/.test(next) ? next : href("/");

/** A path of this service out of the path of an address. */
export const stripBasePath = (pathname: string): string =>
  around.base !== "" && pathname.startsWith(`${around.base}/`)
    ? pathname.slice(around.base.length)
    : pathname;

/** Where a page is shown: what its template made of the path, and the query. */
export interface Address {
  path: string;
  params: Readonly<Record<string, string>>;
  search: URLSearchParams;
}

/** The parts of a path that a template such as `/score/:job` names; undefined where it does not fit. */
export function match(template: string, path: string): Record<string, string> | undefined {
  const wanted = template.split("/");
  const given = path.split("/");
  if (wanted.length !== given.length) return undefined;
  const params: Record<string, string> = {};
  for (const [i, part] of wanted.entries()) {
    if (!part.startsWith(":")) {
      if (part !== given[i]) return undefined;
    } else if (given[i] === "") return undefined;
    else params[part.slice(1)] = unescaped(given[i]);
  }
  return params;
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
