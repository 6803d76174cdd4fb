/** English words for messages and documents. */

/** `Locations` for `locations`. */
export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** The text as a sentence: with a capital and a full stop. */
export const sentence = (text: string): string => `${capitalized(text)}.`;

/** `1 row`, `1,200 rows`. */
export const countOf = (count: number, noun: string): string =>
  `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

/** What a client typed, fit to be shown back: short plain words only. */
export function quoted(typed: string): string {
  return /^[\w.:@+-]{1,60}$/.test(typed) ? `"${typed}"` : "The given text";
}
