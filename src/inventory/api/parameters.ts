import { type TSchema, Type } from "typebox";
import { LIMITS } from "../model/limits.ts";
import { DEFAULT_PAGE_SIZE, LIST_PARAMETERS } from "../model/listing.ts";
import { inQuery, listParameter, OTHER_FILTERS, type Parameter } from "../model/list-parameters.ts";
import type { Exposure } from "../records/exposure.ts";
import { BOOLEAN, COUNT } from "./schema.ts";
import {
  type Method,
  type OperationAbout,
  type Parameters,
  resolveDeferred,
} from "../../platform/operation.ts";

/** Parameters that several operations accept, by purpose. */

/** A parameter that several operations share. */
const shared = (name: string, description: string, schema?: TSchema, $id = name): Parameter => ({
  $id,
  ...inQuery(name, description, schema),
});
const inHeader = (name: string, description: string): Parameter => ({
  ...shared(name, description),
  in: "header",
});

type Flag = boolean | "1";

/** Filters of a list, whose names depend on its fields. */
export interface Filters {
  [filter: string]: string | number | boolean | null | undefined | readonly string[];
}

/** The answer to a dry run. */
export interface Preview {
  count: number;
  /** Changed records, including records of changed annotations. */
  records: number;
  /** Identifies the preview. */
  confirm: string;
  /** Records that more people could view. */
  exposes: readonly Exposure[];
  /** The first changes in words. */
  sentences: readonly string[];
  changes: readonly {
    id: string | null;
    /** The record whose permission changes. */
    of?: { id: string };
    after: Record<string, unknown> | null;
  }[];
}

export const DRY_RUN: Parameters<{ dry_run?: Flag; confirm?: string }> = [
  shared("dry_run", "Change nothing and return a preview with a value for `confirm`.", BOOLEAN),
  shared("confirm", "`confirm` of a preview: make exactly these changes, or return 409."),
];
export const SEVERAL: Parameters<{ changes?: number }> = [
  shared("changes", "Maximum number of changes in the preview; `count` counts all of them.", COUNT),
];
export const ONCE: readonly Parameter[] = [
  inHeader(
    "Idempotency-Key",
    "A key chosen by the client: a repeated request with this key within 24 hours gets the first response again, a different request gets 422.",
  ),
];
export const IF_MATCH: readonly Parameter[] = [
  inHeader(
    "If-Match",
    'Write only if the record has one of these entity tags; a version such as `"3"` also works. Otherwise the response is 412.',
  ),
];
export const IF_NONE_MATCH: readonly Parameter[] = [
  inHeader("If-None-Match", "Entity tags of cached responses: 304 if nothing has changed."),
];
/** Shows deleted records, too. */
export const DELETED_PARAMETER: Parameters<{ deleted?: Flag | "all" }> = [listParameter("deleted")];
export const PAST: Parameters<{ deleted?: Flag | "all"; as_of?: string }> = [
  listParameter("deleted"),
  listParameter("as_of"),
];
export const PAGING: Parameters<{ page?: number; page_size?: number | "max" }> = [
  listParameter("page"),
  shared(
    "page_size",
    `Results per page: ${DEFAULT_PAGE_SIZE} by default, at most ${LIMITS.rows.max}; max returns all, up to that limit.`,
    LIST_PARAMETERS.page_size.schema,
    "size",
  ),
];
export const FILTERS: Parameters<Filters> = [
  shared(
    "search",
    "Only records that contain every word, ignoring case. Fields and lookups filter as in lists.",
  ),
  listParameter("query_expression"),
  listParameter("ordering"),
];
export const PAGE_FORMAT: Parameters<{ format?: "json" | "api" }> = [
  shared("format", "json, or api for HTML.", Type.Enum(["json", "api"]), "page_format"),
];
export const FLAT: Parameters<{ response_format?: "flat" }> = [
  shared("response_format", 'flat: wrap the response as {"results": …}.', Type.Enum(["flat"]), "flat"),
];

/** Parameters that change the form of any response. */
const RENDERINGS = ["format", "response_format", "strict"];
/** Parameters that writes ignore, and `type`: that of a new record of LabID's client. */
const IGNORED_BY_WRITES = [...Object.keys(LIST_PARAMETERS), "type"];

/**
 * Names of the parameters that a request accepts or ignores. Undefined if its handler checks them: filters of a list
 * are parsed with the list.
 */
export function knownParameters(method: Method, { query, parses, ...about }: OperationAbout) {
  const groups = about.parameters ?? [];
  if (parses || groups.includes(FILTERS)) return undefined;
  const parameters = groups.flatMap(resolveDeferred) as Parameter[];
  if (parameters.includes(OTHER_FILTERS)) return undefined;
  const all = [...parameters, ...(groups.includes(DRY_RUN) ? (SEVERAL as Parameter[]) : [])];
  const named = all.filter((one) => one.in === "query").map(({ name }) => name);
  const names = [...new Set([...Object.keys(query?.properties ?? {}), ...named])];
  return { names, ignored: method === "GET" || method === "OPTIONS" ? RENDERINGS : IGNORED_BY_WRITES };
}
