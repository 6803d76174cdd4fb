/** English words for messages, documents and pages, which bundle this file: it imports nothing. */

/** `Locations` for `locations`. */
export const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

/** The text as a sentence: with a capital and a full stop. */
export const sentence = (text: string): string => `${capitalized(text)}.`;

/** `1 row`, `1,200 rows`; `plural` of an irregular noun: `3 matches`. */
export const pluralize = (count: number, noun: string, plural = `${noun}s`): string =>
  `${count.toLocaleString("en")} ${count === 1 ? noun : plural}`;

/** Shortens input of a client for messages: short plain words only. */
export function quoted(typed: string): string {
  return /^[\w.:@+-]{1,60}$/.test(typed) ? `"${typed}"` : "The given text";
}
