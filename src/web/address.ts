/** Addresses of pages. Every link goes through `href`, so that the service can live below a path such as `/labd`. */

/** Facts about the request that pages need. */
export interface PageContext {
  /** Prefix of every path: empty, or `/labd`. */
  base: string;
  /** True if the browser has a session, which may have expired. */
  session: boolean;
  /** Id of the account that is signed in; empty for nobody. */
  person: string;
  /** Name of the identity provider; empty without one. */
  provider?: string;
  /** HTML that only the server knows. */
  content?: string;
}

function readDocumentContext(): PageContext {
  if (typeof document === "undefined") return { base: "", session: false, person: "" };
  const { base = "", session, person = "", provider = "" } = document.documentElement.dataset;
  return { base, session: session !== undefined, person, provider };
}

let context = readDocumentContext();

/** Renders on the server in the context of a request; `render` is synchronous. */
export function withPageContext<T>(next: PageContext, render: () => T): T {
  const before = context;
  context = next;
  try {
    return render();
  } finally {
    context = before;
  }
}

/** True if somebody may be signed in. */
export const hasSession = (): boolean => context.session;

/** Id of the account that is signed in; empty for nobody. */
export const pagePerson = (): string => context.person;

/** Name of the identity provider; empty without one. */
export const signInProvider = (): string => context.provider ?? "";

/** HTML that the server adds to the page; empty in the browser, which keeps the server's. */
export const pageContent = (): string => context.content ?? "";

/** A value of a query; undefined, null and empty ones are left out. */
export type QueryValue = string | number | boolean | null | undefined | readonly string[];
export type Query = Readonly<Record<string, QueryValue>>;

/** Replaces names of a query by others. */
export function setQueryValues(search: URLSearchParams, changes: Query): void {
  for (const [name, value] of Object.entries(changes)) {
    search.delete(name);
    if (value === undefined || value === null || value === "") continue;
    for (const item of Array.isArray(value) ? value : [value]) search.append(name, String(item));
  }
}

/** The address of a path of this service (`/score`), with a query. */
export function href(path: string, query?: Query): string {
  if (!query) return context.base + path;
  const search = new URLSearchParams();
  setQueryValues(search, query);
  return `${context.base}${path}${search.size > 0 ? `?${search}` : ""}`;
}

/**
 * The page to go to next, which an address names: only one of ours. Browsers drop tabs and line breaks from addresses, so
 * that the text after one could name another host.
 */
export const nextAddress = (next: string | null): string =>
  next !== null && /^\/(?![/\\])[\x21-\x7e]*$/.test(next) ? next : href("/");

/** The path of an address without the base path. */
export const stripBasePath = (pathname: string): string =>
  context.base !== "" && pathname.startsWith(`${context.base}/`)
    ? pathname.slice(context.base.length)
    : pathname;

/** The address of a page: the parts of the path that its template names, and the query. */
export interface Address {
  path: string;
  params: Readonly<Record<string, string>>;
  search: URLSearchParams;
}

const patterns = new Map<string, URLPattern>();

/** The parts of a path that a template such as `/score/:job` names; undefined if it does not match. */
export function match(template: string, path: string): Record<string, string> | undefined {
  if (template === path) return {};
  const pattern = patterns.get(template) ?? new URLPattern({ pathname: template });
  patterns.set(template, pattern);
  const groups = pattern.exec({ pathname: path })?.pathname.groups;
  return (
    groups && Object.fromEntries(Object.entries(groups).map(([name, part = ""]) => [name, unescaped(part)]))
  );
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** The path of an operation with values in place of its variable parts. */
export const fillPath = (path: string, params: Readonly<Record<string, string>> = {}): string =>
  path.replace(/:(\w+)/g, (_, name: string) =>
    // The address of a list may have a slash, as in stocks/consumables.
    name === "list" ? encodeURI(params[name]) : encodeURIComponent(params[name]),
  );
