/** An operation, and the part of its input that a tool takes. */
export interface CalledOperation {
  /** Method and path as in OpenAPI; `{list}` stands for all lists that have the operation. */
  operation: string;
  /** Parameters and members of the body. */
  takes: readonly string[];
  /** Members that the body always has. */
  sends?: Readonly<Record<string, unknown>>;
}

/** A tool of assistants. Its description and schemas are those of the operation. */
export interface Tool extends CalledOperation {
  /** Replace those of the operation. */
  summary?: string;
  description?: string;
  /** Values of arguments that are not given. */
  defaults?: Readonly<Record<string, unknown>>;
  /** Members of the answer; all by default. */
  returns?: readonly string[];
  /** A list in the answer, of which the argument `limit` says how much to return. */
  rows?: string;
  /** Long work that comes first; `operation` reads its result by `id`. */
  begins?: CalledOperation;
}

const QUERY = ["accession", "querySequence", "variant"];
const FILTERS = ["motif", "verdict", "known", "region"];
const RANKED = ["protein", "homologs", "tested", "matches", "warnings"];
const PAGE = ["total", "current", "total_pages", "results"];

/** All tools by name. Operations that write become previews, which people confirm. */
export const TOOLS: Readonly<Record<string, Tool>> = {
  find_records: { operation: "GET /api/v2/search", takes: ["q", "list", "limit"] },
  list_records: {
    operation: "GET /api/v2/{list}",
    summary: "List records",
    description: "Those of one list that fulfil an expression, in pages.",
    takes: ["list", "query_expression", "fields", "ordering", "page", "page_size"],
    defaults: { page_size: 20 },
    returns: PAGE,
  },
  read_record: {
    operation: "GET /api/v2/{list}/{id}",
    summary: "Read a record",
    description: "`list` is its list as in the answers of find_records.",
    takes: ["list", "id", "fields", "as_of"],
  },
  read_box: { operation: "GET /api/v2/locations/{id}/slots", takes: ["id"] },
  find_running_out: {
    operation: "GET /api/v2/stocks/products/running_out",
    takes: ["state", "product", "consumable", "count"],
    defaults: { count: 20 },
  },
  list_changes: {
    operation: "GET /api/v2/batches",
    takes: ["user", "since", "resource", "record", "page", "page_size"],
    defaults: { page_size: 20 },
    returns: PAGE,
  },
  find_proteins: { operation: "GET /api/scoring/proteins", takes: ["query", "limit"] },
  read_protein: {
    operation: "GET /api/scoring/proteins/{accession}",
    takes: ["accession"],
    returns: ["protein", "corpus", "sequence", "features", "results", "more"],
  },
  find_motif_classes: {
    operation: "GET /api/scoring/motif-classes",
    takes: ["query", "limit"],
    defaults: { limit: 20 },
    returns: PAGE,
  },
  score_protein: {
    begins: { operation: "POST /api/scoring/jobs", takes: [...QUERY, "patterns", "motifClasses"] },
    operation: "GET /api/scoring/jobs/{id}/scan",
    summary: "Score motifs in a protein",
    takes: FILTERS,
    returns: RANKED,
    rows: "matches",
  },
  scan_protein: {
    begins: { operation: "POST /api/scoring/jobs", takes: QUERY, sends: { allMotifClasses: true } },
    operation: "GET /api/scoring/jobs/{id}/scan",
    summary: "Scan a protein for all motif classes",
    takes: FILTERS,
    returns: RANKED,
    rows: "matches",
  },
  search_proteome: {
    begins: {
      operation: "POST /api/scoring/proteome/searches",
      takes: ["pattern", "motifClass", "organism"],
    },
    operation: "GET /api/scoring/proteome/searches/{id}",
    summary: "Search all proteins for a motif",
    takes: ["verdict", "known", "region", "protein", "offset", "limit"],
    defaults: { limit: 20 },
    returns: ["corpus", "expression", "organismName", "searched", "missing", "labels", "passing", "results"],
  },
  explain_match: {
    operation: "GET /api/scoring/jobs/{id}/result",
    summary: "Explain a match",
    description: "Its conservation in each homolog, probability and evidence. `match` is its `number`.",
    takes: ["id", "match"],
    returns: ["protein", "method", "patterns", "warnings"],
  },
  consume_stock: {
    operation: "POST /api/v2/{list}/{id}/consume",
    summary: "Take an amount out of stock",
    takes: ["list", "id", "amount", "unit"],
  },
  take_out_stock: { operation: "POST /api/v2/{list}/{id}/take_out", takes: ["list", "id", "due_back"] },
  put_back_stock: { operation: "POST /api/v2/{list}/{id}/put_back", takes: ["list", "id"] },
  move_records: {
    operation: "POST /api/v2/locations/{id}/free_slots",
    takes: ["id", "records", "start", "positions"],
  },
  order_products: {
    operation: "POST /api/v2/stocks/orders/place",
    takes: ["items", "state", "account", "arrives"],
  },
  undo_change: { operation: "POST /api/v2/batches/{id}/undo", takes: ["id"] },
};
