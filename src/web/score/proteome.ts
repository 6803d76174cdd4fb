import type { ProteomeObject, ProteomeSearchObject } from "../../scoring/index.ts";
import { MATCH_TABLES } from "../../scoring/table/match-tables.ts";
import type { MatchVerdict } from "../../scoring/table/verdict.ts";
import type { Query } from "../address.ts";
import { pluralize } from "../format.tsx";
import type { ProteinNames } from "./protein-identity.tsx";
import { viewParameters } from "./match-view.ts";

/** The proteins that can be searched, as `GET /api/scoring/proteome` returns them. */
export type Proteome = ProteomeObject;
/** A search, as `GET /api/scoring/proteome/searches/{id}` returns it. */
export type Search = ProteomeSearchObject;
export type Match = Search["results"][number];

export const PROTEOME_API = "/api/scoring/proteome";
export const searchPath = (id: string): string => `${PROTEOME_API}/searches/${encodeURIComponent(id)}`;

export const isOver = ({ state }: Pick<Search, "state">): boolean =>
  state !== "queued" && state !== "running";

export const motifName = ({ motifClass, expression }: Search): string => motifClass ?? expression;

/** The search as a title: `P..P in Homo sapiens`. */
export const searchTitle = (search: Search): string =>
  `${motifName(search)} in ${search.organismName ?? search.organism ?? search.corpus.name}`;

/** Matches on a page. */
export const PAGE = 50;

/** The parameters of a page of matches, from the query of the page's address. */
export const pageQuery = (query: URLSearchParams): Query => ({
  ...viewParameters(MATCH_TABLES.proteome, query),
  offset: offsetIn(query),
  limit: PAGE,
});

export function offsetIn(query: URLSearchParams): number {
  const from = Number(query.get("from") ?? 1);
  return Number.isInteger(from) && from > 1 ? from - 1 : 0;
}

/** A motif as parameters of a page with a form. */
export const motifQuery = ({ name, expression }: { name: string | null; expression: string }): Query =>
  name === null ? { pattern: expression } : { class: name };

/** The parameters of a page that scores the protein of a match for the motif. */
export const scoreQuery = ({ motifClass, expression }: Search, { accession }: ProteinNames): Query => ({
  protein: accession,
  ...motifQuery({ name: motifClass, expression }),
});

/** The search in one sentence. */
export function searchAnswer({ matches, matching, labels }: Search): string {
  if (matches === 0) return "No protein has this motif.";
  const count = (verdict: MatchVerdict): number => labels.find(({ value }) => value === verdict)?.count ?? 0;
  const [known, likely, possible] = [count("known instance"), count("likely functional"), count("possible")];
  const found = `${pluralize(matches, "match", "matches")} in ${pluralize(matching, "protein")}`;
  if (known + likely + possible === 0)
    return `${found}: none is likely functional or possible. The first ones are the best candidates.`;
  const instances = known > 0 ? `${pluralize(known, "known instance")}, ` : "";
  return `${found}: ${instances}${likely} likely functional, ${possible} possible.`;
}
