/** A plain model of the rules of the search, and of who may view what. */

/** A record with what it is found by. */
export interface Searched {
  id: string;
  name: string;
  description: string;
  barcode: string;
  /** Supplier, lot and the like, by name of the field. */
  fields?: Record<string, string>;
  /** By kind, newest first; "secret" is an annotation that only alice and admin may view. */
  parts: { by: string; text: string }[];
  owner: string;
  group: string;
  public: boolean;
  /** Somebody else who may view it. */
  viewer: string | undefined;
}

const GROUP_OF: Record<string, string> = { alice: "Genomics", bob: "Imaging" };

const fold = (text: string): string =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .normalize("NFD")
    .replace(/\p{Mn}/gu, "")
    .replaceAll("ß", "ss");

/** Letters to add, leave out or replace, or neighbours to exchange, to make one word of another. */
function countTypos(a: string, b: string): number {
  const d = Array.from({ length: a.length + 1 }, (_, i) =>
    Array.from({ length: b.length + 1 }, (_, j) => i + j),
  );
  for (let i = 1; i <= a.length; i++)
    for (let j = 1; j <= b.length; j++) {
      const replaced = d[i - 1][j - 1] + Number(a[i - 1] !== b[j - 1]);
      d[i][j] = Math.min(d[i - 1][j] + 1, d[i][j - 1] + 1, replaced);
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      if (isSwap) d[i][j] = Math.min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.length][b.length];
}

const resembles = (text: string, word: string): boolean =>
  /^\p{L}{5,}$/u.test(word) &&
  fold(text)
    .split(/[^\p{L}\p{N}]+/u)
    .some((other) => countTypos(other, word) <= 1);

const ownTexts = (of: Searched): [by: string, text: string][] => [
  ["description", of.description],
  ["barcode", of.barcode],
  ...Object.entries(of.fields ?? {}),
];

/** True if it is found with one typo in each word of five letters or more, as few others are. */
export function isFoundWithTypos(of: Searched, typed: string): boolean {
  const texts = [of.name, ...ownTexts(of).map(([, text]) => text)];
  const words = fold(typed.trim()).split(/\s+/);
  return (
    words.some((word) => /^\p{L}{5,}$/u.test(word)) &&
    words.every((word) => texts.some((text) => fold(text).includes(word) || resembles(text, word)))
  );
}
export const views = (as: string | undefined, of: Searched): boolean =>
  as === "admin" ||
  of.public ||
  (as !== undefined && (of.owner === as || GROUP_OF[as] === of.group || of.viewer === as));

const findOwnText = (of: Searched, words: readonly string[]): string =>
  ownTexts(of).find(([, text]) =>
    words.some((word) => fold(text).includes(word) || resembles(text, word)),
  )?.[0] ?? "part";

/** The rank of a thing and by what it is found; undefined if it is not found. */
export function computeRank(
  as: string | undefined,
  of: Searched,
  typed: string,
): { rank: number; by: string } | undefined {
  const q = typed.trim();
  const whole = fold(q).replace(/\s+/g, " ");
  const words = whole.split(" ");
  const name = fold(of.name);
  const parts = of.parts.filter(({ by }) => by !== "secret" || as === "alice" || as === "admin");
  const inParts = (word: string) => word.length > 2 && parts.some(({ text }) => fold(text).includes(word));
  const codes = [q, q.toUpperCase()];
  if (of.barcode !== "" && codes.includes(of.barcode)) return { rank: 0, by: "barcode" };
  if (/^[0-9a-f]{8}/.test(q) && of.id.startsWith(q)) return { rank: 0, by: "id" };
  if (name === whole) return { rank: 1, by: "name" };
  if (name.startsWith(whole)) return { rank: 2, by: "name" };
  if (whole.length > 2 && of.barcode !== "" && codes.some((code) => of.barcode.startsWith(code)))
    return { rank: 2, by: "barcode" };
  if (words.every((word) => word.length < 3)) return undefined;
  const own = (word: string) =>
    [["name", of.name], ...ownTexts(of)].some(([, text]) => fold(text).includes(word));
  if (!words.every((word) => own(word) || inParts(word))) return undefined;
  const atWord = [...name].some(
    (_, i) => i > 0 && !/[\p{L}\p{N}]/u.test(name[i - 1]) && name.startsWith(whole, i),
  );
  if (atWord) return { rank: 3, by: "name" };
  if (words.every((word) => name.includes(word))) return { rank: 4, by: "name" };
  return { rank: 5, by: findOwnText(of, words) };
}
