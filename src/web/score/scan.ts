import type { ClassType, Scan } from "../../scoring/index.ts";
import type { Query } from "../address.ts";
import type { Verdict } from "./result.ts";

/** A scan, as `GET /api/scoring/jobs/{id}/scan` returns it. */
export type { Scan };
export type ScanMatch = Scan["matches"][number];
const isDisordered = ({ disorder }: ScanMatch): boolean | null => (disorder == null ? null : disorder > 0.5);

/** Types of motif classes in the order of pages. */
export const TYPES: Readonly<Record<ClassType | "other", { name: string; lane: string }>> = {
  DEG: { name: "Degron", lane: "Degrons" },
  DOC: { name: "Docking", lane: "Docking" },
  LIG: { name: "Ligand", lane: "Ligands" },
  MOD: { name: "Modification", lane: "Modification" },
  TRG: { name: "Targeting", lane: "Targeting" },
  CLV: { name: "Cleavage", lane: "Cleavage" },
  other: { name: "Other", lane: "Other" },
};
export type Type = keyof typeof TYPES;
export const TYPE_ORDER = Object.keys(TYPES) as Type[];
export const typeOf = ({ type }: ScanMatch): Type => type ?? "other";

/** Regions by predicted disorder. */
export const REGIONS = { disordered: "Disordered", ordered: "Ordered" } as const;
export type Region = keyof typeof REGIONS;
export const REGION_ORDER = Object.keys(REGIONS) as Region[];
export const regionOf = (match: ScanMatch): Region | null =>
  isDisordered(match) === null ? null : isDisordered(match) ? "disordered" : "ordered";

/** Where matches lie by imported domains, and whether they are known instances. */
export const DOMAINS = { inside: "In a domain", outside: "Outside domains" } as const;
export const KNOWN = { known: "Known instance", other: "Not known" } as const;
export const domainOf = ({ notes }: ScanMatch): keyof typeof DOMAINS | null =>
  notes ? (notes.domains.length > 0 ? "inside" : "outside") : null;
export const knownOf = ({ notes }: ScanMatch): keyof typeof KNOWN | null =>
  notes ? (notes.instances.some(({ logic }) => logic === "true positive") ? "known" : "other") : null;

/** Residues to a phosphosite up to which a match is near it. */
export const NEAR_PHOSPHOSITE = 5;
const isNear = ({ notes }: ScanMatch): boolean => (notes?.phosphosite ?? Infinity) <= NEAR_PHOSPHOSITE;

export const labelOf = ({ label }: ScanMatch): Verdict => label ?? "not scored";

/** Largest q that occurs: larger P values than this are not told apart. */
export const MAX_Q = 0.5;

/** Chosen values; an empty list means all. */
export interface Filter {
  label: readonly string[];
  type: readonly string[];
  region: readonly string[];
  domain: readonly string[];
  known: readonly string[];
  /** Whether only matches near a phosphosite are listed. */
  phosphosite: boolean;
  /** Largest q. */
  q: number;
  /** Whether only the best match of each group is listed. */
  best: boolean;
}

/** The filter in an address. */
export function filterIn(query: URLSearchParams): Filter {
  const q = Number(query.get("q") ?? MAX_Q);
  return {
    label: query.getAll("label"),
    type: query.getAll("type"),
    region: query.getAll("region"),
    domain: query.getAll("domain"),
    known: query.getAll("known"),
    phosphosite: query.get("phosphosite") === "near",
    q: q >= 0 && q < MAX_Q ? q : MAX_Q,
    best: query.get("best") === "yes",
  };
}

type Facet = "label" | "type" | "region" | "domain" | "known";
export const VALUE_OF: Readonly<Record<Facet, (match: ScanMatch) => string | null>> = {
  label: labelOf,
  type: typeOf,
  region: regionOf,
  domain: domainOf,
  known: knownOf,
};

/** The matches that pass a filter, without the part named `except`, whose choices are counted among them. */
export const filtered = (matches: readonly ScanMatch[], filter: Filter, except?: Facet): ScanMatch[] =>
  matches.filter(
    (match) =>
      (Object.keys(VALUE_OF) as Facet[]).every(
        (facet) =>
          facet === except ||
          filter[facet].length === 0 ||
          filter[facet].includes(VALUE_OF[facet](match) ?? ""),
      ) &&
      (filter.q >= MAX_Q || (match.q ?? Infinity) <= filter.q) &&
      (!filter.best || match.isBest === true) &&
      (!filter.phosphosite || isNear(match)),
  );

/** The parameters of a download of the matches that pass the filter. */
export function downloadQuery(filter: Filter, format: string): Query {
  const { label, type, region, domain, known, phosphosite, q, best } = filter;
  return {
    format,
    label: label.join(","),
    type: type.join(","),
    disordered: region.length === 1 ? region[0] === "disordered" : undefined,
    domain: domain.length === 1 ? domain[0] : undefined,
    known: known.length === 1 ? known[0] === "known" : undefined,
    phosphosite: phosphosite ? NEAR_PHOSPHOSITE : undefined,
    best: best || undefined,
    max_q: q < MAX_Q ? q : undefined,
  };
}

/** A q-value or P value in a table: two digits. */
export const shortNumber = (value: number | null | undefined): string =>
  value == null ? "–" : String(Number(value.toPrecision(2)));

/** The scan in one sentence. */
export function scanAnswer({ matches, tested }: Pick<Scan, "matches" | "tested">): string {
  const count = (label: Verdict): number => matches.filter((match) => labelOf(match) === label).length;
  const [likely, possible] = [count("likely functional"), count("possible")];
  if (tested === 0) return "No match has a P value.";
  if (likely + possible === 0)
    return `No match stands out against ${tested} tests. The first ones are the best candidates.`;
  return `${likely} of ${tested} matches ${likely === 1 ? "is" : "are"} likely functional, ${possible} possible.`;
}
