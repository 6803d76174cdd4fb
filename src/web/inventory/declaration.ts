import type {
  AnnotationInfo,
  FieldInfo,
  ListDescription,
  Reference,
} from "../../inventory/model/metadata.ts";
import { href } from "../address.ts";
import { call, onWrite } from "../request.ts";
import { LISTS, listsIn, listTitle } from "../../inventory/resources/lists.ts";
import { capitalized } from "../format.tsx";

export { isInTree, LISTS, listSingular, STOCK_LISTS, listTitle } from "../../inventory/resources/lists.ts";

/** The lists of the inventory as OPTIONS describes them. All its pages are made from these declarations. */

export type { AnnotationInfo, FieldInfo, Reference };
/** The parts of the description of a list that pages use. */
export type Declaration = Omit<ListDescription, "operators" | "renders" | "parses" | "actions">;

/** A field or an annotation. */
export const findField = (of: Declaration, name: string): FieldInfo | undefined =>
  of.fields[name] ??
  of.annotations[name] ??
  // Addresses may name an annotation by the id of its type, and a reference with `_id`.
  of.annotations[findAnnotation(of, name.replace(/^annotations__/, "")) ?? ""] ??
  of.fields[name.replace(/_id$/, "")];

/** The fields along a path across references; the first one may be an annotation, whose name may contain underscores. */
export function splitPath({ annotations }: Declaration, name: string): string[] {
  const fits = Object.keys(annotations).filter((each) => name === each || name.startsWith(`${each}__`));
  const [longest] = fits.toSorted((a, b) => b.length - a.length);
  if (longest === undefined) return name.split("__");
  return [longest, ...name.slice(longest.length + 2).split("__")].filter((each) => each !== "");
}

/** The name in requests of the annotation of a type, such as `annotations__genotype`. */
export const findAnnotation = ({ annotations }: Declaration, type: unknown): string | undefined =>
  Object.keys(annotations).find((name) => annotations[name].annotation?.id === type);

/** Annotations that a list has as columns, filters and facets. */
export const listedAnnotations = ({ annotations }: Declaration): [string, FieldInfo][] =>
  Object.entries(annotations).filter(
    ([, { annotation }]) => annotation!.used && annotation!.list_visibility !== "NEVER",
  );

const known = new Map<string, Promise<Declaration>>();
// Annotation types and their use may change.
onWrite(() => known.clear());

/** The declaration of a list, requested once until something is written. @throws ApiError */
export function declaration(segment: string): Promise<Declaration> {
  let declared = known.get(segment);
  if (!declared) {
    declared = call("OPTIONS /api/v2/:list/", { params: { list: segment } });
    known.set(segment, declared);
    declared.catch(() => known.delete(segment));
  }
  return declared;
}

/** Path of a list in the REST API. */
export const api = (segment: string, rest = ""): string => `/api/v2/${segment}/${rest}`;

/** Segments contain slashes, page addresses do not: `stocks/consumables` is at `/inventory/stocks-consumables`. */
export const toSegment = (slug: string): string => slug.replaceAll("-", "/");

/** Path of the page of a list or of a record. */
export const pagePath = (segment: string, id?: string): string =>
  `/inventory/${segment.replaceAll("/", "-")}${id === undefined ? "" : `/${id}`}`;

/** Path of the page that adds a record. */
export const newPagePath = (segment: string): string =>
  segment === "stocktakes" ? "/inventory/stocktake" : `${pagePath(segment)}/new`;

/** True if the list has accounts or groups, to which references are not listed. */
export const isPeople = (segment: string): boolean => segment === "users" || segment === "groups";

/** A breadcrumb to a list. */
export const makeCrumb = (segment: string) => ({ name: listTitle(segment), href: href(pagePath(segment)) });

/** The field that names the records of a list. */
export const keyField = (segment: string): string => LISTS[segment]?.key ?? "name";

/** A reference to records of a list by their ids. */
export const referenceTo = (segment: string, filter: Readonly<Record<string, string>> = {}): Reference => ({
  segment,
  key: keyField(segment),
  printed: "id",
  filter,
});

/** References to accounts and groups, which have the name for a value. */
export const USERS: Reference = { ...referenceTo("users"), printed: "key" };
export const GROUPS_OF_USERS: Reference = { ...referenceTo("groups"), printed: "key" };

/** True if labels are printed for the records of a list. */
export const hasLabels = ({ name }: Pick<Declaration, "name">): boolean => !LISTS[name]?.withoutLabels;

/** Lists that the overview of the inventory links, by headings. */
export const GROUPS: readonly { title: string; segments: readonly string[] }[] = (
  ["Stock", "Supply", "Locations", "Projects", "Metadata"] as const
).map((title) => ({ title, segments: listsIn(title) }));

/** True if people change a field; the program sets the details of a record with every write. */
export const isSetByPeople = ({ fields }: Pick<Declaration, "fields">, name: string): boolean =>
  !["details", "none"].includes(fields[name]?.form?.shownIn ?? "");

/** True if all records have a field, which their pages show under Access or Details. */
export const isCommon = (field: FieldInfo | undefined): boolean =>
  ["access", "details", "none"].includes(field?.form?.shownIn ?? "");

const isShowable = ({ kind }: FieldInfo): boolean => kind !== "json" && kind !== "computed";

/** Characters from which a text is prose, for which few lists have room. */
const PROSE_LENGTH = 5000;
export const isProse = ({ max_length }: FieldInfo): boolean => (max_length ?? 0) >= PROSE_LENGTH;

/** Names of the fields that complete the values of others, such as units. */
const suffixesIn = ({ fields }: Pick<Declaration, "fields">): Set<string | undefined> =>
  new Set(Object.values(fields).map(({ form }) => form?.suffix));

/** True if a value completes that of another field, as units and positions do. */
export const isSuffix = (of: Pick<Declaration, "fields">, name: string): boolean => suffixesIn(of).has(name);

/** The field with the readable name of records whose key is for programs. */
export const titleField = ({ fields, key }: Pick<Declaration, "fields" | "key">): string =>
  fields[key]?.form?.derivedFrom ?? key;

/** True if few people need a field, or others imply it. */
export const isSeldomUsed = ({ form }: FieldInfo): boolean =>
  form?.advanced === true || form?.omitted === true;

/** Columns that a list shows unless others are chosen. */
export function defaultColumns(of: Declaration): string[] {
  const { fields, key } = of;
  const suffixes = suffixesIn(of);
  const own = Object.keys(fields).filter((name) => {
    const field = fields[name];
    if (name === key || name === titleField(of) || suffixes.has(name) || isCommon(field)) return false;
    if (field.form?.column === false || field.for_clients || isSeldomUsed(field)) return false;
    return field.shown === "always" && isShowable(field) && !isProse(field);
  });
  const few = own.slice(0, MAX_FIELDS);
  const prose = Object.keys(fields).filter(
    (name) => fields[name].form?.shownIn === "head" && isProse(fields[name]),
  );
  const described = few.length < MAX_FIELDS - 1 ? prose : [];
  const annotations = listedAnnotations(of).filter(
    ([, { annotation }]) => annotation!.list_visibility === "ALWAYS",
  );
  const shown = annotations.slice(0, MAX_ANNOTATIONS).map(([name]) => name);
  const columns = [key, ...few, ...described, ...shown];
  // If there is room.
  return few.length < MAX_FIELDS ? [...columns, "modified"] : columns;
}

/** Fields and annotations that are columns by default. */
const MAX_FIELDS = 5;
const MAX_ANNOTATIONS = 3;

/** Fields that people fill in. */
export const writableFields = ({ fields }: Declaration): [string, FieldInfo][] =>
  Object.entries(fields).filter(([, field]) => field.write !== "never");

/** Fields that forms have: people fill them in, and no other field implies them. */
export const formFields = (of: Declaration): [string, FieldInfo][] =>
  writableFields(of).filter(([, field]) => !field.for_clients && !field.form?.omitted);

/** True if a form with these values, or a record, has use for a field. */
export const applies = ({ form }: FieldInfo, values: Readonly<Record<string, unknown>>): boolean =>
  !form?.when || form.when.values.includes(String(values[form.when.field] ?? ""));

/** `host_species` for "Host species". */
export const machineName = (label: string): string =>
  label
    .normalize("NFKD")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, " ")
    .trim()
    .replaceAll(" ", "_");

export const isEditable = (field: FieldInfo | undefined): field is FieldInfo =>
  field !== undefined && field.write !== "never" && isShowable(field);

/** Title of a column; for one across references, the names on the way. */
export function columnTitle(of: Declaration, name: string): string {
  const [first, ...rest] = findField(of, name) ? [name] : splitPath(of, name);
  const shown = first === of.key ? titleField(of) : first;
  const { label = capitalized(first.replaceAll("_", " ")) } = findField(of, shown) ?? {};
  return [label, ...rest.map((word) => word.replaceAll("_", " "))].join(" › ");
}

/** The list of the records whose ids a field has. */
export const linkedReference = (field: FieldInfo | undefined): Reference | undefined =>
  field?.reference && field.reference.printed !== "key" ? field.reference : undefined;

/** The field that says in which location records are, if they are kept in slots there; its suffix is the position. */
export const storedIn = ({ fields }: Pick<Declaration, "fields">): string | undefined =>
  Object.keys(fields).find((name) => fields[name].places && fields[name].form?.suffix);

/** True if records are kept in slots of locations. */
export const isStored = (of: Pick<Declaration, "fields">): boolean => storedIn(of) !== undefined;

/** Names of the fields that put records into others and can be changed, the ones that take a right first. */
export const placeFields = ({ fields }: Pick<Declaration, "fields">): string[] =>
  Object.keys(fields)
    .filter((name) => {
      const { form, reference, write } = fields[name];
      return form?.shownIn === "location" && reference !== null && write !== "never";
    })
    .toSorted((a, b) => Number(fields[b].places ?? false) - Number(fields[a].places ?? false));

/** The ordering of a list by a column: names, of references too, in natural order. */
export function makeOrdering({ fields, key }: Declaration, name: string): string {
  const to = fields[name]?.reference;
  // As people walk: equipment, rack, box, slot.
  if (to?.segment === "locations" && "position" in fields)
    return ["equipment__name", "parent__label__natural", "label__natural"]
      .map((part) => `${name}__${part}`)
      .concat("position__natural")
      .join();
  if (to?.printed === "id") return `${name}__${to.key}__natural`;
  return name === key && fields[name]?.kind === "text" ? `${name}__natural` : name;
}

export const defaultOrder = (of: Declaration): string =>
  of.ordering.map((name) => makeOrdering(of, name)).join();

/** True if values are constants such as `DNA_OLIGO`, which pages show as "DNA oligo". */
export const isConstant = (field: FieldInfo | undefined): boolean =>
  field?.rule?.startsWith("upper case") === true;

/** True if values are enumerated in words. */
export const hasWords = (field: FieldInfo): boolean => isConstant(field) || field.form?.words !== undefined;

/** Abbreviations in constants, which stay in upper case. */
const ABBREVIATIONS = /\b(dna|rna|pcr|api|id)\b/gi;

/** Constants whose words cannot be derived. */
const SPELLINGS: Readonly<Record<string, string>> = { EMGRID: "EM grid" };

export const formatConstant = (constant: string): string =>
  SPELLINGS[constant] ??
  capitalized(constant.toLowerCase().replaceAll("_", " ")).replaceAll(ABBREVIATIONS, (word) =>
    word.toUpperCase(),
  );

/** A value of an enumeration as pages show it. */
export const formatChoice = (value: string, field: FieldInfo | undefined): string =>
  field?.form?.words?.[value]?.[0] ??
  (isConstant(field) || (field?.choices && /^[A-Z][A-Z_]+$/.test(value)) ? formatConstant(value) : value);

/** A message about a field, with labels instead of constants. */
export const inWords = (text: string, field: FieldInfo, others: readonly FieldInfo[] = []): string =>
  text.replaceAll(/\b[A-Z][A-Z_]{2,}\b/g, (constant) => {
    const owner = others.find(
      ({ choices, form }) => choices?.includes(constant) || form?.words?.[constant] !== undefined,
    );
    return owner || isConstant(field) || field.choices ? formatChoice(constant, owner ?? field) : constant;
  });

/** The constant that words stand for, in the form that the rule of the field allows. */
export function parseConstant(words: string, field: FieldInfo | undefined): string {
  const spelled = Object.keys(SPELLINGS).find((name) => SPELLINGS[name] === words);
  const constant = spelled ?? words.toUpperCase().replace(/[^A-Z0-9]+/g, "_");
  const bare = constant.replace(/^_|_$/g, "");
  return field?.rule?.includes("spaces") ? bare.replaceAll("_", " ") : bare;
}
