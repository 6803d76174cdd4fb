import { fillPath, href, match } from "../address.ts";
import { toSegment } from "../inventory/declaration.ts";
import { parseFilters } from "../inventory/list-address.ts";

/** The path of the API with the content of a page, by the path of the page; the first that fits. Null: there is none. */
const API_PATHS: readonly [page: string, api: string | null][] = [
  ["/results", "/api/tasks/"],
  ["/score/compare", null],
  ["/score/:id", "/api/scoring/jobs/:id/result"],
  ["/scan/:id", "/api/scoring/jobs/:id/scan"],
  ["/batch/:id", "/api/scoring/batches/:id"],
  ["/changes", "/api/scoring/watched-queries/changes"],
  ["/classes", "/api/scoring/motif-classes"],
  ["/classes/:name", "/api/scoring/motif-classes/:name"],
  ["/proteins/:accession", "/api/scoring/proteins/:accession"],
  ["/proteome", "/api/scoring/proteome"],
  ["/proteome/:id", "/api/scoring/proteome/searches/:id"],
  ["/inventory/running-out", "/api/v2/stocks/products/running_out/"],
  ["/inventory/storage", "/api/v2/locations/tree/"],
  ["/inventory/changes", "/api/v2/batches/"],
  ["/inventory/stocktake/:id", "/api/v2/stocktakes/:id/"],
  ["/inventory/(build|labels|offline|scan|stocktake)", null],
  ["/inventory/:list/(import|new)", null],
  ["/inventory/:list", "/api/v2/:list/"],
  ["/inventory/:list/:id", "/api/v2/:list/:id/"],
  ["/administration", "/api/admin/health"],
  ["/administration/users", "/api/v2/users/"],
  ["/administration/:section", "/api/admin/:section"],
];

/** The address of the API with the content of a page, for lists with the filters; undefined if there is none. */
export function jsonAddress(path: string, search: URLSearchParams): string | undefined {
  for (const [page, api] of API_PATHS) {
    const params = match(page, path);
    if (!params) continue;
    if (api === null) return undefined;
    const { list = "" } = params;
    const filters = page === "/inventory/:list" ? parseFilters(search) : {};
    // The page of links exists for the inventory.
    const format = api.startsWith("/api/v2/") ? "api" : undefined;
    return href(fillPath(api, { ...params, list: toSegment(list) }), { ...filters, format });
  }
  return undefined;
}

/** Links for people who write programs: the content of this page as JSON, and the interfaces. */
export function DeveloperLinks({ path, search }: { path: string; search: URLSearchParams }) {
  const json = jsonAddress(path, search);
  return (
    <>
      {json !== undefined && <a href={json}>View as JSON</a>}
      <a href={href("/docs")}>API reference</a>
      <a href={href("/clients")}>Clients for Python, R and TypeScript</a>
      <a href={href("/docs/json")}>OpenAPI document</a>
      <a href={href("/api/v2/", { format: "api" })}>Lists of the inventory</a>
      <a href={`${href("/soap/ConservationScorer")}?wsdl`}>SOAP service (WSDL)</a>
      <a href={href("/readyz")}>State of the server</a>
    </>
  );
}
