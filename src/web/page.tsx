import { type ComponentChildren, type ComponentType, createContext, hydrate } from "preact";
import { useContext, useEffect, useState } from "preact/hooks";
import { type Address, href, match, type Query, setQueryValues, stripBasePath } from "./address.ts";
import { Shell } from "./components/shell.tsx";

/** A page. The file that defines it is bundled as the page's script. */
export interface Page {
  /** Name of its file in `pages/`, without `.tsx`. */
  name: string;
  /** Templates of its path: `/score`, `/score/:job`. */
  paths: readonly string[];
  /** Shown by the browser as "title · labd". */
  title: string;
  /** The page opens with the `key` of a one-time link. */
  keyed?: boolean;
  /** The page reads barcodes from the camera. */
  camera?: boolean;
  /** The page that took the place of this one at an address; browsers are redirected to it. */
  currentAddress?: (address: Address) => readonly [path: string, query: Query] | undefined;
  /** Rendered on the server with the address alone, then hydrated in the browser. */
  View: ComponentType;
}

const AddressContext = createContext<Address>({ path: "/", params: {}, search: new URLSearchParams() });

/** A page in the shell, as server and browser render it. */
export const PageView = ({ page, address }: { page: Page; address: Address }) => (
  <AddressContext.Provider value={address}>
    <Frame path={address.path}>
      <page.View />
    </Frame>
  </AddressContext.Provider>
);

function Frame({ path, children }: { path: string; children: ComponentChildren }) {
  const [search] = useQuery();
  return (
    <Shell path={path} search={search}>
      {children}
    </Shell>
  );
}

/** Defines a page; in the browser this hydrates it. */
export function definePage(page: Page): Page {
  const root = typeof document === "undefined" ? null : document.getElementById("page");
  if (root) hydrate(<PageView page={page} address={parseAddress(page, new URL(location.href))} />, root);
  return page;
}

/** Parses an address for a page. */
export function parseAddress(page: Page, { pathname, searchParams: search }: URL): Address {
  const path = stripBasePath(pathname);
  const params = page.paths.map((template) => match(template, path)).find((found) => found !== undefined);
  return { path, params: params ?? {}, search };
}

/** The path of the page, without that of the service. */
export const usePath = (): string => useContext(AddressContext).path;

/** The parts of the path that the page's template names: `useParams().job`. */
export const useParams = (): Readonly<Record<string, string>> => useContext(AddressContext).params;

/** Changes parts of the query; null removes a name. `replace` adds no step to the history. */
export type SetQuery = (changes: Query, how?: { replace?: boolean }) => void;

/**
 * The query of the address. Filters, order and open items are kept only there, so that links, reloading and the back
 * button work.
 */
export function useQuery(): [URLSearchParams, SetQuery] {
  const first = useContext(AddressContext).search;
  // Components that appear later see the address as it is then.
  const [search, show] = useState(() =>
    typeof location === "undefined" ? first : new URLSearchParams(location.search),
  );
  useEffect(() => {
    const stop = new AbortController();
    for (const event of ["popstate", QUERY_CHANGED])
      addEventListener(event, () => show(new URLSearchParams(location.search)), { signal: stop.signal });
    return () => stop.abort();
  }, []);
  return [search, setQuery];
}

const QUERY_CHANGED = "labd:query";

const setQuery: SetQuery = (changes, { replace = false } = {}) => {
  const address = new URL(location.href);
  setQueryValues(address.searchParams, changes);
  history[replace ? "replaceState" : "pushState"](null, "", address);
  dispatchEvent(new Event(QUERY_CHANGED));
};

/**
 * The key in the address of a keyed page, which is then removed from the address; reloading finds it in the state of the
 * history entry. Empty if there is none, undefined until that is known.
 */
export function useKey(): string | undefined {
  const given = useContext(AddressContext).search.get("key") ?? undefined;
  const [key, setKey] = useState(given);
  useEffect(() => {
    const { key: kept = "" } = (history.state ?? {}) as { key?: string };
    setKey(given ?? kept);
    history.replaceState({ key: given ?? kept }, "", location.pathname);
  }, []);
  return key;
}

/** Goes to another page of this service. */
export const navigate = (path: string, query: Query = {}): void => location.assign(href(path, query));

/** Sets the title of the tab once the content is known. */
export function useTitle(title: string | undefined): void {
  useEffect(() => {
    if (title !== undefined) document.title = `${title} · labd`;
  }, [title]);
}
