import { hasId, parseCode, isUrl } from "./code.ts";
import { and, compare, type Condition, NEVER, or } from "./condition.ts";
import { hasSimilarWord, unaccent } from "../../platform/folded-text.ts";
import { foldCase } from "./operator.ts";
import type { Resource } from "./resource.ts";
import { TRIGRAM } from "./text-index.ts";

/** Characters of an excerpt. */
const EXCERPT = 120;

/** The search that a person asked for. */
export interface SearchQuery {
  /** Barcodes that are meant exactly: as typed, and in upper case. */
  codes: readonly string[];
  /** The id that a code names, or its beginning. */
  id: string | undefined;
  /** Folded, with single spaces. */
  phrase: string;
  /** Folded words without accents, of which each must be found. */
  words: readonly string[];
  /** Words of five letters or more, in which one typo is tolerated. */
  tolerant: readonly string[];
  /** Words that are long enough for the text index. Without one, only beginnings of names are searched. */
  indexed: readonly string[];
}

/** True if the text index can find the word. */
export const isIndexed = (word: string): boolean => Array.from(word).length >= TRIGRAM;

export function parseSearch(typed: string): SearchQuery {
  const code = typed.trim();
  const typedWords = foldCase(code).split(/\s+/).filter(Boolean);
  const words = [...new Set(typedWords.map(unaccent))];
  return {
    codes: isUrl(code) ? [] : [...new Set([code, code.toUpperCase()])],
    id: parseCode(code),
    phrase: typedWords.join(" "),
    words,
    tolerant: words.filter((word) => /^\p{L}{5,}$/u.test(word)),
    indexed: words.filter(isIndexed),
  };
}

/** Text fields of the record itself, not of others. */
const ownPaths = (paths: readonly string[], { fields }: Resource): string[] =>
  paths.filter((name) => fields[name]?.kind === "text");

export const searchedNames = (resource: Resource): string[] =>
  ownPaths([...new Set([resource.key, ...resource.nameFields])], resource);

/** Names, descriptions, and other fields such as the supplier. */
export const searchedTexts = (resource: Resource): string[] => {
  const others = Object.keys(resource.fields).filter((name) => resource.fields[name].searchable);
  const all = [...searchedNames(resource), ...resource.descriptionFields, ...others];
  return ownPaths([...new Set(all)], resource);
};

/** References to the place of a record, with the names of their targets. */
const PLACES = {
  location: { to: "location", key: "unique_path" },
  parent: { to: "location", key: "unique_path" },
  equipment: { to: "equipment", key: "name" },
  place: { to: "place", key: "name" },
} as const;

/** Fields with the place of a record: the location and the position in it, or else all enclosing records. */
export function placeFields({ fields }: Resource): string[] {
  const paths = Object.entries(PLACES)
    .filter(([name, { to }]) => fields[name]?.to === to)
    .map(([name, { key }]) => `${name}__${key}`);
  return paths.length > 0 && "position" in fields ? [...paths, "position"] : paths;
}

/** The place of a record: `Rack 2 › Box 1, B8`. A position is omitted without its location. */
export function formatPlace(places: readonly string[], record: Readonly<Record<string, unknown>>): string {
  const shown = places
    .filter((name) => record[name] && (name !== "position" || record[places[0]]))
    .map((name) => String(record[name]));
  const inPath = new Set(shown[0]?.split(" › ").slice(0, -1));
  return shown.filter((name) => !inPath.has(name)).join(", ");
}

/** Records one of whose texts contains the word. */
export const containsWord = (resource: Resource, word: string): Condition =>
  or(...searchedTexts(resource).map((name) => compare([name], "contains word", word)));

/** Records that contain each word, where one typo in a word of five letters or more does not matter. */
export const containsSimilarWords = (resource: Resource, { words, tolerant }: SearchQuery): Condition =>
  and(
    ...words.map((word) => {
      const similar = tolerant.includes(word)
        ? searchedTexts(resource).map((name) => compare([name], "has similar word", word))
        : [];
      return or(containsWord(resource, word), ...similar);
    }),
  );

/** True if a text contains one of the words, or one that is similar. */
export function isFoundIn(text: string, { words, tolerant }: SearchQuery): boolean {
  const plain = unaccent(text);
  return words.some((word) => plain.includes(word)) || tolerant.some((word) => hasSimilarWord(plain, word));
}

/** Records that match exactly by name, barcode or id. */
export const isMeant = (resource: Resource, { codes, id, phrase }: SearchQuery): Condition =>
  or(
    ...searchedNames(resource).map((name) => compare([name], "iexact", phrase)),
    ...compareBarcode(resource, "==", codes),
    id === undefined || resource.fields.id.kind !== "uuid" ? NEVER : hasId(id),
  );

/** Condition on records whose name or barcode begins with the typed text. */
export const beginsWithPhrase = (resource: Resource, { codes, phrase }: SearchQuery): Condition =>
  or(
    ...searchedNames(resource).map((name) => compare([name], "istartswith", phrase)),
    ...(Array.from(phrase).length < TRIGRAM ? [] : compareBarcode(resource, "startswith", codes)),
  );

const compareBarcode = (
  { fields }: Resource,
  operator: "==" | "startswith",
  codes: readonly string[],
): Condition[] => ("barcode" in fields ? codes.map((code) => compare(["barcode"], operator, code)) : []);

/** The parts of a record that the search examines. */
export const FOUND_BY = [
  "barcode",
  "id",
  "name",
  "description",
  "annotation",
  "note",
  "attachment",
  "supplier",
  "catalogue_number",
  "lot",
] as const;
export type FoundBy = (typeof FOUND_BY)[number];

/** Grades of a match between record and query, best first. */
const RANKS = [
  "code",
  "name",
  "beginning",
  "word",
  "part of the name",
  "other text",
  "similar word",
] as const;
const rank = (name: (typeof RANKS)[number]): number => RANKS.indexOf(name);

/** The rank of records that are found if a typo is tolerated. */
export const SIMILAR = rank("similar word");

/** True if a record has the barcode or id that was typed. */
export const isCode = (found: number): boolean => found === rank("code");

/** Properties that decide the rank of a record. */
export interface RankedTexts {
  id: string;
  barcode: string;
  names: readonly string[];
}

/** The rank, 0 for the best, and by what the record was found; undefined for neither code nor name. */
export function rankTexts(
  { id, barcode, names }: RankedTexts,
  query: SearchQuery,
): { rank: number; by: FoundBy | undefined } {
  const { codes, words } = query;
  const phrase = unaccent(query.phrase);
  if (barcode !== "" && codes.includes(barcode)) return { rank: rank("code"), by: "barcode" };
  if (query.id !== undefined && id.startsWith(query.id)) return { rank: rank("code"), by: "id" };
  const folded = names.map(unaccent);
  const has = (test: (name: string) => boolean): boolean => folded.some(test);
  if (has((name) => name === phrase)) return { rank: rank("name"), by: "name" };
  if (has((name) => name.startsWith(phrase))) return { rank: rank("beginning"), by: "name" };
  if (barcode !== "" && codes.some((code) => barcode.startsWith(code)))
    return { rank: rank("beginning"), by: "barcode" };
  if (has((name) => beginsWord(name, phrase))) return { rank: rank("word"), by: "name" };
  if (words.every((word) => has((name) => name.includes(word))))
    return { rank: rank("part of the name"), by: "name" };
  return { rank: rank("other text"), by: undefined };
}

/** True if a word of the text begins with the phrase. */
function beginsWord(text: string, phrase: string): boolean {
  for (let at = text.indexOf(phrase); at >= 0; at = text.indexOf(phrase, at + 1))
    if (at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1])) return true;
  return false;
}

/** The part of a text around the first of the words; the beginning of a text without them. */
export function excerpt(text: string, words: readonly string[]): string {
  const plain = text.replace(/\s+/g, " ").trim();
  const lower = unaccent(plain);
  const found = words.map((word) => lower.indexOf(word)).filter((at) => at >= 0);
  const first = found.length > 0 ? Math.min(...found) : 0;
  const from = first + 40 > EXCERPT ? Math.max(0, first - 40) : 0;
  const part = plain.slice(from, from + EXCERPT).toWellFormed();
  return `${from > 0 ? "…" : ""}${part}${from + EXCERPT < plain.length ? "…" : ""}`;
}
