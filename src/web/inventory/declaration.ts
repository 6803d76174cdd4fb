import { requestJson } from "../request.ts";

/** What the inventory says of its lists: the answer to OPTIONS, from which every page of the inventory is made. */

export type Kind =
  "text" | "flag" | "integer" | "number" | "instant" | "uuid" | "json" | "reference" | "computed";

export interface FieldInfo {
  kind: Kind;
  label: string;
  help_text: string;
  shown: "always" | "extra";
  write: "required" | "optional" | "never";
  nullable: boolean;
  blank: boolean;
  max_length: number | null;
  choices: readonly string[] | null;
  rule: string | null;
  reference: Reference | null;
  lookups: readonly string[];
  sortable: boolean;
}

/** The list that has the choices of a reference, their name there, and which of the two a record shows. */
export interface Reference {
  segment: string;
  /** Only those of its records. */
  filter?: Readonly<Record<string, string>>;
  key: string;
  printed: "id" | "key";
}

export interface Declaration {
  /** Segment of the list. */
  name: string;
  description: string;
  /** Application and model, such as stocks.location. */
  model: string;
  /** Field that names a record. */
  key: string;
  ordering: readonly string[];
  /** Whether its records have owners and rights. */
  guarded: boolean;
  /** What the lookups mean. */
  operators: Readonly<Record<string, string>>;
  fields: Readonly<Record<string, FieldInfo>>;
}

const known = new Map<string, Promise<Declaration>>();

/** Declarations belong to a version of the program, as the name of this script does. */
const keptAs = (segment: string): string => `labd:declaration:${import.meta.url}:${segment}`;

/** The declaration of a list, asked for once per tab. @throws Refusal */
export function declaration(segment: string): Promise<Declaration> {
  let asked = known.get(segment);
  if (!asked) {
    const kept = sessionStorage.getItem(keptAs(segment));
    asked = kept === null ? read(segment) : Promise.resolve(JSON.parse(kept) as Declaration);
    known.set(segment, asked);
    asked.catch(() => known.delete(segment));
  }
  return asked;
}

async function read(segment: string): Promise<Declaration> {
  // Who may write is told with every record; it may change while the tab is open.
  const { actions: _actions, ...lasting } = await requestJson<Declaration & { actions?: unknown }>(
    "OPTIONS",
    api(segment),
  );
  sessionStorage.setItem(keptAs(segment), JSON.stringify(lasting));
  return lasting;
}

/** Address of a list in the interface. */
export const api = (segment: string, rest = ""): string => `/api/v2/${segment}/${rest}`;

/** Segments hold slashes, addresses of pages do not: `stocks/consumables` is at `/inventory/stocks-consumables`. */
const slugOf = (segment: string): string => segment.replaceAll("/", "-");
export const segmentOf = (slug: string): string => slug.replaceAll("-", "/");

/** The path of the page of a list, or of one of its records. */
export const pageOf = (segment: string, id?: string): string =>
  `/inventory/${slugOf(segment)}${id === undefined ? "" : `/${id}`}`;

/** The path of the page that adds a record; a stocktake begins with its location. */
export const newPageOf = (segment: string): string =>
  segment === "stocktakes" ? "/inventory/stocktake" : `${pageOf(segment)}/new`;

/** Lists whose segment is not their name. */
const TITLES: Readonly<Record<string, string>> = {
  annotationtypes: "Annotation types",
  custompropertytypes: "Custom property types",
  fieldmeta: "Field metas",
  "vocabularies/categories": "Vocabularies",
  "stocks/specimen": "Specimens",
  views: "Saved views",
};

/** What a list is called. */
export function titleOf(segment: string): string {
  const last = segment.split("/").at(-1)!;
  return TITLES[segment] ?? last.charAt(0).toUpperCase() + last.slice(1);
}

/** Lists in the order in which people look for them. */
export const GROUPS: readonly { title: string; segments: readonly string[] }[] = [
  { title: "What there is", segments: ["stocks/consumables", "stocks/specimen"] },
  { title: "Where it is", segments: ["locations", "equipment", "places", "addresses", "stocktakes"] },
  { title: "What is done", segments: ["core/projects", "assays/experiments", "assays/assays"] },
  {
    title: "What is said about it",
    segments: [
      "annotationtypes",
      "custompropertytypes",
      "vocabularies/categories",
      "vocabularies/terms",
      "fieldmeta",
    ],
  },
];

/** What every record has, whatever it is: not what people look at first. */
const COMMON = new Set([
  "id",
  "created_by",
  "modified_by",
  "created",
  "modified",
  "url",
  "public",
  "permissions",
  "owner",
  "owned_by",
  "deleted",
  "deleted_date",
  "deleted_by",
  "version",
]);
export const isCommon = (name: string): boolean => COMMON.has(name);

/** Columns that a list shows where none are chosen. */
export function usualColumns({ fields, key }: Declaration): string[] {
  const own = Object.keys(fields).filter(
    (name) =>
      name !== key &&
      fields[name].shown === "always" &&
      !COMMON.has(name) &&
      fields[name].kind !== "json" &&
      fields[name].kind !== "computed",
  );
  const few = own.filter((name) => name !== "description").slice(0, 6);
  return [key, ...few, ...(few.length < 4 && fields.description ? ["description"] : []), "modified"];
}

/** What a person can fill in, in the order of the declaration. */
export const writableFields = ({ fields }: Declaration): [string, FieldInfo][] =>
  Object.entries(fields).filter(([, field]) => field.write !== "never");

/** What stands above a column: of a span, the names along it. */
export function columnTitle({ fields }: Declaration, name: string): string {
  const words = name.replaceAll("__", " › ").replaceAll("_", " ");
  return fields[name]?.label ?? words.charAt(0).toUpperCase() + words.slice(1);
}
