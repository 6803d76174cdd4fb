import { type ComponentType, createContext, hydrate } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import { type Address, href, match, stripBasePath, type QueryValue } from "./address.ts";
import { Shell } from "./components/shell.tsx";

/** One page: what is at which address. The file that defines it is bundled as the script of that page. */
export interface Page {
  /** Name of its file in `pages/`, without `.tsx`. */
  name: string;
  /** Where it is: `/score`, `/score/:job`. The first that fits counts. */
  paths: readonly string[];
  /** Shown by the browser as "title · labd", and as the heading that screen readers begin with. */
  title: string;
  /** It is there only for who has a `key` in the address that opens it. */
  keyed?: boolean;
  /** Whether it reads barcodes from the camera. */
  camera?: boolean;
  /** What is in the frame. It is rendered on the server with the address alone, then brought to life in the browser. */
  View: ComponentType;
}

const Where = createContext<Address>({ path: "/", params: {}, search: new URLSearchParams() });

/** A page in its frame, as server and browser show it. */
export function PageView({ page, address }: { page: Page; address: Address }) {
  return (
    <Where.Provider value={address}>
      <Shell path={address.path}>
        <page.View />
      </Shell>
    </Where.Provider>
  );
}

/** Defines a page; in the browser it is brought to life at once, since the script of a page is its definition. */
export function definePage(page: Page): Page {
  if (typeof document !== "undefined") {
    const root = document.getElementById("page");
    const path = stripBasePath(location.pathname);
    const search = new URLSearchParams(location.search);
    const address = addressOf(page, path, search) ?? { path, params: {}, search };
    if (root) hydrate(<PageView page={page} address={address} />, root);
  }
  return page;
}

/** The address of a page by its path; undefined where the page is not there. */
export function addressOf(page: Page, path: string, search: URLSearchParams): Address | undefined {
  for (const template of page.paths) {
    const params = match(template, path);
    if (params) return { path, params, search };
  }
  return undefined;
}

/** What the templates of the page's paths name: `useParams().job`. */
export const useParams = (): Readonly<Record<string, string>> => useContext(Where).params;

/** Sets what of the query changes; null takes a name out. `replace` leaves no step to go back to. */
export type SetQuery = (changes: Record<string, QueryValue>, how?: { replace?: boolean }) => void;

/**
 * The query of the address, and how to change it. What can be shared (filters, order, what is open) is kept there and
 * nowhere else, so that links, reload and the back button work.
 */
export function useQuery(): [URLSearchParams, SetQuery] {
  const [search, show] = useState(useContext(Where).search);
  useEffect(() => {
    const read = (): void => show(new URLSearchParams(location.search));
    addEventListener("popstate", read);
    addEventListener(QUERY_SET, read);
    return () => {
      removeEventListener("popstate", read);
      removeEventListener(QUERY_SET, read);
    };
  }, []);
  return [search, setQuery];
}

const QUERY_SET = "labd:query";

const setQuery: SetQuery = (changes, { replace = false } = {}) => {
  const search = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    search.delete(name);
    if (value === undefined || value === null || value === "") continue;
    for (const item of Array.isArray(value) ? value : [value]) search.append(name, String(item));
  }
  const text = search.toString();
  const address = `${location.pathname}${text && `?${text}`}${location.hash}`;
  if (replace) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
  dispatchEvent(new Event(QUERY_SET));
};

/** The key in the address that opens a keyed page; it is removed from the address and the history. */
export function useKey(): string {
  const [query, setQuery] = useQuery();
  const [key] = useState(query.get("key") ?? "");
  useEffect(() => setQuery({ key: null }, { replace: true }), []);
  return key;
}

/** Leaves for another page of this service. */
export const navigate = (path: string, query: Record<string, QueryValue> = {}): void =>
  location.assign(href(path, query));

/** Names the page for the tab, once its content is known. */
export function useTitle(title: string | undefined): void {
  useEffect(() => {
    if (title !== undefined) document.title = `${title} · labd`;
  }, [title]);
}
