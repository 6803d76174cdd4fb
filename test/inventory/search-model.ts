/** A plain model of the rules of the search, and of who may view what. */

/** A record with what it is found by. */
export interface Searched {
  id: string;
  name: string;
  description: string;
  barcode: string;
  /** By kind, newest first; "secret" is an annotation that only alice and admin may view. */
  parts: { by: string; text: string }[];
  owner: string;
  group: string;
  public: boolean;
  /** Somebody else who may view it. */
  viewer: string | undefined;
}

const GROUP_OF: Record<string, string> = { alice: "Genomics", bob: "Imaging" };

const fold = (text: string): string => text.normalize("NFKC").toLowerCase();
export const views = (as: string | undefined, of: Searched): boolean =>
  as === "admin" ||
  of.public ||
  (as !== undefined && (of.owner === as || GROUP_OF[as] === of.group || of.viewer === as));

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
  const own = (word: string) => name.includes(word) || fold(of.description).includes(word);
  if (!words.every((word) => own(word) || inParts(word))) return undefined;
  const atWord = [...name].some(
    (_, i) => i > 0 && !/[\p{L}\p{N}]/u.test(name[i - 1]) && name.startsWith(whole, i),
  );
  if (atWord) return { rank: 3, by: "name" };
  if (words.every((word) => name.includes(word))) return { rank: 4, by: "name" };
  if (words.some((word) => fold(of.description).includes(word))) return { rank: 5, by: "description" };
  return { rank: 5, by: "part" };
}
